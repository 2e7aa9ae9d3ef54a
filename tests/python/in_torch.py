"""Runs a Python program with the real torch of build/torch-venv, and the package of the build."""
import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PACKAGE, ROOT, SANITIZER
from made_once import made_once

TORCH = Path(os.environ.get("VRAMSCOPE_TORCH", ROOT / "build/torch-venv/bin/python"))
SECONDS = 300


def environment():
    """The sanitizers' library meets exceptions of C++ there, so that it needs their library too."""
    preload = os.environ.get("LD_PRELOAD", "")
    if preload:
        found = subprocess.run(["cc", "-print-file-name=libstdc++.so"], capture_output=True, text=True)
        preload += " " + found.stdout.strip()
    path = os.pathsep.join([PACKAGE, str(ROOT / "tests/python")])
    return {**os.environ, "LD_PRELOAD": preload, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore",
            "PYTHONIOENCODING": "utf-8", "HF_HUB_OFFLINE": "1"}


def interpreter():
    """The Python that has torch; a test is skipped where there is none."""
    if not TORCH.exists():
        pytest.skip("no torch in build/torch-venv: VRAMSCOPE_TEST_TORCH=1 installs it")
    return TORCH


def answer(program, *words):
    """What a program of tests/python prints, as JSON."""
    done = subprocess.run([interpreter(), "-B", ROOT / "tests/python" / program, *map(str, words)], capture_output=True,
                          env=environment(), timeout=SECONDS)
    assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-3000:]
    return json.loads(done.stdout)


def answered(tmp_path_factory, program):
    """The folder in which a program has run, once for all workers; what it prints is in the file `answer`."""
    interpreter()

    def make(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            (folder / "answer").write_text(json.dumps(answer(program)))
    return made_once(tmp_path_factory, Path(program).stem, make)
