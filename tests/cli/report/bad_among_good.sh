echo 'no recording' >bad.txt
: >empty.pickle
cp "$EXAMPLES/oom.pickle" good.pickle
COLUMNS=100 "$VRAMSCOPE" report bad.txt good.pickle missing.pickle empty.pickle
