cd "$EXAMPLES/measurements" && "$VRAMSCOPE" compare --csv before.json after.json
