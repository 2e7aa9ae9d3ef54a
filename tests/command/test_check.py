"""`vramscope check`: every outcome and exit status, values against the naive model, every form."""
import json
import re
import shutil
import xml.etree.ElementTree as xml

import pytest
from recordings import scripts, tiny, writers
from models import grouping, model
from recordings.tiny import BASE, MIB, event, freed

from conftest import ROOT, environment, run

NONE, OVER, USAGE, FAILED, UNDECIDED = 0, 1, 2, 3, 4
# Limits that any recording has a value for, or a reason why not.
ALL = ["max-peak", "max-peak-active", "max-reserved", "max-end", "max-growth-per-step", "max-step-peak", "max-stranded",
       "max-slack", "max-pending"]
LINE = re.compile(r"^(PASS|FAIL|INCONCLUSIVE) +(\S.*)$", re.M)


def check(path, *limits, expect=None, **more):
    return run("check", *limits, path, expect=expect, **more)


def results(path, *limits, **more):
    """device -> name -> row"""
    doc = check(path, "--json", *limits, **more).json()
    return {d["device"]: {r["name"]: r for r in d["result"]["limits"]} for d in doc["devices"] if d["result"]}


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "snapshots"


# The figures of the specification ----------------------------------------------------------

def test_peak_and_one_byte_less(folder):
    churn = folder / "quant_empty_cache_churn.pickle"
    assert "in the recorded window" in check(churn, "--max-peak", 4351237120, expect=NONE).out
    text = check(churn, "--max-peak", 4351237119, expect=OVER).out
    assert "4351237120 B" in text and "4351237119 B" in text and "event 148" in text


def test_without_a_trace(folder):
    state = folder / "no_frames_no_trace.pickle"
    loose = check(state, "--max-peak", "1GiB", expect=NONE)
    assert LINE.search(loose.out).group(1) == "INCONCLUSIVE" and "warning" in loose.err
    check(state, "--max-peak", "1GiB", "--strict", expect=UNDECIDED)
    quiet = check(state, "--max-end", 90861056, "--strict", expect=NONE)
    assert not quiet.err and LINE.search(quiet.out).group(1) == "PASS"
    check(state, "--max-end", 90861055, expect=OVER)
    # The end still has these, too.
    rows = results(state, "--max-reserved", "1TiB", "--max-stranded", "1TiB", "--max-category", "unknown=1TiB")[0]
    assert [r["result"] for r in rows.values()] == ["pass"] * 3


def test_what_only_a_trace_tells(folder):
    """Without one there is no peak, and nothing that waits."""
    state = folder / "no_frames_no_trace.pickle"
    rows = results(state, "--max-pending", 1, "--max-slack", 1, "--max-unknown-share", "1%", "--strict",
                   expect=UNDECIDED)[0]
    assert {(r["result"], r["reason"]["id"]) for r in rows.values()} == {("inconclusive", "needs_trace")}
    # What waits at the end is the least that ever waited.
    pools = folder / "rlhf_megatron_vllm_private_pools.pickle"
    check(pools, "--max-pending", 597377023, expect=OVER)
    check(pools, "--max-pending", 597377024, "--strict", expect=UNDECIDED)


# Of a cut file ------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def cut(bundled, tmp_path_factory):
    """oom.pickle without most of its events; its final state stands before them."""
    path = tmp_path_factory.mktemp("cut") / "cut.pickle"
    path.write_bytes(bundled["oom.pickle"][0].read_bytes()[:100000])
    return path


def test_what_a_cut_file_does_not_exceed_is_open(cut):
    wide = ("--no-oom", "--no-retry", "--max-site", "model.py:22=5GiB", "--max-category", "activation=10GiB",
            "--max-pending", 1, "--max-unknown-share", "1%", "--max-peak", "30GiB", "--max-reserved", "30GiB",
            "--max-peak-active", "30GiB", "--max-slack", "30GiB", "--headroom", 0, "--capacity", "30GiB")
    rows = results(cut, *wide, "--strict", expect=UNDECIDED)[0]
    assert len(rows) == 11
    assert {(r["result"], r["reason"]["id"]) for r in rows.values()} == {("inconclusive", "incomplete")}
    assert not re.search("^PASS", check(cut, *wide, expect=NONE).out, re.M)
    # What is exceeded in the part read is exceeded; the end was read whole.
    tight = results(cut, "--max-site", "model.py:22=512MiB", "--max-slack", 0, "--max-end", "30GiB", expect=OVER)[0]
    assert [r["result"] for r in tight.values()] == ["fail", "fail", "pass"]
    seen = results(cut, "--max-category", "parameter=1MiB", "--max-category", "workspace=1GiB", expect=OVER)[0]
    assert [(r["result"], r["reason"]["id"]) for r in seen.values()] == [("fail", "incomplete"), ("inconclusive", "incomplete")]


def test_a_share_seen_in_a_cut_file(tmp_path):
    """30 of 41 MiB have no stack where the part read is highest: too much is too much, enough is not known."""
    script = "stack a model.py:22 forward < train.py:1 main\nalloc x 10MiB a\nalloc y 30MiB\nrepeat 400 {\nalloc t 1MiB a\nfree t a\n}\n"
    whole = scripts.make(script)
    data = whole.read_bytes()
    (tmp_path / "cut.pickle").write_bytes(data[:len(data) // 2])
    for limit, of_whole, of_cut in (("90%", "pass", "inconclusive"), ("1%", "fail", "fail")):
        row = results(whole, "--max-unknown-share", limit)[0]["max-unknown-share"]
        assert (row["result"], round(row["value_ratio"], 4)) == (of_whole, round(30 / 41, 4))
        row = results(tmp_path / "cut.pickle", "--max-unknown-share", limit)[0]["max-unknown-share"]
        assert (row["result"], row["reason"]["id"]) == (of_cut, "incomplete")
    check(tmp_path / "cut.pickle", "--max-unknown-share", "90%", "--strict", expect=UNDECIDED)


def test_the_peak_of_a_cut_file_is_no_lower_than_its_end(cut):
    rows = results(cut, "--max-peak", "10GiB", "--max-reserved", "10GiB", "--max-end", "10GiB", "--headroom", "1GiB",
                   "--capacity", "24GiB", expect=OVER)[0]
    assert {r["result"] for r in rows.values()} == {"fail"} and {r["event"] for r in rows.values()} == {None}
    device = run("report", "--json", cut).json()["devices"][0]
    assert rows["max-peak"]["value_bytes"] == rows["max-end"]["value_bytes"] == device["requested"]["end_bytes"]
    assert rows["max-reserved"]["value_bytes"] == device["reserved"]["end_bytes"]
    # Who stands there is read from the final state, too: most of it was allocated after the cut.
    sites = rows["max-end"]["evidence"]["sites"]
    assert sites[0]["site"]["culprit"] == "model.py:22 forward" and sites[0]["bytes"] == 12 << 30


def test_a_cut_file_has_no_new_site(cut, bundled):
    """Nor has it none: of the memory at its peak only some was read.  The same of a baseline."""
    train = bundled["train.pickle"][0]
    asked = ("--max-site-delta", "100GiB", "--no-new-site", "100GiB")
    for one, base, reason in ((cut, train, "incomplete"), (train, cut, "baseline_unknown")):
        rows = results(one, "--baseline", base, *asked, "--strict", expect=UNDECIDED)[0]
        assert {(r["result"], r["reason"]["id"]) for r in rows.values()} == {("inconclusive", reason)}


def test_a_file_cut_before_its_events(bundled, tmp_path):
    """The final state is then all there is, and no peak is lower."""
    data, path = bundled["oom.pickle"][0].read_bytes(), tmp_path / "cut.pickle"
    path.write_bytes(data[:data.index(b"device_traces")])
    rows = results(path, "--max-peak", 1, "--max-reserved", 1, "--max-pending", 1, "--no-oom", "--no-retry",
                   "--max-slack", 1, expect=OVER)[0]
    assert [r["result"] for r in rows.values()] == ["fail"] * 2 + ["inconclusive"] * 4
    assert {r["reason"]["id"] for r in rows.values()} == {"incomplete"}


def test_a_file_that_contradicts_itself(folder):
    edited = folder / "anonymised_expandable_contexts.pickle"
    for size in (1, "1TiB"):
        refused = check(edited, "--max-peak", size, "--strict", "--json", expect=UNDECIDED).json()
        assert refused["devices"][0]["status"] == "refused"
        assert refused["devices"][0]["result"]["limits"][0]["reason"]["id"] == "grade_d"
    check(edited, "--max-peak", 1, expect=OVER)
    assert "trust D" in check(edited, "--max-peak", "1TiB", expect=NONE).out.splitlines()[0]


def test_both_sides_of_a_contradiction_count(folder):
    """Its end says 32 KiB at the peak, its allocations 384 MiB."""
    edited = folder / "attention_inductor_mini.pickle"
    for size, outcome in ((32 << 10, "inconclusive"), (402752512 - 1, "inconclusive"), (32767, "fail"),
                          (402752512, "pass")):
        row = results(edited, "--max-peak", size)[0]["max-peak"]
        assert (row["result"], row["reason"]["id"]) == (outcome, "contradiction"), size
        assert (row["value_bytes"], row["upper_bytes"]) == (32768, 402752512)
    row = results(edited, "--max-end", "1MiB")[0]["max-end"]
    assert row["result"] == "inconclusive" and (row["value_bytes"], row["upper_bytes"]) == (0, 402719744)


def test_all_verbs_tell_one_peak(folder):
    """Its rows do not add up to its curve: the difference is named."""
    edited = folder / "attention_inductor_mini.pickle"
    assert "The peak is 32.00 KiB at" in run("report", edited).out
    for verb in ("peak", "advise", "steps", "categories"):
        assert "32.00 KiB in" in run(verb, edited).out, verb
    for verb in (("peak", edited), ("categories", edited), ("diff", edited, edited)):
        out = run(*verb).out
        assert "adjust" in out and "-384.06 MiB" in out and "384.09 MiB in use" not in out, verb
    assert "819403" not in run("categories", edited).out
    assert "32.00 KiB to 32.00 KiB in use" in run("diff", edited, edited).out


def test_an_expression_that_matches_nothing_is_told(bundled):
    train = bundled["train.pickle"][0]
    loose = results(train, "--max-site", "no_such_file.py=1", expect=NONE)[0]["max-site no_such_file.py"]
    assert (loose["result"], loose["reason"]["id"]) == ("pass", "no_match")
    assert "no site matches" in check(train, "--max-site", "no_such_file.py=1").out
    check(train, "--max-site", "no_such_file.py=1", "--strict", expect=UNDECIDED)
    # One that matches elsewhere in the recording is no mistake.
    found = results(train, "--max-site", "train.py=1TiB", "--strict", expect=NONE)[0]["max-site train.py"]
    assert found["reason"] is None


def test_a_share_without_a_stack_is_no_category(bundled):
    out = check(bundled["train.pickle"][0], "--max-unknown-share", "5%", "--max-category", "unknown=1TiB").out
    assert re.search(r"^PASS +max-unknown-share .*without a stack", out.replace("\n      ", " "), re.M)


def test_growth_against_a_baseline(folder):
    train, base = folder / "lm_train_medium_ctx512.pickle", folder / "lm_infer_medium_ctx1024.pickle"
    check(train, "--baseline", base, "--max-delta", "9GiB", expect=NONE)
    row = results(train, "--baseline", base, "--max-delta", "8GiB", expect=OVER)[0]["max-delta"]
    assert row["value_bytes"] == 9549193224 and row["limit_bytes"] == 8 << 30
    check(train, "--baseline", base, "--max-delta", 9549193224, expect=NONE)
    check(train, "--baseline", base, "--max-delta", 9549193223, expect=OVER)
    check(train, "--baseline", base, "--max-delta", 9549193223, "--tolerance", 1, expect=NONE)
    # The same figure of the same device, in parts of the baseline's.
    peak = 12426629128
    share = 100 * peak / (peak - 9549193224)
    check(train, "--baseline", base, "--max-peak", "%.4f%%" % (share + 0.001), expect=NONE)
    check(train, "--baseline", base, "--max-peak", "%.4f%%" % (share - 0.001), expect=OVER)
    for name in ("lm_train_medium_ctx512", "three_gpu_expandable_oom"):
        same = folder / (name + ".pickle")
        check(same, "--baseline", same, "--max-delta", 0, "--max-reserved", "100%", "--strict", expect=NONE)


def test_running_out_is_an_event_of_one_device(folder):
    rows = results(folder / "three_gpu_expandable_oom.pickle", "--no-oom", expect=OVER)
    assert [rows[d]["no-oom"]["value_count"] for d in (0, 1, 2)] == [0, 1, 0]
    found = rows[1]["no-oom"]
    assert found["result"] == "fail" and found["event"] == 421
    assert found["evidence"]["sites"][0]["site"]["culprit"].endswith("update_nodes")
    assert found["evidence"]["sites"][0]["bytes"] == 31867719984


def test_limits_of_one_device(folder):
    three = folder / "three_gpu_expandable_oom.pickle"
    rows = results(three, "--max-device-peak", "1=84063351764", "--max-device-peak", "2=21564645799",
                   "--max-device-peak", "3=1GiB", expect=OVER)
    assert list(rows[1]) == ["max-device-peak 1"] and rows[1]["max-device-peak 1"]["result"] == "pass"
    assert list(rows[2]) == ["max-device-peak 2"] and rows[2]["max-device-peak 2"]["result"] == "fail"
    assert list(rows[0]) == ["max-device-peak 3"]
    assert rows[0]["max-device-peak 3"]["reason"]["id"] == "no_such_device"
    rows = results(three, "--device", 1, "--max-device-peak", "0=1", expect=NONE)
    assert rows[1]["max-device-peak 0"]["result"] == "inconclusive"


def test_figures_of_other_sections(folder):
    def value(name, limit, option, *more):
        return results(folder / name, option, limit, *more)[0]

    # 5: stranded at the end, and whose block pins it.
    for name, stranded in (("peak_memory_probe.pickle", 528219648), ("nca_segment_free.pickle", 3923285504),
                           ("rlhf_megatron_vllm_private_pools.pickle", 301954048)):
        check(folder / name, "--max-stranded", stranded, expect=NONE)
        check(folder / name, "--max-stranded", stranded - 1, expect=OVER)
    sites = value("nca_segment_free.pickle", 0, "--max-stranded")["max-stranded"]["evidence"]["sites"]
    assert sites[0]["bytes"] == 3908894720
    # 2: one burst of releases because a request found no memory; bursts whose cause nobody tells.
    assert value("nca_segment_free.pickle", "1TiB", "--max-peak", "--no-retry")["no-retry"]["event"] == 2077
    check(folder / "quant_empty_cache_churn.pickle", "--no-retry", "--strict", expect=NONE)
    check(folder / "llama_offload_two_streams.pickle", "--no-retry", "--strict", expect=UNDECIDED)
    # 5: memory that waits for another stream.
    pending = value("rlhf_megatron_vllm_private_pools.pickle", 0, "--max-pending")["max-pending"]
    assert pending["value_bytes"] == 597377024 and pending["result"] == "fail"
    # 11: slack at the peak; 2: the active peak.
    assert value("lm_fullstep_from_start.pickle", 0, "--max-slack")["max-slack"]["value_bytes"] == 276333052
    active = value("lm_fwd_bwd_ctx150.pickle", 0, "--max-peak-active")["max-peak-active"]
    assert (active["value_bytes"], active["event"], active["upper_bytes"]) == (953719808, 8361, None)
    # 1: what has no stack.
    for name, share in (("lm_large_fwd_nograd.pickle", 0.993), ("lm_compile_adamw.pickle", 0.796),
                        ("lm_train_full.pickle", 0.342), ("zeroth_order_finetune_windows.pickle", 0)):
        row = value(name, "100%", "--max-unknown-share")["max-unknown-share"]
        assert round(row["value_ratio"], 3) == share and row["result"] == "pass"
    # 7: the largest peak of three steps.
    assert value("lm_fwd_bwd_ctx150.pickle", 0, "--max-step-peak")["max-step-peak"]["value_bytes"] == 937034440


def test_growth_needs_steps_that_leak(folder, bundled):
    def growth(path, *more):
        return results(path, "--max-growth-per-step", 0, *more)[0]["max-growth-per-step"]

    # 6.2: replaced outputs, memory that came once and a plateau do not count.
    for name in ("lm_fwd_bwd_ctx150.pickle", "cnn_counterfactuals_snapshot_events.pickle"):
        row = growth(folder / name)
        assert (row["result"], row["value_bytes"], row["reason"]["id"]) == ("pass", 0, "no_leak")
    assert growth(folder / "lm_train_full.pickle")["reason"]["id"] == "no_steps"
    assert growth(folder / "no_frames_no_trace.pickle")["reason"]["id"] == "needs_trace"
    # 17.3: at its last point the old value is still to be freed.
    replaced = growth(folder / "llama_offload_two_streams.pickle")
    assert (replaced["result"], replaced["reason"]["id"]) == ("pass", "no_leak")
    leak = growth(bundled["leak.pickle"][0])
    assert leak["result"] == "fail" and leak["reason"] is None
    assert leak["evidence"]["sites"][0]["site"]["culprit"] == "train.py:45 main"
    check(bundled["leak.pickle"][0], "--max-growth-per-step", leak["value_bytes"], expect=NONE)


def test_places_against_a_baseline(folder):
    train, base = folder / "lm_train_medium_ctx512.pickle", folder / "lm_infer_medium_ctx1024.pickle"
    asked = ("--baseline", base, "--max-delta", "8GiB", "--max-site-delta", "100MiB", "--no-new-site", "1GiB")
    rows = results(train, *asked, expect=OVER)[0]
    grown = rows["max-site-delta"]["evidence"]["diff_rows"]
    assert rows["max-site-delta"]["value_bytes"] == grown[0]["delta_bytes"] > 0
    assert [r["delta_bytes"] for r in grown] == sorted((r["delta_bytes"] for r in grown), reverse=True)
    for r in grown + rows["max-delta"]["evidence"]["diff_rows"]:
        assert r["b_bytes"] - r["a_bytes"] == r["delta_bytes"]
        assert (r["score_ratio"] is not None) == (r["stage"] == "M3")
    # What has no stack may be of any place, so no new one is called absent.
    assert rows["no-new-site"]["result"] == "inconclusive" and rows["no-new-site"]["reason"]["id"] == "no_stack"
    # Two implementations of one loss: nothing in common, and less of it.
    rows = results(folder / "cross_entropy_liger.pickle", "--baseline", folder / "cross_entropy_vanilla.pickle",
                   "--max-delta", 0, "--no-new-site", 0, "--max-site-delta", "1GiB", expect=OVER)[0]
    assert rows["max-delta"]["value_bytes"] == -786420732 and rows["max-delta"]["result"] == "pass"
    assert rows["no-new-site"]["result"] == "fail" and rows["no-new-site"]["evidence"]["diff_rows"][0]["status"] == "new"
    assert rows["max-site-delta"]["result"] == "pass"
    # A recording has nothing new against itself; a baseline without a trace or stacks says nothing.
    nothing = ("--max-delta", 0, "--max-site-delta", 0, "--no-new-site", 0, "--strict")
    for name in ("lm_fwd_bwd_ctx150.pickle", "llama_offload_two_streams.pickle"):
        check(folder / name, "--baseline", folder / name, *nothing, expect=NONE)
    rows = results(train, "--baseline", folder / "no_frames_no_trace.pickle", *nothing, expect=UNDECIDED)[0]
    assert {r["result"] for r in rows.values()} == {"inconclusive"}


def test_a_line_is_judged_whoever_calls_it():
    """A new caller of an old line is growth of that line, and no new one."""
    script = "stack one model.py:22 forward < train.py:1 main\nstack two model.py:22 forward < train.py:9 again\n"
    script += "stack new model.py:30 extra < train.py:1 main\nalloc a 10MiB one\n"
    base = scripts.make(script + "free a\n")
    more = scripts.make(script + "alloc b 7MiB one\nalloc c 2MiB two\nalloc d 1MiB new\nfree a\n")
    asked = ("--baseline", base, "--max-site-delta", 0, "--no-new-site", 0, "--max-delta", 0)
    rows = results(more, *asked, expect=OVER)[0]
    told = {n: [(r["name"], r["status"], r["delta_bytes"]) for r in rows[n]["evidence"]["diff_rows"]] for n in rows}
    line, new = ("model.py:22 forward", "grown", 9 * MIB), ("model.py:30 extra", "new", MIB)
    assert told == {"max-site-delta": [line, new], "no-new-site": [new], "max-delta": [line, new]}
    assert rows["max-site-delta"]["value_bytes"] == 9 * MIB and rows["no-new-site"]["value_bytes"] == MIB


def test_categories_are_bounds(folder):
    full = folder / "lm_fullstep_from_start.pickle"
    rows = results(full, "--max-category", "optimizer_state=0", "--max-category", "gradient=0")[0]
    assert rows["max-category optimizer_state"]["value_bytes"] == 27254476800
    assert rows["max-category gradient"]["value_bytes"] == 13627238400
    # What is there with low confidence, or nowhere, counts for the upper bound only.
    notebook = folder / "qlora_notebook.pickle"
    row = results(notebook, "--max-category", "activation=0")[0]["max-category activation"]
    assert row["result"] == "fail" and row["upper_bytes"] > row["value_bytes"] > 0
    for size, outcome in ((row["value_bytes"] - 1, "fail"), (row["value_bytes"], "inconclusive"),
                          (row["upper_bytes"] - 1, "inconclusive"), (row["upper_bytes"], "pass")):
        again = results(notebook, "--max-category", "activation=%d" % size)[0]["max-category activation"]
        assert again["result"] == outcome, size
    guess = results(notebook, "--allow-estimates", "--max-category", "activation=0")[0]["max-category activation"]
    assert guess["source"] == "estimated" and guess["upper_bytes"] is None
    assert row["value_bytes"] <= guess["value_bytes"] <= row["upper_bytes"]


# Against the naive model -------------------------------------------------------------------

def traced(device):
    return len(device.events) > 1 or bool(device.events and device.curves["requested"].start == 0)


def waits(device):
    """Whether any free waited; that the next event completes it is how every free is recorded."""
    n = len(device.events)
    return (any(a.fr < n and (a.fc > a.fr + 1 or a.fc == n) for a in device.allocations) or
            any(b.active and not b.allocated for b in device.blocks))


SITE = r"\.py:[0-9]+ (forward|step)$"


def words(line):
    """"model.py:12 forward" of a line of Python; nothing for what stands in for one."""
    if not line or len(line) < 3:
        return ""
    file, number, name = line[-3:]
    return "%s:%s %s" % (re.split(r"[/\\]", file or "")[-1], number, name)


def check_device(device, rows, where):
    """How the rows of one device depart from the model."""
    curves, n, found = device.curves, len(device.events), []

    def want(name, value, event=None):
        row = rows[name]
        have = next((row[k] for k in ("value_bytes", "value_count", "value_ratio") if row[k] is not None), None)
        if have != value or (event is not None and row["event"] != event):
            found.append("%s %s: %s at %s, wanted %s at %s" % (where, name, have, row["event"], value, event))

    if not device.anchored:
        return found
    want("max-end", curves["requested"].values[-1])
    at = curves["requested"].first if traced(device) else n - 1
    if traced(device):
        want("max-peak", curves["requested"].peak, curves["requested"].first)
        want("max-reserved", curves["reserved"].peak, curves["reserved"].first)
        want("no-oom", sum(e["action"] == "oom" for e in device.events))
    else:
        assert rows["max-peak"]["result"] == rows["no-retry"]["result"] == "inconclusive"
        want("max-reserved", curves["reserved"].values[-1])
    live = grouping.live_at(device, at)
    nameless = sum(a.req for a in live if not a.frames)
    whole = sum(a.req for a in live)
    if traced(device):
        want("max-unknown-share", round(nameless / whole, 6) if whole else 0)
    row = rows["max-site " + SITE]
    if row["reason"] is None or row["reason"]["id"] != "needs_stacks":
        # Which frames an owner passes over is the business of other tests.
        least = sum(a.req for a in live if a.frames and re.search(SITE, words(grouping.culprit_of(a.frames))))
        most = sum(a.req for a in live if any(re.search(SITE, words(grouping.line_of(f))) for f in a.frames))
        if not least <= row["value_bytes"] <= most:
            found.append("%s site: %d, wanted %d to %d" % (where, row["value_bytes"], least, most))
        if (row["upper_bytes"] or row["value_bytes"]) != row["value_bytes"] + nameless:
            found.append("%s site: up to %s, %d have no stack" % (where, row["upper_bytes"], nameless))
    if not waits(device):
        want("max-pending", 0)
    return found


LIMITS = [a for name in ALL for a in ("--" + name, "0")] + [
    "--max-site", SITE + "=0", "--max-unknown-share", "0%", "--no-oom", "--no-retry", "--max-category",
    "activation=0", "--headroom", "1GiB", "--capacity", "80GiB"]


def test_values_are_those_of_the_model(real):
    problems = []
    for name, (path, recording) in real.items():
        rows = results(path, *LIMITS)
        for device in model.devices(recording):
            if device.number in rows:
                problems += check_device(device, rows[device.number], "%s device %d" % (name, device.number))
    assert not problems, "\n".join(problems)


def test_each_value_is_its_own_limit(folder):
    """A limit equal to the value passes, unless a bound is above it; one byte less never does."""
    for name in ("cnn_counterfactuals_snapshot_events.pickle", "linear_grad_tiny.pkl", "no_frames_no_trace.pickle",
                 "llama_offload_two_streams.pickle", "lm_fwd_bwd_ctx150.pickle", "attention_inductor_mini.pickle"):
        rows = results(folder / name, *LIMITS)[0]
        sizes = {n: r for n, r in rows.items() if n in ALL and r["value_bytes"] is not None and r["value_bytes"] > 0}
        equal = [a for n, r in sizes.items() for a in ("--" + n, r["value_bytes"])]
        less = [a for n, r in sizes.items() for a in ("--" + n, r["value_bytes"] - 1)]
        for n, r in results(folder / name, *equal)[0].items():
            assert r["result"] == ("pass" if r["upper_bytes"] is None else "inconclusive"), (name, n, r)
        for n, r in results(folder / name, *less)[0].items():
            assert r["result"] == ("inconclusive" if r["source"] == "estimated" else "fail"), (name, n, r)


@pytest.mark.parametrize("size", [1 << 63, (1 << 64) - 1, 1 << 70, -5, None])
def test_sizes_out_of_range_are_unknown(tmp_path, size):
    """What has no size counts nothing, which keeps no limit, and answers no test of the verdict."""
    events = [{"action": a, "addr": 4096, "size": size, "stream": 0, "frames": [], "device_free": size}
              for a in ("segment_alloc", "alloc", "oom")]
    block = {"size": size, "requested_size": size, "state": "active_allocated", "address": 4096, "frames": []}
    segment = {"device": 0, "address": 4096, "total_size": size, "stream": 0, "blocks": [block]}
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({"segments": [segment], "device_traces": [events]}))
    rows = results(path, "--max-peak", 1, "--max-end", 1, "--max-reserved", 1, "--max-slack", 1, "--max-pending", 1,
                   "--max-peak-active", 1, "--headroom", 1, "--capacity", "1GiB")[0]
    assert {(r["result"], r["reason"]["id"]) for r in rows.values()} == {("inconclusive", "unknown_sizes")}
    tests = run("oom", "--json", path).json()["devices"][0]["result"]["tests"]
    assert [t["holds"] for t in tests] == [None] * len(tests), tests


# Exit statuses -----------------------------------------------------------------------------

@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """name -> path of tiny recordings."""
    where = tmp_path_factory.mktemp("check")
    made = {
        "full.pickle": tiny.plain(),
        "state.pickle": tiny.top([tiny.half()]),
        "empty.pickle": tiny.top([]),
        "oom.pickle": tiny.top([tiny.half()], [event("oom", 100, 4 * MIB), event("alloc", BASE, 4 * MIB - 100)]),
    }
    for name, snapshot in made.items():
        (where / name).write_bytes(writers.pickled(snapshot, 4))
    (where / "broken.pickle").write_bytes(b"\x80\x04]")
    (where / "text.pickle").write_bytes(b"not a snapshot")
    return where


def test_the_worst_of_all_counts(small):
    def ends(*args):
        return run("check", *args, cwd=small).code

    big, tight = ("--max-end", "1TiB"), ("--max-end", 1)
    assert ends(*big, "full.pickle") == NONE
    assert ends(*tight, "full.pickle") == OVER
    assert ends(*big, "--no-such", "full.pickle") == USAGE
    assert ends(*big, "text.pickle") == FAILED
    assert ends("--max-peak", "1TiB", "--strict", "state.pickle") == UNDECIDED
    assert ends("--max-peak", "1TiB", "state.pickle") == NONE
    assert ends("--max-peak", "1TiB", *tight, "--strict", "state.pickle") == OVER
    assert ends(*tight, "full.pickle", "text.pickle") == FAILED
    assert ends("--max-peak", "1TiB", "--strict", "state.pickle", "full.pickle") == UNDECIDED
    assert ends("--max-peak", "1TiB", "--max-end", 1, "--strict", "state.pickle", "full.pickle") == OVER
    assert ends("--max-peak", "1TiB", "--strict", "state.pickle", "text.pickle") == FAILED
    assert ends(*big, "--strict", "empty.pickle") == UNDECIDED
    assert ends(*big, "empty.pickle") == NONE
    assert ends(*big, "--baseline", "text.pickle", "full.pickle") == FAILED
    assert ends("--no-oom", "oom.pickle", "full.pickle") == OVER


def test_each_file_is_listed(small):
    doc = run("check", "--json", "--max-end", 1, "full.pickle", "state.pickle", "text.pickle", cwd=small,
              expect=FAILED).json()
    assert [e["file"]["path"] for e in doc["files"][:2]] == ["full.pickle", "state.pickle"]
    assert [e["devices"][0]["result"]["exit_code"] for e in doc["files"][:2]] == [1, 1]
    assert [e["path"] for e in doc["files"][2:]] == ["text.pickle"] and doc["files"][2]["error"]
    text = run("check", "--max-end", 1, "full.pickle", "state.pickle", cwd=small, expect=OVER).out
    assert "full.pickle, device 0" in text and "state.pickle, device 0" in text
    assert "2 of 2 limits exceeded" in text


def test_what_was_not_read_is_told_in_every_form(small):
    """A document of its own, as a summary of a pull request, must not be green for a file that nobody saw."""
    def form(name, *files, expect=FAILED, strict=()):
        return run("check", "--format", name, "--max-end", "1TiB", *strict, *files, cwd=small, expect=expect).out

    files = ("full.pickle", "text.pickle")
    text = form("text", *files)
    assert "NOT READ  " in text and "1 of 2 recordings could not be read; in the other the limit holds" in text
    assert "the recording could not be read" in form("text", "text.pickle") and "holds" not in form("text", "text.pickle")
    marked = form("markdown", *files)
    assert marked.startswith("### vramscope check: 1 of 2 recordings could not be read") and "| **NOT READ** |" in marked
    suites = xml.fromstring(form("junit", *files))
    assert (suites.get("tests"), suites.get("errors"), suites.get("failures")) == ("2", "1", "0")
    error, = suites.iter("error")
    assert error.get("type") == "unread" and error.get("message")
    sarif = form("sarif", *files)
    assert not sarif_of(sarif)
    invocation, = json.loads(sarif)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "text.pickle" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    well, = json.loads(form("sarif", "full.pickle", expect=NONE))["runs"][0]["invocations"]
    assert well == {"executionSuccessful": True, "toolExecutionNotifications": []}
    # Of a folder, what is no recording is passed over, unless nothing may be.
    folder = small / "one"
    folder.mkdir(exist_ok=True)
    for name in files:
        (folder / name).write_bytes((small / name).read_bytes())
    assert form("text", folder, expect=NONE).endswith("\nthe limit holds\n")
    assert "NOT READ" in form("text", folder, expect=UNDECIDED, strict=["--strict"])


def test_one_line_for_each_limit(folder):
    """On 40 columns the table is a list, in which each limit begins a line."""
    begins = {"40": re.compile(r"^(PASS|FAIL|INCONCLUSIVE), limit ", re.MULTILINE), "80": LINE, "200": LINE}
    for width, line in begins.items():
        out = check(folder / "three_gpu_expandable_oom.pickle", "--max-peak", "1GiB", "--no-oom", "--no-retry",
                    "--max-site", "update_nodes=1KiB", env=environment(COLUMNS=width), expect=OVER).out
        assert len(line.findall(out)) == 12
        if width == "80":
            assert all(len(line) <= 80 for line in out.splitlines())


# Forms -------------------------------------------------------------------------------------

def nasty(path):
    """A recording whose names are markup in every form."""
    frames = [{"name": "f|<b>&\"'`]]>@octocat[x](http://e){0}\x1b[31m\n| a |", "filename": "/home/me/se cret/a%b:#.py",
               "line": 3}]
    events = [event("segment_alloc", BASE, 20 * MIB), dict(event("alloc", BASE, MIB), frames=frames), *freed(BASE, MIB)]
    path.write_bytes(writers.pickled(tiny.top([tiny.segment([tiny.block(BASE, 20 * MIB, state="inactive")])], events), 4))
    return path


FORMS = ("text", "json", "junit", "markdown", "sarif")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    where = tmp_path_factory.mktemp("hostile")
    path = nasty(where / "a|b<&>`@x.pickle")
    return {form: check(path, "--format", form, "--max-peak", 1, "--max-step-peak", 1, "--max-end", "1GiB",
                        "--max-site", "<|>&=1", expect=OVER).raw.decode() for form in FORMS}, where


def test_forms_hold_no_paths_and_no_control_characters(hostile):
    forms, where = hostile
    for form, text in forms.items():
        assert str(where) not in text and "/home/me" not in text, form
        assert "\x1b" not in text and not re.search(r"20\d\d-\d\d-\d\d", text), form


def test_junit_is_what_its_readers_want(hostile):
    root = xml.fromstring(hostile[0]["junit"])
    assert root.tag == "testsuites"
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "2", "errors": "0", "skipped": "1"}
    suite, = root
    assert suite.tag == "testsuite" and suite.get("name") == "a|b<&>`@x.pickle, device 0"
    cases = {c.get("name"): [e.tag for e in c] for c in suite}
    assert cases == {"max-peak": ["failure"], "max-step-peak": ["skipped"], "max-end": [], "max-site <|>&": ["failure"]}
    assert "f|<b>&" in suite[0][0].text and suite[0][0].get("message")
    assert "time" not in suite.attrib and "timestamp" not in suite.attrib


def test_strict_makes_undecided_an_error(small):
    r = run("check", "--format", "junit", "--strict", "--max-peak", "1GiB", small / "state.pickle", expect=UNDECIDED)
    root = xml.fromstring(r.raw)
    assert root.get("errors") == "1" and root.get("skipped") == "0" and root[0][0][0].tag == "error"


def test_markdown_is_one_table(hostile):
    text = hostile[0]["markdown"]
    assert text.startswith("### vramscope check: 2 of 4 limits exceeded")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 4 and all(row.count("|") == 7 for row in rows)
    assert re.fullmatch(r"(\|:?-+:?)+\|", rows[1])
    body = "\n".join(rows[2:])
    # Nothing of the file is markup: outside of what this program writes there is none.
    rest = re.sub(r"</?code>|<br>|\*\*FAIL\*\*", "", body)
    assert not re.search(r"[<>`*_\[\]@\\]", rest) and "@" not in text
    assert "f&#124;&#60;b&#62;&#38;" in body


# The part of the schema of SARIF 2.1.0 that an answer can violate.
SARIF = {
    "type": "object", "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {
            "type": "object", "required": ["tool"], "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "additionalProperties": False, "properties": {
                    "driver": {"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string"}, "version": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            "type": "object", "required": ["id"], "properties": {
                                "id": {"type": "string"},
                                "shortDescription": {"$ref": "#/$defs/message"}}}}}}}},
                "invocations": {"type": "array", "items": {
                    "type": "object", "required": ["executionSuccessful"], "additionalProperties": False,
                    "properties": {
                        "executionSuccessful": {"type": "boolean"},
                        "toolExecutionNotifications": {"type": "array", "items": {
                            "type": "object", "required": ["message"], "additionalProperties": False,
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"type": "object", "required": ["text"]}}}}}}},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}}}}}},
    "$defs": {
        "message": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
        "result": {
            "type": "object", "required": ["message"], "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": -1},
                "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": {"$ref": "#/$defs/message"},
                "locations": {"type": "array", "items": {"type": "object", "properties": {
                    "physicalLocation": {"type": "object", "required": ["artifactLocation"], "properties": {
                        "artifactLocation": {"type": "object", "properties": {
                            "uri": {"type": "string", "pattern": r"^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}}},
                        "region": {"type": "object", "properties": {
                            "startLine": {"type": "integer", "minimum": 1}}}}}}}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}}}}},
}


def sarif_of(text):
    from jsonschema import Draft202012Validator
    doc = json.loads(text)
    Draft202012Validator(SARIF).validate(doc)
    rules = doc["runs"][0]["tool"]["driver"]["rules"]
    for r in doc["runs"][0]["results"]:
        assert rules[r["ruleIndex"]]["id"] == r["ruleId"]
        # Any kind but "fail" has no level.
        assert (r["kind"], r["level"]) in (("fail", "error"), ("open", "none"))
    return doc["runs"][0]["results"]


def test_sarif_is_at_the_line(hostile):
    found = {r["ruleId"]: r for r in sarif_of(hostile[0]["sarif"])}
    assert {n: r["kind"] for n, r in found.items()} == {"max-peak": "fail", "max-step-peak": "open", "max-site": "fail"}
    where = found["max-peak"]["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "a%25b%3A%23.py"}, "region": {"startLine": 3}}
    message = found["max-peak"]["message"]["text"]
    assert "\\]\\]>" in message and "{{0}}" in message and "\\[x\\](http" in message
    undecided = found["max-step-peak"]["locations"][0]["physicalLocation"]
    assert undecided == {"artifactLocation": {"uri": "a%7Cb%3C%26%3E%60%40x.pickle"}}


def test_sarif_paths_are_below_the_root(tmp_path):
    path = nasty(tmp_path / "run.pickle")
    out = check(path, "--format", "sarif", "--max-peak", 1, "--user-root", "/home/me/", expect=OVER).out
    uri = sarif_of(out)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "se%20cret/a%25b%3A%23.py"


def test_forms_of_all_recordings(folder):
    names = sorted(p.name for p in folder.iterdir())
    for form in ("junit", "markdown", "sarif"):
        r = run("check", "--format", form, *LIMITS, *names, cwd=folder, expect=OVER, timeout=900)
        if form == "junit":
            root = xml.fromstring(r.raw)
            assert len(root) >= len(names) - 2
        elif form == "sarif":
            assert len(sarif_of(r.out)) > 100
        else:
            assert all(row.count("|") == 7 for row in r.out.splitlines() if row.startswith("|"))


def test_answers_can_be_compared(folder):
    """Where a file lies, how many threads read, and the locale do not matter."""
    names = ["lm_fwd_bwd_ctx150.pickle", "linear_grad_tiny.pkl", "three_gpu_expandable_oom.pickle"]
    for form in FORMS:
        limits = ["--format", form, "--max-peak", "1GiB", "--no-oom", "--max-slack", 0, "--max-site", "forward=1"]
        one = run("check", *limits, "--threads", 1, *names, cwd=folder).raw
        two = run("check", *limits, "--threads", 4, *[folder / n for n in names], env=environment(LC_ALL="C")).raw
        if form == "text":
            # The command to type next needs the folder, which is not shown.
            assert b"vramscope peak FILE" in two and b"vramscope peak " + min(names).encode() in one
            one, two = (re.sub(rb"(?m)^next .*$", b"", x) for x in (one, two))
        assert one == two, form


def test_bundled_examples(bundled):
    for name, (path, _) in bundled.items():
        doc = check(path, "--json", *LIMITS, expect=OVER).json()
        for device in doc["devices"]:
            rows = device["result"]["limits"]
            assert len(rows) == len(ALL) + 6 and device["result"]["exit_code"] == 1
            for r in rows:
                known = [k for k in ("value_bytes", "value_ratio", "value_count") if r[k] is not None]
                assert len(known) == (1 if r["source"] else 0), (name, r)
                assert r["reason"] is not None or r["result"] != "inconclusive"
                assert bool(r["evidence"]["sites"]) <= (r["result"] == "fail")


def test_budget_file(tmp_path, bundled):
    path = bundled["train.pickle"][0]
    limits = tmp_path / "ci.budget"
    limits.write_text("\ufeff# all of a step\r\nmax-peak = 12GiB\r\n\r\nno-oom   # never\r\n", encoding="utf-8")
    check(path, "--budget", limits, expect=NONE)
    check(path, "--budget", limits, "--max-peak", "1GiB", expect=OVER)
    limits = tmp_path / ("long_" * 30) / "ci.budget"  # a message has no room for all of it
    limits.parent.mkdir()
    limits.write_text("max-peak = 12GiB\nmax-paek = 1\n")
    wrong = check(path, "--budget", limits, expect=USAGE)
    assert "ci.budget:2: " in wrong.err and "max-paek" in wrong.err and not wrong.out
    limits.write_bytes(b"max-peak = 1\0")
    check(path, "--budget", limits, expect=USAGE)
    limits.write_bytes(b"#" * (2 << 20))
    assert "1 MiB" in check(path, "--budget", limits, expect=USAGE).err
    check(path, "--budget", tmp_path / "missing", expect=USAGE)


def test_page_of_the_manual_shows_what_is_printed():
    page = (ROOT / "docs" / "man" / "vramscope-check.1.scd").read_text()
    shown = re.search(r"^\t(PASS  .*)$", page, re.M).group(1)
    out = run("check", "--max-peak", "24GiB", ROOT / "examples" / "train.pickle", expect=NONE).out
    assert shown in out


@pytest.mark.parametrize("left", [b"", b"\0" * 4096, b"\x80", writers.gzipped(b"")])
def test_what_a_crashed_dump_left_in_a_folder_is_a_failure(tmp_path, left):
    """The rank that died is the one to ask about: its limits are never kept in silence."""
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    (ranks / "rank0.pickle").write_bytes((ROOT / "examples" / "train.pickle").read_bytes())
    (ranks / "notes.json").write_text('{"lr": 1}')
    assert "notes.json" in check(ranks, "--no-oom", expect=NONE).err
    (ranks / "rank1.pickle").write_bytes(left)
    assert "rank1.pickle" in check(ranks, "--no-oom", expect=FAILED).err
    assert "rank1.pickle" in run("report", ranks, expect=FAILED).err


def test_files_of_one_name_are_told_apart(tmp_path):
    """Ranks have a folder each; of absolute paths no more is shown than tells them apart."""
    paths = [tmp_path / folder / "run.pickle" for folder in ("job/r0", "job/r10", "other/r0", "own")]
    for path in paths:
        path.parent.mkdir(parents=True)
        shutil.copy(ROOT / "examples" / "leak.pickle", path)
    other = tmp_path / "own" / "alone.pickle"
    shutil.copy(paths[0], other)
    paths[3].write_text("no recording")
    args = ["check", "--max-peak", "1GiB", *paths, other]
    doc = run(*args, "--json", expect=3).json()
    names = [e.get("path") or e["file"]["path"] for e in doc["files"]]
    assert sorted(names) == ["alone.pickle", "job/r0/run.pickle", "other/r0/run.pickle", "own/run.pickle", "r10/run.pickle"]
    # Each is then a name of its own in reports that CI keeps.
    sarif = json.loads(run(*args, "--format", "sarif", expect=3).raw)
    prints = [r["partialFingerprints"]["recordingAndLimit/v1"] for r in sarif["runs"][0]["results"]]
    assert len(set(prints)) == len(prints) >= 4
    assert str(tmp_path) not in json.dumps(doc) + json.dumps(sarif["runs"][0]["results"])


def test_markdown_reads_as_text_where_it_can():
    """Brackets in pairs and underscores inside words are no markup: an e-mail shows them as they are."""
    out = run("report", "--markdown", ROOT / "examples" / "leak.pickle", expect=0).out
    assert "(54.8 ms)" in out and "scaled_dot_product_attention" in out and "&#40;" not in out and "&#95;" not in out
