"$VRAMSCOPE" help report
"$VRAMSCOPE" help report >help
"$VRAMSCOPE" report --help | cmp - help
