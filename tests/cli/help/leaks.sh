"$VRAMSCOPE" help leaks
"$VRAMSCOPE" help leaks >text
"$VRAMSCOPE" leaks --help | cmp - text
