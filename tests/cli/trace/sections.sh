cd "$EXAMPLES/traces" && "$VRAMSCOPE" trace --steps --memory --calls --ops -n 12 training.pt.trace.json.gz
