cd "$EXAMPLES" && "$VRAMSCOPE" categories --json train.pickle
