cd "$EXAMPLES/traces" && "$VRAMSCOPE" trace --tree --min-share 4% training.pt.trace.json.gz
"$VRAMSCOPE" trace --tree --min-share 30% -n 1 training.pt.trace.json.gz
"$VRAMSCOPE" trace --modules training.pt.trace.json.gz
"$VRAMSCOPE" trace --min-share 1% training.pt.trace.json.gz; echo "$?"
"$VRAMSCOPE" trace --tree --min-share 101% training.pt.trace.json.gz; echo "$?"
