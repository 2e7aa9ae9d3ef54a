# The lines of the driver and of SQLite depend on the machine.
"$VRAMSCOPE" doctor --json | grep -v -e '"name": "driver"' -e '"name": "sqlite"'
