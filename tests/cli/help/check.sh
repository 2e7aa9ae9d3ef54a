"$VRAMSCOPE" help check
"$VRAMSCOPE" help check >text
"$VRAMSCOPE" check --help | cmp - text
