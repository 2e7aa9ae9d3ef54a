cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" leaks fragmentation.pickle
