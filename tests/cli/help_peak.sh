"$VRAMSCOPE" help peak
"$VRAMSCOPE" help peak >help
"$VRAMSCOPE" peak --help | cmp - help
