cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" peak oom.pickle
