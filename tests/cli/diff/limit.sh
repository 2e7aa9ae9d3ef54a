# The exit status answers for CI: 1 above the limit, 0 below.
cd "$EXAMPLES" || exit 1
for limit in 0 64GiB 1% 900%; do
    COLUMNS=80 "$VRAMSCOPE" diff --fail-over "$limit" train.pickle oom.pickle | grep '^limit'
    "$VRAMSCOPE" diff --fail-over "$limit" train.pickle oom.pickle >/dev/null
    echo "$limit: exit $?"
done
