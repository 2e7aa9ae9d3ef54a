# What cannot be compared is said, with the cure.
cd "$EXAMPLES" || exit 1
try() {
    "$VRAMSCOPE" diff "$@"
    echo "exit $?"
}
try
try train.pickle
try train.pickle oom.pickle leak.pickle
try --fail-over 5x train.pickle oom.pickle
try --at noon train.pickle oom.pickle
try --weight grams train.pickle oom.pickle
try --at oom:9 train.pickle oom.pickle
try train.pickle missing.pickle
try -o oom.pickle train.pickle oom.pickle
