"""The benches start: no test runs them, and a module that moved would be missed by nobody else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "tests" / "bench"


@pytest.mark.parametrize("name", ["run", "page", "package", "peers"])
def test_a_bench_says_how_it_is_used(name):
    done = subprocess.run([sys.executable, "-B", BENCH / name, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("usage: "), done.stderr


def test_the_model_takes_no_events(tmp_path):
    (tmp_path / "none").write_text("")
    done = subprocess.run([sys.executable, "-B", BENCH / "time_model", tmp_path / "none"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and json.loads(done.stdout)["events"] == 0, done.stderr


def test_all_are_tried():
    programs = {p.name for p in BENCH.iterdir() if p.is_file() and not p.suffix and p.stat().st_mode & 0o100}
    assert programs == {"run", "page", "package", "peers", "time_model"}
