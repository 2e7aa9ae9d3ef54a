"""Recordings made by scripts; tests/recordings/README.md has the language."""
import hashlib
import pickle
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


RANK = """%s
include torch.stacks
stack main run.py:40 main < run.py:44 <module>
stack init @malloc < model.py:9 __init__ < run.py:12 build < @main
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < run.py:%d train < @main
stack free_step @release < run.py:27 train < @main
alloc weight 200MiB init
repeat 4 {
  mark ProfilerStep#$i start
  alloc h %dMiB forward
  alloc grad 30MiB linear_backward
  free h free_saved
  free grad free_step
  mark ProfilerStep#$i end
  time +5000
}
"""


def eight_ranks(folder):
    """The files of a job: rank 3 has a larger batch, rank 5 no stacks, rank 7 is cut, and in rank 2 a line moved."""
    paths = []
    for rank in range(8):
        script = RANK % ("no_stacks" if rank == 5 else "", 23 if rank == 2 else 21, 160 if rank == 3 else 48)
        whole = make(script + "# rank %d\n" % rank).read_bytes()
        path = folder / ("run_rank%d.pickle" % rank)
        path.write_bytes(whole[:len(whole) * 7 // 10] if rank == 7 else whole)
        paths.append(path)
    return paths


def renamed(script, names):
    """The same, with words of its strings replaced by those that no script can write."""
    def walk(value):
        if isinstance(value, str):
            for word, other in names.items():
                value = value.replace(word, other)
            return value
        if isinstance(value, dict):
            return {key: walk(one) for key, one in value.items()}
        return [walk(one) for one in value] if isinstance(value, (list, tuple)) else value

    target = Path(_folder().name) / (hashlib.sha256(repr((script, names)).encode()).hexdigest()[:16] + ".pickle")
    target.write_bytes(pickle.dumps(walk(pickle.loads(make(script).read_bytes())), 4))
    return target
