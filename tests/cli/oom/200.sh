cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" oom oom.pickle fragmentation.pickle
