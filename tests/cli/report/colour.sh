cd "$EXAMPLES" && NO_COLOR=1 "$VRAMSCOPE" report -n 1 --color always oom.pickle
