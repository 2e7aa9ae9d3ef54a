# Names of memory are the last columns; what a spreadsheet takes for a formula gets an apostrophe.
cat >named.json <<'END'
{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [
  {"address": 4096, "size": 1024, "requested_size": 800, "state": "active_allocated", "frames": []},
  {"address": 5120, "size": 1024, "requested_size": 800, "state": "active_allocated", "frames": []},
  {"address": 6144, "size": 2095104, "requested_size": 0, "state": "inactive", "frames": []}]}],
 "device_traces": [[]],
 "vramscope": {"schema": "vramscope.extra/1", "names": {"time_us": 1, "dropped": 0, "tensors": [
  {"device": 0, "address": 4096, "bytes": 800, "kind": "gradient", "name": "=cmd(\"a\", b)", "shape": [200], "dtype": "float32"},
  {"device": 0, "address": 5120, "bytes": 4, "kind": "tensor", "name": "loss", "shape": []}]}}}
END
"$VRAMSCOPE" export named.json --to csv
"$VRAMSCOPE" export named.json --to csv -t blocks
"$VRAMSCOPE" export named.json --to json -t blocks | grep '"block"'
