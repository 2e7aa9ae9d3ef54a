cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" report --trust oom.pickle
