cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" diff train.pickle oom.pickle
