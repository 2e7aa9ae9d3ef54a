"""python -m record [--vramscope PROGRAM] [-o FOLDER] [NAME...]: records programs of `programs`, or all.

Run in tests/labelled by a Python that has torch.  Writes, for each, recordings in several styles and
a JSON file of what is true (README.md).
"""
import argparse
import inspect
import sys
import time
import warnings
from pathlib import Path

from .kernels import CUBLAS_BYTES
from .recorder import Recorder
from .run import Run
from .snapshot import write, write_changed
from .stacks import NoStacks
from .standins import standing_in
from .variants import FOLDERS, HERE, edited, loaded

ROOT = HERE.parent.parent
# Where a program is started: below its source stand two empty lines, a test of __name__ and the call.
CALL_BELOW = 4


def run(program, batch=1, stacks=None):
    """Runs a program under the recorder."""
    recorder = Recorder(getattr(program, "MARKS", False), getattr(program, "WORKSPACE", CUBLAS_BYTES), stacks)
    recorder.stacks.started_at(program.__file__, len(inspect.getsource(program).splitlines()) + CALL_BELOW)
    with standing_in(recorder):
        program.main(Run(recorder, batch))
        recorder.on = False
    return recorder


def changes(program):
    """Peaks of the program changed: with a larger batch, and as each advice says."""
    advice = {rule: {"peak_bytes": run(edited(program, edits), stacks=NoStacks()).peak()}
              for rule, edits in getattr(program, "ADVICE", {}).items()}
    batch, factor = None, getattr(program, "BATCH", None)
    if factor:
        batch = {"factor": factor, "peak_bytes": run(program, factor, NoStacks()).peak()}
    return {"advice": advice, "batch": batch}


def main():
    options = argparse.ArgumentParser(prog="record", description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--vramscope", type=Path, default=ROOT / "build/release/cli/vramscope", metavar="PROGRAM")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "build/labelled", metavar="FOLDER")
    args = options.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE))
    for name in args.names or sorted(FOLDERS):
        begin = time.monotonic()
        program = loaded(name)
        recorder = run(program)
        vramscope = args.vramscope.resolve()
        truth = write(recorder, program, vramscope, args.output, changes(program))
        for change, (edits, line) in getattr(program, "DIFFS", {}).items():
            other = edited(program, edits)
            write_changed(run(other), other, change, line, vramscope, args.output)
        print("%-28s %6d events %6d allocations %5.1f s" % (
            name, truth["events"], len(truth["allocations"]), time.monotonic() - begin), flush=True)


if __name__ == "__main__":
    main()
