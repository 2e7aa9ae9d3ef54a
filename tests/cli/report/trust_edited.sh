# Checks that fail say where; names of a stranger are escaped.
segment='"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "allocated_size": 7,
"stream": 0, "segment_type": "small", "hover\u001bcraft": 1, "blocks": [{"address": 4096,
"size": 1024, "requested_size": 1000, "state": "active_allocated"}, {"address": 5120,
"size": 2096128, "requested_size": 0, "state": "inactive"}]}]'
made='{"action": "alloc", "addr": 4096, "size": 1000, "stream": 0}'
far='{"action": "alloc", "addr": 99328, "size": 3000000, "stream": 0}'
odd='{"action": "dance\u202e", "addr": 4096, "size": 1000, "stream": 0}'
settings='"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "gc:\u001b[31m", "max_split_size": -1,
"garbage_collection_threshold": 0.8, "expandable_segments": true,
"roundup_power2_divisions": {"1": 0, "2": 0, "4": 8}}'
echo "{$segment, \"device_traces\": [[$made, $made, $far, $odd]], $settings}" >edited.json
echo "{$segment, \"device_traces\": [[]]}" >state.json
COLUMNS=80 "$VRAMSCOPE" report --trust edited.json
COLUMNS=80 "$VRAMSCOPE" report --trust --ascii state.json
"$VRAMSCOPE" report --trust --json edited.json
