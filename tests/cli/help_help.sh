"$VRAMSCOPE" help help
"$VRAMSCOPE" help help >help
"$VRAMSCOPE" help --help | cmp - help
