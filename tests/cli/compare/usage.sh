# What cannot be compared is said, with the cure.
cd "$EXAMPLES" || exit 1
try() {
    "$VRAMSCOPE" "$@"
    echo "exit $?"
}
one=measurements/before.json
trace=traces/training.pt.trace.json.gz
try compare
try compare $one
try compare $one $one $one
try compare measurements $one
try compare $one measurements
try compare measurements
mkdir "$OLDPWD/two" && cp oom.pickle train.pickle "$OLDPWD/two"
try diff "$OLDPWD/two" train.pickle
try compare --again measurements $one $one
try compare --fail-over 5x $one $one
try compare $one train.pickle
try compare train.pickle $one
try compare $trace $one
try compare train.pickle train.pickle
try compare $one missing.json
try compare --again $trace $one $one
try compare --again train.pickle $one $one
try compare --again missing.json $one $one
try compare --again - $one $one
try compare --again '' $one $one
try compare --again $one $trace $trace
try compare --again $one -o $one $trace $trace
sixteen=$(printf -- "--again $one %.0s" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
try compare $sixteen --again $one $one $one
try compare --again $one $one $one
try diff --again $one $one $one
try diff --by owner $one $one
try diff --stacks $one $one
try diff --fail-over 5MiB $one $one
try report $one
try trace $one
try leaks $one
sed 's/"training"/"latency"/' $one >"$OLDPWD/latency.json"
try compare $one "$OLDPWD/latency.json"
try compare --again "$OLDPWD/latency.json" $one $one
printf '{"schema": "vramscope.measurement/1", "what": 7}' >"$OLDPWD/wrong.json"
(cd "$OLDPWD" && try compare wrong.json "$EXAMPLES/$one")
