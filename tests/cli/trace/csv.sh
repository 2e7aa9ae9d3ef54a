cd "$EXAMPLES/traces" && "$VRAMSCOPE" trace --csv training.pt.trace.json.gz
