# A cut file, one without a trace and a ring of one give lower bounds; one that contradicts itself
# gives readings that are not exact.
head -c 100000 "$EXAMPLES/train.pickle" >cut.pickle
segment='"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0,
"segment_type": "small", "blocks": [{"address": 4096, "size": 1024, "requested_size": 1000,
"state": "active_allocated"}, {"address": 5120, "size": 2096128, "requested_size": 0,
"state": "inactive"}]}]'
freed='{"action": "free_completed", "addr": 999424, "size": 512, "stream": 0}'
made='{"action": "alloc", "addr": 4096, "size": 1000, "stream": 0}'
echo "{$segment, \"device_traces\": [[]]}" >state.json
echo "{$segment, \"device_traces\": [[$freed]]}" >ring.json
echo "{$segment, \"device_traces\": [[$made, $made, $freed]]}" >edited.json
cp "$EXAMPLES/oom.pickle" whole.pickle
COLUMNS=100 "$VRAMSCOPE" report cut.pickle state.json ring.json edited.json whole.pickle
COLUMNS=100 "$VRAMSCOPE" report --ascii cut.pickle whole.pickle
