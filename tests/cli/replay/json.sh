cd "$EXAMPLES" && "$VRAMSCOPE" replay --json --capacity 25295847424 fragmentation.pickle
