cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" fragments --all-metrics --at reserved-peak fragmentation.pickle
