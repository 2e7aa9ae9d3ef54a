"""The command of compat.gpumemprof but for what samples: info, analyze, diagnose, statuses; rows B61, B64, B65, B66, B67."""
import doctest
import json
import os
import re
import signal
import subprocess
import sys
import types

import pytest
from conftest import PACKAGE
from gpumemprof_command import check_golden, check_printed, masked, run
from gpumemprof_made import GIB, MIB, event
from stand_in import installed
from stand_in.counters import SimCounters
from vramscope import Tracker, sim
from vramscope.compat.gpumemprof import cli, diagnose, host, telemetry_event_to_dict


@pytest.fixture
def device():
    """One of 4 GiB, 3.5 of it in use, 20 MiB cached."""
    with sim.Device("4GiB", count=2) as made:
        kept = [made.alloc("3.5GiB"), made.alloc(12 * MIB), made.alloc(8 * MIB)]
        made.free(kept[1])
        yield made


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "none")


def test_info_B61(device):
    check_printed("info", "info")
    check_printed("info_detailed", "info", "--detailed", "--device", "0")
    assert "\nGPU 1 Information:\n" in run("info", "--device", 1).out
    device.set_util(37.5, 10)
    assert "\nDevice Load:\n  GPU Utilization: 37.5%\n  Temperature: unavailable\n" in run("info", "--detailed").out


def test_info_of_a_device_of_torch_B61(monkeypatch, tmp_path):
    """What nvidia-smi tells; a sign that ASCII has not."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '81920, 512, 81408, 37, 41, [N/A]'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with installed(devices=[SimCounters(sim.Device("80GiB"))]) as torch:
        torch.cuda.init()
        torch.cuda.get_device_name = lambda number: "NVIDIA H100"
        torch.cuda.get_device_properties = lambda number: types.SimpleNamespace(
            total_memory=79 * GIB, major=9, minor=0, multi_processor_count=132, uuid="ab-cd")
        check_printed("info_torch", "info", "--detailed")
        torch.version.hip, torch.version.cuda = "6.4", None
        done = run("info")
    assert "Detected Backend: rocm\nCUDA Version: unavailable\nROCm Version: 6.4\n" in done.out


def test_info_without_a_device_B61(no_device):
    done = run("info")
    text = re.sub(r"(Process RSS|Process VMS|CPU Count): .*", r"\1: {figure}", masked(done.out))
    check_golden("info_none.txt", text)
    assert done.status == 0 and re.search(r"Process RSS: \d+\.\d\d MB\nProcess VMS: \d+\.\d\d [MGT]B\nCPU Count: \w+ physical / \d+ logical\n$",
                                          done.out)


def test_what_is_unavailable_is_not_0_B61_B67(no_device, monkeypatch):
    monkeypatch.setattr(host, "cores", lambda: None)
    assert "CPU Count: unavailable physical" in run("info").out
    assert [cli.gigabytes(None), cli.megabytes(None), cli.known(None), cli.known(0)] == ["unavailable"] * 3 + ["0"]
    assert cli.gigabytes(0) == "0.00 GB" and cli.megabytes(3 << 19) == "1.50 MB"


# Telemetry of three ranks whose clocks are an hour apart, in a file each.

def write_ranks(folder, jumps=(7, 4, 7), ranks=3):
    folder.mkdir()
    paths = []
    for rank in range(ranks):
        rows = [event(rank * 3_600_000_000_000 + step * 100_000_000, used=(10 if step >= jumps[rank] else 4) * GIB, reserved=4 * GIB,
                      rank=rank, world=3, job="night") for step in range(10)]
        paths.append(folder / f"rank{rank}.jsonl")
        paths[-1].write_text("".join(json.dumps(telemetry_event_to_dict(row)) + "\n" for row in rows))
    return paths


def test_analyze_ranks_B64(tmp_path):
    paths = write_ranks(tmp_path / "in")
    report, plots = tmp_path / "deep/report.json", tmp_path / "plots"
    check_printed("analyze_ranks", "analyze", *paths, "--output", report, "--visualization", "--plot-dir", plots, status=3,
                  folder=tmp_path)
    read = json.loads(report.read_text())
    assert read["cross_rank_analysis"]["first_cause_suspects"][0]["rank"] == 1 and read["gap_analysis"] == []
    assert "rank 1: first cause" in (plots / "cross_rank_timeline.html").read_text()
    text = tmp_path / "report.txt"
    done = run("analyze", tmp_path / "in", "--output", text, "--format", "txt")
    assert done.status == 3 and done.out == text.read_text() + f"Analysis report saved to: {text}\n"
    assert done.out.splitlines()[5:] == run("analyze", *paths).out.splitlines()[5:] + [f"Analysis report saved to: {text}"]
    assert run("analyze", *paths, "--legacy-exit").status == 0


def test_analyze_one_rank_B64(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"events": [telemetry_event_to_dict(event(at, used=4 * GIB, reserved=4 * GIB)) for at in range(10)]}))
    check_printed("analyze_one", "analyze", path, "--visualization", folder=tmp_path)


def test_analyze_what_a_tracker_s_sink_left_B64(device, tmp_path):
    with Tracker(interval=60, sink=tmp_path / "sink", job_id="night", rank=0, world_size=1) as tracker:
        for _ in range(3):
            tracker.sample()
    done = run("analyze", tmp_path / "sink")
    assert (done.status, done.err) == (0, "") and "Gap findings: 0\n" in done.out
    assert re.search(r"File size: [1-9]\d+ bytes\n", done.out)


def test_analyze_a_gap_that_grows_B64(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps([telemetry_event_to_dict(event(at * 10**9, used=(10 + at) * GIB, reserved=4 * GIB)) for at in range(10)]))
    check_printed("analyze_gap", "analyze", path, status=3, folder=tmp_path)


def test_analyze_ranks_of_which_none_jumped_B64(tmp_path):
    paths = write_ranks(tmp_path / "in", jumps=(99, 99, 99), ranks=2)
    check_printed("analyze_calm", "analyze", *paths, folder=tmp_path)


def test_analyze_a_file_without_telemetry_B64(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"b": 1, "a": [2]}')
    out = tmp_path / "report.json"
    check_printed("analyze_other", "analyze", path, "--output", out, folder=tmp_path)
    assert json.loads(out.read_text())["top_level_keys"] == ["a", "b"]


@pytest.mark.parametrize("text, told", [
    (None, "No such file"), ("{", "Expecting"), ("[" * 100_000, "nested"), ('[{"schema_version": 2}]', "Missing required"),
    ('{"events": [{"memory_allocated": "x"}]}', ""), ('{"schema_version": 3}', "Unsupported"), (b"\xff\xfe{", ""),
])
def test_analyze_what_is_invalid_B64_B66(tmp_path, text, told):
    path = tmp_path / "in.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("analyze", path)
    assert (done.status, done.out) == (5, "") and done.err.startswith(f"Error: {path}: ") and told in done.err
    assert done.err.count("\n") == 1


def test_analyze_a_folder_without_telemetry_B66(tmp_path):
    assert run("analyze", tmp_path).status == 5


def test_analyze_what_cannot_be_written_B64_B66(tmp_path):
    path = write_ranks(tmp_path / "in")[0]
    (tmp_path / "file").write_text("")
    done = run("analyze", path, "--output", tmp_path / "file/report.json")
    assert done.status == 1 and done.err.startswith("Error: ")
    paths = sorted((tmp_path / "in").iterdir())
    done = run("analyze", *paths, "--visualization", "--plot-dir", tmp_path / "file")
    assert done.status == 3 and done.out.splitlines()[-1].startswith("Visualization skipped: ")


FILES = ["diagnostic_summary.json", "environment.json", "manifest.json", "telemetry_timeline.json"]


def read(folder, name):
    return json.loads((folder / name).read_text())


def test_diagnose_B65(device, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["gpumemprof", "diagnose", "--duration", "0"])
    folder = tmp_path / "out"
    done = run("diagnose", "--duration", 0, "--output", folder)
    assert (done.status, done.err) == (3, "") and sorted(os.listdir(folder)) == FILES
    check_golden("diagnose.txt", masked(done.out, tmp_path))
    check_golden("diagnose_summary.json", (folder / "diagnostic_summary.json").read_text())
    manifest = read(folder, "manifest.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", manifest.pop("created_iso"))
    assert manifest == {"version": 1, "command_line": "gpumemprof diagnose --duration 0", "exit_code": 3, "risk_detected": True,
                        "files": ["environment.json", "telemetry_timeline.json", "diagnostic_summary.json", "manifest.json"]}
    about = read(folder, "environment.json")
    assert list(about) == ["system", "gpu", "fragmentation"] and about["gpu"]["allocated_memory"] == about["fragmentation"]["allocated_memory"]
    assert read(folder, "telemetry_timeline.json") == {"timestamps": [], "allocated": [], "reserved": []}
    # A folder that is there gets one of its own in it; two of one second have different names.
    again = [run("diagnose", "--duration", 0, "--output", folder).out.splitlines()[0] for _ in range(3)]
    assert len(set(again)) == 3 and all(re.match(rf"Artifact: {folder}/gpumemprof-diagnose-\d{{8}}-\d{{6}}(-\d)?$", line) for line in again)
    assert run("diagnose", "--duration", 0, "--output", folder, "--legacy-exit").status == 2


@pytest.mark.parametrize("script, flags", [
    (lambda device: device.alloc(870 * MIB), []),
    (lambda device: device.alloc(int(0.85 * GIB) + 511), ["high_utilization"]),
    (lambda device: device.fail_next(1) or pytest.raises(RuntimeError, device.alloc, MIB), ["oom_occurred"]),
])
def test_risks_B65(script, flags):
    with sim.Device("1GiB") as device:
        kept = script(device)
        summary = diagnose.build_diagnostic_summary()
    assert kept and [name for name, is_set in summary["risk_flags"].items() if is_set] == flags
    assert list(summary["risk_flags"]) == ["oom_occurred", "high_utilization", "fragmentation_warning"]


@pytest.mark.parametrize("ratio, risk", [(0.3, True), (0.299, False), (None, False)])
def test_the_risk_of_fragmentation_B65(device, monkeypatch, ratio, risk):
    from vramscope.compat.gpumemprof import system
    told = {**system.check_memory_fragmentation(), "fragmentation_ratio": ratio}
    monkeypatch.setattr(system, "check_memory_fragmentation", lambda device: told)
    assert diagnose.build_diagnostic_summary()["risk_flags"]["fragmentation_warning"] is risk


def test_diagnose_without_a_device_B65_B67(no_device, tmp_path):
    folder = tmp_path / "out"
    done = run("diagnose", "--duration", 0.03, "--interval", 0.01, "--output", folder)
    assert done.status == 0 and done.out.endswith("Status: OK (exit_code=0)\nFindings: no memory risk detected\n")
    summary, timeline = read(folder, "diagnostic_summary.json"), read(folder, "telemetry_timeline.json")
    assert [summary[name] for name in ("allocated_bytes", "total_bytes", "utilization_ratio", "num_ooms", "suggestions")] == [None] * 4 + [[]]
    assert 1 <= len(timeline["allocated"]) <= 3 and timeline["allocated"][0] > MIB and timeline["timestamps"][0] > 1.7e9


def test_the_timeline_of_a_device_B65(device, tmp_path):
    folder = tmp_path / "out"
    run("diagnose", "--duration", 0.05, "--interval", 0.01, "--output", folder)
    timeline = read(folder, "telemetry_timeline.json")
    assert set(timeline["allocated"]) == {device.stats()["allocated_bytes"]} and set(timeline["reserved"]) == {device.stats()["reserved_bytes"]}
    assert len(timeline["timestamps"]) == len(timeline["allocated"]) <= 5


def test_a_folder_that_cannot_be_B65_B66(device, tmp_path):
    (tmp_path / "file").write_text("")
    done = run("diagnose", "--duration", 0, "--output", tmp_path / "file/out")
    assert (done.status, done.out) == (1, "") and done.err == f"Error: cannot create {tmp_path}/file/out: Not a directory\n"


def test_a_disk_that_is_full_B65_B66(device, tmp_path, monkeypatch):
    real = os.replace

    def full(source, target):
        if str(target).endswith("telemetry_timeline.json"):
            raise OSError(28, "No space left on device")
        real(source, target)
    monkeypatch.setattr(os, "replace", full)
    folder = tmp_path / "out"
    done = run("diagnose", "--duration", 0, "--output", folder)
    assert done.status == 1 and "No space left" in done.err and "Status: FAILED (exit_code=1)" in done.out
    manifest = read(folder, "manifest.json")
    assert manifest["files"] == ["environment.json", "manifest.json"] and "No space left" in manifest["error"]
    assert sorted(os.listdir(folder)) == ["environment.json", "manifest.json"]


@pytest.mark.parametrize("argv", [
    ["nothing"], ["info", "--device", "x"], ["analyze"], ["analyze", "x", "--format", "csv"], ["diagnose", "--duration", "-1"],
    ["diagnose", "--interval", "0"], ["diagnose", "--duration", "nan"], ["diagnose", "--interval", "inf"], ["info", "--nothing"],
])
def test_arguments_that_are_wrong_B66(argv):
    done = run(*argv)
    assert (done.status, done.out) == (2, "") and "usage: gpumemprof" in done.err


def test_help_and_statuses_B66():
    done = run()
    assert done.status == 0 and done.out == run("--help").out and run("diagnose", "--help").status == 0
    assert [status for status, _ in cli.EXITS] == [0, 1, 2, 3, 4, 5, 130]
    assert "130 interrupted" in done.out


def test_a_device_that_is_not_there_B66(device):
    done = run("info", "--device", 7)
    assert done.status == 1 and done.err == "Error: device 7 is not available: there are 2\n"


def program(*argv, code=None, **more):
    """The command, or code that calls it, as a program of its own on the simulated device that the environment names."""
    env = {**os.environ, "PYTHONPATH": PACKAGE, "VRAMSCOPE_BACKEND": "sim", "PYTHONUNBUFFERED": "1", **more}
    return subprocess.Popen([sys.executable, "-B", *(["-c", code] if code else ["-m", "vramscope.compat.gpumemprof"]), *argv], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


def test_a_program_of_its_own_B61_B66():
    running = program("info")
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "") and "Name: simulated device 0\n  Total Memory: 80.00 GB\n" in out
    running = program("analyze", "/nothing.json")
    assert running.wait(60) == 5


# The command, which also says each time it has sampled.
SAMPLED = """
import sys
from vramscope.compat.gpumemprof import cli, diagnose
make = diagnose._sampler
def sampler(device):
    ask = make(device)
    def sample():
        print("sampled", flush=True)
        return ask()
    return sample
diagnose._sampler = sampler
sys.exit(cli.main())
"""


def test_an_interrupt_leaves_whole_files_B66(tmp_path):
    folder = tmp_path / "out"
    running = program("diagnose", "--duration", "60", "--interval", "0.01", "--output", str(folder), code=SAMPLED)
    for _ in range(3):
        assert running.stdout.readline() == "sampled\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "") and "Status: INTERRUPTED (exit_code=130)" in out
    assert sorted(os.listdir(folder)) == FILES and read(folder, "manifest.json")["exit_code"] == 130
    assert len(read(folder, "telemetry_timeline.json")["allocated"]) > 1


def test_nobody_reads_what_is_printed_B66():
    running = program("info", "--detailed")
    running.stdout.close()
    assert running.wait(60) in (0, 1) and running.stderr.read() == ""


def test_examples_run_B66():
    done = doctest.testmod(cli)
    assert done.attempted and not done.failed
