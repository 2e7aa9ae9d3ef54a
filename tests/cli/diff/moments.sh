cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" diff --at start --to end leak.pickle
