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
try compare --fail-over 5x $one $one
try compare $one train.pickle
try compare train.pickle $one
try compare $trace $one
try compare train.pickle train.pickle
try compare $one missing.json
try diff --by owner $one $one
try diff --stacks $one $one
try diff --fail-over 5MiB $one $one
try report $one
try trace $one
try leaks $one
sed 's/"training"/"latency"/' $one >"$OLDPWD/latency.json"
try compare $one "$OLDPWD/latency.json"
printf '{"schema": "vramscope.measurement/1", "what": 7}' >"$OLDPWD/wrong.json"
(cd "$OLDPWD" && try compare wrong.json "$EXAMPLES/$one")
