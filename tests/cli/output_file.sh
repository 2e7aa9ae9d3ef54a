# A file is there whole or not at all.
"$VRAMSCOPE" report -o report.txt "$EXAMPLES/oom.pickle" && head -n 1 report.txt | sed 's|.*/||'
echo before >kept.txt
"$VRAMSCOPE" report -o kept.txt missing.pickle
cat kept.txt
"$VRAMSCOPE" report -o . "$EXAMPLES/oom.pickle"
"$VRAMSCOPE" report -o nowhere/report.txt "$EXAMPLES/oom.pickle"
if [ -e /dev/full ]; then
    "$VRAMSCOPE" report "$EXAMPLES/oom.pickle" >/dev/full
    echo "exit $?"
fi
# A reader that goes away is no failure, and says nothing.
{ "$VRAMSCOPE" peak --json "$EXAMPLES/oom.pickle"; echo "exit $?" >status; } | head -n 1
cat status
ls -A
