# The folder of a run names the ranks that have no snapshot, as run.json tells of them.
mkdir run
cp "$EXAMPLES/oom.pickle" run/rank0.10.1.pickle
cp "$EXAMPLES/train.pickle" run/rank3.13.end.pickle
head -c 40 "$EXAMPLES/oom.pickle" >run/rank4.14.end.pickle
tell() {
    echo '{"schema": "vramscope.run/1", "part": "run", "job": {"missing_ranks": [7]},'" $1}" >run/run.json
    COLUMNS=80 "$VRAMSCOPE" report run 2>errors | grep -A 1 -e '^rank3' -e '^NOT READ' -e '^missing'
    grep warning errors
    "$VRAMSCOPE" report --json run 2>errors | grep missing_ranks
}
echo 'ended'
tell '"world_size": 8, "missing_ranks": [1, 2, 5, 7]'
echo 'rank 0 was killed'
tell '"world_size": 8, "missing_ranks": [0, 1, 2, 3, 4, 5, 6, 7]'
echo 'one'
tell '"world_size": 5, "missing_ranks": [2]'
echo 'none'
tell '"world_size": 8, "missing_ranks": []'
echo 'not known'
tell '"world_size": null, "missing_ranks": []'
tell '"more": 1'
echo 'many'
tell '"world_size": 40, "missing_ranks": [2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 39, 40]'
echo 'broken'
tell '"world_size": 8, "missing_ranks": [1, 2'
tell '"world_size": 99999999999, "missing_ranks": []'
tell '"world_size": 8, "missing_ranks": [-1]'
tell '"world_size": 8, "missing_ranks": [1.5]'
tell '"world_size": 8 "missing_ranks": [1]'
printf '{"schema": "vramscope.run/1", "world_size": 8, "missing_ranks": [1]' >run/run.json
"$VRAMSCOPE" report run 2>&1 | grep -e warning -e '^missing'
echo 'not the folder alone'
tell '"world_size": 8, "missing_ranks": [1]' >alone
grep -c no.snapshot alone
"$VRAMSCOPE" report run "$EXAMPLES/leak.pickle" 2>errors | grep -c missing
"$VRAMSCOPE" report run/*.pickle 2>errors | grep -c missing
mkdir other
cp run/rank3.13.end.pickle other/rank1.pickle
"$VRAMSCOPE" report run other 2>errors | grep -c missing
exit 0
