# Two devices of one file: the second runs out of memory, and what the first does later is no work.
frames='"frames": [{"name": "forward", "filename": "/home/u/model.py", "line": 7}]'
event() { echo "{\"action\": \"$1\", \"addr\": $2, \"size\": $3, \"stream\": 0, \"time_us\": $4, $frames}"; }
oom='{"action": "oom", "device_free": 512, "size": 8192, "stream": 0, "time_us": 30}'
segment() {
    echo "{\"device\": $1, \"address\": $2, \"total_size\": 2097152, \"stream\": 0,
\"segment_type\": \"small\", \"blocks\": [{\"address\": $2, \"size\": 2097152,
\"requested_size\": 0, \"state\": \"inactive\"}]}"
}
one="$(event segment_alloc 4194304 2097152 10), $(event alloc 4194304 1000 20), $(event free 4194304 1000 40),
$(event alloc 4194304 900000 50), $(event free 4194304 900000 60)"
two="$(event segment_alloc 8388608 2097152 10), $(event alloc 8388608 8000 20), $oom, $(event free 8388608 8000 40)"
echo "{\"segments\": [$(segment 0 4194304), $(segment 1 8388608)], \"device_traces\": [[$one], [$two]]}" >run.json
COLUMNS=80 "$VRAMSCOPE" report run.json
"$VRAMSCOPE" report --json run.json | sed -n '/"ranks"/,$p'
