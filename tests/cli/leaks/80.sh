cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" leaks --capacity 24GiB leak.pickle
