cd "$EXAMPLES" || exit 1
"$VRAMSCOPE" peak -n 1 train.pickle oom.pickle
"$VRAMSCOPE" peak --json -n 1 train.pickle oom.pickle | grep -e schema -e path -e bytes.:
