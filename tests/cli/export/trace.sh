cd "$EXAMPLES/traces" || exit 1
"$VRAMSCOPE" export training.pt.trace.json.gz --to folded | sort -t ' ' -k 3 | tail -n 5
"$VRAMSCOPE" export training.pt.trace.json.gz --to folded --weight calls --inverse | grep '^aten::mm'
"$VRAMSCOPE" export training.pt.trace.json.gz --to csv -t steps
"$VRAMSCOPE" export training.pt.trace.json.gz --to chrome | sed -n '1,4p;$p'
"$VRAMSCOPE" export training.pt.trace.json.gz --to html --inverse | grep -o '<title>.*</title>'
"$VRAMSCOPE" export training.pt.trace.json.gz --to html -t paths; echo "$?"
"$VRAMSCOPE" export training.pt.trace.json.gz --to folded --at peak; echo "$?"
"$VRAMSCOPE" export training.pt.trace.json.gz --to json; echo "$?"
"$VRAMSCOPE" export training.pt.trace.json.gz --to sqlite; echo "$?"
