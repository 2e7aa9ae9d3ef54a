"$VRAMSCOPE" help replay
"$VRAMSCOPE" help replay >text
"$VRAMSCOPE" replay --help | cmp - text
