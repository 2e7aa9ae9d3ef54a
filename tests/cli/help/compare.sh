"$VRAMSCOPE" help compare
"$VRAMSCOPE" help compare >text
"$VRAMSCOPE" compare --help | cmp - text
