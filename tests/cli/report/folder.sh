mkdir -p ranks/more
cp "$EXAMPLES/train.pickle" ranks/rank1.pickle
gzip -c "$EXAMPLES/oom.pickle" >ranks/rank0.pickle.gz
mkfifo ranks/pipe.pickle
"$VRAMSCOPE" report --json ranks/rank1.pickle >ranks/report.json
echo '{"not": "a recording"}' >ranks/settings.json
COLUMNS=100 "$VRAMSCOPE" report ranks
"$VRAMSCOPE" report --json --threads 1 ranks >one 2>errors
grep _peak one
"$VRAMSCOPE" report --json --threads 4 ranks 2>errors | cmp - one
"$VRAMSCOPE" report ranks/more
