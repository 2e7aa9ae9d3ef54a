cd "$EXAMPLES" && COLUMNS=100 "$VRAMSCOPE" report train.pickle oom.pickle leak.pickle fragmentation.pickle
