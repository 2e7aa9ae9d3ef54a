"""`peak` on real files: the figures of the specification, beside sums over the live set."""
import json
import re
from collections import Counter, defaultdict

import pytest
from models import model, reader

from recordings import scripts
from conftest import ROOT, run

# line of update_nodes -> (bytes, allocations)
UPDATE_NODES = {174: (31867719984, 12), 181: (26543472640, 5), 176: (15926083584, 12), 178: (5308694528, 1),
                194: (3333632000, 5), 195: (666726400, 5), 184: (6480340, 5), 199: (651100, 5)}


def peak(path, *options, device=0):
    doc = run("peak", "--json", *options, path, expect=0).json()
    return next(d for d in doc["devices"] if d["device"] == device)["result"]


def file_of(shared, name):
    return shared / "data" / "snapshots" / name


def live_at(path, event, device=0):
    d, = (d for d in model.devices(reader.load(path.read_bytes())[0]) if d.number == device)
    return [a for a in d.allocations if a.a <= event < a.fc]


def share(bytes_, whole):
    return "%.1f" % (100 * bytes_ / whole)


def test_one_function_before_the_oom(shared):
    path = file_of(shared, "three_gpu_expandable_oom.pickle")
    result = peak(path, "--at", "420", device=1)
    assert result["total_bytes"] == 84063351764 and sum(r["count"] for r in result["rows"]) == 111
    found = {}
    for row in result["rows"]:
        line = re.fullmatch(r"models\.py:(\d+) update_nodes", row["name"])
        if line:
            found[int(line[1])] = row["bytes"], row["count"]
    assert found == UPDATE_NODES and sum(b for b, _ in found.values()) == 83653460576
    # The stacks say the same.
    live, lines = live_at(path, 420, 1), {}
    assert (len(live), sum(a.req for a in live)) == (111, 84063351764)
    for a in live:
        for f in a.frames:
            if f["name"] == "update_nodes":
                size, count = lines.get(f["line"], (0, 0))
                lines[f["line"]] = size + a.req, count + 1
                break
    assert lines == UPDATE_NODES
    assert peak(path, device=1)["at_event"] == 420


def test_a_quarter_each(shared):
    path = file_of(shared, "lm_fullstep_from_start.pickle")
    result = peak(path)
    assert (result["at_event"], result["total_bytes"]) == (19763, 54802667524)
    shares = {r["name"]: share(r["bytes"], result["total_bytes"]) for r in result["rows"]}
    assert [shares.get(n) for n in ("optimizers.py:82 step", "optimizers.py:84 step", "autograd:BmmBackward0")] == ["24.9", "24.9", "24.7"]
    bare = sum(a.req for a in live_at(path, 19763) if not a.frames)
    assert share(bare, result["total_bytes"]) == "24.9"
    assert bare == 13627238400 + 1314816
    split = {r["name"]: r["bytes"] for r in result["rows"] if r["name"].startswith("(no stack)")}
    assert split == {"(no stack) parameter": 13627238400, "(no stack) buffer": 1314816}


def test_most_of_a_peak_without_python(shared):
    path = file_of(shared, "peak_memory_probe.pickle")
    result = peak(path)
    live = live_at(path, result["at_event"])
    total = sum(a.req for a in live)
    assert total == result["total_bytes"]
    no_python = sum(a.req for a in live if not any(f["filename"].endswith(".py") for f in a.frames))
    assert share(no_python, total) == "82.9"
    rows = {r["name"]: r["bytes"] for r in result["rows"]}
    assert share(rows["autograd:DivBackward0"], total) == "66.1"
    assert share(sum(b for n, b in rows.items() if n.startswith(("autograd:", "native:", "(no stack)"))), total) == "82.9"


# What has no stack --------------------------------------------------------------------------

SPLIT = "culprit", "owner", "file", "function", "module"


def told_apart(path, event, device=0):
    """category (None: neither a rule nor the split tells) -> the sizes of what has no stack, by the table of allocations."""
    rows = json.loads(run("export", path, "--to", "json", expect=0).raw)["tables"]["allocations"]
    found = defaultdict(list)
    for r in rows:
        begin, end = r["alloc_event"], r["free_completed_event"]
        if r["device"] == device and r["stack"] is None and (begin is None or begin <= event) and (end is None or end > event):
            decided = r["confidence"] in ("high", "medium") and r["category"] not in ("unknown", "persistent")
            found[r["category"] if decided else None].append(r["bytes"])
    return found


def check_split(path, result, device=0):
    want = told_apart(path, result["at_event"], device)
    rows = {r["name"]: r for r in result["rows"] if r["name"].startswith("(no stack)")}
    assert {n: (r["bytes"], r["count"]) for n, r in rows.items()} == {
        "(no stack)" + (" " + c if c else ""): (sum(sizes), len(sizes)) for c, sizes in want.items()}
    for name, row in rows.items():
        if name != "(no stack)":
            assert "sizes" not in row and row["category"] == name.split()[2]
            continue
        sizes = sorted(Counter(want[None]).items(), key=lambda x: (-x[0] * x[1], -x[0]))
        assert [(s["bytes"], s["count"]) for s in row["sizes"]] == sizes[:8]
    return rows


@pytest.mark.parametrize("by", SPLIT)
@pytest.mark.parametrize("name", ("lm_train_full", "lm_compile_adamw", "lm_large_fwd_nograd", "no_frames_no_trace"))
def test_no_stack_is_split(shared, name, by):
    path = file_of(shared, name + ".pickle")
    check_split(path, peak(path, "--by", by))


def test_splits_reach_the_last_byte(shared):
    """8.4, as rows: four copies of the parameters of lm_compile_adamw, two workspaces, a buffer."""
    path = file_of(shared, "lm_compile_adamw.pickle")
    rows = check_split(path, peak(path, "--at", "start"))
    assert {n[11:]: r["bytes"] for n, r in rows.items()} == {
        "parameter": 761840640, "gradient": 761840640, "optimizer_state": 2 * 761840640, "workspace": 2 * 8519680, "buffer": 16384}


@pytest.mark.parametrize("name", ("late_streams", "state_only", "train"))
def test_no_stack_of_scripts(name):
    path = scripts.make(name)
    for by in SPLIT:
        result = peak(path, "--by", by)
        check_split(path, result)
        assert sum(r["bytes"] for r in result["rows"]) + result["adjust_bytes"] == result["total_bytes"]


def test_sizes_of_what_nothing_tells():
    script = "no_stacks\n" + "".join("alloc a%d %dKiB\n" % (i, 4 << i % 10) for i in range(40))
    path = scripts.make(script)
    row, = peak(path)["rows"]
    assert [(s["bytes"], s["count"]) for s in row["sizes"]] == [(4096 << i, 4) for i in range(9, 1, -1)]
    text = run("peak", path, expect=0).out
    assert "sizes: 4 of 2.00 MiB, 4 of 1.00 MiB, 4 of 512.00 KiB" in text and "8 in 2 more" in " ".join(text.split())
    # Sites without a stack are sizes, and other groupings need no stack.
    for by in ("site", "size", "stream", "age"):
        assert not any("sizes" in r or r["name"].startswith("(no stack)") for r in peak(path, "--by", by)["rows"]), by


@pytest.mark.parametrize("name", ("fragmentation", "leak", "oom", "train"))
def test_slack_is_known_where_the_replay_is_exact(name):
    """Of every row, and together what the blocks hold beyond the bytes that were asked for."""
    path = ROOT / "examples" / (name + ".pickle")
    told = 0
    for at in ("peak", "start", "end"):
        for device in run("peak", "--json", "--replay", "always", "--at", at, path, expect=0).json()["devices"]:
            result = device["result"]
            if not result["block_bytes_exact"]:
                continue
            slack = [row["slack_bytes"] for row in result["rows"]]
            assert None not in slack
            assert sum(slack) == result["active_bytes"] - result["total_bytes"] + result["adjust_bytes"]
            told += len(slack)
    assert told > 10


TRAINER = """capacity 16GiB
include torch.stacks
stack fit    train.py:21 <module>
stack mlp    @malloc < /v/lib/python3.12/site-packages/net/mlp.py:7 forward < @call < @fit
stack head   @malloc < /v/lib/python3.12/site-packages/net/head.py:3 forward < @call < @fit
stack one    @malloc < /v/lib/python3.12/site-packages/net/one.py:4 forward < @call < train.py:30 once
stack little @malloc < /v/lib/python3.12/site-packages/net/a.py:1 forward < train.py:40 small
stack less   @malloc < /v/lib/python3.12/site-packages/net/b.py:1 forward < train.py:40 small
stack own    @malloc < train.py:50 plain
alloc a 400MiB mlp
alloc b 100MiB head
alloc c 100MiB mlp
alloc d 200MiB one
alloc e 8MiB little
alloc f 8MiB less
alloc g 184MiB own
"""


def test_a_line_that_hides_its_owners_shows_them():
    """Lines of a tenth and more show what stands under them; small ones and the user's own do not."""
    path = scripts.make(TRAINER)
    rows = {r["name"]: r for r in peak(path)["rows"]}
    assert rows["train.py:21 <module>"]["owners"] == [{"name": "mlp.py:7 forward", "bytes": 500 << 20, "count": 2},
                                                      {"name": "head.py:3 forward", "bytes": 100 << 20, "count": 1}]
    assert len(rows["train.py:40 small"]["owners"]) == 2
    assert "owners" not in rows["train.py:50 plain"] and "owners" not in rows["train.py:30 once"]
    for width, single in (80, 1), (120, 0):
        text = run("peak", path, env={"COLUMNS": str(width)}, expect=0).out
        assert re.search(r"train.py:21 <module>.*\n +500.00 MiB at mlp.py:7 forward\n +100.00 MiB at head.py:3", text)
        assert text.count("200.00 MiB at one.py:4 forward") == single
        assert " at a.py:1" not in text and " at train.py:50" not in text
    assert " at mlp.py" not in run("peak", "--by", "owner", path, expect=0).out
    # What has no stack has no owner either.
    late = run("peak", scripts.make(TRAINER + "window late\n"), env={"COLUMNS": "80"}, expect=0).out
    assert " at (no stack)" not in late and "(no stack)" in late


NATIVE = """capacity 16GiB
include torch.stacks
stack bmm   @malloc < ::at::native::structured_bmm_out_cuda::impl(…) < ::at::_ops::bmm::call(…) < ::torch::autograd::THPVariable_bmm(…) < ::method_vectorcall < model.py:5 forward < ::_PyEval_EvalFrameDefault < @call < train.py:9 main
stack plain @malloc < ::at::_ops::empty_strided::call(…) < ::_PyEval_EvalFrameDefault < train.py:12 make
stack node  @malloc < ::at::_ops::mm::call(…) < ::torch::autograd::generated::MmBackward0::apply(…) < ::torch::autograd::Engine::thread_main(…) < ::start_thread
stack libc  ::cudaMalloc < ::start_thread
alloc a 8MiB bmm
alloc b 7MiB plain
alloc c 6MiB node
alloc d 5MiB libc
"""


def stacks_of(text, names):
    """The lines under each row that is named, in their order."""
    found, row = {}, None
    for line in text.splitlines():
        if line.startswith("            new"):
            continue
        if line.startswith(" " * 12) and not line.startswith(" " * 13):
            found.setdefault(row, []).append(line.strip().removeprefix("B "))
        else:
            row = next((n for n in names if line.endswith(n)), None)
    return found


@pytest.mark.parametrize("verb", ("peak", "diff"))
def test_stacks_are_what_a_person_reads(verb):
    """Frames of Python, the operator and the node of autograd; --all-frames has the rest; JSON all of them."""
    path = scripts.make(NATIVE)
    ask = [verb, path] if verb == "peak" else [verb, "--at", "start", "--to", "end", path]
    names = ["model.py:5 forward", "train.py:12 make", "autograd:MmBackward0", "(no stack)"]
    text = run(*ask, "--stacks", expect=0).out
    found = stacks_of(text, names)
    assert found[names[0]][0] == "native:bmm" and "model.py:5 forward" in found[names[0]][1]
    assert "train.py:9 main" in found[names[0]][-1]
    assert found[names[1]] == ["native:empty_strided", "train.py:12 make"]
    assert found[names[2]] == ["native:mm", "autograd:MmBackward0"]
    assert "(native frames only)" in text
    assert "_PyEval" not in text and "Engine" not in text
    assert re.search(r"frames +\d+ native frames are left out of the stacks: --all-frames", text)
    whole = run(*ask, "--all-frames", expect=0).out
    assert "_PyEval" in whole and "Engine::thread_main" in whole and "left out" not in whole
    assert max(map(len, text.splitlines())) < 160
    shown = [f for s in run(*ask, "--json", "--stacks", expect=0).json()["stacks"] for f in s]
    assert any("_PyEval" in f for f in shown)


@pytest.mark.parametrize("name", ("qlora_notebook.pickle", "fsdp_homework_embedded.html"))
def test_owners_of_real_lines(shared, name):
    """What a line shows of its owners is what grouping by owner has of it."""
    path = file_of(shared, name)
    row = peak(path)["rows"][0]
    by_owner = {r["name"]: r["bytes"] for r in peak(path, "--by", "owner")["rows"]}
    assert row["share_ratio"] > 0.5 and len(row["owners"]) == 5
    assert sum(o["bytes"] for o in row["owners"]) <= row["bytes"]
    assert all(o["bytes"] <= by_owner[o["name"]] for o in row["owners"])


def test_the_start_is_event_minus_one():
    """What JSON calls a moment can be asked for."""
    path = ROOT / "examples" / "leak.pickle"
    assert peak(path, "--at", "-1") == peak(path, "--at", "start")
    assert peak(path, "--at=-1")["at_event"] == -1
    assert "no moment is called" in run("peak", "--at", "-2", path, expect=2).err


@pytest.mark.parametrize("times", ((5, 4, -3, -900), (-5, 1, 2, 3), (1, 2, 3, 4)))
def test_times_below_zero_are_no_times(tmp_path, times):
    events = [{"action": "segment_alloc", "addr": 1 << 30, "size": 2 << 20, "stream": 0, "frames": [], "time_us": times[0]}]
    events += [{"action": "alloc", "addr": (1 << 30) + 512 * i, "size": 512, "stream": 0, "frames": [], "time_us": t}
               for i, t in enumerate(times[1:])]
    (tmp_path / "x.json").write_text(json.dumps({"segments": [], "device_traces": [events]}))
    for verb in "peak", "report":
        out = run(verb, tmp_path / "x.json", expect=0).out
        assert not re.search(r"\d h \d", out), (verb, out)
        assert min(times) > 0 or "after the first" not in out, (verb, out)
        assert verb == "report" or min(times) < 0 or "after the first" in out
