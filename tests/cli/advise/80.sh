cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" advise train.pickle fragmentation.pickle
