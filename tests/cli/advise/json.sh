cd "$EXAMPLES" && "$VRAMSCOPE" advise --json -n 2 leak.pickle
