cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" diff train.pickle oom.pickle
