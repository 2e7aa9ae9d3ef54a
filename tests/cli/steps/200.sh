cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" steps oom.pickle
