cd "$EXAMPLES/measurements" && "$VRAMSCOPE" compare --json before.json after.json
