cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" leaks --ascii train.pickle
