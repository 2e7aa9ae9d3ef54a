"$VRAMSCOPE" help advise
"$VRAMSCOPE" help advise >text
"$VRAMSCOPE" advise --help | cmp - text
