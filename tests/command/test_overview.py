"""`report --trust`: every check of the real files, and facts that agree with a plain reading of them."""
import collections
import itertools

import pytest
from recordings import random_recording, writers

from conftest import ROOT, answers, environment, run

EDITED = {"anonymised_expandable_contexts.pickle", "attention_inductor_mini.pickle"}
KNOWN = {"alloc", "free_requested", "free_completed", "free", "segment_alloc", "segment_free", "segment_map",
         "segment_unmap", "snapshot", "oom", "annotate", "user_defined"}
IDS = ("sums", "sums", "end_mismatch", "unpaired_request", "negative_start", "baselines_differ", "peak_above_reserved",
       "unknown_segment", "double_alloc", "orphans", "skipped_actions", "no_time", "time_backwards", "replay",
       "capacity_varies")


def overviews(*paths):
    """(name, device's answer) of every device that holds anything."""
    result = run("report", "--trust", "--json", *paths, expect=0)
    for path, found in answers(result).items():
        for entry in found:
            for device in entry["devices"]:
                if device["events"] or device["segments"]:
                    yield path.rsplit("/", 1)[-1], device


@pytest.fixture(scope="module")
def all_real(shared):
    found = collections.defaultdict(list)
    for name, device in overviews(*sorted((shared / "data" / "snapshots").iterdir())):
        found[name].append(device)
    assert len(found) == 35
    return dict(found)


def failed(device, until="T08"):
    return {c["check"] for c in device["overview"]["checks"] if c["ok"] is False and c["check"] <= until}


def check(device, id, which=0):
    return [c for c in device["overview"]["checks"] if c["id"] == id][which]


def test_all_checks_pass_but_on_edited_files(all_real):
    assert {name for name, devices in all_real.items() if any(failed(d) for d in devices)} == EDITED


def test_checks_of_the_anonymised_file(all_real):
    device, = all_real["anonymised_expandable_contexts.pickle"]
    assert failed(device) == {"T01", "T02", "T05", "T06", "T07"}
    assert check(device, "sums", 0)["count"] == check(device, "sums", 1)["count"] == device["segments"] == 5
    above = check(device, "peak_above_reserved")
    assert (above["count"], above["worst_bytes"]) == (233, 1993254598)
    assert check(device, "unknown_segment")["count"] == device["overview"]["actions"]["alloc"] == 520
    assert check(device, "skipped_actions")["count"] == 520
    assert device["trust"]["grade"] == "D"


def test_checks_of_the_trimmed_file(all_real):
    device, = all_real["attention_inductor_mini.pickle"]
    assert failed(device) == {"T03", "T04"}
    assert check(device, "end_mismatch")["count"] == 24
    assert device["overview"]["baseline_forward_bytes"] == 0
    assert device["overview"]["baseline_backward_bytes"] == -402719744


def test_a_reserved_segment_alone_is_no_late_start(all_real):
    """Nothing of it was in use before the first event."""
    device, = all_real["fsdp_homework_embedded.html"]
    assert (device["trust"]["window"], device["trust"]["grade"]) == ("complete", "A")
    assert "starts_late" not in [i["id"] for i in device["trust"]["items"]]
    overview = device["overview"]
    assert (overview["baseline_backward_bytes"], overview["reserved_baseline_bytes"]) == (0, 2097152)


@pytest.mark.parametrize("name,share", (("lm_large_fwd_nograd", "99.3"), ("lm_compile_adamw", "79.6"),
                                        ("lm_train_full", "34.2"), ("zeroth_order_finetune_windows", "0.0"),
                                        ("lm_forward_bf16", "67.2")))
def test_unknown_share_of_the_peak(all_real, name, share):
    device, = all_real[name + ".pickle"]
    assert "%.1f" % (100 * device["overview"]["unknown_origin_peak_ratio"]) == share


def test_no_unmatched_frees_do_not_make_a_window_complete(all_real):
    device, = all_real["lm_forward_bf16.pickle"]
    assert check(device, "orphans")["count"] == 0 and device["trust"]["window"] == "late_start"


# Laws ------------------------------------------------------------------------------------------

def problems(device):
    """What of an overview contradicts the rest of its own report."""
    found, o = [], device["overview"]
    rows = o["checks"]
    if tuple(c["id"] for c in rows) != IDS or [c["check"] for c in rows] != sorted(c["check"] for c in rows):
        found.append("the rows are not one for each id")
    traced = device["events"] and device["trust"]["window"] != "one_event"
    items = {i["id"]: i for i in device["trust"]["items"]}
    for c in rows:
        where = "%s %s: " % (c["check"], c["id"])
        if c["ok"] is None and (c["count"], c["worst_bytes"], c["first_event"]) != (None, None, None):
            found.append(where + "not run, and yet it found something")
        if not traced and "T03" <= c["check"] and c["ok"] is not None:
            found.append(where + "run without a trace")
        if c["ok"] is False and c["id"] not in items:
            found.append(where + "fails and is no item")
        if c["id"] != "sums" and c["count"] and c["id"] in items and items[c["id"]]["count"] != c["count"]:
            found.append(where + "%s cases, the item has %s" % (c["count"], items[c["id"]]["count"]))
    if sum(o["actions"].values()) + sum(o["unknown_actions"].values()) != device["events"] or o["span_events"] != device["events"]:
        found.append("actions do not add up to the events")
    if not set(o["actions"]) <= KNOWN:
        found.append("actions %s" % o["actions"])
    if not device["requested"]["start_bytes"] == o["baseline_backward_bytes"]:
        found.append("the start is not the start of the curve")
    if not device["reserved"]["start_bytes"] == o["reserved_baseline_bytes"]:
        found.append("the reserved start is not the start of the curve")
    ratios = [o[k] for k in ("unknown_origin_peak_ratio", "explained_peak_ratio", "no_user_frame_peak_ratio")]
    if None not in ratios and not (ratios[0] + ratios[1] >= 1 - 2e-6 and ratios[2] >= ratios[0] - 2e-6):
        found.append("ratios %s" % ratios)
    return found


def test_laws_on_real_files(all_real):
    for name, devices in all_real.items():
        for device in devices:
            assert not problems(device), name


def test_laws_on_examples():
    for name, device in overviews(*sorted((ROOT / "examples").glob("*.pickle"))):
        assert not problems(device), name
        assert all(c["ok"] is not False for c in device["overview"]["checks"]), name


def test_laws_on_random_recordings(tmp_path):
    for seed in range(60):
        recording = random_recording.make(seed)
        (tmp_path / ("%d.pickle" % seed)).write_bytes(writers.pickled(recording, 4))
    for name, device in overviews(*sorted(tmp_path.iterdir())):
        assert not problems(device), name


# A plain reading of the same files ---------------------------------------------------------------

def test_facts_of_real_files(real, all_real):
    for name, (_, recording) in real.items():
        top = recording.top
        for device in all_real[name]:
            traces = top.get("device_traces") or []
            trace = traces[device["device"]] if device["device"] < len(traces) else []
            have = device["overview"]
            assert have["actions"] == dict(collections.Counter(e["action"] for e in trace)), name
            times = [e["time_us"] for e in trace if "time_us" in e]
            assert have["span_us"] == (times[-1] - times[0] if times else None), name
            assert have["annotations"] == len(top.get("external_annotations") or []), name
            assert {k for k in have["settings"] if "." not in k} <= set(top.get("allocator_settings") or {}), name


def test_text_fits_and_names_every_check(shared):
    for name, width in itertools.product(("three_gpu_expandable_oom.pickle", "anonymised_expandable_contexts.pickle"), (80, 200)):
        result = run("report", "--trust", shared / "data" / "snapshots" / name, env=environment(COLUMNS=str(width)))
        lines = result.out.splitlines()
        assert max(map(len, lines)) <= width
        assert {line[:3] for line in lines} >= {"T%02d" % i for i in range(1, 11)}
