cd "$EXAMPLES" || exit 1
COLUMNS=100 "$VRAMSCOPE" replay train.pickle oom.pickle leak.pickle fragmentation.pickle
"$VRAMSCOPE" replay --json train.pickle leak.pickle | grep -e schema -e grade -e addresses
