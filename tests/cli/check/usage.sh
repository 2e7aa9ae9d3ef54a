cd "$EXAMPLES" || exit 1
try() {
    "$VRAMSCOPE" check "$@" >/dev/null
    echo "exit $?"
}
try train.pickle
try --max-peak train.pickle
try --max-peak 1XB train.pickle
try --max-peak 105% train.pickle
try --max-unknown-share 1GiB train.pickle
try --max-unknown-share 120% train.pickle
try --max-peak 1GiB --tolerance 1% train.pickle
try --max-device-peak gpu=1GiB train.pickle
try --max-category 1GiB train.pickle
try --no-new-site 1% --baseline train.pickle train.pickle
try --headroom 1GiB train.pickle
try --json --format sarif --no-oom train.pickle
try --format xml --no-oom train.pickle
try --no-oom
try --no-oom missing.pickle
try --no-oom oom.pickle missing.pickle
try --no-oom --baseline missing.pickle train.pickle
try --max-device-peak 7=1GiB train.pickle
try --max-device-peak 7=1GiB --strict train.pickle
try --max-device-peak 7=1GiB --strict --no-oom train.pickle oom.pickle
