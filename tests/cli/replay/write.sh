# What --write makes opens like any snapshot, and is reproduced itself.
export COLUMNS=80
"$VRAMSCOPE" replay --set expandable_segments:True --capacity 25295847424 --write changed.pickle \
    "$EXAMPLES/fragmentation.pickle" >/dev/null
"$VRAMSCOPE" report changed.pickle
"$VRAMSCOPE" replay changed.pickle | head -n 6
