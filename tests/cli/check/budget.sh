# Limits from a file, which options replace; lines that make no sense are named.
cat >limits <<'END'
# a card of 16 GiB
max-peak = 12GiB   # of one step
headroom = 1GiB
capacity = 16GiB
no-oom
END
"$VRAMSCOPE" check --budget limits "$EXAMPLES/train.pickle"
echo "exit $?"
"$VRAMSCOPE" check --budget limits --max-peak 1GiB "$EXAMPLES/train.pickle"
echo "exit $?"
try() {
    printf '%s\n' "$@" >limits
    "$VRAMSCOPE" check --budget limits "$EXAMPLES/train.pickle"
    echo "exit $?"
}
try '# nothing' 'max-peek = 1GiB'
try '' '' 'max-peak = 1 GiBB'
try 'max-category = activations=1GiB'
try 'max-site = (=1GiB'
try 'max-site = ((((a{1,99}){1,99}){1,99}){1,99}){1,99}=1GiB'
try 'no-oom = never'
try 'max-delta = 1MiB'
try 'headroom = 1MiB'
try '# nothing at all'
try 'max-peak = 12GiB' '# of the small card' 'max-peak = 8GiB'
"$VRAMSCOPE" check --budget missing "$EXAMPLES/train.pickle"
echo "exit $?"
