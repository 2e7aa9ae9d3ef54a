cd "$EXAMPLES" && "$VRAMSCOPE" oom --json oom.pickle
