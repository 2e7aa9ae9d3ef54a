# The lines of the driver and of libraries depend on the machine.
"$VRAMSCOPE" doctor --json | grep -v -e '"name": "driver"' -e '"name": "sqlite"' -e '"name": "serve"'
