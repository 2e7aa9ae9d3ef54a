mkdir ranks
cp "$EXAMPLES/oom.pickle" ranks/rank-1.pickle
cp "$EXAMPLES/train.pickle" ranks/rank-0.pickle
"$VRAMSCOPE" report --json ranks | sed -n '/"ranks"/,$p'
