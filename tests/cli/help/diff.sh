"$VRAMSCOPE" help diff
"$VRAMSCOPE" help diff >text
"$VRAMSCOPE" diff --help | cmp - text
