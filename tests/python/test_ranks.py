"""Units of several files, or of one, side by side: figures of the real files, laws, and a plain model of the pair."""
import random
import shutil
import statistics

import pytest
from differential import random_recording, writers
from differential.tiny import BASE, MIB, block, event, freed, segment, top

from conftest import ROOT, environment, run

OOM = "three_gpu_expandable_oom.pickle"


def ranks_of(*paths, cwd=None):
    return run("report", "--json", *paths, cwd=cwd, expect=0).json()["ranks"]


@pytest.fixture(scope="module")
def three(shared):
    return ranks_of(shared / "data" / "snapshots" / OOM)


def test_peaks_and_skew_of_three_devices(three):
    assert [u["peak_bytes"] for u in three["units"]] == [8456473388, 84063351764, 21564645800]
    assert [u["device"] for u in three["units"]] == [0, 1, 2]
    assert "%.2f" % three["skew_ratio"] == "3.90"
    assert three["outliers"] == [] and three["straggler"] == 1
    assert three["straggler_saving_bytes"] == 84063351764 - 21564645800


def test_larger_tensors_not_other_code(three):
    pair = three["pair"]
    assert (pair["worst"], pair["reference"]) == (1, 2)
    worst = [r for r in pair["rows"] if r["worst_count"]]
    reference = [r for r in pair["rows"] if r["reference_count"]]
    assert (len(worst), len(reference)) == (25, 28)
    assert sum(1 for r in worst if r["reference_count"]) == 25
    assert pair["code_ratio"] == 0 and pair["verdict"] == "larger tensors"
    assert (pair["rows"][0]["worst_bytes"], pair["rows"][0]["worst_count"]) == (31867719984, 12)
    assert sum(r["worst_bytes"] for r in worst) == 84063351764


def test_nothing_follows_the_failure_of_another_device(three, real):
    assert [u["after_peer_oom_event"] for u in three["units"]] == [None, None, None]
    traces = real[OOM][1].top["device_traces"]
    failed = [e["time_us"] for e in traces[1] if e["action"] == "oom"]
    assert [sum(e["time_us"] <= failed[0] for e in t) - 1 for t in (traces[0], traces[2])] == [6444, 881]
    assert [len(traces[k]) for k in (0, 2)] == [6445, 882]


def test_devices_without_anything_are_no_units(shared, real):
    folder = shared / "data" / "snapshots"
    assert len(real["cross_entropy_vanilla.pickle"][1].top["device_traces"]) == 8
    doc = run("report", "--json", "cross_entropy_vanilla.pickle", "cross_entropy_liger.pickle", cwd=folder, expect=0).json()
    units = [u for u in doc["ranks"]["units"] if u["path"] == "cross_entropy_vanilla.pickle"]
    assert len(units) == 1
    assert run("report", "--json", "cross_entropy_vanilla.pickle", cwd=folder).json()["ranks"] is None


# A plain model ---------------------------------------------------------------------------------

def places_of(path, device):
    """K1 stack (as the peak prints its sites) -> [bytes, count] at the requested peak."""
    doc = run("peak", "--json", "--by", "site", "--key", "K1", path, expect=0).json()
    found = {d["device"]: d["result"] for d in doc["devices"]}[device]
    return sorted((r["bytes"], r["count"]) for r in found["rows"])


def test_rows_are_the_sites_of_the_peak(shared, three):
    path = shared / "data" / "snapshots" / OOM
    rows = three["pair"]["rows"]
    assert places_of(path, 1) == sorted((r["worst_bytes"], r["worst_count"]) for r in rows if r["worst_count"])
    assert places_of(path, 2) == sorted((r["reference_bytes"], r["reference_count"]) for r in rows if r["reference_count"])


@pytest.mark.parametrize("name", (OOM, "lm_fwd_bwd_ctx150.pickle", "lm_train_full.pickle", "nca_segment_free.pickle",
                                  "quant_empty_cache_churn.pickle", "rlhf_megatron_vllm_private_pools.pickle"))
def test_stranded_bytes_are_those_of_fragments(shared, name):
    path = shared / "data" / "snapshots" / name
    units = [u for u in ranks_of(path, ROOT / "examples" / "train.pickle")["units"] if u["path"] == str(path)]
    doc = run("fragments", "--json", "--at", "peak", path, expect=0).json()
    by_device = {d["device"]: d["result"] for d in doc["devices"]}
    assert units
    for u in units:
        assert u["stranded_bytes"] == sum(g["stranded_bytes"] for g in by_device[u["device"]]["groups"])


def cause(rows, worst_total):
    code = size = count = 0
    for r in rows:
        w, c, x, y = r["worst_bytes"], r["worst_count"], r["reference_bytes"], r["reference_count"]
        if not y:
            code += w
        elif w > x:
            more = min(w - x, max(0, c - y) * x / y)
            count += more
            size += w - x - more
    return [round(part / worst_total, 5) for part in (code, size, count)]


def test_growth_is_that_of_leaks(shared):
    folder = shared / "data" / "snapshots"
    names = ["cnn_counterfactuals_snapshot_events.pickle", "linear_grad_tiny.pkl", "llama_offload_two_streams.pickle",
             "lm_fwd_bwd_ctx150.pickle", "lm_train_full.pickle", "toy_mlp_short.pickle"]
    doc = run("leaks", "--json", *names, cwd=folder, expect=0).json()
    wanted = {e["file"]["path"]: e["devices"][0]["result"] for e in doc["files"]}
    for u in ranks_of(*names, cwd=folder)["units"]:
        assert u["slope_bytes"] == (wanted[u["path"]] or {}).get("slope_total_bytes"), u["path"]


def outliers_of(units, peaks):
    """Shards and stages of a model are compared with their like alone."""
    lower_middle = lambda values: sorted(values)[(len(values) - 1) // 2]
    middle = lower_middle([peaks[i] for i in units])
    spread = lower_middle([abs(peaks[i] - middle) for i in units])
    limit = middle + max(5 * spread, middle * 5 // 100 if middle > 0 else 0)
    return [i for i in units if peaks[i] > limit] if len(units) >= 4 else []


def law_problems(ranks):
    found, units = [], ranks["units"]
    peaks = [u["peak_bytes"] for u in units]
    plain = all(u["after_peer_oom_event"] is None and u["grade"] != "C" for u in units)
    if len(units) > 1 and plain:
        middle = sorted(peaks)[(len(peaks) - 1) // 2]
        if middle > 0 and abs(ranks["skew_ratio"] - max(peaks) / middle) > 1e-5:
            found.append("skew %s" % ranks["skew_ratio"])
        if ranks["straggler"] != peaks.index(max(peaks)):
            found.append("straggler %s" % ranks["straggler"])
        if ranks["straggler_saving_bytes"] != max(peaks) - sorted(peaks)[-2]:
            found.append("saving")
        outliers = sorted(i for g in ranks["groups"] for i in outliers_of(g["units"], peaks))
        if ranks["outliers"] != outliers:
            found.append("outliers %s, wanted %s" % (ranks["outliers"], outliers))
    if sorted(i for g in ranks["groups"] for i in g["units"]) != list(range(len(units))):
        found.append("groups %s" % ranks["groups"])
    for u in units:
        if [s["bytes"] for s in u["sites"]] != sorted((s["bytes"] for s in u["sites"]), reverse=True):
            found.append("sites of %s" % u["path"])
    pair = ranks["pair"]
    if pair is not None:
        total = sum(r["worst_bytes"] for r in pair["rows"])
        have = [round(pair[k], 5) for k in ("code_ratio", "size_ratio", "count_ratio")]
        if len(pair["rows"]) < 60 and total and any(abs(a - b) > 2e-5 for a, b in zip(have, cause(pair["rows"], total))):
            found.append("pair %s, wanted %s" % (have, cause(pair["rows"], total)))
    return found


def test_laws_of_real_files(shared):
    folder = shared / "data" / "snapshots"
    names = sorted(p.name for p in folder.iterdir())
    chosen = random.Random(13)
    for count in (2, 3, 5, 8, len(names)):
        assert not law_problems(ranks_of(*chosen.sample(names, count), cwd=folder))


def test_laws_of_random_recordings(tmp_path):
    for seed in range(24):
        (tmp_path / ("run_rank%d.pickle" % seed)).write_bytes(writers.pickled(random_recording.make(seed), 4))
    names = sorted(p.name for p in tmp_path.iterdir())
    for first in range(0, 24, 4):
        assert not law_problems(ranks_of(*names[first:first + 4], cwd=tmp_path))


def test_the_same_whatever_the_threads(tmp_path):
    for seed in range(9):
        (tmp_path / ("r%d.pickle" % seed)).write_bytes(writers.pickled(random_recording.make(seed), 4))
    one, four = (run("report", "--json", "--threads", n, tmp_path).raw for n in (1, 4))
    assert one == four


# Cases -----------------------------------------------------------------------------------------

FORWARD = [{"name": "forward", "filename": "/home/u/model.py", "line": 7}]
OTHER = [{"name": "attend", "filename": "/home/u/other.py", "line": 9}]


def job(*tensors):
    """A recording that makes and frees tensors, each (MiB, frames)."""
    total = 2 * MIB * sum(1 + m for m, _ in tensors)
    events, at = [event("segment_alloc", BASE, total, 1)], BASE
    made = []
    for n, (mib, frames) in enumerate(tensors):
        made.append((at, mib * MIB))
        events.append(event("alloc", at, mib * MIB, 2 + n, frames=frames))
        at += (mib + 1) * MIB // 2 * 2
    events += [e for a, size in made for e in freed(a, size, 100)]
    return top([segment([block(BASE, total, state="inactive")])], events)


@pytest.mark.parametrize("verdict,worst", (
    ("larger tensors", [(100, FORWARD)] * 4), ("more tensors", [(10, FORWARD)] * 40),
    ("different code", [(10, FORWARD)] * 4 + [(300, OTHER)]), ("mixed", [(15, FORWARD)] * 8)))
def test_verdicts(tmp_path, verdict, worst):
    for name, tensors in (("rank0", [(10, FORWARD)] * 4), ("rank1", [(10, FORWARD)] * 4), ("rank2", worst)):
        (tmp_path / (name + ".pickle")).write_bytes(writers.pickled(job(*tensors), 4))
    ranks = ranks_of(tmp_path)
    assert ranks["pair"]["verdict"] == verdict and ranks["pair"]["worst"] == 2
    assert not law_problems(ranks)


@pytest.mark.parametrize("names,ranks", (
    (("a_rank7.pickle", "b_rank3.pickle"), [7, 3]), (("x-rank-1.pickle", "x-Rank_0.pickle"), [1, 0]),
    (("job_4.pickle", "job_15.pickle"), [4, 15]), (("b_rank9.pickle", "a.pickle"), [1, 0]),
    (("a_rank2.pickle", "b_rank2.pickle"), [0, 1])))
def test_ranks_come_from_names(tmp_path, names, ranks):
    for name in names:
        (tmp_path / name).write_bytes(writers.pickled(job((10, FORWARD)), 4))
    units = ranks_of(*names, cwd=tmp_path)["units"]
    assert [u["rank"] for u in units] == sorted(ranks)
    assert {u["path"]: u["rank"] for u in units} == dict(zip(names, ranks))


def test_equal_ranks_have_nothing_to_explain(tmp_path):
    for name in ("rank0.pickle", "rank1.pickle"):
        shutil.copy(ROOT / "examples" / "train.pickle", tmp_path / name)
    ranks = ranks_of(tmp_path)
    assert (ranks["skew_ratio"], ranks["straggler_saving_bytes"], ranks["pair"]) == (1.0, 0, None)
    text = run("report", tmp_path, env=environment(COLUMNS="80")).out
    assert "the peaks are alike" in text and "bounds the job" not in text


def test_a_cut_rank_is_listed_and_left_out_of_the_median(tmp_path):
    data = (ROOT / "examples" / "train.pickle").read_bytes()
    for rank in range(3):
        (tmp_path / ("rank%d.pickle" % rank)).write_bytes(data if rank else data[:100000])
    ranks = ranks_of(tmp_path)
    assert [u["grade"] for u in ranks["units"]][0] == "C" and len(ranks["units"]) == 3
    assert ranks["skew_ratio"] == 1.0
    assert statistics.median_low(u["peak_bytes"] for u in ranks["units"][1:]) == ranks["units"][1]["peak_bytes"]
    assert "1 cut file is left out of the median" in run("report", tmp_path).out


def test_text_names_the_straggler_and_the_line(shared):
    text = run("report", shared / "data" / "snapshots" / OOM, env=environment(COLUMNS="80")).out
    flat = " ".join(text.split())
    assert "device 1 bounds the job with 78.29 GiB; down to the next one's peak it would need 58.21 GiB less" in flat
    assert "larger tensors" in flat and "models.py:174 update_nodes: 29.68 GiB in 12, there 6.27 GiB in 24" in flat
