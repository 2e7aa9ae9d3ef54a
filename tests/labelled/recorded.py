"""The whole set, recorded once for all tests: by as many processes as there are processors, kept in build/labelled
until a program, the recorder or vramscope changes.  The first test that needs it waits; the others wait for that.
"""
import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, program

HERE = Path(__file__).resolve().parent
FOLDER = ROOT / "build/labelled"
TORCH = Path(os.environ.get("VRAMSCOPE_TORCH", ROOT / "build/torch-venv/bin/python"))
SECONDS = 3600


def names():
    return sorted(path.stem for path in HERE.glob("programs/*/[a-z]*.py"))


def stamp():
    """Changes with everything that a recording depends on."""
    found = hashlib.sha256()
    for path in sorted(p for part in ("record", "programs", "nets") for p in (HERE / part).rglob("*.py")):
        found.update(path.read_bytes())
    vramscope = Path(program()).stat()
    found.update(("%d %d %s" % (vramscope.st_size, vramscope.st_mtime_ns, TORCH.resolve())).encode())
    return found.hexdigest()


def record_all():
    for old in FOLDER.glob("*"):
        old.unlink()
    count, log = os.cpu_count(), FOLDER / "record.log"
    with log.open("w") as out:
        running = [subprocess.Popen([TORCH, "-B", "-m", "record", "--vramscope", program(), "-o", FOLDER,
                                     *names()[first::count]], cwd=HERE, stdout=out, stderr=out)
                   for first in range(count)]
        ended = [one.wait(SECONDS) for one in running]
    assert not any(ended), log.read_text()[-3000:]


def recorded():
    """The folder with everything; skips where there is no torch."""
    if not TORCH.exists():
        pytest.skip("no torch in build/torch-venv: VRAMSCOPE_TEST_TORCH=1 installs it")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER.parent / "labelled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = FOLDER.parent / "labelled.stamp"
        if not done.exists() or done.read_text() != stamp():
            done.unlink(missing_ok=True)
            record_all()
            done.write_text(stamp())
    return FOLDER
