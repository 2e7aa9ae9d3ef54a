cd "$EXAMPLES" && "$VRAMSCOPE" report --json oom.pickle | sed 's/"points": \[\[.*\]\]/"points": [ … ]/'
