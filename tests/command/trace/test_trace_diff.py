"""Two traces, or two steps of one: what changed, and whether that is more than noise."""
import math
import random
import statistics

from recordings import traces
from recordings.small_traces import memory, span, steps, trace, write

from conftest import ROOT, run, some

SNAPSHOT = ROOT / "examples" / "oom.pickle"

TABLES = ("step", "ops", "kernels", "gaps", "phases", "device_phases")


def diff(a, b, *options, expect=0):
    return run("diff", "-j", *options, a, *([b] if b else []), expect=expect).json()


def rows(doc, table):
    return {row["name"]: row for row in doc[table]}


def assert_equal(doc, name):
    for table in TABLES:
        for row in doc[table]:
            assert row["change_ns"] == 0 and row["a"] == row["b"], (name, row)
            assert (row["verdict"], row["status"]) == ("no_difference", "both"), (name, row)
    assert all(m["change_bytes"] == 0 for m in doc["memory"]), name


# T8 -----------------------------------------------------------------------------------

def test_real_traces_with_themselves(shared):
    for path in sorted((shared / "data" / "traces").glob("*.json*")):
        assert_equal(diff(path, path), path.name)


def test_random_traces_with_themselves_and_mirrored(tmp_path):
    for period in some(["2025", "ascend"], list(traces.PERIODS)):
        a, b = (tmp_path / (period + str(seed)) for seed in (1, 2))
        for seed, path in enumerate((a, b)):
            path.write_bytes(traces.as_json(traces.make(seed, period)))
        assert_equal(diff(a, a), period)
        there, back = diff(a, b), diff(b, a)
        for table in TABLES:
            mirrored = rows(back, table)
            assert mirrored.keys() == rows(there, table).keys()
            for name, row in rows(there, table).items():
                other = mirrored[name]
                assert row["change_ns"] == -other["change_ns"] and row["a"] == other["b"], (period, row, other)


def test_two_steps_of_a_file(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 2000, 3000)))
    doc = diff(path, None, "--at", "step:0", "--to", "step:2")
    assert rows(doc, "step")["host"]["change_ns"] == 2000
    assert rows(doc, "kernels")["gemm"] | {"change_ns": 1000, "change_ratio": 2.0, "verdict": "not_judged"} \
        == rows(doc, "kernels")["gemm"]
    assert (doc["a"]["step"], doc["b"]["step"]) == ("ProfilerStep#0", "ProfilerStep#2")
    assert_equal(diff(path, path, "--at", "step:1"), "step 1")


def test_words_that_make_no_sense(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 2000)))
    for options, words in ((["--at", "step:9"], "no step 9"), (["--at", "peak"], "in all their steps"),
                           (["--by", "owner"], "not by \"owner\""), (["--by", "step"], "cannot group by"), (["--device", "0"], "--device"),
                           (["--fail-over", "1GiB"], "takes a time")):
        said = run("diff", path, path, *options, expect=2)
        assert words in said.err and said.out == "", options
    assert "name another FILE" in run("diff", path, expect=2).err
    assert "cannot group by" in run("diff", "--by", "shapes", SNAPSHOT, SNAPSHOT, expect=2).err


def test_a_trace_and_a_snapshot(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000)))
    for pair in ((path, SNAPSHOT), (SNAPSHOT, path)):
        said = run("diff", *pair, expect=2)
        assert "a.json is a profiler trace and" in said.err and "oom.pickle is a memory snapshot" in said.err
    assert "takes a time for profiler traces" in run("diff", SNAPSHOT, SNAPSHOT, "--fail-over", "5ms", expect=2).err


# Medians, intervals, verdicts ---------------------------------------------------------

def noise(values):
    return 1.96 * 1.253 * statistics.stdev(values) / math.sqrt(len(values))


def test_medians_and_verdicts(tmp_path):
    rng, seen = random.Random(1), set()
    for turn in range(some(12, 60)):
        apart, spread = rng.choice([0, 100, 3000]), rng.choice([50, 300])
        sides = [[base + rng.randint(0, spread) for _ in range(rng.randint(2, 7))] for base in (5000, 5000 + apart)]
        paths = [write(tmp_path, "%d.json" % i, trace(steps(*lengths))) for i, lengths in enumerate(sides)]
        row = rows(diff(*paths), "step")["host"]
        medians = [statistics.median(s) for s in sides]
        for side, values in zip("ab", sides):
            assert abs(row[side]["median_ns"] - statistics.median(values)) <= 0.5
            assert abs(row[side]["noise_ns"] - noise(values)) <= 0.5 + 1e-6
        if row["change_ns"] == 0:
            wanted = "no_difference"
        elif abs(row["change_ns"]) <= noise(sides[0]) + noise(sides[1]):
            wanted = "within_noise"
        else:
            wanted = "slower" if medians[1] > medians[0] else "faster"
        assert row["verdict"] == wanted, (row, sides)
        seen.add(wanted)
    assert {"within_noise", "slower"} <= seen


def test_warm_up_is_left_out(tmp_path):
    a = write(tmp_path, "a.json", trace(steps(90_000, 1000, 1000, 1000)))
    b = write(tmp_path, "b.json", trace(steps(1000, 1000, 1000)))
    doc = diff(a, b)
    assert (doc["a"]["steps"], doc["a"]["steps_left_out"], doc["b"]["steps"]) == (3, 1, 3)
    assert rows(doc, "step")["host"]["verdict"] == "no_difference"


def test_new_and_gone_rows(tmp_path):
    a, b = steps(1000, 1000), steps(1000, 1000)
    b[1]["name"] = b[5]["name"] = "aten::bmm"
    doc = diff(write(tmp_path, "a.json", trace(a)), write(tmp_path, "b.json", trace(b)))
    ops = rows(doc, "ops")
    assert (ops["aten::mm"]["status"], ops["aten::bmm"]["status"]) == ("gone", "new")
    assert ops["aten::mm"]["change_ratio"] == -1.0 and ops["aten::bmm"]["change_ratio"] is None
    assert ops["aten::mm"]["change_ns"] == -ops["aten::bmm"]["change_ns"]


def by_parts(doc, *names):
    return {tuple(row[name] for name in names): (row["status"], row["change_ns"]) for row in doc["ops_by"]}


def test_operators_by_more_than_their_names(tmp_path):
    """The same operator took longer for one shape, and met another in B alone."""
    def run_of(*calls):
        events = steps(10_000, 10_000, kernel=0)
        for step in range(2):
            for i, (ns, dims) in enumerate(calls):
                events.append(span("aten::add", "cpu_op", 10_000 * step + 6000 + 500 * i, ns, **{"Input Dims": dims}))
        return trace(events)
    a = write(tmp_path, "a.json", run_of((100, [[2]]), (50, [[3], [3]])))
    b = write(tmp_path, "b.json", run_of((140, [[2]]), (50, [[3], [3]]), (30, [[4]])))
    doc = diff(a, b, "--by", "shapes")
    of = {parts: row for parts, row in by_parts(doc, "name", "shapes").items() if parts[0] == "aten::add"}
    assert of == {("aten::add", "[[2]]"): ("both", 40), ("aten::add", "[[3], [3]]"): ("both", 0),
                  ("aten::add", "[[4]]"): ("new", 30)}
    assert rows(doc, "ops")["aten::add"]["change_ns"] == 70 and diff(a, b)["ops_by"] is None
    assert by_parts(doc, "name", "module", "phase", "stack").keys() == {
        (name, None, None, None) for name in ("ProfilerStep*", "aten::mm", "aten::add", "cudaLaunchKernel")}
    assert all(row["change_ns"] == 0 for row in diff(a, a, "--by", "shapes,module,phase,stack")["ops_by"])
    said = run("diff", a, b, "--by", "shapes", expect=0).out
    assert "aten::add  [[2]]" in said and "[[3], [3]]" not in said
    table = run("diff", a, b, "--by", "shapes", "--csv", expect=0).out.splitlines()
    assert table[0].endswith("shapes,module,phase,stack") and any(",aten::add,new," in line for line in table)


def test_operators_by_phase_and_module(tmp_path):
    def run_of(ns):
        return trace([span("nn.Module: Net_0", "python_function", 0, 9000, **{"Python id": 1}),
                      span("forward", "user_annotation", 0, 5000), span("aten::add", "cpu_op", 100, ns),
                      span("aten::add", "cpu_op", 6000, 70)])
    doc = diff(*[write(tmp_path, "%d.json" % ns, run_of(ns)) for ns in (500, 800)], "--by", "phase,module")
    assert by_parts(doc, "name", "phase", "module") == {
        ("aten::add", "forward", "Net_0"): ("both", 300), ("aten::add", "other", "Net_0"): ("both", 0),
        ("forward", "forward", None): ("both", -300)}


def test_phases(tmp_path):
    """The optimizer takes 300 ns of each step in A, 500 in B, and a kernel is launched there."""
    def run_of(ns):
        events = steps(2000, 2000)
        for i in range(2):
            at = 2000 * i + 1000
            events += [span("Optimizer.step#SGD.step", "user_annotation", at, ns),
                       span("cudaLaunchKernel", "cuda_runtime", at + 10, 10, correlation=90 + i),
                       span("adam", "kernel", at + 20, ns // 10, 0, 9, correlation=90 + i)]
        return trace(events)
    doc = diff(write(tmp_path, "a.json", run_of(300)), write(tmp_path, "b.json", run_of(500)))
    wall, device = rows(doc, "phases"), rows(doc, "device_phases")
    assert {name: (row["a"]["median_ns"], row["change_ns"]) for name, row in wall.items()} == {
        "optimizer": (300, 200), "other": (1700, -200)}
    assert (wall["optimizer"]["verdict"], wall["other"]["verdict"]) == ("slower", "faster")
    assert (device["optimizer"]["a"]["median_ns"], device["optimizer"]["change_ns"]) == (30, 20)
    said = run("diff", tmp_path / "a.json", tmp_path / "b.json", expect=0).out
    assert "phase, on the wall" in said and "phase, device work" in said


def test_phases_of_traces_without_steps(tmp_path):
    paths = [write(tmp_path, "%d.json" % ns, trace([span("backward", "user_annotation", 0, ns), span("aten::mm", "cpu_op", 0, 9000)]))
             for ns in (1000, 4000)]
    wall = rows(diff(*paths), "phases")
    assert (wall["backward"]["a"]["median_ns"], wall["backward"]["b"]["median_ns"]) == (1000, 4000)
    assert wall["other"]["change_ns"] == -3000


def test_memory_peaks(tmp_path):
    paths = [write(tmp_path, "%d.json" % peak, trace([memory(peak, **{"Total Allocated": peak})] + steps(1000)))
             for peak in (512, 768)]
    assert diff(*paths)["memory"] == [{"device_type": 1, "device_number": 0, "lower_bound": False, "a_peak_bytes": 512,
                                       "b_peak_bytes": 768, "change_bytes": 256, "change_ratio": 0.5}]


def test_fail_over(tmp_path):
    a, b = (write(tmp_path, "%d.json" % ns, trace(steps(ns, ns))) for ns in (1000, 1100))
    for limit, code in (("100ns", 0), ("99ns", 1), ("10%", 0), ("9.9%", 1), ("0%", 1)):
        assert run("diff", a, b, "--fail-over", limit, expect=code).out
        assert diff(a, b, "--fail-over", limit, expect=code)["limit"]["exceeded"] == bool(code)
        run("diff", b, a, "--fail-over", limit, expect=0)


def test_what_people_read(tmp_path):
    a = write(tmp_path, "a.json", trace(steps(1000, 1010, 1020)))
    b = write(tmp_path, "b.json", trace(steps(1500, 1510, 1520)))
    said = run("diff", a, b, "-n", "1", expect=0).out
    assert "B is slower: the median step takes 1.51 us instead of 1.01 us (+49.5 %)" in " ".join(said.split())
    assert "more than the noise" in said and "and 1 row more" in said
    assert "aten::mm" in run("diff", a, b, "--csv", expect=0).out
    same = run("diff", a, a, expect=0).out
    assert "no difference" in same and "aten::mm" not in same


def test_hostile_names(tmp_path):
    a, b = steps(1000, 1000), steps(1000, 1000)
    for event in b:
        event["name"] += "\x1b[2J\u202e" if event["cat"] == "cpu_op" else ""
    said = run("diff", write(tmp_path, "a.json", trace(a)), write(tmp_path, "b.json", trace(b)), expect=0)
    assert "\x1b" not in said.out and "\u202e" not in said.out


def test_steps_are_never_compared_with_a_whole_trace(tmp_path):
    """Where one has no steps, both are compared from the first event to the last, and the page says so."""
    bare = write(tmp_path, "bare.json", trace([span("aten::mm", "cpu_op", 0, 5000)]))
    stepped = write(tmp_path, "steps.json", trace(steps(1000, 1000, 1000)))
    for a, b in ((bare, stepped), (stepped, bare)):
        said = run("diff", "-j", a, b, expect=0).json()
        assert [(said[s]["whole"], said[s]["steps"]) for s in "ab"] == [(True, 1)] * 2
        both = {"bare.json": 5000, "steps.json": 3000}
        row = said["step"][0] if "step" in said else said["steps"][0]
        assert (row["a"]["median_ns"], row["b"]["median_ns"]) == (both[a.name], both[b.name])
        assert "since the other has no steps" in run("diff", a, b, expect=0).out
    said = run("diff", "--at", "step:1", "--to", "step:1", stepped, bare, expect=2)
    assert said.out == ""
