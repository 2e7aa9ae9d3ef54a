cd "$EXAMPLES" || exit 1
try() {
    "$VRAMSCOPE" export "$@"
    echo "exit $?"
}
try oom.pickle
try --to xml oom.pickle
try --to csv
try --to csv oom.pickle leak.pickle
try --to csv -t events -t blocks oom.pickle
try --to csv -t nothing oom.pickle
try --to pprof -t events oom.pickle
try --to json --at peak oom.pickle
try --to speedscope --inverse oom.pickle
try --to folded --at oom:9 oom.pickle
try --to folded --at step:1 train.pickle
try --to csv --device 7 oom.pickle
try --to csv --entry 2 oom.pickle
try --to csv missing.pickle
try --to sqlite -o /dev/full train.pickle
