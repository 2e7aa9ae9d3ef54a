cd "$EXAMPLES/traces" && "$VRAMSCOPE" trace --ascii -n 1 training.pt.trace.json.gz
