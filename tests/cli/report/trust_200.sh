cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" report --trust --ascii train.pickle leak.pickle
