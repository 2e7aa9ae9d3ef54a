"$VRAMSCOPE" help peak
"$VRAMSCOPE" help peak >text
"$VRAMSCOPE" peak --help | cmp - text
