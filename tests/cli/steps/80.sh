cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" steps train.pickle
