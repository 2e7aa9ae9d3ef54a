cd "$EXAMPLES/measurements" && COLUMNS=80 "$VRAMSCOPE" compare before.json after.json
