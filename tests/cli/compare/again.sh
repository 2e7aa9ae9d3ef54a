# What A's program differs by when it is measured again is in the intervals, and what a repeat does not tell is said.
cd "$EXAMPLES/measurements" || exit 1
COLUMNS=80 "$VRAMSCOPE" compare --again again.json before.json after.json
# One shift of runs beyond the change; the other repeat lacks data, a clock, values, a condition.
python3 - "$OLDPWD" <<'END'
import json, statistics, sys
def give(row, values):
    """These values, without the figures of those before."""
    for name in ("mean", "deviation", "least", "most", "p95", "p99"):
        del row[name]
    row.update(values=values, count=len(values), median=statistics.median(values))
shifted, unlike = (json.load(open("before.json")) for _ in range(2))
for row in shifted["times"]:
    give(row, [value + 2 for value in row["values"]])
unlike["times"] = [row for row in unlike["times"] if row["name"] != "data"]
for row in unlike["times"]:
    if row["name"] == "copy":
        row["clock"] = "other"
    if row["name"] == "forward":
        give(row, row["values"][:5])
unlike["conditions"]["dtype"] = "bfloat16"
for name, document in (("shifted", shifted), ("unlike", unlike)):
    json.dump(document, open(f"{sys.argv[1]}/{name}.json", "w"))
END
for again in "--again $OLDPWD/shifted.json --again $OLDPWD/unlike.json" "--again $OLDPWD/unlike.json"; do
    COLUMNS=120 "$VRAMSCOPE" compare $again before.json after.json |
        sed -e "s#$OLDPWD/##" -e '/^$/,$!b' -e '/figure/,$d'
done
"$VRAMSCOPE" compare --json --again again.json before.json after.json | sed -n '/"again"/,/"verdict"/p;/"between_runs"/p'
