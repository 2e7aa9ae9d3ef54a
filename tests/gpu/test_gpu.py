"""Figures that only a device gives: each program prints a line, and here stands what must be true of it."""
import json
import os
import subprocess
from pathlib import Path

import in_torch
import pytest
from conftest import run

HERE = Path(__file__).resolve().parent
if not os.path.exists("/dev/nvidia0") and not os.path.exists("/dev/kfd"):
    pytest.skip("there is no GPU here", allow_module_level=True)


def python(*words, env=None, expect=0):
    """Runs torch's Python; gives (its output, its errors)."""
    path = os.pathsep.join([in_torch.PACKAGE, str(HERE)])
    done = subprocess.run([in_torch.TORCH, "-B", *map(str, words)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": path, **(env or {})})
    assert expect is None or done.returncode == expect, done.stderr[-3000:]
    return done


def figures(program, *words, before=(), env=None):
    line = python(*before, HERE / program, *words, env=env).stdout.splitlines()[-1]
    print(f"\n{program}: {line}")
    return json.loads(line)


def test_checkpoints_are_torchs_own_1():
    assert figures("counters.py") == {"checkpoints": 10_000, "differ": 0}


def test_interval_peaks_2():
    told = figures("intervals.py")
    assert told["states"] == ["exact"] * 3
    # Two inputs and two outputs live together from the second pass on.
    assert told["peaks"][1] >= 4_400_200_000 and told["peaks"][2] - told["peaks"][1] < 64 << 20


def test_costs_3():
    told = figures("costs.py")
    assert told["checkpoint_ns"] < told["twice_ns"]


def test_the_window_between_reading_and_reset_4():
    told = figures("window.py")
    assert told["raced"] + told["exact"] == told["kept"]


def test_scopes_beside_each_other_5():
    told = figures("nested.py")
    assert told["beside"] == told["alone"] and told["outer"] == told["alone"][0]
    assert all(peak >= 64 << 20 for peak, _ in told["threads"])


def test_monitoring_waits_for_nothing_6():
    told = figures("monitor.py")
    assert told["synchronisations"] == 0 and told["samples"] > 10


def test_a_program_that_runs_out_7(tmp_path):
    plain = python(HERE / "runs_out.py", expect=1)
    under = python("-m", "vramscope", "run", "-o", tmp_path / "out", HERE / "runs_out.py", expect=1)
    traceback, _, told = under.stderr.partition("vramscope: memory ran out")
    assert traceback.splitlines()[:-1] == plain.stderr.splitlines()[:-1]
    (path,) = (tmp_path / "out").glob("*.pickle")
    verdict = run("oom", "--json", path, expect=0).json()["devices"][0]["result"]["verdict"]
    print("\nruns_out.py:", verdict)
    assert "runs_out.py" in told and verdict == "live_exceeds_capacity"


@pytest.mark.parametrize("stacks", ["python", "all"])
def test_a_snapshot_replays_8(stacks):
    told = figures("replays.py", stacks)
    assert told["refused"] is None and told["grade"] == "exact"


def test_run_begins_nothing_9(tmp_path):
    told = figures("late.py", before=("-m", "vramscope", "run", "-o", tmp_path / "out"))
    assert told == {"before": False, "forked": 0, "devices": 1, "after": 1.0}


def test_the_drivers_figures_10():
    told = figures("driver.py")
    assert abs(told["used"] - told["torch_used"]) < 512 << 20 and told["utilisation"] > 50


def test_a_rank_that_runs_out_11(tmp_path):
    done = python("-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "vramscope", "run", "-o",
                  tmp_path / "out", HERE / "ranks.py", expect=None)
    assert done.returncode != 0 and done.stderr.count("vramscope: memory ran out") == 1
    assert [path.name.split(".")[0] for path in (tmp_path / "out").glob("*.pickle")] == ["rank1"]


@pytest.mark.parametrize("setting", ["", "expandable_segments:True", "backend:cudaMallocAsync"])
def test_pools_and_allocators_12(setting):
    told = figures("pools.py", env={"PYTORCH_CUDA_ALLOC_CONF": setting})
    assert told["plain"] >= 64 << 20 and told["with_pool"] >= told["plain"]


def test_the_devices_time_of_a_scope_13():
    told = figures("device_time.py")
    assert told["at_once"] is None and 0.5 < told["device_ns"] / told["host_ns"] <= 1
    assert told["in_capture"] is None and told["captured"] is None and told["before"] > 0
    assert told["twos"] == 2 and told["hooks"] == 0
