"""Growth from step to step: the figures of real files, and recordings where each class is due."""
import json

import pytest

from recordings import scripts
from conftest import ROOT, batch, run

EXAMPLES = "fragmentation", "leak", "oom", "train"
WORKSPACE = 8519680
GROWING = "leak", "suspect", "too_small"


@pytest.fixture(scope="session")
def real_leaks(shared):
    folder = shared / "data" / "snapshots"
    found, errors = batch("leaks", folder, sorted(p.name for p in folder.iterdir()))
    assert not errors
    return {name.rsplit(".", 1)[0]: entries[0] for name, entries in found.items()}


def result(answers, name, device=0):
    return next(d for d in answers[name]["devices"] if d["device"] == device)["result"]


def of_class(r, name):
    return [s for s in r["sites"] if s["class"] == name]


def test_growth_of_real_files(real_leaks):
    cnn = result(real_leaks, "cnn_counterfactuals_snapshot_events")
    assert cnn["first_step_bytes"] == 24248336 == 15728640 + WORKSPACE + 16
    assert sum(x["bytes"] for x in cnn["first_step"]) == 24248336
    first = {x["category"]: x["bytes"] for x in cnn["first_step"]}
    assert (first.pop("optimizer_state"), first.pop("workspace"), sum(first.values())) == (15728640, WORKSPACE, 16)
    assert cnn["slope_total_bytes"] == 0
    one_time = sorted(s["boundary_bytes"][-1] for s in of_class(cnn, "one_time"))
    assert one_time == [7864320, 7864320, WORKSPACE]

    lm = result(real_leaks, "lm_fwd_bwd_ctx150")
    assert sum(s["boundary_bytes"][-1] for s in of_class(lm, "one_time")) == 2 * WORKSPACE == 17039360
    replaced = [s["boundary_bytes"] for s in of_class(lm, "replaced")]
    assert [0, 60000000, 60000000] in replaced and [0, 4, 4] in replaced
    assert lm["slope_total_bytes"] == 0

    # The last point lies before the name is bound anew: of what the step before made nothing stays.
    llama = result(real_leaks, "llama_offload_two_streams")
    site, = [s for s in llama["sites"] if s["boundary_bytes"] == [0, 2130706432, 4227858432]]
    assert site["class"] == "replaced" and site["slope_bytes"] is None and llama["slope_total_bytes"] == 0


def test_no_leak_is_cried_on_real_files(real_leaks):
    for name, entry in real_leaks.items():
        for d in entry["devices"]:
            r = d["result"]
            if r is None:
                assert d["status"] == "needs_trace", name
                continue
            assert not [s for s in r["sites"] if s["class"] in GROWING], name
            assert r["gc_hint"] is None, name
            if d["status"] == "not_applicable":
                assert r["sites"] == [] and r["steps"]["count"] < 2
                assert [x["id"] for x in d["reasons"]] == ["too_few_steps"], name


def check_sums(r):
    assert sum(x["bytes"] for x in r["first_step"]) == r["first_step_bytes"]
    live = [b["live_bytes"] for b in r["steps"]["boundaries"]]
    assert live[1] - live[0] == r["first_step_bytes"]
    total = [sum(s["boundary_bytes"][t] for s in r["sites"]) for t in range(len(live))]
    assert total == live and r["sites_folded"] == 0
    rank = [(*GROWING, s["class"]).index(s["class"]) for s in r["sites"]]
    assert [max(1, n) for n in rank] == sorted(max(1, n) for n in rank)
    told = [s for s in r["sites"] if s["class"] in ("leak", "suspect")]
    assert r["slope_total_bytes"] == sum(s["slope_bytes"] for s in told)
    for s in r["sites"]:
        grows = s["class"] in GROWING
        assert [s[x] is not None for x in ("kind", "slope_bytes", "every_steps")] == [grows] * 3
        if grows and s["kind"] != "graph_kept":
            small = s["boundary_bytes"][-1] - s["boundary_bytes"][0] < r["floor_bytes"]
            assert small == (s["class"] == "too_small")
        assert len(s["boundary_bytes"]) == len(s["boundary_counts"])
        assert len(s["survivors"]) == (s["generations"] if s["kind"] else 0)


def test_sums_of_real_files(real_leaks):
    seen = 0
    for name, entry in real_leaks.items():
        for d in entry["devices"]:
            if d["result"] and d["result"]["sites"] and d["trust"]["grade"] != "D":
                check_sums(d["result"])
                seen += 1
    assert seen >= 7


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    path = ROOT / "examples" / (name + ".pickle")
    r = run("leaks", "--json", "--capacity", "24GiB", path, expect=0).json()["devices"][0]["result"]
    check_sums(r)
    leaks = of_class(r, "leak")
    places = {(s["site"]["culprit"], s["slope_bytes"]) for s in leaks}
    if name == "leak":
        assert places == {("train.py:45 main", 262144000)}
        assert leaks[0]["boundary_bytes"] == [262144000 * i for i in range(6)]
        assert leaks[0]["kind"] == "outputs" and leaks[0]["generations"] == 5
        assert r["steps_to_full"] == ((24 << 30) - 3492444168) // 262144000
    elif name == "fragmentation":
        # The cache is copied into a larger one; what each chunk leaves is what read_all collects.
        grown, = [s for s in r["sites"] if s["class"] in ("leak", "suspect")]
        assert grown["site"]["culprit"] == "score.py:46 read_all"
        assert grown["slope_bytes"] * grown["every_steps"] == 24 << 20
    else:
        assert places == set() and not of_class(r, "suspect") and r["steps_to_full"] is None


# Recordings of our own -------------------------------------------------------------------

class Program:
    """Events with one Python frame each; the segment's blocks are what is left at the end."""

    def __init__(self):
        self.events, self.marks, self.live, self.next = [], [], {}, 4096

    def event(self, action, addr, size, line, name="work"):
        frames = [{"name": name, "filename": "/home/u/train.py", "line": line}]
        self.events.append({"action": action, "addr": addr, "size": size, "stream": 0, "frames": frames,
                            "time_us": 1000 + len(self.events)})

    def alloc(self, size, line):
        addr, self.next = self.next, self.next + (size + 511) // 512 * 512
        self.live[addr] = size
        self.event("alloc", addr, size, line)
        return addr

    def free(self, addr, name="work"):
        size = self.live.pop(addr)
        for action in ("free_requested", "free_completed"):
            self.event(action, addr, size, 99, name)

    def mark(self, name, stage):
        self.marks.append({"name": name, "stage": stage, "device": 0, "time_us": 1000 + len(self.events)})

    def ask(self, folder, *options):
        total, at, blocks = 1 << 24, 4096, []
        for addr, size in sorted(self.live.items()):
            whole = (size + 511) // 512 * 512
            if addr > at:
                blocks.append({"address": at, "size": addr - at, "requested_size": 0, "state": "inactive", "frames": []})
            blocks.append({"address": addr, "size": whole, "requested_size": size, "state": "active_allocated", "frames": []})
            at = addr + whole
        blocks.append({"address": at, "size": 4096 + total - at, "requested_size": 0, "state": "inactive", "frames": []})
        held = sum((s + 511) // 512 * 512 for s in self.live.values())
        segment = {"device": 0, "address": 4096, "total_size": total, "stream": 0, "segment_type": "large",
                   "allocated_size": held, "active_size": held, "requested_size": sum(self.live.values()), "blocks": blocks}
        begin = {"action": "segment_alloc", "addr": 4096, "size": total, "stream": 0, "frames": [], "time_us": 1}
        path = folder / "run.json"
        path.write_text(json.dumps({"segments": [segment], "device_traces": [[begin] + self.events],
                                    "external_annotations": self.marks}))
        d = run("leaks", "--json", *options, path, expect=0).json()["devices"][0]
        assert d["trust"]["grade"] == "A", d["trust"]
        return d


def steps(count, step):
    p = Program()
    for i in range(count):
        p.mark("step %d" % i, "START")
        step(p, i)
        p.free(p.alloc(512, 1))
        p.mark("step %d" % i, "END")
    return p


def classes(d):
    return {s["site"]["culprit"]: s["class"] for s in d["result"]["sites"]}


def test_a_leak_needs_four_steps(tmp_path):
    def keep(p, i):
        p.alloc(1000, 7)

    place = "train.py:7 work"
    assert classes(steps(5, keep).ask(tmp_path))[place] == "leak"
    assert classes(steps(4, keep).ask(tmp_path))[place] == "leak"
    assert classes(steps(3, keep).ask(tmp_path))[place] == "suspect"
    assert classes(steps(2, keep).ask(tmp_path))[place] == "suspect"
    one = steps(1, keep).ask(tmp_path)
    assert one["status"] == "not_applicable" and "1 complete step" in one["reasons"][0]["text"]


def test_what_is_no_leak(tmp_path):
    held = {}

    def replace(p, i):
        new = p.alloc(1000, 7)
        if "old" in held:
            p.free(held["old"])
        held["old"] = new

    def once(p, i):
        if i == 0:
            p.alloc(1000, 7)

    def fill(p, i):
        if i < 3:
            p.alloc(1000, 7)

    def flush(p, i):
        held.setdefault("saw", []).append(p.alloc(1000, 7))
        if i % 4 == 3:
            while held["saw"]:
                p.free(held["saw"].pop())

    place = "train.py:7 work"
    for count, step, want in ((6, replace, "replaced"), (6, once, "one_time"), (8, fill, "plateau"), (14, flush, "sawtooth")):
        held.clear()
        d = steps(count, step).ask(tmp_path, "--capacity", "1GiB")
        assert classes(d)[place] == want
        assert d["result"]["steps_to_full"] is None


def test_the_total_slope_and_the_steps_to_full(tmp_path):
    def keep(p, i):
        p.alloc(1000, 7)
        p.alloc(24, 8)

    r = steps(6, keep).ask(tmp_path, "--capacity", "1MiB")["result"]
    assert r["slope_total_bytes"] == 1024
    assert [s["slope_bytes"] for s in r["sites"]][:2] == [1000, 24]
    peak = 6 * 1024 + 512
    assert r["steps_to_full"] == ((1 << 20) - peak) // 1024
    assert [s["event"] for s in r["sites"][0]["survivors"]] == sorted(s["event"] for s in r["sites"][0]["survivors"])


def test_without_stacks_nothing_is_more_than_a_suspect(tmp_path):
    p = steps(6, lambda p, i: p.alloc(1000, 7))
    for e in p.events:
        e["frames"] = []
    d = p.ask(tmp_path)
    assert d["status"] == "partial" and [x["id"] for x in d["reasons"]] == ["no_stacks"]
    assert classes(d) == {"size:1000": "suspect"}


def test_the_collector_is_seen(tmp_path):
    held = []

    def cycle(p, i):
        held.extend(p.alloc(600, 7 + k % 2) for k in range(3))
        if i == 3:
            for addr in held:
                p.free(addr, "gc_collect")
            held.clear()

    hint = steps(6, cycle).ask(tmp_path)["result"]["gc_hint"]
    assert hint["kind"] == "collector_frames" and hint["count"] == 12 and hint["bytes"] == 7200
    assert hint["confidence"] == "medium"


def test_irregular_runs_of_old_frees_are_a_guess(tmp_path):
    """Each run is of two lines' memory that is older than a step."""
    def make(name, at):
        held = []

        def step(p, i):
            held.extend((i, p.alloc(600, 7 + k % 2)) for k in range(16))
            if i in at:
                for born, addr in [h for h in held if h[0] < i - 1]:
                    p.free(addr, name)
                    held.remove((born, addr))
        return steps(at[-1] + 1, step)

    hint = make("work", (3, 5, 30)).ask(tmp_path)["result"]["gc_hint"]
    assert hint["kind"] == "runs_of_frees" and hint["confidence"] == "low"
    assert make("work", (3, 6, 9, 12, 15)).ask(tmp_path)["result"]["gc_hint"] is None


# Kinds ------------------------------------------------------------------------------------

TRAINING = """
include torch.stacks
stack main    run.py:40 main < run.py:44 <module>
stack hidden  @malloc < ::at::_ops::addmm::call() < model.py:18 forward < @call < @main
stack logits  @malloc < ::at::_ops::addmm::call() < model.py:19 forward < @call < @main
stack loss    @malloc < ::at::_ops::nll_loss::call() < run.py:22 train < @main
stack keys    @malloc < ::at::_ops::cat::call() < kv_cache.py:12 extend < model.py:20 forward < @call < @main
stack memo    @malloc < ::at::_ops::clone::call() < cache.py:12 remember < model.py:20 forward < @call < @main
stack clone   @malloc < ::at::_ops::clone::call() < grad_norms.py:5 note_grad < @main
stack grad    @accumulate_grad
stack noise   @malloc < ::at::_ops::rand::call() < run.py:25 augment < @main
stack in_main @release < run.py:27 train < @main
stack zeroed  @free_zero_grad < @main
repeat 6 {
  mark step#$i start
  alloc hidden$i 24MiB hidden
  alloc logits$i 12MiB logits
  alloc loss$i 4 loss
  alloc grad$i 30MiB grad
%s
  mark step#$i end
}
"""
# What a step gives back, of what it made.
FREED = {"hidden": "free hidden$i free_saved", "logits": "free logits$i free_saved", "loss": "free loss$i in_main",
         "grad": "free grad$i zeroed"}


def kinds(more="", keeps=()):
    """Culprit -> kind of what grows where a step keeps these."""
    lines = [more] + [line for name, line in FREED.items() if name not in keeps]
    device, = run("leaks", "--json", scripts.make(TRAINING % "\n".join(lines)), expect=0).json()["devices"]
    check_sums(device["result"])
    return {s["site"]["culprit"]: s["kind"] for s in of_class(device["result"], "leak")}


def test_a_loss_that_is_kept_keeps_the_graph():
    assert kinds(keeps=("hidden", "logits", "loss")) == {
        "model.py:18 forward": "graph_kept", "model.py:19 forward": "graph_kept", "run.py:22 train": "graph_kept"}
    # Values of the loss alone hold no graph, and outputs alone have no loss that holds them.
    assert kinds(keeps=("loss",)) == {}
    assert kinds(keeps=("logits",)) == {"model.py:19 forward": "outputs"}
    # What stays beside the values was not made by the model.
    assert kinds("alloc noise$i 8MiB noise", keeps=("loss",)) == {"run.py:25 augment": "outputs"}
    assert "run.py:22 train" not in kinds("alloc mean$i 2MiB adam_temp", keeps=("loss",))


def test_gradients_that_are_never_given_back():
    grown = kinds(keeps=("grad",))
    assert list(grown.values()) == ["gradients"]
    # A function's name makes no gradient of a copy, though gradients are what it copies.
    assert kinds("alloc clone$i 30MiB clone") == {"grad_norms.py:5 note_grad": "outputs"}
    # Beside a graph that is kept gradients are still gradients.
    both = kinds(keeps=("hidden", "loss", "grad"))
    assert both["model.py:18 forward"] == "graph_kept" and sorted(both.values()) == ["gradients", "graph_kept", "graph_kept"]


def test_a_cache_that_grows():
    assert kinds("alloc keys$i 6MiB keys") == {"kv_cache.py:12 extend": "cache"}
    # Memory of a cache is none of a graph, even where a graph is kept.
    both = kinds("alloc keys$i 6MiB keys", keeps=("hidden", "loss"))
    assert both["kv_cache.py:12 extend"] == "cache" and both["model.py:18 forward"] == "graph_kept"
    # A file that is merely called cache holds what the forward made.
    assert kinds("alloc memo$i 6MiB memo") == {"cache.py:12 remember": "outputs"}
    # One that is made anew in the place of the old one grows by nothing.
    assert kinds("alloc keys$i 6MiB keys\nif 0 < $i {\nfree keys$($i-1) in_main\n}") == {}


def test_a_cache_that_is_copied_to_grow():
    """Each step's tensor is longer than the one before, which it replaces: one generation, and no leak of six."""
    path = scripts.make(TRAINING % "\n".join(
        ["alloc keys$i 6MiB*($i+1) keys\nif 0 < $i {\nfree keys$($i-1) in_main\n}", *FREED.values()]))
    result, = [d["result"] for d in run("leaks", "--json", path, expect=0).json()["devices"]]
    site, = [s for s in result["sites"] if s["site"]["culprit"].startswith("kv_cache.py")]
    assert site["boundary_bytes"] == [i * (6 << 20) for i in range(7)]
    assert site["generations"] == 1 and site["class"] == "stable" and site["kind"] is None
