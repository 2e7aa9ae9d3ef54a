"""`peak` on real files: the figures of the specification, beside sums over the live set."""
import re

from differential import model, reader

from conftest import run

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
    assert bare == 13627238400 + 1314816 and shares["(no stack)"] == "24.9"     # the parameters, and buffers


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
