cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" categories --at end train.pickle leak.pickle
