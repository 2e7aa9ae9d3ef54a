"$VRAMSCOPE" help categories
"$VRAMSCOPE" help categories >text
"$VRAMSCOPE" categories --help | cmp - text
