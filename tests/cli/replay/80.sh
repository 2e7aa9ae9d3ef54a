# One that ran out because the card is full, one although it is not, and the setting that helps it.
cd "$EXAMPLES" || exit 1
export COLUMNS=80
"$VRAMSCOPE" replay oom.pickle
"$VRAMSCOPE" replay --set expandable_segments:True --capacity 25295847424 fragmentation.pickle
