"""`vramscope oom`: each verdict where it is right, and where the nearest wrong one would be tempting."""
import json
import pickle
import random

import pytest
from recordings import scripts
from conftest import ROOT, answers, run, some
from recordings.tiny import BASE, MIB, block, event, segment, top

GIB = 1 << 30
VERDICTS = ("capacity_limit", "single_request_too_large", "cached_not_releasable", "fragmentation", "pending_free",
            "other_stream", "private_pools", "outside_pytorch", "live_exceeds_capacity")

STACKS = """
include torch.stacks
stack main run.py:50 main < run.py:55 <module>
stack cache @malloc < cache.py:31 extend < serve.py:12 decode < run.py:33 serve < @main
stack pin @malloc < cache.py:35 note < serve.py:12 decode < run.py:33 serve < @main
stack big @malloc < ::at::_ops::cat::call(…) < serve.py:20 gather < run.py:36 serve < @main
stack drop @release < cache.py:44 evict < run.py:34 serve < @main
"""


def pages(freed, request, where="", capacity="1GiB"):
    """40 pages of 12 MiB beside tails of 6 MiB that hold their segments; some pages are freed."""
    return """capacity %s
%s
repeat 40 {
  alloc page$i 12MiB cache %s
  alloc tail$i 6MiB pin %s
}
repeat %d {
  free page$i drop
}
alloc all %s big
""" % (capacity, STACKS, where, where, freed, request)


def plain(capacity, held, request):
    return "capacity %s\n%s\nalloc a %s cache\nalloc b %s big\n" % (capacity, STACKS, held, request)


# The driver tells what the card has free, whatever the process is allowed.
LIMITED = "settings per_process_memory_fraction:0.5\n" + plain("8GiB", "3GiB", "2GiB").replace(
    "alloc b", "device_free 5GiB\nalloc b")


def by_hand(active, waiting, cached, device_free, request):
    """What the machine never leaves: nothing was given back before the failure, as inside a capture.

    A segment each: in use, freed on this stream for another one to finish, and free."""
    sizes = {"active": active, "waiting": waiting, "cached": cached}
    events, segments, at = [], [], BASE
    for name, size in sizes.items():
        if size == 0:
            continue
        events += [event("segment_alloc", at, size), event("alloc", at, size)]
        if name == "waiting":
            events.append(event("free_requested", at, size))
        if name == "cached":
            events += [event("free_requested", at, size), event("free_completed", at, size)]
        state = {"active": "active_allocated", "waiting": "active_pending_free", "cached": "inactive"}[name]
        segments.append(segment([block(at, size, state=state)]))
        at += size + (1 << 36)
    oom = event("oom", device_free, request)
    oom["device_free"] = oom.pop("addr")
    return top(segments, events + [oom])


def path_of(made, folder):
    if isinstance(made, str):
        return scripts.make(made)
    path = folder / "made.pickle"
    path.write_bytes(pickle.dumps(made, 4))
    return path


def ask(path, *options, expect=0):
    """The only device of an answer."""
    result = run("oom", "--json", *options, path, expect=expect)
    entry, = [e for found in answers(result).values() for e in found]
    device, = entry["devices"]
    return device


MESSAGE = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
           "8.00 GiB of which 5.00 GiB is free. Including non-PyTorch memory, this process has 3.00 GiB memory in use. "
           "4.00 GiB allowed; Of the allocated memory 3.00 GiB is allocated by PyTorch, and 0 bytes is reserved by "
           "PyTorch but unallocated.")

# name: what was recorded, options, verdict, what else is said
CASES = {
    "limit": (LIMITED, (), "capacity_limit",
              {"device_free_bytes": 5 * GIB, "confidence": "medium", "also_true": []}),
    "limit_said": (LIMITED, ("--message", MESSAGE),
                   "capacity_limit", {"confidence": "high"}),
    "limit_not": (plain("4998MiB", "3GiB", "2GiB"), (), "live_exceeds_capacity", {"short_by_bytes": 122 * MIB}),
    "too_large": (plain("4GiB", "1GiB", "5GiB"), (), "single_request_too_large", {"also_true": [], "must_go": []}),
    "too_large_not": (plain("4GiB", "1GiB", "3.5GiB"), (), "live_exceeds_capacity", {"short_by_bytes": GIB // 2}),
    "cached": (by_hand(2 * GIB, 0, GIB, 100 * MIB, GIB), (), "cached_not_releasable",
               {"returnable_bytes": GIB, "largest_usable_bytes": GIB}),
    "cached_not": (by_hand(2 * GIB, 0, 512 * MIB, 100 * MIB, GIB), (), "live_exceeds_capacity",
                   {"returnable_bytes": 512 * MIB, "short_by_bytes": 412 * MIB}),
    "fragmentation": (pages(38, "300MiB"), (), "fragmentation", {"other_stream_free_bytes": 0}),
    "fragmentation_not": (pages(38, "900MiB"), (), "live_exceeds_capacity", {"other_stream_free_bytes": 0}),
    "pending": (by_hand(2 * GIB, 900 * MIB, 0, 200 * MIB, GIB), (), "pending_free", {"pending_bytes": 900 * MIB}),
    "pending_not": (by_hand(2 * GIB, 90 * MIB, 0, 940 * MIB, GIB), (), "live_exceeds_capacity",
                    {"pending_bytes": 90 * MIB, "short_by_bytes": 84 * MIB}),
    "stream": (pages(38, "300MiB", "stream 7"), (), "other_stream", {"internal_free_bytes": 0}),
    "stream_not": (pages(38, "900MiB", "stream 7"), (), "live_exceeds_capacity", {"internal_free_bytes": 0}),
    "pools": (pages(38, "300MiB", "pool 1"), (), "private_pools", {"other_stream_free_bytes": 0}),
    "pools_not": (pages(38, "900MiB", "pool 1"), (), "live_exceeds_capacity", {"other_stream_free_bytes": 0}),
    "outside": (plain("4GiB", "3GiB", "2GiB"), ("--capacity", "8GiB"), "outside_pytorch", {"short_by_bytes": GIB}),
    "outside_not": (plain("4GiB", "3GiB", "2GiB"), ("--capacity", "4.3GiB"), "live_exceeds_capacity",
                    {"confidence": "high"}),
    "live": (plain("4GiB", "3GiB", "2GiB"), (), "live_exceeds_capacity", {"confidence": "medium", "free_runs": 0}),
    # No earlier step shows what would have come after the request.
    "live_not": (pages(10, "300MiB"), (), "fragmentation", {"confidence": "medium"}),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_verdicts(name, tmp_path):
    made, options, verdict, more = CASES[name]
    device = ask(path_of(made, tmp_path), *options)
    result = device["result"]
    assert device["status"] == "ok", device["reasons"]
    assert result["verdict"] == verdict, result
    for key, value in more.items():
        assert result[key] == value, (key, result[key])
    check_sums(result)


# verdict: the case where it is right, the one where it is the nearest wrong one
PAIRS = {
    "capacity_limit": ("limit", "limit_not"),
    "single_request_too_large": ("too_large", "too_large_not"),
    "cached_not_releasable": ("cached", "cached_not"),
    "fragmentation": ("fragmentation", "fragmentation_not"),
    "pending_free": ("pending", "pending_not"),
    "other_stream": ("stream", "stream_not"),
    "private_pools": ("pools", "pools_not"),
    "outside_pytorch": ("outside", "outside_not"),
    "live_exceeds_capacity": ("live", "live_not"),
}


def test_every_verdict_has_a_pair(tmp_path):
    """The verdicts are those that an answer tests and that the schema knows; a new one without a pair fails here."""
    tested = [t["id"] for t in ask(path_of(CASES["live"][0], tmp_path))["result"]["tests"]]
    schema = json.loads((ROOT / "docs" / "schema" / "oom.schema.json").read_text())
    assert tuple(tested) == VERDICTS and verdicts_of(schema) == set(VERDICTS) == set(PAIRS)
    for verdict, (right, wrong) in PAIRS.items():
        assert CASES[right][2] == verdict != CASES[wrong][2], verdict


def verdicts_of(schema):
    """Every word that some `verdict` of the schema may be."""
    found, left = set(), [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            found |= set(part.get("verdict", {}).get("enum", ())) if isinstance(part.get("verdict"), dict) else set()
            left += part.values()
        elif isinstance(part, list):
            left += part
    return found - {None}


@pytest.mark.parametrize("verdict", VERDICTS[1:-1])
def test_the_wrong_verdict_is_tempting(verdict, tmp_path):
    """There is some of what it names, only not enough."""
    made, options, _, _ = CASES[PAIRS[verdict][1]]
    tests = {t["id"]: t for t in ask(path_of(made, tmp_path), *options)["result"]["tests"]}
    assert tests[verdict]["holds"] is False and tests[verdict]["bytes"] > 0


def check_sums(r):
    """What must hold in every answer with an event."""
    n, free, inside = r["request_bytes"], r["device_free_bytes"], r["internal_free_bytes"]
    assert r["capacity_seen_bytes"] == r["reserved_bytes"] + free
    assert r["short_by_bytes"] == r["active_bytes"] + n - r["capacity_seen_bytes"]
    everywhere = inside + r["other_stream_free_bytes"] + r["private_free_bytes"]
    assert r["active_bytes"] + everywhere == r["reserved_bytes"]
    assert sum(p["free_bytes"] for p in r["places"]) == everywhere
    assert sum(p["active_bytes"] for p in r["places"]) == r["active_bytes"]
    assert sum(p["returnable_bytes"] for p in r["places"]) == r["returnable_bytes"]
    assert r["segment_bytes"] >= n and r["largest_usable_bytes"] <= inside
    tests = {t["id"]: t for t in r["tests"]}
    assert tuple(tests) == VERDICTS
    holds = [t for t in VERDICTS if tests[t]["holds"]]
    assert r["verdict"] == holds[0]
    assert tests["fragmentation"]["bytes"] == free + inside
    assert tests["other_stream"]["bytes"] == free + inside + r["other_stream_free_bytes"]
    assert tests["live_exceeds_capacity"]["bytes"] == r["short_by_bytes"]
    assert set(r["also_true"]) <= set(holds[1:])
    assert [p["free_bytes"] for p in r["pins"]] == sorted((p["free_bytes"] for p in r["pins"]), reverse=True)
    need = r["short_by_bytes"] if r["short_by_bytes"] > 0 else max(n - free - inside, 0)
    gone = [row["bytes"] for row in r["must_go"]]
    assert gone == sorted(gone, reverse=True)
    if gone:
        assert sum(gone) >= need > sum(gone[:-1])
    if need == 0:
        assert gone == []


def test_what_must_go_is_told_by_lines():
    """One line that two others call, and what no line of Python asked for."""
    path = scripts.make("capacity 2GiB\n" + STACKS + "include torch.stacks\n"
                        "stack once @malloc < model.py:7 forward < run.py:1 main\n"
                        "stack again @malloc < model.py:7 forward < run.py:2 main\n"
                        "alloc a 300MiB once\nalloc b 400MiB again\nalloc c 500MiB linear_backward\n"
                        "alloc d 600MiB accumulate_grad\nalloc e 1900MiB big\n")
    result, = [d["result"] for d in run("oom", "--json", path, expect=0).json()["devices"] if d["result"]]
    rows = [(row["site"]["culprit"], row["bytes"] // MIB, row["count"]) for row in result["must_go"]]
    assert rows == [("model.py:7 forward", 700, 2), ("autograd:AccumulateGrad", 600, 1), ("autograd:AddmmBackward0", 500, 1)]


def must_go_of(path):
    """The part of the page that says what would have had to go, and the same as data."""
    text = run("oom", path, expect=0).out
    result, = [d["result"] for d in run("oom", "--json", path, expect=0).json()["devices"] if d["result"]]
    return text[text.index("\nmust go "):text.index("\nnext ")], result


def test_what_one_category_holds_is_listed_once(bundled):
    text, result = must_go_of(bundled["oom.pickle"][0])
    assert result["must_go_category"]["category"] == "activation"
    assert result["must_go_category"]["sites"] == result["must_go"]
    assert "all of it activation:" in " ".join(text.split()) and text.count("model.py:22 forward") == 1


def test_what_a_category_holds_elsewhere_is_listed_too(shared):
    text, result = must_go_of(shared / "data" / "snapshots" / "three_gpu_expandable_oom.pickle")
    assert result["must_go_category"]["sites"] != result["must_go"]
    assert "all of it activation" not in text and "or, of one category alone, 4.94 GiB of temporary at 1 line:" in text


# More than one --------------------------------------------------------------------------------

def test_also_true_needs_memory_of_its_own(tmp_path):
    """300 MiB lie in pieces on each of two streams: either would have done alone."""
    script = pages(38, "300MiB", capacity="3GiB").replace("alloc all", """
repeat 40 {
  alloc other$i 12MiB cache stream 9
  alloc rest$i 6MiB pin stream 9
}
repeat 38 {
  free other$i drop
}
alloc hold 1.4GiB cache
alloc all""")
    result = ask(path_of(script, tmp_path))["result"]
    assert result["verdict"] == "fragmentation" and result["also_true"] == ["other_stream"], result["tests"]
    alone = ask(path_of(pages(38, "300MiB"), tmp_path))["result"]
    assert alone["also_true"] == []


def test_retries_are_one_group(tmp_path):
    """Five failures of one line are one; another line's before them is another."""
    script = plain("4GiB", "3GiB", "5GiB") + "stack again @malloc < serve.py:30 retry < @main\n"
    script += "repeat 5 {\n  alloc c$i 2GiB again\n}\n"
    result = ask(path_of(script, tmp_path))["result"]
    assert result["retries"] == 4 and result["verdict"] == "live_exceeds_capacity"
    earlier, = result["earlier"]
    assert earlier["verdict"] == "single_request_too_large" and earlier["retries"] == 0
    assert earlier["request_bytes"] == 5 * GIB and earlier["event"] < result["event"] - 4


def test_retries_far_apart_are_two(tmp_path):
    script = plain("4GiB", "3GiB", "2GiB")
    script += "repeat 40 {\n  alloc t$i 1MiB pin\n  free t$i drop\n}\nalloc late 2GiB big\n"
    result = ask(path_of(script, tmp_path))["result"]
    assert result["retries"] == 0 and len(result["earlier"]) == 1


def test_what_if(tmp_path):
    """Expandable segments serve what lies in pieces; where they are on already they are not offered."""
    made = path_of(pages(38, "300MiB"), tmp_path)
    found = ask(made)["result"]["what_if"]
    assert found == {"tried": 5, "setting": "expandable_segments:True",
                     "reserved_peak_bytes": found["reserved_peak_bytes"], "runs_out": False, "agreement": "exact",
                     # 40 tails and two pages stay, and the request is served.
                     "left_bytes": GIB - (40 * 6 + 2 * 12 + 300) * MIB}
    assert found["reserved_peak_bytes"] <= GIB
    row, = [r for d in json.loads(run("replay", "--json", "--set", found["setting"], "--capacity", str(GIB), made,
                                      expect=0).raw)["devices"] for r in d["result"]["what_if"] if r["question"] == found["setting"]]
    assert row["peak_reserved_bytes"] == found["reserved_peak_bytes"] and row["first_oom"] is None
    # What was tried and does not help is told too.
    none = {"tried": 5, "setting": None, "reserved_peak_bytes": None, "left_bytes": None, "runs_out": True, "agreement": "exact"}
    assert ask(path_of(plain("4GiB", "3GiB", "2GiB"), tmp_path))["result"]["what_if"] == none
    already = ask(path_of("settings expandable_segments:True\n" + plain("4GiB", "3GiB", "2GiB"), tmp_path))
    assert already["result"]["what_if"] is None or already["result"]["what_if"]["setting"] is None


# The program ---------------------------------------------------------------------------------------
# The verdict answers for the program, where the tests answer for one request.  Each recording here has
# free memory in pieces that would have served the request that failed: tails of 6 MiB and pages of
# 14 MiB fill segments of 20 MiB, and some pages are freed.

PROGRAM = """
include torch.stacks
stack main run.py:50 main < run.py:55 <module>
stack cache @malloc < cache.py:31 extend < serve.py:12 decode < run.py:33 serve < @main
stack pin @malloc < cache.py:35 note < serve.py:12 decode < run.py:33 serve < @main
stack drop @release < cache.py:44 evict < run.py:34 serve < @main
stack kept @malloc < ::at::_ops::log_softmax_int::call(…) < run.py:22 train < @main
stack first @malloc < ::at::_ops::mm::call(…) < run.py:24 train < @main
stack second @malloc < ::at::_ops::mm::call(…) < run.py:25 train < @main
stack more @malloc < ::at::_ops::mm::call(…) < run.py:27 train < @main
stack free_step @release < run.py:29 train < @main
stack init @malloc < ::at::_ops::empty_memory_format::call(…) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:106 __init__ < model.py:14 __init__ < run.py:31 build < @main
stack linear @malloc < ::at::_ops::addmm::call(…) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:125 forward < @call < model.py:27 forward < @call < run.py:64 train < @main
stack state @adam_state < run.py:67 train < @main
stack state_sq @malloc < ::at::_ops::zeros_like::call(…) < /venv/lib/python3.12/site-packages/torch/optim/adam.py:182 _init_group < @optimizer_step < run.py:67 train < @main
"""
IN_PIECES = """
repeat 40 {
  alloc tail$i 6MiB pin
  alloc page$i 14MiB cache
}
repeat %d {
  free page$i drop
}
"""


def asked(script):
    device = ask(scripts.make(script))
    assert device["status"] == "ok", device["reasons"]
    return device["result"]


def full(freed):
    """Nothing of the card is free: 14 MiB of each page freed, of 800 MiB."""
    return "capacity 800MiB\n" + PROGRAM + IN_PIECES % freed + "alloc all 20MiB cache\n"


def beside_a_free_card():
    """As little in pieces, and 100 MiB of the card beside it for a request of 120 MiB."""
    return full(2).replace("alloc all 20MiB", "device_free 100MiB\nalloc all 120MiB")


def first_step(stated):
    """Twenty tensors with gradients, of which so many have their state; ten pages are free."""
    return ("capacity %dMiB\n" % (400 + 400 + 800 + 40 * stated) + PROGRAM + """
repeat 20 as p {
  alloc weight$p 20MiB init
}
alloc h 1MiB linear
repeat 20 as p {
  alloc grad$p 20MiB accumulate_grad
}
free h free_saved
""" + IN_PIECES % 10 + """
repeat %d as p {
  alloc exp_avg$p 20MiB state
  alloc exp_avg_sq$p 20MiB state_sq
}
alloc exp_avg_next 20MiB state
""" % stated)


def leak(freed):
    """Each step leaves 30 MiB; the thirteenth does not fit beside the pages."""
    return "capacity 1162MiB\n" + PROGRAM + IN_PIECES % freed + """
repeat 13 {
  mark ProfilerStep#$i start
  alloc batch 512KiB first
  alloc kept$i 30MiB kept
  free batch free_step
  mark ProfilerStep#$i end
}
"""


def steps(freed):
    """Each step takes 30 MiB and then 60 MiB; in the last one 90 MiB more are held already."""
    return "capacity 900MiB\n" + PROGRAM + IN_PIECES % freed + """
repeat 5 {
  mark ProfilerStep#$i start
  if $i == 4 {
    alloc held 60MiB more
    alloc held_too 30MiB more
  }
  alloc a 30MiB first
  if $i < 4 {
    alloc b 60MiB second
    free b free_step
    free a free_step
  }
  mark ProfilerStep#$i end
}
"""


# what was recorded, its silent twin; why the first is more than fragmentation, how sure the other is
LACKS = {
    "free_share": (full(2), full(3), "medium"),
    "optimizer_state": (first_step(6), first_step(17), "medium"),
    "leak": (leak(4), leak(5), "high"),
    "next": (steps(5), steps(10), "high"),
}


@pytest.mark.parametrize("reason", sorted(LACKS))
def test_the_program_would_not_have_fit(reason):
    made, _, _ = LACKS[reason]
    result = asked(made)
    tests = {t["id"]: t for t in result["tests"]}
    assert tests["fragmentation"]["holds"] is True
    assert tests["fragmentation"]["enough"] is False and tests["fragmentation"]["reason"] == reason
    assert result["verdict"] == "live_exceeds_capacity" and result["short_by_bytes"] is None
    assert result["also_true"] == []
    # The tests are of the request, and stay as they are.
    assert tests["live_exceeds_capacity"]["holds"] is False and tests["live_exceeds_capacity"]["bytes"] < 0
    assert [t for t in result["tests"] if t["id"] != "fragmentation" and "enough" in t] == []


@pytest.mark.parametrize("reason", sorted(LACKS))
def test_its_twin_would_have(reason):
    _, twin, confidence = LACKS[reason]
    result = asked(twin)
    test, = [t for t in result["tests"] if t["id"] == "fragmentation"]
    assert result["verdict"] == "fragmentation" and test["enough"] is True and "reason" not in test
    assert result["confidence"] == confidence and result["short_by_bytes"] < 0


def sentences_of(verb, made):
    return " ".join(run(verb, made, expect=0).out.split())


def test_what_is_free_on_the_card_is_told_beside_what_is_free_in_pieces():
    """The share counts memory in pieces alone; the sentences must not deny what else is free."""
    assert asked(beside_a_free_card())["verdict"] == "live_exceeds_capacity"
    made = scripts.make(beside_a_free_card())
    text = sentences_of("oom", made)
    assert "only 28.00 MiB free inside reserved memory, in pieces, and 100.00 MiB on the card. In one piece, the free memory would have served" in text
    assert "holds too much" not in text
    assert "nearly all" not in sentences_of("report", made)
    twin = scripts.make(full(2))
    assert "28.00 MiB free inside reserved memory, in pieces. In one piece, the free memory would have served" in sentences_of("oom", twin)
    assert "nearly all that the card had for it is in use" in sentences_of("report", twin)


def test_growth_is_told_as_sure_as_it_is():
    sure = sentences_of("report", scripts.make(leak(4)))
    assert "memory grows by 30.00 MiB a step, most of it at run.py:22 train" in sure
    second = leak(5).replace("alloc kept$i 30MiB kept", "if $i%2 == 1 {\nalloc kept$i 60MiB kept\n}")
    text = sentences_of("report", scripts.make(second.replace("repeat 13", "repeat 14")))
    assert "memory grows by 30.00 MiB a step on average, most of it at" in text


def test_retries_are_no_earlier_failures():
    script = plain("4GiB", "3GiB", "2GiB").replace("alloc b", "repeat 3 {\nalloc b$i") + "}\n"
    assert "Requests had failed" not in sentences_of("report", scripts.make(script))
    other = script.replace("alloc a 3GiB cache", "alloc a 3GiB cache\nalloc early 5GiB pin")
    assert "Requests had failed once before" in sentences_of("report", scripts.make(other))


def test_what_must_go_makes_room_for_the_program():
    """14 of 20 states of two tensors are to come: 560 MiB, where 140 MiB are free in pieces."""
    made = scripts.make(first_step(6))
    assert sum(s["bytes"] for s in asked(first_step(6))["must_go"]) >= 420 * MIB
    text = run("oom", made, expect=0).out
    assert "had made the state of 6 parameters, and the state of the others takes at least 560.00 MiB more" in " ".join(text.split())
    assert "420.00 MiB for the rest of the optimizer's state to fit" in " ".join(text.split())
    assert asked(steps(5))["must_go"][0]["bytes"] >= 10 * MIB


def test_a_setting_serves_the_request_alone():
    """What comes after the request is not recorded, so nothing is said of it."""
    path = ROOT / "examples" / "fragmentation.pickle"
    what_if = run("oom", "--json", path, expect=0).json()["devices"][0]["result"]["what_if"]
    text = " ".join(run("oom", path, expect=0).out.split())
    assert what_if["setting"] == "expandable_segments:True" and what_if["left_bytes"] > 1 << 30
    assert "with expandable_segments:True this request is served, and 7.18 GiB are then free" in text
    assert "not run out" not in text


def test_no_other_verdict_is_asked_about_the_program():
    result = asked("capacity 4GiB\n" + PROGRAM + "alloc a 3GiB cache\nalloc b 2GiB cache\n")
    assert [t for t in result["tests"] if "enough" in t] == [] and result["short_by_bytes"] == 1 << 30


def test_the_example_is_fragmentation():
    """A cache that is meant to grow is no leak, and what it needed next would have fit."""
    result = run("oom", "--json", ROOT / "examples" / "fragmentation.pickle", expect=0).json()["devices"][0]["result"]
    assert result["verdict"] == "fragmentation" and result["confidence"] == "high"


# The text -----------------------------------------------------------------------------------------

def gib(x):
    return round(x * GIB)


NEW = ("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity of 79.15 GiB of which 10.94 MiB is "
       "free. Including non-PyTorch memory, this process has 78.92 GiB memory in use. Of the allocated memory 71.20 GiB "
       "is allocated by PyTorch, with 1.50 GiB allocated in private pools (e.g., CUDA Graphs), and 6.31 GiB is reserved "
       "by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.")
NEW_TEXT = {"try_bytes": 20 * MIB, "device": 1, "capacity_bytes": gib(79.15), "free_bytes": round(10.94 * MIB),
            "process_bytes": gib(78.92), "allowed_bytes": None, "allocated_bytes": gib(71.2), "private_bytes": gib(1.5),
            "unallocated_bytes": gib(6.31), "reserved_bytes": None, "preemptive": False}
OLD = ("RuntimeError: CUDA out of memory. Tried to allocate 36.00 MiB (GPU 0; 7.93 GiB total capacity; 130.35 MiB "
       "already allocated; 47.06 MiB free; 6.00 GiB allowed; 188.00 MiB reserved in total by PyTorch) If reserved memory "
       "is >> allocated memory try setting max_split_size_mb to avoid fragmentation.")
OLD_TEXT = {"try_bytes": 36 * MIB, "device": 0, "capacity_bytes": gib(7.93), "free_bytes": round(47.06 * MIB),
            "process_bytes": None, "allowed_bytes": 6 * GIB, "allocated_bytes": round(130.35 * MIB),
            "private_bytes": None, "unallocated_bytes": None, "reserved_bytes": 188 * MIB, "preemptive": False}
MISSPELT = ("CUDA out of memory. Tried to allocate 512.00 KiB. GPU 0 has a total capacty of 23.65 GiB of which 1.19 GiB "
            "is free. Process 4711 has 22.45 GiB memory in use. 12.00 GiB allowed; Of the allocated memory 11.90 GiB is "
            "allocated by PyTorch, and 90.31 MiB is reserved by PyTorch but unallocated.")
MISSPELT_TEXT = {"try_bytes": 512 << 10, "device": 0, "capacity_bytes": gib(23.65), "free_bytes": gib(1.19),
                 "process_bytes": gib(22.45), "allowed_bytes": 12 * GIB, "allocated_bytes": gib(11.9),
                 "private_bytes": None, "unallocated_bytes": round(90.31 * MIB), "reserved_bytes": None,
                 "preemptive": False}
REFUSED = ("CUDA out of memory. Allocation on GPU 0 would exceed the limit and was preemptively rejected. Requested size: "
           "2.00 GiB. 4.00 GiB allowed; 3.00 GiB already allocated; 3.50 GiB reserved in total by PyTorch.")
REFUSED_TEXT = {"try_bytes": 2 * GIB, "device": 0, "capacity_bytes": None, "free_bytes": None, "process_bytes": None,
                "allowed_bytes": 4 * GIB, "allocated_bytes": 3 * GIB, "private_bytes": None, "unallocated_bytes": None,
                "reserved_bytes": gib(3.5), "preemptive": True}
WORDINGS = {"new": (NEW, NEW_TEXT), "old": (OLD, OLD_TEXT), "misspelt": (MISSPELT, MISSPELT_TEXT),
            "refused": (REFUSED, REFUSED_TEXT)}


@pytest.fixture(scope="module")
def stateful(tmp_path_factory):
    """A recording without a trace."""
    path = tmp_path_factory.mktemp("oom") / "state.pickle"
    path.write_bytes(pickle.dumps(top([segment([block(BASE, 20 * MIB)])], []), 4))
    return path


@pytest.mark.parametrize("name", sorted(WORDINGS))
def test_wordings(stateful, name):
    message, text = WORDINGS[name]
    for said in (message, message.replace(" ", "\n  "), "Traceback …\n  x = y\n" + message + "\n[rank0]: done"):
        result = ask(stateful, "--message", said)["result"]
        assert result["text"] == text


def test_text_alone(stateful):
    """Reserved is what is allocated, private pools in it, and what is not."""
    device = ask(stateful, "--message", NEW)
    result = device["result"]
    assert device["status"] == "partial" and [r["id"] for r in device["reasons"]] == ["text_only", "text_device"]
    assert result["reserved_bytes"] == gib(71.2) + gib(6.31) and round(result["reserved_bytes"] / GIB, 2) == 77.51
    assert round(result["outside_process_bytes"] / GIB, 2) == 1.41
    assert result["event"] is None and result["pending_bytes"] is None and result["live_bytes"] is None
    # 6.31 GiB were there for 20 MiB: in pieces, or for somebody else.
    assert result["verdict"] == "fragmentation" and result["confidence"] == "medium"
    assert ask(stateful, "--message", REFUSED)["result"]["verdict"] == "capacity_limit"
    # 188 MiB reserved and the request are far below the limit, and the card had 47 MiB and 57.65 MiB more.
    assert ask(stateful, "--message", OLD)["result"]["verdict"] == "fragmentation"


def test_text_from_a_file(stateful, tmp_path):
    (tmp_path / "error.txt").write_text(NEW)
    device = ask(stateful, "--message", "@%s" % (tmp_path / "error.txt"))
    assert device["result"]["text"] == NEW_TEXT
    assert run("oom", "--message", "@nowhere.txt", stateful, expect=2).err.startswith("vramscope: --message nowhere.txt: ")
    assert "--message takes the text or @FILE" in run("oom", "--message", "-", stateful, expect=2).err


def test_nothing_to_go_by(stateful):
    device = ask(stateful)
    assert device["status"] == "needs_trace" and device["result"] is None
    device = ask(stateful, "--message", "RuntimeError: shapes do not match")
    assert [r["id"] for r in device["reasons"]] == ["needs_trace", "text_unread"] and device["result"] is None


def test_no_oom_is_an_answer():
    device = ask(ROOT / "examples" / "train.pickle", expect=1)
    assert device["status"] == "not_applicable" and [r["id"] for r in device["reasons"]] == ["no_oom"]
    # One that ran out among several is enough.
    run("oom", ROOT / "examples" / "train.pickle", ROOT / "examples" / "oom.pickle", expect=0)


def test_text_tells_of_the_end(tmp_path):
    """No event, but what is reserved and allocated at the end is what the text says: nothing came after."""
    made = path_of("capacity 4GiB\n%s\nalloc a 3GiB cache\n" % STACKS, tmp_path)
    said = ("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 4.00 GiB of which 1.00 GiB is "
            "free. this process has 3.00 GiB memory in use. Of the allocated memory 3.00 GiB is allocated by PyTorch, and "
            "0 bytes is reserved by PyTorch but unallocated.")
    device = ask(made, "--message", said)
    assert device["status"] == "ok" and device["result"]["verdict"] == "live_exceeds_capacity"
    assert device["result"]["must_go"][0]["site"]["culprit"] == "cache.py:31 extend"
    later = ask(made, "--message", said.replace("3.00 GiB is allocated", "3.50 GiB is allocated"))
    assert later["status"] == "partial" and later["result"]["event"] is None


def test_event_wins_over_the_text(tmp_path):
    made = path_of(plain("4GiB", "3GiB", "2GiB"), tmp_path)
    said = "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free."
    assert ask(made, "--message", said)["reasons"] == []
    # Half a unit of the last place is rounding; more is a difference.
    assert ask(made, "--message", said.replace("1.00 GiB", "1024.00 MiB"))["reasons"] == []
    device = ask(made, "--message", said.replace("1.00 GiB", "1.01 GiB"))
    assert [r["id"] for r in device["reasons"]] == ["text_differs"] and device["status"] == "ok"
    assert device["result"]["device_free_bytes"] == GIB


def test_text_of_another_failure(tmp_path):
    """A text about another request, card or GPU is told, and never makes the verdict surer."""
    made = path_of(plain("4GiB", "3GiB", "2GiB"), tmp_path)
    said = "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 4.00 GiB of which 1.00 GiB is free."
    assert ask(made, "--message", said)["result"]["confidence"] == "high"
    assert ask(made, "--message", said)["reasons"] == []
    other = ask(made, "--message", said.replace("2.00", "5.00"))
    assert other["result"]["confidence"] == "medium"
    assert [r["text"] for r in other["reasons"]] == [
        "the text and the recording differ, and the recording's figures are used: requested 5.00 GiB in the text, 2.00 GiB recorded"]
    card = ask(made, "--message", said.replace("4.00", "2.00"))
    assert [r["id"] for r in card["reasons"]] == ["text_differs"] and card["result"]["confidence"] == "medium"
    held = said + " Of the allocated memory %s is allocated by PyTorch"
    assert ask(made, "--message", held % "3.00 GiB")["reasons"] == []
    other = ask(made, "--message", held % "2.50 GiB")
    assert [r["text"] for r in other["reasons"]] == [
        "the text and the recording differ, and the recording's figures are used: allocated 2.50 GiB in the text, 3.00 GiB recorded"]
    elsewhere = ask(made, "--message", said.replace("GPU 0", "GPU 3"))
    assert [r["id"] for r in elsewhere["reasons"]] == ["text_device"] and "GPU 3" in elsewhere["reasons"][0]["text"]


def test_a_text_of_another_run_beside_a_state(tmp_path):
    """Without an event the text alone is read; a recording that its card could not hold is told."""
    made = path_of("no_trace\n" + plain("8GiB", "3GiB", "2GiB"), tmp_path)
    said = "Tried to allocate 2.00 GiB (GPU 0; %s total capacity; 2.50 GiB already allocated; 1.00 GiB free)"
    assert "text_differs" not in [r["id"] for r in ask(made, "--message", said % "6.00 GiB")["reasons"]]
    over = ask(made, "--message", said % "4.00 GiB")
    assert [r["text"] for r in over["reasons"] if r["id"] == "text_differs"] == [
        "the text is of another run: the recording had 5.00 GiB, more than the card of the text, which has 4.00 GiB"]


def test_capacity_below_what_was_reserved(tmp_path):
    made = path_of(plain("4GiB", "3GiB", "2GiB"), tmp_path)
    alone, device = ask(made), ask(made, "--capacity", "2GiB")
    assert device["result"] == alone["result"] and device["result"]["confidence"] == "medium"
    reason, = device["reasons"]
    assert reason["id"] == "capacity_too_small"
    assert reason["text"].startswith("the recording had 3.00 GiB reserved: it cannot be from a card of 2.00 GiB")
    assert ask(made, "--capacity", "3.5GiB")["reasons"][0]["text"].startswith("the recording had 4.00 GiB of its card")
    whole = ask(made, "--capacity", "4GiB")
    assert whole["reasons"] == [] and whole["result"]["confidence"] == "high"


def test_growth_is_told_only_where_something_leaks():
    """Steps of the example differ, and nothing grows: what filled the memory is one longer batch."""
    path = ROOT / "examples" / "oom.pickle"
    leaks = run("leaks", "--json", path, expect=0).json()["devices"][0]["result"]
    assert not [s for s in leaks["sites"] if s["class"] in ("leak", "suspect")]
    assert ask(path)["result"]["steps_of_growth"] is None


def test_text_of_another_device(shared):
    path = shared / "data" / "snapshots" / "three_gpu_expandable_oom.pickle"
    doc = run("oom", "--json", "--message", "GPU 2; 79.15 GiB total capacity", path, expect=0).json()
    said = {d["device"]: d["result"] and d["result"]["text"] for d in doc["devices"]}
    assert said[0] is None and said[1] is None and said[2]["capacity_bytes"] == gib(79.15)


def test_hostile_texts(stateful):
    random.seed(5)
    words = ("Tried to allocate", "GPU", "total capacity of", "of which", "is free", "free", "allowed", "9" * 40,
             "99999999999999999999 GiB", "1.2.3 GiB", "-5 MiB", "1e9 GiB", "0 bytes", "process 7 has", "this process has",
             "Requested size", "reserved by PyTorch but unallocated", "cached", "GiB", ".", "9" * 300 + ".5 KiB", "\x1b[31m",
             "already allocated", "18446744073709551615 bytes", "1.00 TiB")
    for _ in range(some(20, 60)):
        said = " ".join(random.choice(words) for _ in range(random.randrange(1, 30)))
        device = ask(stateful, "--message", said)
        for value in (device["result"] or {"text": {}})["text"].values():
            assert value is None or isinstance(value, bool) or 0 <= value < 1 << 61


# Real files ---------------------------------------------------------------------------------------

def test_examples():
    for path in sorted((ROOT / "examples").glob("*.pickle")):
        doc = run("oom", "--json", path).json()
        for device in doc["devices"]:
            if device["result"] is not None:
                check_sums(device["result"])
    assert ask(ROOT / "examples" / "oom.pickle")["result"]["verdict"] == "live_exceeds_capacity"
    assert ask(ROOT / "examples" / "fragmentation.pickle")["result"]["verdict"] == "fragmentation"


def test_real_files(shared):
    names = sorted((shared / "data" / "snapshots").iterdir())
    found = 0
    for name in names:
        result = run("oom", "--json", name)
        if result.code == 3:
            continue
        for entries in answers(result).values():
            for device in (d for e in entries for d in e["devices"]):
                if device["result"] is not None:
                    found += 1
                    check_sums(device["result"])
                else:
                    assert device["status"] in ("not_applicable", "needs_trace")
    assert found == 1


def test_around_the_oom_of_a_real_file(shared):
    """The unmaps before it served another request; and the state at the end tells nothing of it."""
    path = shared / "data" / "snapshots" / "three_gpu_expandable_oom.pickle"
    device, = (d for d in json.loads(run("report", "--json", path, expect=0).raw)["devices"] if d["device"] == 1)
    bursts = [(b["first_event"], b["last_event"], b["cause"]) for b in device["timeline"]["bursts"]]
    assert bursts[-1] == (413, 418, "retry")
    with open(path, "rb") as f:
        recorded = pickle.load(f)
    trace = recorded["device_traces"][1]
    assert [trace[i]["action"] for i in (*range(413, 422),)] == ["segment_unmap"] * 6 + ["segment_map", "alloc", "oom"]
    assert trace[420]["size"] == trace[421]["size"] == 5308694528
    assert (device["requested"]["end_bytes"], device["reserved"]["end_bytes"]) == (403506116, 84202749952)
    # Nothing is mapped after it, so that the ranges of the end are those of the oom.
    assert not [e for e in trace[421:] if e["action"].startswith("segment")]
    assert len([s for s in recorded["segments"] if s["device"] == 1]) == 8


def test_figures_of_the_specification(shared):
    path = shared / "data" / "snapshots" / "three_gpu_expandable_oom.pickle"
    result = ask(path, "--device", "1")["result"]
    want = {"event": 421, "request_bytes": 5308694528, "device_free_bytes": 95682560, "reserved_bytes": 84202749952,
            "active_bytes": 84063358976, "internal_free_bytes": 139390976, "free_runs": 23,
            "largest_usable_bytes": 17313792, "returnable_bytes": 0, "capacity_seen_bytes": 84298432512,
            "short_by_bytes": 5073620992, "verdict": "live_exceeds_capacity", "also_true": [], "exact": True}
    assert {k: result[k] for k in want} == want
    row, = result["must_go"]
    assert row["bytes"] == 31867719984 and row["count"] == 12 and row["site"]["culprit"] == "models.py:174 update_nodes"
    assert [t["holds"] for t in result["tests"]] == [False] * 7 + [None, True]
    # All there was would not have been enough, by far.
    assert result["internal_free_bytes"] + result["device_free_bytes"] == 235073536 < result["request_bytes"]
    assert round(result["capacity_seen_bytes"] / GIB, 2) == 78.51
    # Expandable segments are on already: they are not offered.
    assert result["what_if"]["setting"] is None


def test_of_a_request_that_nothing_serves_the_line_that_asks_is_told():
    """Larger than the card: no other line is to shrink; at its size or below, no such item."""
    for option in ((), ("--markdown",)):
        text = " ".join(run("report", *option, scripts.make(plain("4GiB", "1GiB", "5GiB")), expect=0).out.split())
        item = text[text.index("What to do"):]
        assert "asks for in one piece smaller" in item
        assert "it asks for 5.00 GiB, and 4.00 GiB is all there is." in item
        assert "1.00 GiB are needed." in item if option else "1.00 GiB needed" in item
        other = " ".join(run("report", *option, scripts.make(plain("4GiB", "1GiB", "3.5GiB")), expect=0).out.split())
        assert "in one piece" not in other
