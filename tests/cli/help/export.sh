"$VRAMSCOPE" help export
"$VRAMSCOPE" help export >text
"$VRAMSCOPE" export --help | cmp - text
