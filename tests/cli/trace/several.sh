# Two files are a set, in the order of their paths.
cp "$EXAMPLES/traces/training.pt.trace.json.gz" b.json.gz
printf "[{\"name\": \"a\", \"ph\": \"X\", \"ts\": 1, \"dur\": 3, \"pid\": 1, \"tid\": 1}]" > a.json
"$VRAMSCOPE" trace -n 1 b.json.gz a.json
