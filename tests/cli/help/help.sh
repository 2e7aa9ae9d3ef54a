"$VRAMSCOPE" help help
"$VRAMSCOPE" help help >text
"$VRAMSCOPE" help --help | cmp - text
