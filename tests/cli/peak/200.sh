cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" peak -n 6 train.pickle
