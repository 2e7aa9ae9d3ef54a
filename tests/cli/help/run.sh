"$VRAMSCOPE" help run
"$VRAMSCOPE" help run >text
"$VRAMSCOPE" run --help | cmp - text
