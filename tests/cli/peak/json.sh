cd "$EXAMPLES" && "$VRAMSCOPE" peak --json -n 1 train.pickle
