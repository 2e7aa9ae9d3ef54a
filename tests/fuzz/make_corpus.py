#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: tests/fuzz/corpus/TARGET/*, made by hand or from tiny recordings.

Every seed shows one construct of a format, so that a fuzzer need not find it by chance.
The same run gives the same bytes; packed seeds depend on no compressor but zlib.  What fuzzing
finds later is added beside them by hand, under a name that says what it was.
usage: make_corpus.py [FOLDER]
"""
import base64
import json
import pickle
import pickletools
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from recordings import random_program, random_recording, tiny, writers  # noqa: E402

SHAPES = {"plain": tiny.plain, "two-devices": tiny.two_devices, "traces-first": tiny.traces_first, "bare": tiny.bare}
OPTIONS = {"expandable": dict(expandable=True, steps=40), "pools": dict(pools=[(0, 0), (1, 0), (0, 2)], pool_id=True, streams=[0, 7]),
           "torch20": dict(layout="2.0", steps=0, before=12), "torch113": dict(layout="1.13", before=12),
           "strangers": dict(unknown=True, unknown_actions=True, strange=True, shuffle=True),
           "settings": dict(settings=True, divisions=True, annotations=True, compile_context=True, metadata=True),
           "oom": dict(extras=("oom", "snapshot", "annotate"), time=True), "high": dict(high=True, missing=True)}


def recordings():
    for name, make in SHAPES.items():
        yield name, make()
    for k, (name, fixed) in enumerate(OPTIONS.items()):
        base = dict(layout="new", devices=1, gap=False, steps=16, before=3)
        yield name, random_recording.make(9000 + k, **dict(base, **fixed))


HAND_MADE = {
    "global": b"\x80\x02cos\nsystem\n.", "reduce": b"\x80\x02}(X\x01\0\0\0aNR.", "stack-global": b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    "get-before-put": b"\x80\x02}(h\x05Nu.", "put-jump": b"\x80\x02}r\xff\xff\xff\xff(u.", "marks": b"\x80\x02" + b"(" * 100 + b".",
    "lists": b"\x80\x04" + b"](" * 100, "self-list": b"\x80\x04}(\x8c\x01a]\x94h\0au.", "self-dict": b"\x80\x04}\x94(\x8c\x01ah\0u.",
    "long-string": b"\x80\x02}(X\xff\xff\xff\xffab", "string-2-63": b"\x80\x04}(\x8d" + struct.pack("<Q", 1 << 63),
    "frame": b"\x80\x04\x95" + struct.pack("<Q", 2) + b"}.", "integers": b"\x80\x04](I00\nI01\nI-5\nL7L\nK\1M\1\2J\xff\xff\xff\xff\x8a\0\x8a\1\x80\x8a\x09" + b"\xff" * 8 + b"\0\x8b\1\0\0\0\x05G?\xf0\0\0\0\0\0\0F1.5\nN\x88\x89e.",
    "strings": b"\x80\x04](\x8c\1aX\1\0\0\0b\x8d\1\0\0\0\0\0\0\0cV\\u00e9\n)\x85\x86\x87e.", "pops": b"\x80\x04N0(NN1}\x94}(h\0h\0u0.",
    "text": b"(dp0\nVsegments\np1\n(lp2\ns.", "two-values": b"\x80\x02}}.", "two-pickles": b"\x80\x02}.\x80\x02}.", "late": b"\x80\x02}q\0(h\0h\0uX\1\0\0\0aNs.",
    "negative": writers.pickled(tiny.top([], [tiny.event("alloc", -4096, -1), tiny.event("alloc", 2**64 - 1, 2**63, 1.5)]), 4)}

HAND_JSON = {
    "empty": b"{}", "list": b"[]", "escapes": b'{"\\u0061\\n\\"\\\\\\/\\ud83d\\ude00\\ud800": "\\u0000"}',
    "numbers": b'{"segments":[{"device":0,"address":1e3,"total_size":-0,"blocks":[],"x":1.5E-7,"y":18446744073709551615,"z":123456789012345678901234567890}]}',
    "words": b' \t\r\n{"a":[true,false,null,[],{}]} \n', "deep": b"[" * 100, "cut": b'{"segments":[{"device":0,"addr', "bad": b'{"a":nul}', "comma": b"[1,,2]",
    "not-numbers": b"[1e400, -0.5E-3, NaN, -Infinity]", "surrogates": rb'{"device_traces": [[{"action": "\ud83d\ude00\ud83d\/\n\"", "size": 1.5e3}]]}',
    "indented": b"\xef\xbb\xbf\n" + json.dumps(tiny.bare(), indent=1).encode()}

# Each member of a measurement, and what may be wrong with one.
MEASURED = b'{"schema":"vramscope.measurement/1","tool":"1.0.0","what":"training","times":[%s],"phases":[%s],"figures":[%s],"conditions":{%s},"notes":[]}'
TIME = b'{"name":"step","unit":"ms","clock":"device","count":7,"median":2.5,"values":[1,2,2.5,3e0,0.25,4,5]}'
PHASE = b'{"path":["a","b"],"device":0,"peak_bytes":4096,"peak_delta_bytes":null}'
FIGURE = b'{"name":"throughput","unit":"samples/s","clock":null,"value":64.5}'
UNDER = b'"model":"Net","batch_size":64,"input_shape":[3,32],"cudnn_benchmark":true,"gpu":null'
WHOLE = MEASURED % (TIME, PHASE, FIGURE, UNDER)
HAND_MEASURED = {
    "whole": WHOLE, "empty": MEASURED % (b"", b"", b"", b""), "diagnosis": b'{"schema":"vramscope.diagnosis/1","x":[{}],"measurement":' + WHOLE + b"}",
    "without-values": MEASURED % (TIME.replace(b',"values":[1,2,2.5,3e0,0.25,4,5]', b""), b"", b"", b""),
    "huge": MEASURED % (TIME.replace(b"3e0", b"1e308"), b"", FIGURE.replace(b"64.5", b"1e308"), b""), "infinite": MEASURED % (TIME.replace(b"3e0", b"1e999"), b"", b"", b""),
    "not-a-number": MEASURED % (TIME.replace(b"3e0", b"NaN"), b"", b"", b""), "twice": MEASURED % (TIME + b"," + TIME, b"", b"", b""),
    "null": MEASURED % (TIME.replace(b"2.5,", b"null,", 1), b"", b"", b""), "cut": WHOLE[:200], "other": WHOLE.replace(b"ment/1", b"ment/2"),
    "escapes": WHOLE.replace(b'"step"', rb'"\u001b[2J\ud800"'),
    "stated": MEASURED % (TIME.replace(b'"values"', b'"mean":2.5357142857142856,"deviation":1.526132901372964,"least":0.25,"most":5,"p95":4.7,"p99":4.94,"values"'), b"", b"", b""),
    "other-median": MEASURED % (TIME.replace(b"2.5,", b"2.25,", 1), b"", b"", b""), "other-count": MEASURED % (TIME.replace(b":7,", b":8,"), b"", b"", b""),
    "low-least": MEASURED % (TIME.replace(b'"values"', b'"least":3,"values"'), b"", b"", b""),
    "high-delta": MEASURED % (b"", PHASE.replace(b"null", b"4097"), b"", b"")}

# Each kind of damage that a trace is read past, and the forms of a good one.
EVENT = b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":"stream 7","ts":5.25,"dur":3,"args":{"External id":7,"Input Dims":[[2,3],[]]}}'
HAND_TRACES = {
    "object": b'{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"T4"}],"traceEvents":[' + EVENT + b'],"distributedInfo":{"rank":1},"with_stack":1}',
    "list": b'\xef\xbb\xbf[' + EVENT + b',{"ph":"s","id":1,"ts":"6"},{"ph":"i","name":"[memory]","ts":7,"args":{"Bytes":-5,"Addr":99}},{"ph":"M","name":"process_name","pid":1,"args":{"name":"CANN"}}]',
    "two-lists": b'{"traceEvents":[' + EVENT + b',{}],"traceEvents":[' + EVENT + b']}', "escape": b'[{"ph":"X","name":"C:\\cuda\\","ts":1,"args":{"d":"D:\\"}}]',
    "control": b'[{"ph":"X","name":"a\nb\x01","ts":1}]', "utf8": b'[{"ph":"X","name":"\xff\xc3\xa4\xed\xa0\x80","ts":1}]',
    "quotes": b'[{"ph":"X","name":"say "hi", "you"","ts":1,"args":{"Src":"f("a")","External id":7}}]', "half-name": b'[{"ph":"X","name":"half,\n' + EVENT + b']',
    "commas": b'[,' + EVENT + EVENT + b',,{"ph":"X" "name":"n","ts":1,,"args":{"a":[1,],},},]', "stray": b'[' + EVENT + b'," {"ph":"X"","ts":5},' + EVENT + b']',
    "words": b'[{"ph":"X","ts":-nan(ind),"dur":N/A,"args":{"a":,"b":NaN,"c":0x1f,"d":01}}]', "deep": b'[{"ph":"X","ts":1,"args":{"a":' + b"[" * 300 + b"]" * 300 + b"}}]",
    "no-end": b'{"traceEvents":[' + EVENT + b"}", "cut": b'{"traceEvents":[' + EVENT + b',{"ph":"X","na', "beyond": b'{"traceEvents":[{"ph":1 2,"args":{"a":[[1],2]}}],"traceName":"x","with_stack":1}',
    "header": b'{"path":"C:\\cuda","traceEvents" : [' + EVENT + b'],"x":01}', "garbage": b"[" + EVENT + b", #!garbage [1,{] " + EVENT + b"]",
    "no-numbers": b'[{"ph":"X","ts":1,"dur":Infinity},{"ph":"X","ts":NaN,"dur":"Infinity"},{"ph":"X","ts":1e400,"dur":1e400}]', "two-files": b"[" + EVENT + b"]\n[" + EVENT + b"]",
    "gzip-damage": bytes.fromhex("1f8b080000005d00fc5ddbff7f0000fc5d"), "category": b'[{"ph":"X","cat":"M\xefR","ts":0}]',
    "gzip-checksum": writers.gzipped(b"[" + EVENT + b"]")[:-8] + bytes(8) + writers.gzipped(b""), "gzip-junk": writers.gzipped(b"[" + EVENT + b"]") + b"\0junk",
    "gzip-early": writers.gzipped(b"[" + EVENT + b"]")[:30], "zstd-junk": writers.zstd(b"[" + EVENT + b"]", program=False) + b"some junk",
    "zstd-checksum": bytes.fromhex("28b52ffd04589900005b7b227068223a2258222c227473223a317d5dbff79fe6") + writers.zstd(b"\n", program=False),  # of [{"ph":"X","ts":1}]
    "half-pair": b'[{"ph":"X","name":"\\ud83d","ts":1,"args":{"a":N/A}}]',
    "range": b'[{"ph":"X","ts":1e30,"dur":-1},{"ph":"X","ts":-9223372036854775.808,"dur":1e19},{"ph":"f","ts":0,"id":123456789012345678901234567890}]'}

# Both forms of memory timelines, and rows that are none.
HAND_TIMELINES = {
    "states": b"[[5, 5, 7.25], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9, 0, 0, 0, -1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]]",
    "states-damage": b'[[1, "x", 3, NaN, 2, 6, 7], [[0, 1, 2, 3, 4, 5, 6, 7], [0], [1, 0, 0, 0, 0, 0, 0, 0, 0], 5, [0, 9, 0, 0, 0, 0, 0, 0, 9223372036854775807], '
                     b'[0, 0, 0, 0, 0, 0, 0, 0, [1]], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]], [8], {"a": [1]}] x',
    "events": b"[[-1, 1, 4096, 0], [5, 2, 100, 3], [5, 3, -100, 3], [5, 3, 100, 4], [9, 4, -100, 4], [9, 4, -9, 7]]",
    "events-damage": b'[[5, 2, 9223372036854775807, 0], [6, 2, 1, 1], [7, 0, 1, 1], [8, 5, 1, 1], [9, 2, 1, 8], [9, 2, 1.5, 1], [9, 2], [3, 2, 1, 1, 1], '
                     b'[3, 4, -7, 1], [-1, 1, 1, 1], [9, [2], 1, 1], null, "x", {"a": []}, [99999999999999999999, 2, 1, 1]]',
    "lone-event": b"[[5, 2, 100, 3]]", "no-states": b"[[],[]]", "least-action": b"[[5, -9223372036854775808, 1, 1], [6, 2, 1, 1]]", "late-events": b'[[5, 2, 1, 1], ["x"], [6, 2, 1, 1]]', "times-cut": b"[[1, 2, 3",
    "timeline-gzip": writers.gzipped(b"[[5, 2, 100, 3], [6, 4, -100, 3]]")}

# A byte that says which part of a trace is written (see fuzz_rewrite.c), then the trace.
STEPS = b"[" + b",".join(
    b'{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":2,"ts":%d,"dur":10},'
    b'{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":%d.5,"dur":1,"args":{"correlation":%d}},'
    b'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":4,"args":{"correlation":%d}},'
    b'{"ph":"s","id":%d,"cat":"ac2g","pid":1,"tid":2,"ts":%d.5},{"ph":"f","id":%d,"cat":"ac2g","pid":0,"tid":7,"ts":%d},'
    b'{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":2,"ts":%d,"dur":9},'
    b'{"ph":"i","name":"[memory]","pid":1,"tid":2,"ts":%d,"args":{"Bytes":512,"Addr":1,"Device Type":1}}'
    % (i, t, t, i + 1, t + 5, i + 1, i, t, i, t + 5, t, t) for i, t in enumerate((0, 10, 20))) + b"]"
HAND_SLICES = dict({name: b"\0" + data for name, data in HAND_TRACES.items()},
                   **{"steps": b"\1" + STEPS, "one-step": b"\x29" + STEPS, "no-python": b"\6" + STEPS, "no-step": b"\x19" + STEPS})

HAND_PEEKS = {
    "states": b" [ [\n5], [[0]]]", "events": writers.gzipped(b"[[-1, 1, 4096, 0]]"), "lists": b'[["a"]]',
    "trace": b'{"schemaVersion":1,"traceEvents":[]}', "list": b"\xef\xbb\xbf [" + EVENT + b"]", "snapshot": b'{"segments": [], "device_traces": []}',
    "late": writers.gzipped(b'{"x":"' + b"y" * 66000 + b'","traceEvents":[]}'),
    "at-the-edge": writers.gzipped(b'{"x":"' + b"y" * 65512 + b'","traceEvents" \n:[]}'), "blanks": writers.gzipped(b" " * 70000 + b"[]"),
    "quoted": b'{"a":"\\"traceEvents\\":","segments":[]}', "gzip": writers.gzipped(b'{"traceEvents":[' + EVENT + b"]}"), "pickle": b"\x80\x04}.",
    "gzip-cut": writers.gzipped(b'{"traceEvents":[' + EVENT + b"]}")[:30], "zstd": writers.zstd(b'{"ph":1}', program=False), "nothing": b""}

HAND_SETTINGS = {
    "sizes": b"max_split_size_mb:128,max_non_split_rounding_mb:40,large_segment_size_mb:32", "small-segments": b"max_split_size_mb:12,large_segment_size_mb:12",
    "shares": b"garbage_collection_threshold:0.8,per_process_memory_fraction:5e-1", "booleans": b"expandable_segments:True,throw_on_cudamalloc_oom:False,",
    "division": b"roundup_power2_divisions:8", "divisions": b"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "divisions-open": b"roundup_power2_divisions:[>:8,4:2,", "host": b"pinned_num_register_threads:8,pinned_use_cuda_host_register:True,pinned_max_cached_size_mb:64",
    "reserve": b"expandable_segments_reserve:40G,expandable_segments_reserve_by_class:[small:4G,large:0.5]", "backends": b"backend:native,backend:cudaMallocAsync,page_size:1g",
    "blanks": b" max_split_size_mb : 6 4 ,\texpandable_segments:\nFalse", "misspelt": b"max_split_mb:64,expandable_segments:true", "marks": b",:[]][:,,[",
    "numbers": b"max_split_size_mb:18446744073709551615,max_non_split_rounding_mb:18446744073709551616,garbage_collection_threshold:nan"}

# Each key with its operators, then what is wrong in one way each.
HAND_RULES = {
    "frames": b"rule a kv_cache medium\n  alloc.owner ~* cache\n  alloc.culprit !~ train\\.py:[0-9]+ main$\nrule b input low\n"
              b"  alloc.any = C:/user/model.py:forward\n  alloc.native ~ at::_ops\n  free.any ~ :zero_grad$|x{2,3}\n  free.native !~ .\n",
    "phases": b"rule a activation high\n\tborn = forward recompute\n\tdies = same_interval backward\n\tbefore = optimizer\n\tawaits = backward\n\tsurvives = data other init zero_grad\n",
    "numbers": b"rule a buffer low\n  size >= 1KiB\n  size < 17179869183 GiB\n  life_events < 9\n  life_steps = 0\n  stream = 0\n  pool >= 0\n",
    "words": b"rule a unknown high # all of it\r\n  origin = traced pre_freed pre_live\r\n  alive_at_end = yes no\r\n  replaces = no\r\n  replaced = no\r\n",
    "multiset": b"rule a parameter low\n  size in_multiset gradient\nrule b buffer low\n  size not_in_multiset gradient\n",
    "settings": b"# mine\n\nset user_root = /home/user\nplumbing = kv_cache.py\nplumbing = model\nrule a inherited low\n  replaces = yes\nrule b split low\n",
    "classes": b"rule a kv_cache low\n  alloc.any ~* (^|/)[^/:]*[[:alpha:]_.-]+:(__)?[]a-z]{1,9}(__)?$\nrule b input low\n  alloc.any ~ ((a|b)*c?)+\\.py\n",
    "unicode": "rule a persistent low\n  alloc.any ~ modèle|\u2028|\U0001f600\n".encode(), "no-category": b"rule a cache high\n", "no-rule": b"  born = forward\n",
    "no-key": b"rule a input high\n  alloc.\x1b[31mred ~ x\n", "no-value": b"rule a input high\n  dies =\n", "bracket": b"rule a input high\n  free.any ~ [[:a\n",
    "back-reference": b"rule a input high\n  alloc.any ~ (.*)(.*)(.*)\\3\\2\\1z\n", "far-apart": b"rule a input high\n  alloc.any ~ (.|x)*a.{100}c\n",
    "endless": b"rule a input high\n  alloc.any ~ (\\w+[ :./]*)+[!;]\n", "recursion": b"rule a input high\n  alloc.any ~ [](?R)]\\Q(?R)\\E(?#[)(?R)\n",
    "dialect": b"rule a input high\n  alloc.any ~ ^(?<n>[^\\]/:[:digit:]]*+/)*+(?i:(?=.*py)(?!x)\\<model\\>)\\Q.\\Epy\nrule b input high\n  alloc.owner ~ (?x) \\d\\s | (?(?=a)ab|c)\n"}

HAND_LIMITS = {
    "sizes": b"max-peak = 24GiB\nmax-peak-active=1.5 MB\nmax-reserved = 4096\nmax-end = 0\nmax-stranded = 1tib\nmax-slack = 0.000001GiB\nmax-pending = 2b\n",
    "shares": b"max-peak = 105%\nmax-end = 99.999999 %\nmax-unknown-share = 25%\ntolerance = 0.5%\nmax-delta = 10%\n",
    "steps": b"max-growth-per-step = 1MiB\nmax-step-peak = 1KiB\n", "flags": b"no-oom\nno-retry = true\n# no more\n",
    "subjects": b"max-category activation=8GiB\nmax-category = activation=8GiB\nmax-category = kv_cache=10%\nmax-device-peak = 0=24GiB\nmax-device-peak = 4294967295=1\n",
    "sites": b"max-site = model\\.py:[0-9]+=2GiB\nmax-site = (a|b)=c=1KiB\nmax-site = [=]=1\nmax-site = \x1b]0;x=1\n",
    "baseline": b"max-delta = 1MiB\nmax-site-delta = 2\nno-new-site = 3KiB\ntolerance = 1KiB\n", "headroom": b"headroom = 1GiB\r\ncapacity = 80 GB\r\n",
    "twice": b"max-peak = 1\nmax-peak = 2 # later\n", "mark": b"\xef\xbb\xbfmax-end = 1\n", "not-text": b"max-peak = \xff\xfe1\n", "misspelt": b"max_peak = 1GiB\n",
    "too-large": b"max-peak = 9223372036854775808\n", "no-value": b"max-peak\n", "no-subject": b"max-category = 8GiB\n",
    "back-reference": b"max-site = (.*)(.*)(.*)\\3\\2\\1z=1\n", "far-apart": b"max-site = (.|x)*a.{100}c=1\n",
    "endless": b"max-site = (\\w+[ :./]*)+[!;]=1\n"}

# Every wording that PyTorch has had.
HAND_MESSAGES = {
    "now": b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.10 GiB of which 10.94 MiB is free. Process 4711 has "
           b"3.00 GiB memory in use. Including non-PyTorch memory, this process has 78.92 GiB memory in use. 40.00 GiB allowed; Of the allocated memory 71.20 GiB is allocated "
           b"by PyTorch, with 1.50 GiB allocated in private pools (e.g., CUDA Graphs), and 6.31 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is "
           b"large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
    "before": b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 1; 10.76 GiB total capacity; 9.71 GiB already allocated; 0 bytes free; 9.80 GiB reserved in total by PyTorch)",
    "oldest": b"CUDA out of memory. Tried to allocate 1.5KiB (GPU 12; 2.00 TiB total capacity; 1.00 GiB already allocated; 10.00 MiB free; 5.00 MiB cached)",
    "capacty": b"GPU 0 has a total capacty of 14.75 GiB of which 832.81 MiB is free. Process 12 has 13.93 GiB memory in use.",
    "preemptive": b"Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 1.00 GiB\nRequested size:\t20.00 MiB\npreemptively rejected",
    "broken": b"| CUDA out of memory. Tried to\r\n| allocate\n  2.00\n MiB. GPU\t0 has a\x0btotal capacity of 1 GiB", "several": b"Process 1 has 1 GiB Process 2 has 9.5 GiB process 333333333333 has 2 GiB",
    "numbers": b"99999999999999999999 GiB free 1.2.3 GiB free .5 GiB free 5. GiB free 1e9 GiB free 5 GB free 1.0000000000000000001 TiB free", "nothing": b"it does not work"}

# Six bytes of settings, one of direction, then operations: see fuzz_allocator.c.
OPERATIONS = {
    "plain": bytes(7) + bytes([0x09, 0, 9, 0x11, 0, 9, 0, 0x0a, 0, 0x0c, 0x09, 0, 0, 7] * 8),
    "expandable": b"\1" + bytes(6) + bytes([0x10, 2, 128, 0x10, 0, 3, 0, 0x12, 0, 4, 0x10, 0, 5, 0x36, 0x10, 0, 9, 9] * 6),
    "max-split": b"\4\0\1" + bytes(4) + bytes([0x10, 2, 200, 0x10, 0, 4, 0, 0x12, 1, 0x36, 0, 0x10, 0, 4, 8] * 6),
    "collecting": b"\x10" + bytes(4) + b"\x80\0" + bytes([0x26, 0x10, 3, 0, 0x10, 0, 3, 1, 0x12, 1, 0x12, 0, 0x10, 4, 0] * 6),
    "waiting": bytes(6) + b"\1" + bytes([0x10, 2, 0, 0x10, 0, 2, 0, 0x13, 0, 0x13, 1, 0x0e, 0, 0x10, 1, 2, 0, 4, 0] * 6),
    "lanes": b"\x21\2" + bytes(5) + bytes([0x05, 0xff, 0x0d, 0, 0x15, 0, 0x25, 0, 0x10, 0, 2, 0, 0x07, 0, 4, 0, 0x0a, 0] * 6)}


def many_alike(events, frame_bytes):
    """A trace long enough that a scout reads ahead in it; FRAMEs fall inside events."""
    stacks = [[{"filename": "train.py", "name": "step", "line": line + n} for n in range(4)] for line in (1, 9)]
    trace = [dict(tiny.event("alloc" if i % 2 == 0 else "free_requested", 0x7f0000000000 + i // 2 * 512, 512, i),
                  frames=stacks[0] if i % 4 == 3 else list(stacks[i % 2]) if i % 7 else [],
                  compile_context="%s/%s" % ("0", 1) if i % 5 == 0 else "N/%s" % "A")
             for i in range(events)]
    plain = pickle.dumps(tiny.top([], trace), 4)
    if frame_bytes == 0:
        return plain
    places = [place for _, _, place in pickletools.genops(plain)][2:] + [len(plain)]
    out, begin = b"\x80\x04", places[0]
    for place in places:
        if place - begin >= frame_bytes or place == len(plain):
            out += b"\x95" + struct.pack("<Q", place - begin) + plain[begin:place]
            begin = place
    return out


def seeds():
    """(target, name, bytes)"""
    for name, data in HAND_MADE.items():
        yield "pickle", name, data
    for name, data in HAND_JSON.items():
        yield "json", name, data
    for name, data in HAND_MEASURED.items():
        yield "measurement", name, data
    for name, data in HAND_TRACES.items():
        yield "trace", name, data
    for name, data in HAND_TIMELINES.items():
        yield "trace", name, data
    for name, data in HAND_SLICES.items():
        yield "rewrite", name, data
    for name, data in HAND_PEEKS.items():
        yield "peek", name, data
    for name, data in HAND_SETTINGS.items():
        yield "settings", name, data
    for target, texts in (("rules", HAND_RULES), ("budget", HAND_LIMITS), ("message", HAND_MESSAGES)):
        for name, data in texts.items():
            yield target, name, data
    for name, data in OPERATIONS.items():
        yield "allocator", name, data
    for k in range(8):
        yield "replay", "program-%d" % k, writers.pickled(random_program.make(k, steps=60).snapshot, 4)
    for name, top in recordings():
        for protocol in (0, 2, 4) if name != "plain" else range(6):
            yield "pickle", "%s-p%d" % (name, protocol), writers.pickled(top, protocol)
        yield "pickle", name + "-cpp", writers.cpp(top)
        yield "json", name, writers.as_json(top)
    p4, text = writers.pickled(tiny.plain(), 4), writers.as_json(tiny.plain())
    yield "html", "one", writers.page([("snapshot.pickle", p4)])
    yield "html", "several", writers.page([("a", p4), ("a", writers.cpp(tiny.bare())), (None, writers.pickled(tiny.bare(), 1))])
    yield "html", "refused", writers.page([("a", p4), ("b", HAND_MADE["global"])])
    yield "html", "nameless", writers.page([(None, p4), (None, b"not a pickle"), (None, p4[:40])])
    yield "html", "name-after", b'<html>[{"base64": "' + base64.b64encode(p4) + b'", "name": "b"}]'
    yield "html", "escaped", writers.page([('a "name"', p4)]).replace(b"/", b"\\/")
    yield "html", "packed-inside", writers.page([("gzip", writers.gzipped(p4))])
    yield "html", "cut", writers.page([("a", p4)])[:-200]
    yield "html", "none", b"<!DOCTYPE html><html></html>"
    yield "html", "spaces", b'<html>[{"name" : "x\\u0041\\"", "base64"\n:\t"gASVAgAAAAAAAAB9Lg=="}, {"base64":"gAR9Lg"}, {"base64": "%%"}]'
    for target, packed in (("gzip", writers.gzipped), ("zstd", lambda d, n=1: writers.zstd(d, n, program=False))):
        yield target, "plain", packed(p4)
        yield target, "parts", packed(p4, 3)
        yield target, "json", packed(text)
        yield target, "cut", packed(p4)[:-60]
        yield target, "empty", packed(b"")
        yield target, "twice", packed(packed(p4))
        yield target, "trailing", packed(p4) + b"\0\0\0junk"
        yield target, "padded", packed(p4) + bytes(100)
        yield target, "page", packed(writers.page([("a", p4)]))
        yield target, "trailer-cut", packed(p4)[:-5]
    yield "gzip", "checksum", writers.gzipped(p4)[:-8] + bytes(4) + writers.gzipped(p4)[-4:]
    yield "pickle", "ahead", many_alike(120, 0)
    yield "pickle", "ahead-frames", many_alike(120, 700)
    yield "pickle", "cut", p4[:len(p4) * 2 // 3]
    yield "pickle", "trailing", p4 + bytes(3)
    yield "gzip", "fields", b"\x1f\x8b\x08\x1e" + b"\0" * 6 + b"\2\0xyname\0comment\0" + b"\0\0" + writers.gzipped(p4)[10:]
    yield "zstd", "skippable", writers.zstd(p4, 2, notes=True, program=False)
    yield "zstd", "run", writers.raw_frame(b"\x80\x04}(\x8c\1a](", [(b"N", 4096)])
    yield "zstd", "gzip-inside", writers.zstd(writers.gzipped(p4), program=False)
    yield "zstd", "legacy", writers.skippable() + b"\x27\xb5\x2f\xfd" + bytes(8)
    yield "zstd", "raw-deflate", zlib.compress(p4)
    yield "zstd", "window", struct.pack("<IBB", 0xFD2FB528, 0, 18 << 3) + b"\1\0\0"
    yield "zstd", "dictionary", struct.pack("<IBBB", 0xFD2FB528, 1, 56, 77) + b"\1\0\0"


def main(argv):
    root = Path(argv[0]) if argv else Path(__file__).resolve().parent / "corpus"
    total = 0
    for target, name, data in seeds():
        (root / target).mkdir(parents=True, exist_ok=True)
        (root / target / name).write_bytes(data)
        total += len(data)
    print("%d bytes under %s" % (total, root))
    return 0 if total < 400_000 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
