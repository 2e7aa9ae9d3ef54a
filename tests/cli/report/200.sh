cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" report train.pickle
