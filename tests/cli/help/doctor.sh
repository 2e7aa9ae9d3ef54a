"$VRAMSCOPE" help doctor
"$VRAMSCOPE" help doctor >text
"$VRAMSCOPE" doctor --help | cmp - text
