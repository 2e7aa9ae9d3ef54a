cd "$EXAMPLES" && "$VRAMSCOPE" report --json oom.pickle
