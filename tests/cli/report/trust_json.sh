cd "$EXAMPLES" && "$VRAMSCOPE" report --trust --json oom.pickle
