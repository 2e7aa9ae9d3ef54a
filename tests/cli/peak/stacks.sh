cd "$EXAMPLES" && "$VRAMSCOPE" peak --stacks -n 1 leak.pickle
