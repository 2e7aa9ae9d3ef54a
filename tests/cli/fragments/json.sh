cd "$EXAMPLES" && "$VRAMSCOPE" fragments --json -n 2 fragmentation.pickle
