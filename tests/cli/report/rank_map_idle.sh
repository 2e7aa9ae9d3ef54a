# Lines of a map that fit no file are named, and change nothing else.
mkdir node0 && cp "$EXAMPLES/leak.pickle" node0/gpu0.pickle && cp "$EXAMPLES/train.pickle" node0/gpu1.pickle
cat >map <<'END'
node0/gpu0.* 0
nodeO/gpu1.* 1
# the next one fits
gpu1.pickle 1
node2/* 2
END
"$VRAMSCOPE" report node0 --rank-map map >page
echo "exit $?"
for i in 10 11 12 13 14 15 16 17 18; do echo "rank$i.pickle $i"; done >>map
"$VRAMSCOPE" report node0 --rank-map map | cmp - page && echo the same
