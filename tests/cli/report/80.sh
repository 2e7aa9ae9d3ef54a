cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" report oom.pickle
