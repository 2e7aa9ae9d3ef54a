cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" oom oom.pickle fragmentation.pickle
