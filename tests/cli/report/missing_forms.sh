# Every form for people names the ranks of a run's folder that have no snapshot.
mkdir run
cp "$EXAMPLES/leak.pickle" run/rank0.10.end.pickle
echo '{"schema": "vramscope.run/1", "job": "night", "world_size": 4, "missing_ranks": [1, 3]}' >run/run.json
"$VRAMSCOPE" report run | grep -A 1 '^rank0'
"$VRAMSCOPE" report --markdown run | tail -n 4
"$VRAMSCOPE" report --trust run | tail -n 2
head -c 40 "$EXAMPLES/oom.pickle" >run/rank3.13.end.pickle
"$VRAMSCOPE" report --markdown run 2>/dev/null | tail -n 8
"$VRAMSCOPE" report --trust run 2>/dev/null | tail -n 4
echo '{"schema": "vramscope.run/1", "job": "night", "world_size": 4, "missing_ranks": [3]}' >run/run.json
for form in --markdown --trust; do "$VRAMSCOPE" report "$form" run 2>/dev/null | grep -ci 'missing  \|MISSING\*'; done
exit 0
