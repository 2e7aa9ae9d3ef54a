# What a memory timeline has no events for, and files that only look like one.
printf "[[50, 2, 100, 3], [60, 4, -100, 3]]" >t.json
cp "$EXAMPLES/traces/training.pt.trace.json.gz" run.json.gz
"$VRAMSCOPE" trace --ops t.json; echo "$?"
"$VRAMSCOPE" trace --tree t.json; echo "$?"
"$VRAMSCOPE" trace --threshold copy_ratio=0.1 t.json; echo "$?"
"$VRAMSCOPE" trace --framework-exact t.json; echo "$?"
"$VRAMSCOPE" trace --repair -o out.json t.json; echo "$?"
"$VRAMSCOPE" peak t.json; echo "$?"
"$VRAMSCOPE" check --max-memory-peak 1GiB t.json; echo "$?"
"$VRAMSCOPE" diff t.json run.json.gz; echo "$?"
"$VRAMSCOPE" export --to folded t.json; echo "$?"
"$VRAMSCOPE" export --to csv -t operators t.json; echo "$?"
"$VRAMSCOPE" export --to csv -t timeline run.json.gz; echo "$?"
"$VRAMSCOPE" trace --json t.json run.json.gz | head -n 2
mkdir folder
mv t.json run.json.gz folder
"$VRAMSCOPE" trace --json folder | head -n 2
"$VRAMSCOPE" report --json folder | head -n 2
printf "[[], []]" | "$VRAMSCOPE" trace -; echo "$?"
printf "[[5, 6, 7], [[0, 1]]]" | "$VRAMSCOPE" trace -; echo "$?"
printf "[[5, 6, 7], [[0, 1" | "$VRAMSCOPE" trace -; echo "$?"
# Damage is told, and what was whole is kept.
printf "[[5, 6, 6, 2, 8], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2], [0, NaN, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0], [0, 9" | "$VRAMSCOPE" trace -; echo "$?"
