# What is refused before a file is read; --write leaves recordings and the answer alone.
cp "$EXAMPLES/leak.pickle" run.pickle
ln -s run.pickle link
try() {
    "$VRAMSCOPE" replay "$@"
    echo "exit $?"
}
try
try --capacity 0 run.pickle
try --capacity lots run.pickle
try --set
try --sweep --write changed.pickle run.pickle
try --write changed.pickle run.pickle link
try --write changed.pickle .
try --write link run.pickle
try --write changed.pickle -o changed.pickle run.pickle
try --write - run.pickle
# shellcheck disable=SC2046 # 65 options of two words each
try $(yes -- '--drop a' | head -n 65) run.pickle
cmp run.pickle "$EXAMPLES/leak.pickle" && ls
