# Ranks by a map: one with a longer batch in two steps, one with half of the optimizer's states.
mkdir -p node0 node1
make() {
    sed "$2" "$RECORDINGS/train.script" >train.script
    "$MAKE_RECORDING" train.script --library "$RECORDINGS" -o "$1"
}
make node0/gpu0.pickle ''
# shellcheck disable=SC2016 # the script's own numbers
make node0/gpu1.pickle 's|alloc batch 24MiB|alloc batch $(24MiB+$i/3%2*700MiB)|'
make node1/gpu0.pickle '/alloc exp_avg/s|64MiB|32MiB|'
make node1/gpu1.pickle ''
cat >map <<'END'
# from the last to the first
node0/gpu0.* 3
node0/gpu1.* 2
node1/gpu0.* 1
node1/gpu1.* 0
END
COLUMNS=80 "$VRAMSCOPE" report node0 node1 --rank-map map
COLUMNS=200 "$VRAMSCOPE" report node1 node0 --rank-map map
"$VRAMSCOPE" report --json node0 node1 --rank-map map | sed -n '/"groups"/,$p'
echo 'node?/gpu1.* 7' >>map
echo 'node0/gpu0.* 8' >>map
"$VRAMSCOPE" report node0 node1 --rank-map map
echo "exit $?"
sed -i '$d' map
sed -i '2,5d' map
"$VRAMSCOPE" report node0 node1 --rank-map map
echo "exit $?"
