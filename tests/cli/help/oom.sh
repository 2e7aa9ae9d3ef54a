"$VRAMSCOPE" help oom
"$VRAMSCOPE" help oom >text
"$VRAMSCOPE" oom --help | cmp - text
