"""What `vramscope run` leaves at the end: reports, pages, what is said of each process and of the job."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment, run, validate
from run_programs import CATCHES, DIES, ENDS, python, script
from vramscope.running import run_end

def files(folder):
    """Names in a folder, without numbers of processes."""
    return sorted(re.sub(r"(?<![\w.])(rank\d+\.)?(restart\d+\.)?\d+\.", r"\1\2PID.", f.name) for f in folder.iterdir())


def documents(folder):
    """(run.json, those of processes by rank or None), each as its schema has it."""
    found = {}
    for path in folder.glob("*.json"):
        document = json.loads(path.read_text())
        validate(document)
        if document["schema"] == "vramscope.run/1":
            found.setdefault(document["part"], []).append(document)
    return found["run"][0], {d["rank"]: d for d in found.get("process", [])}, found.get("oom", [])


def test_a_report_at_the_end_is_that_of_the_command(tmp_path):
    path = script(tmp_path, ENDS)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out", "--report"])
    folder = tmp_path / "out"
    assert (status, out) == (0, "done\n") and files(folder) == ["PID.end.pickle", "PID.json", "report.json", "report.txt",
                                                                "run.json"]
    end, = folder.glob("*.end.pickle")
    text = run("report", end, env=environment(COLUMNS="80"), expect=0).out
    assert err == text == (folder / "report.txt").read_text() and "400.00 MiB" in text
    assert (folder / "report.json").read_text() == run("report", "--json", end, expect=0).out
    job, processes, ooms = documents(folder)
    assert job["status"] == "completed" and job["processes"] == [end.name.split(".")[0]] and not ooms
    assert job["files"] == ["report.txt", "report.json"] and job["missing_ranks"] == [] and job["end"] >= job["start"]
    own = processes[None]
    assert (own["status"], own["raised"], own["files"]) == (0, None, [end.name])
    assert own["recording"] == {"began": False, "changed": False, "refused": "already on"}
    assert own["losses"].pop("children_unrecorded") is None and set(own["losses"].values()) == {0}


def test_a_page_at_the_end(tmp_path):
    path = script(tmp_path, ENDS)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out", "--view"])
    page = tmp_path / "out" / "index.html"
    assert (status, out, err) == (0, "done\n", f"vramscope: {page}\n")
    assert vramscope.is_own(page) and "kept" in page.read_text()
    assert files(tmp_path / "out") == ["PID.end.pickle", "PID.json", "index.html", "run.json"]


@pytest.mark.parametrize("raised", (None, OSError("no room")))
def test_a_job_runs_until_its_report_is_there(tmp_path, monkeypatch, raised):
    def show(run, folder, units, missing):
        document = documents(tmp_path)[0]
        assert (document["status"], document["end"], document["missing_ranks"]) == ("running", None, [])
        shown.append(document)
        if raised:
            raise raised
    shown = []
    monkeypatch.setattr(run_end, "show", show)
    run = SimpleNamespace(child=False, rank=None, shows_end=True, found_folder=lambda: str(tmp_path), start=time.time(), job="a job",
                          settings={"ranks": None}, status=0, who="1")
    with pytest.raises(OSError) if raised else contextlib.nullcontext():
        run_end.report(run)
    document = documents(tmp_path)[0]
    assert len(shown) == 1 and document["status"] == "completed" and document["end"] >= document["start"]


def test_no_report_takes_a_report_back(tmp_path):
    path = script(tmp_path, ENDS)
    assert python(path, cwd=tmp_path, under=["--report", "--no-report"]) == (0, "done\n", "")
    assert [f.name for f in tmp_path.iterdir()] == ["prog.py"]


def test_a_report_of_a_program_without_a_device(tmp_path):
    path = script(tmp_path, "print('done')")
    status, out, err = python(path, cwd=tmp_path, under=["--report"])
    assert (status, out, err) == (0, "done\n", "vramscope: nothing was recorded: no device was used\n")
    assert [f.name for f in tmp_path.iterdir()] == ["prog.py"]


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_report_that_can_not_be_written_says_that_and_nothing_else(tmp_path):
    path = script(tmp_path, ENDS)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out", "--report"], preexec=limited)
    assert (status, out) == (0, "done\n")
    assert re.fullmatch(f"vramscope: {tmp_path}/out/\\d+\\.end\\.pickle: File too large\n", err)
    assert python(path, cwd=tmp_path, under=["-o", "prog.py/out", "--view"])[2].count("\n") == 1


def test_a_failure_has_its_figures_and_the_verdict_that_was_printed(tmp_path):
    path = script(tmp_path, DIES)
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 1 and files(tmp_path / "out") == ["PID.1.oom.json", "PID.1.pickle", "PID.json", "run.json"]
    job, processes, (oom,) = documents(tmp_path / "out")
    assert job["status"] == "failed"
    snapshot = tmp_path / "out" / oom["snapshot"]
    answer = run("oom", "--json", "--message", oom["message"], snapshot, expect=0).json()["devices"][0]["result"]
    assert oom["verdict"] == answer["verdict"] and oom["asked_bytes"] == answer["request_bytes"] == 800 << 20
    assert oom["free_bytes"] == answer["device_free_bytes"] and oom["reserved_bytes"] == answer["reserved_bytes"]
    assert oom["site"] == [str(path), 6] and oom["allocated_bytes"] == 750 << 20
    assert oom["message"] in err and processes[None]["status"] == 1
    assert processes[None]["raised"] == "OutOfMemoryError"
    assert processes[None]["failures"] == {"seen": 1, "caught": 0}


def test_what_was_caught_has_figures_and_no_verdict(tmp_path):
    path = script(tmp_path, CATCHES.replace("STATUS", "0"))
    python(path, cwd=tmp_path, under=["-o", "out", "--max-dumps", "1"])
    _, processes, (oom,) = documents(tmp_path / "out")
    assert oom["snapshot"].split(".")[1] == "2" and oom["message"] is None is oom["verdict"]
    assert processes[None]["failures"] == {"seen": 2, "caught": 2} and processes[None]["losses"]["snapshots_removed"] == 1


def test_a_note_has_the_figures(tmp_path):
    path = script(tmp_path, DIES)
    _, _, err = python(path, cwd=tmp_path, under=["--on-oom=note"])
    said = dict(re.findall(r"^(asked|in use|reserved|free|capacity) +([\d,]+) B$", err, re.M))
    assert {name: int(value.replace(",", "")) for name, value in said.items()} == {
        "asked": 800 << 20, "in use": 750 << 20, "reserved": 750 << 20, "free": 274 << 20, "capacity": 1 << 30}


def test_a_recording_that_the_program_ended_is_said(tmp_path):
    text = ENDS.replace('sim.Device("1GiB")', 'sim.Device("1GiB", history=0)')
    path = script(tmp_path, text.replace('print("done")', "device.history_stop()"))
    _, _, err = python(path, cwd=tmp_path, under=["-o", "out", "--report"])
    assert err.endswith("vramscope: recording was changed by the program\n")
    assert (tmp_path / "out" / "report.txt").read_text() == err
    assert documents(tmp_path / "out")[1][None]["recording"] == {"began": True, "changed": True, "refused": None}
    path = script(tmp_path, text)
    _, _, err = python(path, cwd=tmp_path, under=["-o", "two", "--report"])
    assert "changed" not in err and documents(tmp_path / "two")[1][None]["recording"]["began"] is True


def test_run_and_on_oom_say_it_once(tmp_path):
    path = script(tmp_path, "import vramscope\nvramscope.on_oom('dumps')\n" + DIES)
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 1 and err.count("vramscope: memory ran out") == 1 and err.count("Traceback") == 1
    assert len(list((tmp_path / "dumps").glob("*/snapshot.pickle"))) == len(list((tmp_path / "out").glob("*.pickle"))) == 1


def test_strict_is_exit_3_where_no_folder_can_be(tmp_path):
    path = script(tmp_path, ENDS)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "prog.py/where", "--strict"])
    assert (status, out) == (3, "") and err.endswith("prog.py/where: Not a directory\n")
    assert python(path, cwd=tmp_path, under=["-o", "no/where", "--strict"]) == (0, "done\n", "")
    assert python(path, cwd=tmp_path, under=["--strict"]) == (0, "done\n", "")


RANKS = "import os, time\nrank = int(os.environ['RANK'])\nif rank == 3:\n" + "".join(
    "    " + line + "\n" for line in DIES.splitlines()) + ENDS


LAST = """import os, time
while os.environ['RANK'] == '0' and not os.path.exists('others.ended'):
    time.sleep(0.02)
"""


def job(tmp_path, text, *options, ranks=8, killed=()):
    """(exit statuses, what each rank said) of `ranks` processes as torchrun begins them.  Where one is killed, rank 0
    ends last, so that it waits for nobody else."""
    if killed and 0 not in killed:
        text = LAST + text
    path = script(tmp_path, text)
    started = [subprocess.Popen([sys.executable, "-B", "-m", "vramscope", "run", *options, path], cwd=tmp_path, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(
                                    PYTHONPATH=PACKAGE, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                                    TORCHELASTIC_RUN_ID="night")) for rank in range(ranks)]
    for rank in killed:
        started[rank].send_signal(signal.SIGKILL)
    for one in started[1:]:
        one.wait(timeout=300)
    (tmp_path / "others.ended").touch()
    said = [one.communicate(timeout=300)[1] for one in started]
    return [one.returncode for one in started], said, tmp_path / "vramscope-night"


def test_ranks_have_one_folder_one_verdict_and_one_report(tmp_path):
    codes, said, folder = job(tmp_path, RANKS, "--report", "--view", "--wait", "60s")
    assert codes == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [text == "" for text in said] == [rank not in (0, 3) for rank in range(8)]
    assert said[3].count("vramscope: memory ran out on cuda:0 (rank 3)") == 1
    ends = ["rank%d.PID.%s" % (rank, what) for rank in range(8) for what in ("end.pickle", "html", "json")]
    own = ["rank3.PID.1.oom.json", "rank3.PID.1.pickle", "index.html", "report.json", "report.txt", "run.json"]
    assert files(folder) == sorted(ends + own)
    run_json, processes, (oom,) = documents(folder)
    assert (run_json["world_size"], run_json["missing_ranks"], len(run_json["processes"])) == (8, [], 8)
    assert run_json["status"] == "failed", "a rank did"
    assert {rank: d["status"] for rank, d in processes.items()} == {rank: int(rank == 3) for rank in range(8)}
    assert oom["rank"] == 3 and oom["verdict"] is not None
    # Of rank 3 the snapshot of its failure is reported, of the others that of their end.
    chosen = sorted([*folder.glob("rank[!3]*.end.pickle"), *folder.glob("rank3.*.1.pickle")])
    text = run("report", *chosen, env=environment(COLUMNS="80"), expect=0).out
    assert said[0] == text + f"vramscope: {folder}/index.html\n" and (folder / "report.txt").read_text() == text
    told = json.loads((folder / "report.json").read_text())
    assert told.pop("missing_ranks") == [] and told == run("report", "--json", *chosen, expect=0).json()
    page = (folder / "index.html").read_text()
    assert vramscope.is_own(folder / "index.html") and all(f.name in page for f in folder.glob("rank*.html"))
    later = run("report", "--json", folder, expect=0).json()
    assert {os.path.basename(f["file"]["path"]) for f in later["files"]} == {f.name for f in folder.glob("*.pickle")}


@pytest.mark.long
def test_a_rank_that_was_killed_is_named(tmp_path):
    codes, said, folder = job(tmp_path, "import time, os\nif os.environ['RANK'] == '2': time.sleep(99)\n" + ENDS,
                              "--report", "--wait=2s", ranks=3, killed=[2])
    assert codes == [0, 0, -9] and said[1:] == ["", ""]
    assert said[0].endswith("vramscope: rank 2 is missing: no word within 2 s\n")
    run_json = documents(folder)[0]
    assert run_json["missing_ranks"] == [2] and (folder / "report.txt").read_text() == said[0]
    assert run_json["status"] == "unknown", "nobody knows how rank 2 ended"


def test_a_rank_that_failed_outweighs_one_that_was_killed(tmp_path):
    late = "import time, os, sys\nif os.environ['RANK'] == '2': time.sleep(99)\n"
    codes, _, folder = job(tmp_path, late + ENDS + "sys.exit(int(os.environ['RANK']) * 7)\n", "--report", "--wait=2s",
                           ranks=3, killed=[2])
    run_json = documents(folder)[0]
    assert codes == [0, 7, -9] and (run_json["status"], run_json["missing_ranks"]) == ("failed", [2])


def test_the_command_names_the_ranks_that_rank_0_names(tmp_path):
    late = "import time, os\nif os.environ['RANK'] in '24': time.sleep(99)\n"
    _, said, folder = job(tmp_path, late + ENDS, "--report", "--view", "--wait=2s", ranks=5, killed=[2, 4])
    told = "vramscope: ranks 2, 4 are missing: no word within 2 s\n"
    line = "missing  no snapshot of ranks 2, 4 of 5\n"
    text = run("report", folder, env=environment(COLUMNS="80"), expect=0).out
    assert text.count(line) == 1 and text + told + f"vramscope: {folder}/index.html\n" == said[0]
    later = run("report", "--json", folder, expect=0).json()
    validate(later)
    assert later["missing_ranks"] == documents(folder)[0]["missing_ranks"] == [2, 4]
    assert "no snapshot of ranks 2, 4 of 5</p>" in (folder / "index.html").read_text()
    assert later == json.loads((folder / "report.json").read_text())


def test_the_command_names_rank_0_too_and_those_alone_that_record(tmp_path):
    late = "import time, os\nif os.environ['RANK'] == '0': time.sleep(99)\n"
    _, said, folder = job(tmp_path, late + ENDS, "--report", "--ranks", "0,1,3-9", ranks=4, killed=[0])
    document = documents(folder)[0]
    assert (document["status"], document["world_size"], document["missing_ranks"]) == ("running", 4, [0, 1, 3])
    assert "missing  no snapshot of rank 0 of 4\n" in run("report", folder, expect=0).out
    assert said == [""] * 4


def test_of_one_process_nobody_is_missing(tmp_path):
    """Nor where the number of ranks is no number of ranks."""
    path = script(tmp_path, ENDS)
    for k, env in enumerate(({}, {"RANK": "0", "WORLD_SIZE": "0"}, {"RANK": "0", "WORLD_SIZE": "many"})):
        python(path, cwd=tmp_path, under=["-o", f"out{k}", "--report"], env=env)
        document = documents(tmp_path / f"out{k}")[0]
        assert (document["world_size"], document["missing_ranks"]) == (None, [])
        assert "missing_ranks" not in run("report", "--json", tmp_path / f"out{k}", expect=0).json()


def test_only_the_ranks_that_are_wanted_record(tmp_path):
    codes, said, folder = job(tmp_path, ENDS, "--report", "--ranks", "1,3-9", "--wait=60s", ranks=4)
    assert codes == [0] * 4 and said[1:] == ["", "", ""]
    assert [f.name[:5] for f in sorted(folder.glob("*.pickle"))] == ["rank1", "rank3"]
    assert documents(folder)[0]["missing_ranks"] == [] and "missing" not in said[0] and "(2 devices)" in said[0]


def test_a_restart_takes_the_place_of_what_failed(tmp_path):
    path = script(tmp_path, ENDS)
    env = {"RANK": "0", "WORLD_SIZE": "1", "TORCHELASTIC_RUN_ID": "night"}
    for restart in ("0", "1"):
        python(path, cwd=tmp_path, under=["--report"], env={**env, "TORCHELASTIC_RESTART_COUNT": restart})
    folder = tmp_path / "vramscope-night"
    assert [f.name.split(".")[1] for f in folder.glob("*.end.pickle") if "restart" in f.name] == ["restart1"]
    assert [who.split(".")[1] for who in documents(folder)[0]["processes"]] == ["restart1"]


def test_a_job_of_the_same_name_that_ran_before_is_left_alone(tmp_path):
    codes, _, folder = job(tmp_path, ENDS, "--report", ranks=1)
    before = set(os.listdir(folder))
    for name in before:
        os.utime(folder / name, (1, 1))
    _, said, _ = job(tmp_path, ENDS, "--report", ranks=1)
    new, = (name for name in set(os.listdir(folder)) - before if name.endswith(".end.pickle"))
    assert said[0] == run("report", folder / new, env=environment(COLUMNS="80"), expect=0).out
    assert documents(folder)[0]["processes"] == [new.removesuffix(".end.pickle")]


@pytest.mark.parametrize("words, said", (
    (["--wait=soon"], "a time such as"), (["--wait=-1s"], "a time"), (["--ranks=1-"], "ranks such as"),
    (["--ranks", ""], "ranks such as"), (["--report=yes"], "takes no value"), (["--max-bytes=x"], "--max-bytes is a size such as 256MiB, not 'x'"),
    (["--ranks=5-2"], "from lower to higher"), (["--ranks=0-9999999"], "ranks below 1000000"), (["--wait=1e99"], "from 0 to 168h"),
    (["--wait=1e999"], "from 0 to 168h"), (["--history=" + "9" * 30], "--history is a number of at most 9 digits"),
    (["--max-dumps=" + "9" * 5000], "at most 9 digits")))
def test_wrong_values(tmp_path, words, said):
    status, out, err = python("x.py", cwd=tmp_path, under=words)
    assert (status, out) == (2, "") and said in err and "Traceback" not in err


# It ends when the monitor, if there is one, has taken some samples.
WATCHED = ENDS.replace('print("done")', f"sys.path.append({str(ROOT / 'tests/python')!r})\nimport sampled\nsampled.wait()\nprint('done')")
# It dies when some are in the files that a killed program leaves.
KILLED = ENDS.replace('print("done")', """
import glob, os, time
end = time.monotonic() + 60
while sum(len(open(name).readlines()) for name in glob.glob("out/*.telemetry/*.jsonl")) < 12 and time.monotonic() < end:
    time.sleep(0.01)
os.kill(os.getpid(), 9)
""")


@pytest.mark.long
def test_samples_are_records_of_telemetry(tmp_path):
    from vramscope.compat.gpumemprof import telemetry
    path = script(tmp_path, WATCHED)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out", "--monitor", "--interval", "20ms"])
    assert (status, out, err) == (0, "done\n", "") and files(tmp_path / "out") == ["PID.json", "PID.telemetry.jsonl", "run.json"]
    records, = (tmp_path / "out").glob("*.jsonl")
    read = telemetry.load_telemetry_events(records)
    kinds = [event.event_type for event in read]
    assert kinds[0] == "start" and kinds[-1] == "stop" and kinds.count("sample") >= 5
    assert {event.sampling_interval_ms for event in read} == {20}
    assert max(event.allocator_allocated_bytes for event in read) >= 100 << 20
    assert documents(tmp_path / "out")[1][None]["files"] == [records.name]
    # A program without a device has none, and on_oom has nothing to do with it.
    path = script(tmp_path, "print(1)")
    assert python(path, cwd=tmp_path, under=["-o", "none", "--monitor"]) == (0, "1\n", "")
    path = script(tmp_path, WATCHED)
    python(path, cwd=tmp_path, under=["-o", "off", "--monitor", "--on-oom=off"])
    assert not (tmp_path / "none").exists() and len(list((tmp_path / "off").glob("*.jsonl"))) == 1


@pytest.mark.long
def test_a_killed_program_leaves_its_samples(tmp_path):
    path = script(tmp_path, KILLED)
    status, _, _ = python(path, cwd=tmp_path, under=["-o", "out", "--monitor", "--interval=20ms"])
    folder, = (tmp_path / "out").glob("*.telemetry")
    assert status == -9 and sum(len(f.read_text().splitlines()) for f in folder.glob("*.jsonl")) > 10
    run_json = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run_json["status"] == "running" and run_json["end"] is None


def test_the_status_line_is_only_on_a_terminal(tmp_path):
    import pty
    path = script(tmp_path, WATCHED)
    reader, writer = pty.openpty()
    done = subprocess.run([sys.executable, "-B", "-m", "vramscope", "run", "-o", "out", "--monitor", "--interval=20ms", path],
                          cwd=tmp_path, stderr=writer, stdout=subprocess.PIPE, env=environment(PYTHONPATH=PACKAGE),
                          timeout=300)
    os.close(writer)
    shown = b""
    try:
        while part := os.read(reader, 4096):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(reader)
    assert done.returncode == 0 and b"\r" in shown and b"100" in shown and shown.endswith(b"\n")


def test_monitor_where_nothing_can_be_written(tmp_path):
    path = script(tmp_path, WATCHED)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "prog.py/where", "--monitor"])
    assert (status, out) == (0, "done\n")
    assert err == f"vramscope: run: nothing can be kept: {tmp_path}/prog.py/where: Not a directory\n"
