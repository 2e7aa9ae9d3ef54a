cd "$EXAMPLES/traces" && COLUMNS=80 "$VRAMSCOPE" trace training.pt.trace.json.gz
