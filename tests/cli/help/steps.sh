"$VRAMSCOPE" help steps
"$VRAMSCOPE" help steps >text
"$VRAMSCOPE" steps --help | cmp - text
