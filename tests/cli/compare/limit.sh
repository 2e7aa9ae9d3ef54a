# Exit status 1 where B's median is above A's by more than a time or a share; diff does the same.
cd "$EXAMPLES/measurements" || exit 1
for limit in 5ms 5%; do
    "$VRAMSCOPE" compare --fail-over "$limit" before.json after.json | sed -n '/^verdict/,/^loading/p'
done
"$VRAMSCOPE" compare --fail-over 1ms after.json before.json >"$OLDPWD/text"
echo "exit $?"
"$VRAMSCOPE" diff --fail-over 1ms after.json before.json | cmp - "$OLDPWD/text"
