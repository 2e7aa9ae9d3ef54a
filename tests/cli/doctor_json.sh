# The line of the driver depends on the machine.
"$VRAMSCOPE" doctor --json | grep -v '"name": "driver"'
