"$VRAMSCOPE" help doctor
"$VRAMSCOPE" help doctor >help
"$VRAMSCOPE" doctor --help | cmp - help
