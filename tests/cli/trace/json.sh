cd "$EXAMPLES/traces" && "$VRAMSCOPE" trace --json -n 3 training.pt.trace.json.gz
