# Expressions that are not taken, and one that takes too long.
cp "$EXAMPLES/train.pickle" .
try() {
    printf 'rule fine input high\n  alloc.any ~ zzz\nrule mine input high\n  alloc.any ~ %s\n' "$1" >my.rules
    "$VRAMSCOPE" categories --rules my.rules train.pickle
    echo "$?"
}
try 'forward(?R)?'
try '(a)\1'
try '(*LIMIT_MATCH=5)a'
try 'a(?C)b'
try 'a\Cb'
try "$(printf '%05000d' 0)"
try '(\w+[/ :.]*)+[!;]'
