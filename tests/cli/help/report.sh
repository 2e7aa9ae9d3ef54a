"$VRAMSCOPE" help report
"$VRAMSCOPE" help report >text
"$VRAMSCOPE" report --help | cmp - text
