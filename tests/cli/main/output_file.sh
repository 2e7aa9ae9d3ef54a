# A file is there whole or not at all.
cp "$EXAMPLES/oom.pickle" .
"$VRAMSCOPE" report -o report.txt oom.pickle && head -n 1 report.txt | sed 's|.*/||'
echo before >kept.txt
"$VRAMSCOPE" report -o kept.txt missing.pickle
cat kept.txt
"$VRAMSCOPE" report -o . oom.pickle
"$VRAMSCOPE" report -o nowhere/report.txt oom.pickle
if [ -e /dev/full ]; then
    "$VRAMSCOPE" report oom.pickle >/dev/full
    echo "exit $?"
fi
# A reader that goes away is no failure, and says nothing.
{ "$VRAMSCOPE" peak --json oom.pickle; echo "exit $?" >status; } | head -n 1
cat status
ls -A
