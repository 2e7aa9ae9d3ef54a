# The names of the blocks that pin a segment stand under its row, and under the block to move.
cat >pinned.json <<'END'
{"segments": [{"device": 0, "address": 1099511627776, "total_size": 67108864, "stream": 0, "segment_type": "large", "blocks": [
  {"address": 1099511627776, "size": 4194304, "requested_size": 4194304, "state": "active_allocated", "frames": [{"name": "build", "filename": "/home/u/model.py", "line": 9}]},
  {"address": 1099515822080, "size": 25165824, "requested_size": 0, "state": "inactive", "frames": []},
  {"address": 1099540987904, "size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": [{"name": "build", "filename": "/home/u/model.py", "line": 9}]},
  {"address": 1099543085056, "size": 35651584, "requested_size": 0, "state": "inactive", "frames": []}]},
 {"device": 0, "address": 1102732853248, "total_size": 20971520, "stream": 0, "segment_type": "large", "blocks": [
  {"address": 1102732853248, "size": 6291456, "requested_size": 6291456, "state": "active_allocated", "frames": [{"name": "build", "filename": "/home/u/model.py", "line": 12}]},
  {"address": 1102739144704, "size": 14680064, "requested_size": 0, "state": "inactive", "frames": []}]}],
 "device_traces": [[]],
 "vramscope": {"schema": "vramscope.extra/1", "names": {"time_us": 1, "dropped": 0, "tensors": [
  {"device": 0, "address": 1099511627776, "bytes": 4194304, "kind": "parameter", "name": "model.embed.weight", "shape": [2048, 1024], "dtype": "bfloat16", "of": "Net"},
  {"device": 0, "address": 1099540987904, "bytes": 2097152, "kind": "buffer", "name": "model.\u202emask", "shape": [2048, 1024], "dtype": "bool"},
  {"device": 0, "address": 1102732853248, "bytes": 6291457, "kind": "parameter", "name": "larger.than.its.block", "shape": [6291457], "dtype": "uint8"}]}}}
END
COLUMNS=80 "$VRAMSCOPE" fragments pinned.json
"$VRAMSCOPE" fragments --json pinned.json | grep '"named_'
