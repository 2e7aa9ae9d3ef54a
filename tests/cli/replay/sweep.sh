cd "$EXAMPLES" && COLUMNS=100 "$VRAMSCOPE" replay --sweep --capacity 25295847424 fragmentation.pickle
