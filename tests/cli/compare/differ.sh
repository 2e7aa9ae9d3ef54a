# Conditions and clocks that differ stand right under the verdict, and files without values have no interval.
cd "$EXAMPLES/measurements" || exit 1
sed -e 's/"batch_size": 64/"batch_size": 32/' -e 's/"dtype": null/"dtype": "bfloat16"/' \
    -e '/"name": "optimizer"/,/"clock"/s/device/host/' after.json >"$OLDPWD/other.json"
python3 - "$OLDPWD/old.json" <<'END'
import json, sys
document = json.load(open("before.json"))
for row in document["times"]:
    del row["values"]
json.dump(document, open(sys.argv[1], "w"))
END
"$VRAMSCOPE" compare before.json "$OLDPWD/other.json" | sed "s#$OLDPWD/##"
"$VRAMSCOPE" compare "$OLDPWD/old.json" after.json | sed "s#$OLDPWD/##"
