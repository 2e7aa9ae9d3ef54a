cd "$EXAMPLES" && "$VRAMSCOPE" leaks --json -n 1 leak.pickle
