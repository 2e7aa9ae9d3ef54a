# Two kernels, 40 us apart, and a launch that is late for the second: the gap is the host's up to it.
cat > run.json <<E
{"deviceProperties": [{"id": 0, "name": "A card"}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 8, "args": {"External id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"External id": 1, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 30, "args": {"External id": 1, "correlation": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": 1, "tid": 1, "ts": 30, "dur": 25, "args": {"External id": 2}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 60, "dur": 15, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 65, "dur": 5, "args": {"External id": 3, "correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 7, "ts": 80, "dur": 20, "args": {"External id": 3, "correlation": 2}}]}
E
COLUMNS=80 "$VRAMSCOPE" trace run.json
"$VRAMSCOPE" trace --gaps --kernels --calls run.json
