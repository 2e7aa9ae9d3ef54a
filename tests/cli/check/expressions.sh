# Expressions of --max-site: what they mean, one that is not taken, one that takes too long.
cp "$EXAMPLES/train.pickle" .
try() {
    "$VRAMSCOPE" check --max-site "$1=1KiB" train.pickle
    echo "exit $?"
}
try '\<forward\>'
try '(?i)^TRAIN\.py:\d+ (?!main)'
try '(train)\.py:\1'
try '(\w+[ :.]*)+[!;]'
