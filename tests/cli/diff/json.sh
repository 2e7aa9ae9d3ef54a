cd "$EXAMPLES" && "$VRAMSCOPE" diff --json -n 2 train.pickle oom.pickle
