cd "$EXAMPLES/traces" && COLUMNS=80 "$VRAMSCOPE" diagnose training.pt.trace.json.gz
