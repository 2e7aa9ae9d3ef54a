"$VRAMSCOPE" help --as=bash
"$VRAMSCOPE" help --as=zsh | grep -c -- '--'
"$VRAMSCOPE" help --as=fish | grep 'from help'
"$VRAMSCOPE" help --as=bash >vramscope.bash
bash -n vramscope.bash
