"$VRAMSCOPE" help fragments
"$VRAMSCOPE" help fragments >text
"$VRAMSCOPE" fragments --help | cmp - text
