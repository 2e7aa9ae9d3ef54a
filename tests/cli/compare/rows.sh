# --rows cuts each table of measurements, says how many rows are left, and cuts lists of JSON and CSV alike.
cd "$EXAMPLES/measurements" || exit 1
COLUMNS=80 "$VRAMSCOPE" compare --rows 2 before.json after.json | sed -n '/^$/,$p'
"$VRAMSCOPE" diff -n 2 before.json after.json | sed -n '/^$/,$p' | grep more
"$VRAMSCOPE" compare --json -n 1 before.json after.json |
    python3 -c 'import json, sys; made = json.load(sys.stdin); print(*(len(made[name]) for name in ("times", "figures", "memory")))'
"$VRAMSCOPE" compare --csv -n 3 before.json after.json | cut -d, -f1
