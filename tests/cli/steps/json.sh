cd "$EXAMPLES" && "$VRAMSCOPE" steps --json -n 2 leak.pickle
