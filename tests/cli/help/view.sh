"$VRAMSCOPE" help view
"$VRAMSCOPE" help view >text
"$VRAMSCOPE" view --help | cmp - text
