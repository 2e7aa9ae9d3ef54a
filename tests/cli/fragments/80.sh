cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" fragments fragmentation.pickle
