cd "$EXAMPLES/traces" && COLUMNS=200 "$VRAMSCOPE" trace training.pt.trace.json.gz
