"""Ranks of one job: step skew, the slowest rank, exposed communication, and who waited for whom; synthetic traces."""
import json
import random

from recordings.small_traces import span, trace, write

from conftest import run, some


def rank_events(lengths, collectives, pid=1, device=0, name="ncclDevKernel_AllReduce"):
    """Steps of these ns back to back; in each the collectives of that step (start in it, ns), launched at its begin,
    beside a gemm of the first half of the step."""
    events, at, number = [], 0, 0
    for i, ns in enumerate(lengths):
        events.append(span("ProfilerStep#%d" % i, "user_annotation", at, ns, pid, 1))
        for start, length in collectives[i]:
            number += 1
            call = pid * 1000 + number
            events += [span("cudaLaunchKernel", "cuda_runtime", at, 1, pid, 1, correlation=call),
                       span(name, "kernel", at + start, length, device, 20, correlation=call)]
        number += 1
        call = pid * 1000 + number
        events += [span("cudaLaunchKernel", "cuda_runtime", at + 1, 1, pid, 1, correlation=call),
                   span("gemm", "kernel", at + 10, ns // 2, device, 7, correlation=call)]
        at += ns
    return events


def ranks_of(*paths):
    return run("trace", "-j", *paths, expect=0).json()["ranks"]


RANKS = [([1000, 1000], [[(600, 100)], [(600, 50)]]), ([1000, 1300], [[(400, 300)], [(650, 20)]])]


def check(found, by):
    assert found["ranked_by"] == by and [r["rank"] for r in found["ranks"]] == [0, 1]
    first, second = found["ranks"]
    # Rank 0: its collectives begin 600 into steps whose gemm ends at 510; of rank 1 the first overlaps by 110.
    assert (first["communication_ns"], first["exposed_communication_ns"]) == (150, 150)
    assert (second["communication_ns"], second["exposed_communication_ns"]) == (320, 300 - 110 + 10)
    assert (first["collective_ns"], first["waiting_ns"], first["waiting_ratio"]) == (150, 30, 0.2)
    assert (second["collective_ns"], second["waiting_ns"], second["waiting_ratio"]) == (320, 200, 0.625)
    assert [(s["step"], s["ranks"], s["shortest_ns"], s["longest_ns"], s["skew_ns"], s["slowest_rank"])
            for s in found["steps"]] == [(0, 2, 1000, 1000, 0, None), (1, 2, 1000, 1300, 300, 1)]
    assert (first["slowest_steps"], second["slowest_steps"]) == (0, 1)
    assert found["collectives"] == [{"name": "ncclDevKernel_AllReduce", "calls": 2, "ns": 470, "waiting_ns": 230,
                                     "most_waiting_ns": 200}]
    assert found["unmatched_collectives"] == 0


def test_files_by_distributed_info(tmp_path):
    paths = [write(tmp_path, name, trace(rank_events(*RANKS[rank]), distributedInfo={"rank": rank, "world_size": 2}))
             for name, rank in (("b.json", 0), ("a.json", 1))]
    check(ranks_of(*paths), "distributed_info")


def test_ranks_whose_files_are_missing_are_counted(tmp_path):
    paths = [write(tmp_path, "%d.json" % rank, trace(rank_events(*RANKS[rank]), distributedInfo={"rank": rank, "world_size": 3}))
             for rank in (0, 1)]
    assert "ranks    2 of 3 ranks (the others are not in these files), by" in run("trace", *paths, expect=0).out


def test_a_file_of_no_job_among_ranks_is_named(tmp_path):
    paths = [write(tmp_path, "%s.json" % name, trace(rank_events(*RANKS[0]), **({"distributedInfo": info} if info else {})))
             for name, info in (("a", {"rank": 0, "world_size": 2}), ("b", {"rank": 1, "world_size": 2}), ("c", None))]
    done = run("trace", "-j", *paths, expect=0).json()
    assert done["ranks"] is None and done["same_rank"] is None and done["outsider"] == str(paths[2])
    assert "ranks not compared: %s is not of the job whose ranks others are" % paths[2] in " ".join(run("trace", *paths).out.split())
    assert run("trace", "-j", *paths[:2], expect=0).json()["outsider"] is None
    other = write(tmp_path, "A.json", trace(rank_events(*RANKS[1]), distributedInfo={"rank": 1, "world_size": 8}))
    assert run("trace", "-j", other, *paths[:2], expect=0).json()["outsider"] == str(other)
    # Where there are as many of one job as of another, neither is the stranger.
    assert run("trace", "-j", paths[0], other, expect=0).json()["outsider"] is None
    alone = write(tmp_path, "e.json", trace(rank_events(*RANKS[1])))
    assert run("trace", "-j", paths[2], alone, expect=0).json()["outsider"] is None


def test_files_by_name(tmp_path):
    check(ranks_of(*[write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank]))) for rank in (1, 0)]), "name")
    # Info of two jobs says nothing, and names do.
    check(ranks_of(*[write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank]),
                                                                distributedInfo={"rank": 0, "world_size": 1 + rank}))
                     for rank in (1, 0)]), "name")


def test_files_of_no_job(tmp_path):
    paths = [write(tmp_path, name, trace(rank_events(*RANKS[0]))) for name in ("a.json", "b.json")]
    assert ranks_of(*paths) is None
    assert "\nranks " not in run("trace", *paths).out and ranks_of(paths[0]) is None
    same = [write(tmp_path, name, trace([span("aten::mm", "cpu_op", 0, 5)], distributedInfo={"rank": 0, "world_size": 2}))
            for name in ("a.json", "b.json")]
    assert ranks_of(*same) is None


def same_rank_of(*paths):
    doc = run("trace", "-j", *paths, expect=0).json()
    assert doc["ranks"] is None
    return doc["same_rank"]


def test_two_files_of_one_rank(tmp_path):
    """None of them is chosen, whatever their names say; who is meant is said."""
    of = {"rank0.json": 0, "rank1.json": 1, "rank7.json": 0}
    paths = [write(tmp_path, name, trace(rank_events(*RANKS[rank]), distributedInfo={"rank": rank, "world_size": 2}))
             for name, rank in of.items()]
    assert same_rank_of(*paths) == {"ranked_by": "distributed_info", "rank": 0, "path": str(paths[0]), "other_path": str(paths[2])}
    said = run("trace", ".", cwd=tmp_path, expect=0)
    assert "ranks ./rank0.json and ./rank7.json are both of rank 0 by distributedInfo" in " ".join(said.out.split())
    paths[2].unlink()
    assert run("trace", "-j", *paths[:2], expect=0).json()["same_rank"] is None and ranks_of(*paths[:2]) is not None
    # Jobs of one rank each are told apart by their names.
    alone = [write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank]), distributedInfo={"rank": 0, "world_size": 1}))
             for rank in (0, 1)]
    check(ranks_of(*alone), "name")


def test_two_files_of_one_rank_by_name(tmp_path):
    paths = [write(tmp_path, name, trace(rank_events(*RANKS[0]))) for name in ("rank0.json", "rank1.json", "old_rank1.json")]
    assert same_rank_of(*paths) == {"ranked_by": "name", "rank": 1, "path": str(paths[2]), "other_path": str(paths[1])}
    assert "are both of rank 1 by the names of the files" in " ".join(run("trace", *paths, expect=0).out.split())
    # All of one number, or one without: no ranks at all.
    assert same_rank_of(*paths[1:]) is None
    assert same_rank_of(*paths, write(tmp_path, "a.json", trace(rank_events(*RANKS[0])))) is None


def test_what_of_a_folder_is_left_out(tmp_path):
    for rank in (0, 1):
        write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank])))
    assert run("trace", ".", cwd=tmp_path, expect=0).err == ""
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep", "rank2.json", trace(rank_events(*RANKS[0])))
    for i in range(7):
        (tmp_path / ("notes%d.txt" % i)).write_text("x")
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "config.json").write_text('{"a": 1}')
    (tmp_path / "esc\x1b.txt").write_text("x")
    run("trace", "-j", ".", "-o", "answer.json", cwd=tmp_path, expect=0)
    said = run("trace", ".", cwd=tmp_path, expect=0)
    lines = said.err.splitlines()
    assert lines[0] == "vramscope: left out: ./deep: folders inside a folder; name them to read them"
    assert lines[1] == ("vramscope: left out: ./answer.json, ./esc\\x1b.txt, ./notes0.txt, ./notes1.txt, ./notes2.txt and 4 more: "
                        "no traces by name or kind, or answers that vramscope wrote")
    assert lines[2].startswith("vramscope: ./config.json: JSON without a list of events") and len(lines) == 3
    assert "hidden" not in said.err and "2 ranks" in said.out
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "inner").mkdir()
    none = run("trace", "empty", cwd=tmp_path, expect=3).err
    assert "no recording in this folder" in none and "left out: empty/inner: folders inside" in none


def test_ranks_merged_into_a_file(tmp_path):
    """Whoever launched it, device numbers are the same on every host."""
    for devices in ((0, 1), (0, 0)):
        events = [e for rank in (0, 1) for e in rank_events(*RANKS[rank], pid=50 + rank, device=devices[rank])]
        path = write(tmp_path, "merged.json", trace(events))
        found = ranks_of(path)
        check(found, "process")
        assert [r["process"] for r in found["ranks"]] == ["50", "51"] and found["ranks"][0]["path"] is None
        assert "by processes of the host in the file" in " ".join(run("trace", path).out.split())


def test_a_helper_process_is_no_rank(tmp_path):
    events = rank_events(*RANKS[0]) + [span("aten::stack", "cpu_op", 0, 50, 77, 77)]
    assert ranks_of(write(tmp_path, "a.json", trace(events))) is None


def test_collectives_that_not_all_have(tmp_path):
    """The second call of rank 1 in a step has no counterpart; those of later steps still do."""
    sides = [rank_events([1000, 1000], [[(600, 100)], [(600, 50)]]),
             rank_events([1000, 1000], [[(600, 100), (800, 10)], [(600, 70)]])]
    found = ranks_of(*[write(tmp_path, "rank%d.json" % i, trace(side)) for i, side in enumerate(sides)])
    assert found["unmatched_collectives"] == 1 and found["collectives"][0]["calls"] == 2
    assert [r["waiting_ns"] for r in found["ranks"]] == [0, 20]


def test_random_jobs_as_counted_here(tmp_path):
    rng = random.Random(3)
    for turn in range(some(3, 30)):
        world, count = rng.randint(2, 5), rng.randint(1, 4)
        calls = [rng.randint(0, 3) for _ in range(count)]
        lengths = [[rng.randint(1000, 2000) for _ in range(count)] for _ in range(world)]
        talks = [[[(100 * k + rng.randint(0, 9), rng.randint(1, 90)) for k in range(calls[s])] for s in range(count)]
                 for _ in range(world)]
        paths = [write(tmp_path, "t%d_rank_%d.json" % (turn, r), trace(rank_events(lengths[r], talks[r])))
                 for r in range(world)]
        rng.shuffle(paths)
        found = ranks_of(*paths)
        waiting = [sum(talks[r][s][k][1] - min(talks[o][s][k][1] for o in range(world))
                       for s in range(count) for k in range(calls[s])) for r in range(world)]
        assert [r["waiting_ns"] for r in found["ranks"]] == waiting
        assert [s["skew_ns"] for s in found["steps"]] == [max(c) - min(c) for c in zip(*lengths)]
        assert [r["collective_ns"] for r in found["ranks"]] == [sum(n for s in t for _, n in s) for t in talks]


def test_steps_are_those_of_the_report(tmp_path):
    """A rank's median step is the median of aware_ns of its own file."""
    paths = [write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank]))) for rank in (0, 1)]
    doc = run("trace", "-j", *paths, expect=0).json()
    for file, rank in zip(doc["files"], doc["ranks"]["ranks"]):
        aware = sorted(s["aware_ns"] for s in file["steps"])
        assert rank["median_step_ns"] == (aware[0] + aware[1]) // 2


def test_what_people_read(tmp_path):
    paths = [write(tmp_path, "rank%d.json" % rank, trace(rank_events(*RANKS[rank]))) for rank in (0, 1)]
    said = " ".join(run("trace", *paths, expect=0).out.split())
    assert "2 ranks, by the names of the files" in said
    assert "rank 1 waited longest for others, 200 ns or 62.5 % of its time in collectives" in said
    assert json.loads(run("report", "-j", *paths).out)["ranks"]["ranked_by"] == "name"
    assert "2 ranks" not in run("trace", "--steps", *paths).out
