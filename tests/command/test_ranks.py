"""Units of several files, or of one, side by side: figures of the real files, laws, and a plain model of the pair."""
import random
import re
import shutil
import statistics

import pytest
from recordings import random_recording, scripts, writers
from models import reader
from recordings.tiny import BASE, MIB, block, event, freed, segment, top

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


def middle_of(values):
    """The median, of an even number the mean of the two in the middle, rounded down."""
    return sum(sorted(values)[i] for i in ((len(values) - 1) // 2, len(values) // 2)) // 2


def outliers_of(units, peaks):
    """Shards and stages of a model are compared with their like alone."""
    middle = middle_of([peaks[i] for i in units])
    spread = middle_of([abs(peaks[i] - middle) for i in units])
    limit = middle + max(5 * spread, middle * 5 // 100 if middle > 0 else 0)
    return [i for i in units if peaks[i] > limit] if len(units) >= 4 else []


def law_problems(ranks):
    found, units = [], ranks["units"]
    peaks = [u["peak_bytes"] for u in units]
    plain = all(u["after_peer_oom_event"] is None and u["grade"] != "C" for u in units)
    if len(units) > 1 and plain:
        middle = middle_of(peaks)
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
    assert "device 1 bounds the job with 78.29 GiB; the next highest peak is 58.21 GiB lower" in flat
    assert "larger tensors" in flat and "models.py:174 update_nodes: 29.68 GiB in 12 allocations, there 6.27 GiB in 24" in flat


# Which file is which rank ----------------------------------------------------------------------

def jobs(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(writers.pickled(job((10, FORWARD)), 4))


def mapped(folder, text, *names, expect=0):
    (folder / "map.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    return run("report", "--json", "--rank-map", "map.txt", *names, cwd=folder, expect=expect)


@pytest.mark.parametrize("text,wanted", (
    ("a.pickle 1\nb.pickle 0\nc.pickle 7", [1, 0, 7]),
    (b"\xef\xbb\xbf# who is who\r\n\r\n  a.pickle\t1   # first\r\nb.pickle 0\r\nc.pickle 2", [1, 0, 2]),
    ("[ab].pickle 4\nb.pickle 3\n*.pickle 5\na.pickle 9", None),   # a and b: the first line that fits
    ("a.* 4\n? 1\n* 5", None),                                    # b and c
    ("./a.pickle 2\n./b.pickle 1\n./c.pickle 0", [2, 1, 0]),
    ("b.pickle 1", [0, 1, 2]),                                     # others take what is left
    ("c.pickle 0", [1, 2, 0])))
def test_a_map_gives_ranks(tmp_path, text, wanted):
    names = ("a.pickle", "b.pickle", "c.pickle")
    jobs(tmp_path, *names)
    r = mapped(tmp_path, text, *names, expect=2 if wanted is None else 0)
    if wanted is None:
        assert re.search(r"^vramscope: rank \d is given to [abc].pickle and to [abc].pickle\n", r.err, re.M) and not r.out
        return
    assert {u["path"]: u["rank"] for u in r.json()["ranks"]["units"]} == dict(zip(names, wanted))


def test_a_glob_fits_the_end_of_a_path(tmp_path):
    names = ["n%d/gpu%d.pickle" % (n, g) for n in (0, 1) for g in (0, 1)]
    jobs(tmp_path, *names)
    lines = ["n%d/gpu%d.* %d" % (n, g, 3 - 2 * n - g) for n in (0, 1) for g in (0, 1)]
    for given in (names, [tmp_path / n for n in names], ["n0", "n1"], ["./n1/", "./n0/"]):
        units = mapped(tmp_path, "\n".join(lines), *given).json()["ranks"]["units"]
        assert [u["path"][-14:].lstrip("./") for u in units] == names[::-1] and [u["rank"] for u in units] == [0, 1, 2, 3]
    # A star ends at a folder; a whole path is one, too.
    units = mapped(tmp_path, "n*.pickle 9\n%s/n0/gpu1.pickle 5\ngpu0.pickle 1\n" % tmp_path, tmp_path / names[0], tmp_path / names[1]).json()["ranks"]["units"]
    assert [u["rank"] for u in units] == [1, 5]


def test_names_rank_what_a_map_leaves_out(tmp_path):
    names = ("x_rank0.pickle", "x_rank1.pickle", "y.pickle")
    jobs(tmp_path, *names)
    found = lambda text: {u["path"]: u["rank"] for u in mapped(tmp_path, text, *names).json()["ranks"]["units"]}
    assert found("y.pickle 5") == {"x_rank0.pickle": 0, "x_rank1.pickle": 1, "y.pickle": 5}
    assert found("y.pickle 0") == {"x_rank0.pickle": 1, "x_rank1.pickle": 2, "y.pickle": 0}
    text = mapped(tmp_path, "y.pickle 5", *names[:2], expect=2).err
    assert text == "vramscope: --rank-map map.txt: none of its lines fits any of the files\n"


@pytest.mark.parametrize("text,words", (
    ("a.pickle 1\n\nb.pickle", "map.txt:3: a line is a file and its rank"), ("a.pickle one", "map.txt:1: "), ("3", "map.txt:1: "),
    ("a.pickle -1", "map.txt:1: "), ("a.pickle 10000000", "map.txt:1: "), ("a.pickle 99999999999999999999999", "map.txt:1: "),
    ("a.pickle 1\nb.pickle 2\na.pickle 3", "map.txt:3: a.pickle stands in line 1 already"), ("", "map.txt has no line"),
    ("# nothing\n", "map.txt has no line"), ("a.pickle\0 1", "this is not a text file")))
def test_mistakes_of_a_map(tmp_path, text, words):
    jobs(tmp_path, "a.pickle", "b.pickle")
    r = mapped(tmp_path, text, "a.pickle", "b.pickle", expect=2)
    assert words in r.err and not r.out


# The same moment -------------------------------------------------------------------------------

def peaks_of_steps(*paths):
    doc = run("steps", "--json", *paths, expect=0).json()
    return [[b["peak_bytes"] for b in e["devices"][0]["result"]["steps"]["boundaries"]] for e in doc["files"]]


def check_moments(ranks, values):
    """`values`: of each moment the peak of each aligned unit."""
    a = ranks["alignment"]
    assert len(a["moments"]) == len(values)
    for m, peaks in zip(a["moments"], values):
        median = middle_of(peaks)
        assert (m["worst"], m["worst_bytes"], m["median_bytes"]) == (a["units"][peaks.index(max(peaks))], max(peaks), median)
        assert m["skew_ratio"] == (None if median <= 0 else pytest.approx(max(peaks) / median, abs=1e-6))
    counted = sum(m["worst"] == ranks["straggler"] for m in a["moments"])
    assert a["straggler_count"] == (counted if ranks["straggler"] in a["units"] else None)


def train(name, changes):
    """tests/recordings/train.script with changed lines, as the file of a rank."""
    text = (scripts.SCRIPTS / "train.script").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return scripts.make(text + "# " + name + "\n")


def trained(folder, *changes):
    for rank, change in enumerate(changes):
        shutil.copy(train("", change), folder / ("run_rank%d.pickle" % rank))
    return sorted(folder.glob("run_rank*"))


ONE_BATCH = ("alloc batch 24MiB to_device", "alloc batch $(24MiB+$i/3%2*700MiB) to_device")
EVERY_BATCH = ("alloc batch 24MiB to_device", "alloc batch 300MiB to_device")


def test_steps_are_aligned(tmp_path):
    paths = trained(tmp_path, [], [ONE_BATCH], [EVERY_BATCH])
    ranks, steps = ranks_of(tmp_path), peaks_of_steps(*paths)
    assert ranks["alignment"]["by"] == "step" and ranks["alignment"]["units"] == [0, 1, 2]
    assert [m["number"] for m in ranks["alignment"]["moments"]] == [1, 2, 3, 4, 5]
    assert all(m["name"] is None for m in ranks["alignment"]["moments"])
    check_moments(ranks, list(zip(*steps)))
    assert [m["worst"] for m in ranks["alignment"]["moments"]] == [2, 2, 2, 1, 1]
    assert ranks["straggler"] == 1 and ranks["alignment"]["straggler_count"] == 2
    text = " ".join(run("report", tmp_path, env=environment(COLUMNS="80")).out.split())
    assert "steps in 2 of 5 steps rank 1 has the highest peak; most uneven is step 1: rank 2 with 1.24 GiB, 1.28 times the median of 992.31 MiB" in text


def uncounted(folder):
    """Rank 2 has the highest peak and takes no part in the comparison of steps."""
    ranks = ranks_of(folder)
    assert ranks["straggler"] == 2 and ranks["alignment"]["by"] == "step" and ranks["alignment"]["units"] == [0, 1]
    assert ranks["alignment"]["straggler_count"] is None
    text = " ".join(run("report", folder).out.split())
    assert "rank 2 (run_rank2.pickle) bounds the job" in text and "has the highest peak" not in text
    assert "steps most uneven is step 1: rank 1 with 1.24 GiB, 1.12 times the median of 1.10 GiB" in text


def test_a_straggler_without_steps_is_not_counted(tmp_path):
    trained(tmp_path, [], [EVERY_BATCH])
    (tmp_path / "run_rank2.pickle").write_bytes(writers.pickled(job((5000, FORWARD)), 4))
    uncounted(tmp_path)


def test_a_straggler_that_is_cut_is_not_counted(tmp_path):
    path = trained(tmp_path, [], [EVERY_BATCH], [("alloc batch 24MiB", "alloc batch 3000MiB")])[2]
    path.write_bytes(path.read_bytes()[:-1000])
    uncounted(tmp_path)


def test_steps_that_all_have(tmp_path):
    paths = trained(tmp_path, [], [("repeat 5 {", "repeat 3 {"), EVERY_BATCH])
    ranks = ranks_of(tmp_path)
    assert len(ranks["alignment"]["moments"]) == 3
    check_moments(ranks, [p[:2] for p in zip(*peaks_of_steps(*paths))])


def test_steps_of_real_files(shared):
    folder = shared / "data" / "snapshots"
    paths = [folder / n for n in ("lm_fwd_bwd_ctx150.pickle", "lm_train_full.pickle", "toy_mlp_short.pickle")]
    steps = peaks_of_steps(*paths)
    for some in ((0, 1), (1, 2), (0, 2), (0, 1, 2)):
        chosen = [steps[i] for i in some]
        if sum(bool(s) for s in chosen) < 2:
            continue
        ranks = ranks_of(*(paths[i] for i in some))
        if len(ranks["groups"]) > 1 and any(len(g["units"]) > 1 for g in ranks["groups"]):
            continue   # compared with their like alone
        check_moments(ranks, list(zip(*(s for s in chosen if s))))


def marked(marks, sizes, begin=1000):
    """One tensor after the other, 10 us apart; marks are (name, first tensor, tensor behind the last)."""
    total = 2 * MIB * sum(1 + m // 2 + 1 for m in sizes)
    events, at, time = [event("segment_alloc", BASE, total, begin)], BASE, begin
    for mib in sizes:
        events.append(event("alloc", at, mib * MIB, time + 10, frames=FORWARD))
        events += freed(at, mib * MIB, time + 15)
        time += 10
        at += (mib + 2) // 2 * 2 * MIB
    marks = [{"name": n, "stage": stage, "device": 0, "time_us": begin + 8 + 10 * i}
             for n, first, end in marks for stage, i in (("START", first), ("END", end))]
    return top([segment([block(BASE, total, state="inactive")])], events, external_annotations=sorted(marks, key=lambda m: m["time_us"]))


def written(folder, *docs):
    for rank, doc in enumerate(docs):
        (folder / ("rank%d.pickle" % rank)).write_bytes(writers.pickled(doc, 4))


def test_annotations_are_aligned_by_name(tmp_path):
    written(tmp_path,
            marked([("load", 0, 1), ("## encode ##", 1, 3), ("encode", 3, 4), ("own", 4, 5)], [1, 10, 30, 5, 60, 2]),
            marked([("encode", 1, 2), ("load", 2, 3), ("encode", 4, 6), ("other", 0, 1)], [7, 20, 3, 50, 8, 9]))
    ranks = ranks_of(tmp_path)
    a = ranks["alignment"]
    assert (a["by"], a["exact"], a["start_us"]) == ("annotation", True, None)
    # "## encode ##" and "encode" are one name; what only one rank has is left out.
    assert [(m["name"], m["number"]) for m in a["moments"]] == [("load", 1), ("encode", 1), ("encode", 2)]
    values = {("load", 1): [1, 3], ("encode", 1): [30, 20], ("encode", 2): [5, 9]}
    check_moments(ranks, [[v * MIB for v in values[m["name"], m["number"]]] for m in a["moments"]])


def test_the_end_of_a_range_too_many_closes_no_other(tmp_path):
    """The 257th range lies within the first and has its name."""
    nested = marked([("outer", 0, 4)] + [("fill", 1, 1)] * 255 + [("outer", 2, 3)], [1, 1, 1, 50, 1])
    assert [m["name"] for m in nested["external_annotations"][-3:]] == ["outer"] * 3
    written(tmp_path, nested, marked([("outer", 0, 1)], [2, 1]))
    moment, = ranks_of(tmp_path)["alignment"]["moments"]
    assert (moment["name"], moment["worst"], moment["worst_bytes"]) == ("outer", 0, 50 * MIB)


def test_nothing_in_common_is_not_aligned(tmp_path):
    written(tmp_path, marked([("a", 0, 1)], [1, 2]), marked([("b", 0, 1)], [1, 9]))
    assert ranks_of(tmp_path)["alignment"] is None
    text = run("report", tmp_path).out
    assert "marks" not in text and "clock" not in text


@pytest.mark.parametrize("later,aligned", ((0, True), (300, True), (500, True), (510, False), (5000, False)))
def test_clocks_are_aligned_where_hosts_are_said_to_be_one(tmp_path, later, aligned):
    sizes = [1] * 20 + [40] + [2] * 79
    written(tmp_path, marked([], sizes), marked([], [3] * 100, begin=1000 + later))
    assert ranks_of(tmp_path)["alignment"] is None
    a = ranks_of("--same-host", tmp_path)["alignment"]
    assert (a is not None) == aligned
    if not aligned:
        return
    assert (a["by"], a["start_us"], a["end_us"]) == ("wall_clock", 1000 + later, 1000 + 1005)
    moment, = a["moments"]
    # The 40 MiB of the first rank are before the second began.
    assert (moment["name"], moment["number"], a["exact"]) == (None, None, True)
    assert (moment["worst"], moment["worst_bytes"]) == ((0, 40 * MIB) if later == 0 else (1, 3 * MIB))
    text = " ".join(run("report", "--same-host", tmp_path).out.split())
    assert "clock in the time that all recordings share, rank %d has the highest peak, %d.00 MiB" % (moment["worst"], 40 if later == 0 else 3) in text


def test_a_span_over_the_edge_is_an_estimate(tmp_path):
    """40 MiB are freed 5 us before the other rank begins, within the 16 us of one span."""
    sizes = [1] * 20 + [40] + [2] * 79
    written(tmp_path, marked([], sizes), marked([], [3] * 100, begin=1220))
    a = ranks_of("--same-host", tmp_path)["alignment"]
    assert a["exact"] is False and a["moments"][0]["worst_bytes"] == 40 * MIB
    assert "has the highest peak, ~40.00 MiB" in " ".join(run("report", "--same-host", tmp_path).out.split())


# What data parallelism makes equal -------------------------------------------------------------

def differences(*changes, folder):
    trained(folder, *changes)
    ranks = ranks_of(folder)
    assert sum(len(g["units"]) for g in ranks["groups"]) == len(changes)
    return ranks


STATE = [("alloc %s$p 64MiB state" % n, "alloc %s$p 32MiB state" % n) for n in ("exp_avg", "exp_avg_sq")]


def test_equal_ranks_do_not_differ(tmp_path):
    group, = differences([], [EVERY_BATCH], [ONE_BATCH], folder=tmp_path)["groups"]
    assert group["differences"] == [] and "shards" not in run("report", tmp_path).out


def test_sharded_optimizer_states_are_told(tmp_path):
    group, = differences([], STATE, [], folder=tmp_path)["groups"]
    states = [next(c["bytes"] for c in u["by_category"] if c["category"] == "optimizer_state") for u in ranks_of(tmp_path)["units"]]
    assert group["differences"] == [{"category": "optimizer_state", "least": 1, "least_bytes": states[1], "most": 0, "most_bytes": states[0]}]
    assert states[0] == states[2] == 6 * (64 * MIB + 16384) and states[1] == 6 * (32 * MIB + 16384)
    text = " ".join(run("report", tmp_path).out.split())
    assert ("with parameters of 192.05 MiB in each the optimizer state differs: 192.09 MiB in rank 1, 384.09 MiB in rank 0; they are sharded"
            in text)


def test_gradients_are_compared_to_one_percent(tmp_path):
    more = lambda size: [("  alloc loss 512 loss", "  alloc loss 512 loss\n  alloc more %s accumulate_grad" % size),
                         ("  free loss free_step", "  free more zero_grad\n  free loss free_step")]
    group, = differences([], more("1900KiB"), folder=tmp_path)["groups"]
    assert group["differences"] == []
    trained(tmp_path, [], more("2000KiB"))
    group, = ranks_of(tmp_path)["groups"]
    least = 3 * (64 * MIB + 16384)
    assert group["differences"] == [{"category": "gradient", "least": 0, "least_bytes": least, "most": 1, "most_bytes": least + 2000 * 1024}]


def test_other_parameters_are_another_group(tmp_path):
    """Stages of a pipeline are not compared with one another."""
    more = [("alloc weight$p 64MiB init", "alloc weight$p 96MiB init"), ("alloc grad_weight$(2-$l) 64MiB", "alloc grad_weight$(2-$l) 96MiB")]
    ranks = differences([], STATE + more, folder=tmp_path)
    assert [g["units"] for g in ranks["groups"]] == [[0], [1]] and all(g["differences"] == [] for g in ranks["groups"])


# After a peer ran out -----------------------------------------------------------------------------

SMALL = "alloc w 100MiB\nalloc a 50MiB\nfree a\n"


def on_one_host(folder, *texts):
    for rank, script in enumerate(texts):
        (folder / ("rank%d.pickle" % rank)).write_bytes(scripts.make(script).read_bytes())
    return {how: run("report", "--json", *how, folder, expect=0).json()["ranks"] for how in ((), ("--same-host",))}


def test_what_comes_after_a_peer_ran_out_is_no_work(tmp_path):
    """Rank 1 of two files cleans up after rank 0 has failed, and needs more for it than ever before."""
    failing = "capacity 400MiB\n" + SMALL + "alloc b 200MiB\nalloc c 300MiB\ntime +5\n"
    other = SMALL + "alloc b 150MiB\ntime +1000\nalloc d 700MiB\nfree d\n"
    found = on_one_host(tmp_path, failing, other)
    # Without one clock nobody knows what came first.
    assert [u["after_peer_oom_event"] for u in found[()]["units"]] == [None, None]
    units = found["--same-host",]["units"]
    traces = [reader.load((tmp_path / ("rank%d.pickle" % k)).read_bytes())[0].top["device_traces"][0] for k in (0, 1)]
    failed = max(e["time_us"] for e in traces[0] if e["action"] == "oom")
    after = next(i for i, e in enumerate(traces[1]) if e["time_us"] > failed)
    assert [u["after_peer_oom_event"] for u in units] == [None, after]
    # Its peak is what the curve has; what is compared is the peak before.
    assert units[1]["peak_bytes"] == found[()]["units"][1]["peak_bytes"] == 950 * MIB
    assert units[0]["peak_bytes"] == 300 * MIB and found["--same-host",]["straggler"] == 0
    assert found[()]["straggler"] == 1
    assert sum(s["bytes"] for s in units[1]["sites"]) == 250 * MIB
    text = " ".join(run("report", "--same-host", tmp_path, expect=0).out.split())
    assert "rank 1 goes on from event %d after another device ran out of memory (after_peer_oom)" % after in text
    assert "after_peer_oom" not in run("report", tmp_path, expect=0).out


def test_a_rank_that_ended_before_is_not_labelled(tmp_path):
    """The nearest case: the other rank had done all of its work when memory ran out."""
    failing = "capacity 400MiB\ntime +100000\n" + SMALL + "alloc b 200MiB\nalloc c 300MiB\n"
    found = on_one_host(tmp_path, failing, SMALL + "alloc d 700MiB\nfree d\n")
    assert [u["after_peer_oom_event"] for u in found["--same-host",]["units"]] == [None, None]
    assert found["--same-host",]["straggler"] == 1


def test_each_rank_has_the_last_failure_of_the_others(tmp_path):
    """Two of three run out; the second to do so goes on after the first, the third after both."""
    def failing(later):
        return "capacity 400MiB\ntime +%d\n" % later + SMALL + "alloc b 200MiB\nalloc c 300MiB\ntime +20\nalloc e 1MiB\n"
    found = on_one_host(tmp_path, failing(0), failing(1000), "alloc w 100MiB\ntime +5000\nalloc d 50MiB\n")["--same-host",]["units"]
    traces = [reader.load((tmp_path / ("rank%d.pickle" % k)).read_bytes())[0].top["device_traces"][0] for k in range(3)]
    last = [max([e["time_us"] for e in t if e["action"] == "oom"], default=None) for t in traces]

    def first_later(k):
        peers = max(t for i, t in enumerate(last) if i != k and t is not None)
        return next((i for i, e in enumerate(traces[k]) if e["time_us"] > peers), None)
    assert [u["after_peer_oom_event"] for u in found] == [first_later(k) for k in range(3)]
    assert found[0]["after_peer_oom_event"] is None and found[1]["after_peer_oom_event"] == 0
    one = run("report", "--json", "--same-host", "--threads", 1, tmp_path, expect=0)
    assert one.raw == run("report", "--json", "--same-host", "--threads", 8, tmp_path, expect=0).raw


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A whole file, one that is cut, one that is damaged in its middle."""
    folder = tmp_path_factory.mktemp("damaged")
    whole = (ROOT / "examples" / "oom.pickle").read_bytes()
    (folder / "rank0.pickle").write_bytes(whole)
    (folder / "rank1.pickle").write_bytes(whole[:len(whole) * 9 // 10])
    (folder / "rank2.pickle").write_bytes(whole[:len(whole) // 2] + b"\xff" * 100 + whole[len(whole) // 2 + 100:])
    return folder


def test_a_file_that_was_not_read_is_named(damaged):
    """Totals of a job must not seem to be of all ranks."""
    result = run("report", "--json", ".", cwd=damaged, expect=3)
    doc = result.json()
    assert [(e["file"]["path"], e["file"]["complete"]) for e in doc["files"]] == [("./rank0.pickle", True), ("./rank1.pickle", False)]
    unread, = doc["unread"]
    assert unread["path"] == "./rank2.pickle" and unread["error"] in result.err
    assert doc["device_count"] == 2
    text = run("report", ".", cwd=damaged, expect=3).out
    assert "NOT READ ./rank2.pickle: " in text and text.count("1 file not read)") == 2
    assert "\nNOT READ ./rank2.pickle: " in run("report", "--trust", ".", cwd=damaged, expect=3).out
    marked = run("report", "--markdown", ".", cwd=damaged, expect=3).out
    assert "\n### vramscope report: <code>./rank2.pickle</code>\n\n**NOT READ** " in marked
    # The others are as without it.
    alone = run("report", "--json", "./rank0.pickle", "./rank1.pickle", cwd=damaged, expect=0).json()
    assert alone["unread"] == [] and dict(alone, unread=None) == dict(doc, unread=None)
    assert "NOT READ" not in run("report", "rank0.pickle", "rank1.pickle", cwd=damaged, expect=0).out


def test_where_nothing_was_read(damaged):
    """There is no total to be wrong, and no document."""
    for files in (["rank2.pickle", "missing.pickle"], ["rank2.pickle"]):
        for form in ("--quick", "--json", "--markdown", "--trust"):
            assert run("report", form, *files, cwd=damaged, expect=3).out == ""


def test_there_is_one_median(tmp_path):
    """Of the whole files: what is said of all peaks and what the largest is compared with are one figure."""
    names = ("fragmentation.pickle", "leak.pickle", "oom.pickle", "train.pickle")
    for name in names:
        shutil.copy(ROOT / "examples" / name, tmp_path)
    whole = run("report", "--json", *names, cwd=tmp_path, expect=0).json()
    (tmp_path / "cut.pickle").write_bytes((tmp_path / "oom.pickle").read_bytes()[:260000])
    doc = run("report", "--json", *names, "cut.pickle", cwd=tmp_path, expect=0).json()
    for key in ("median_peak_bytes", "median_reserved_peak_bytes"):
        assert doc[key] == whole[key]
    assert abs(doc["ranks"]["skew_ratio"] - doc["largest_peak_bytes"] / doc["median_peak_bytes"]) < 1e-6
    assert doc["sum_of_separate_peaks_bytes"] > whole["sum_of_separate_peaks_bytes"] and doc["device_count"] == 5
    text = run("report", *names, "cut.pickle", cwd=tmp_path, env=environment(COLUMNS="400"), expect=0).out
    assert "largest at least 22.20 GiB, median of those not cut 13.47 GiB, sum of separate peaks at least " in text
    assert "times the median of 13.47 GiB\n" in text
    (tmp_path / "more.pickle").write_bytes((tmp_path / "cut.pickle").read_bytes())
    doc = run("report", "--json", "cut.pickle", "more.pickle", cwd=tmp_path, expect=0).json()
    assert doc["median_peak_bytes"] is None and doc["largest_peak_bytes"] is not None
    assert ", median" not in run("report", "cut.pickle", "more.pickle", cwd=tmp_path, expect=0).out


# Other verbs over many ranks ----------------------------------------------------------------------

FAILING = """capacity %dMiB
include torch.stacks
stack layer @malloc < model.py:18 forward < run.py:27 train
stack batch @malloc < data.py:3 load < run.py:27 train
alloc a 200MiB layer
alloc b 100MiB batch
alloc c 300MiB layer
"""


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Five ranks, of which the fourth alone runs out of memory."""
    folder = tmp_path_factory.mktemp("failing")
    for rank in range(5):
        whole = scripts.make(FAILING % (500 if rank == 3 else 4000) + "# %d\n" % rank)
        (folder / ("run_rank%d.pickle" % rank)).write_bytes(whole.read_bytes())
    return folder


def test_oom_begins_with_the_rank_that_failed(failing):
    text = run("oom", failing.name, cwd=failing.parent, expect=0).out
    lines = text.splitlines()
    assert lines[0].startswith("worst    run_rank3.pickle: 300.00 MiB alive, ")
    assert sum("the trace has no out-of-memory event" in line for line in lines) == 4
    assert "pages    that of the worst follows; --all-ranks prints all 5" in lines
    assert [line.split(":")[0] for line in lines if ", complete, trust " in line] == [failing.name + "/run_rank3.pickle"]
    whole = run("oom", "--all-ranks", failing.name, cwd=failing.parent, expect=0).out
    assert whole.count(", complete, trust ") == 5 and whole.startswith(lines[0])


def test_each_verb_begins_with_its_ranks(failing):
    """A line for each, the worst before them; the pages of at most two, and all where there are few."""
    for verb in "oom", "advise", "peak", "leaks":
        def told(*words):
            return run(verb, *words, env=environment(COLUMNS="4000"), expect=0).out

        text = told(failing)
        for rank in range(5):
            assert "run_rank%d.pickle" % rank in text[:text.index("pages    ")], verb
        assert text.count(", complete, trust ") <= 2 and "--all-ranks prints all 5" in text
        assert told("--all-ranks", failing).count(", complete, trust ") == 5
        few = told(failing / "run_rank0.pickle", failing / "run_rank3.pickle")
        assert few.count(", complete, trust ") == 2 and "all-ranks" not in few and "  device " in few
        alone = told(failing / "run_rank3.pickle")
        assert alone.count(", complete, trust ") == 1 and "all-ranks" not in alone and "worst " not in alone


def test_peaks_of_ranks_agree_with_their_pages(failing):
    lines = run("peak", failing, expect=0).out.splitlines()
    table = {w[0]: " ".join(w[2:4]) for w in map(str.split, lines) if w and w[0].startswith("run_rank")}
    for rank in range(5):
        page = run("peak", failing / ("run_rank%d.pickle" % rank), expect=0).out
        assert table["run_rank%d.pickle" % rank] + " in use" in page


def test_who_failed_and_the_worst_stand_first(failing, tmp_path):
    text = " ".join(run("report", failing, expect=0).out.split())
    assert text.startswith("failed run_rank3.pickle device 0 ran out of memory (vramscope oom says why)")
    text = run("report", *scripts.eight_ranks(tmp_path), expect=0).out
    assert text.startswith("worst    rank 3 (run_rank3.pickle) bounds the job with") and text.count("worst ") == 1


def test_a_row_says_what_the_page_of_its_file_says(shared, tmp_path):
    """A ring of one event: its page tells the final state, and so does its row."""
    folder = shared / "data" / "snapshots"
    names = ["opt1.3b_offload_torch20_history.pickle", "lm_train_full.pickle"]
    for name in names:
        (tmp_path / name).symlink_to(folder / name)
    assert "770.21 MiB in use" in run("report", folder / names[0], expect=0).out
    text = run("report", tmp_path, env=environment(COLUMNS="160"), expect=0).out
    row = next(line for line in text.splitlines() if line.startswith(names[0]))
    assert " 770.21 MiB" in row and "772.33" not in text
