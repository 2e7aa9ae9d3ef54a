"""Recordings made by scripts; tests/recordings/README.md has the language."""
import hashlib
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from conftest import ROOT, program

SCRIPTS = ROOT / "tests" / "recordings"
NAMES = sorted(p.stem for p in SCRIPTS.glob("*.script"))


@lru_cache(maxsize=1)
def _folder():
    return tempfile.TemporaryDirectory(prefix="vramscope-recordings-")


def make(script):
    """The path of the recording of a script: a name of tests/recordings, or a script's text."""
    folder, named = Path(_folder().name), SCRIPTS / (script + ".script") if "\n" not in script else None
    source = named or folder / (hashlib.sha256(script.encode()).hexdigest()[:16] + ".script")
    target = folder / (source.stem + ".pickle")
    if not target.exists():
        if named is None:
            source.write_text(script, encoding="utf-8")
        tool = Path(program()).parents[1] / "tests" / "recordings" / "make_recording"
        done = subprocess.run([tool, source, "-o", target, "--library", SCRIPTS], stderr=subprocess.PIPE, timeout=300)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
    return target
