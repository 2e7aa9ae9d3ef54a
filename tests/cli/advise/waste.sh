cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" advise --waste -n 6 leak.pickle
