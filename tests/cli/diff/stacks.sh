cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" diff --ascii --stacks -n 2 train.pickle oom.pickle
