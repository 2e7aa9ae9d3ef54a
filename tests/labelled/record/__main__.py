"""python -m record [--vramscope PROGRAM] [-o FOLDER] [NAME...]: records programs of `programs`, or all.

Run in tests/labelled by a Python that has torch.  Writes, for each, recordings in three styles and
a JSON file of what is true (README.md).
"""
import argparse
import importlib
import inspect
import sys
import time
import warnings
from pathlib import Path

from .recorder import Recorder
from .run import Run
from .snapshot import write
from .standins import standing_in

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
FOLDERS = {path.stem: path.parent.name for path in sorted(HERE.glob("programs/*/[a-z]*.py"))}


def record(name):
    """Runs one program under the recorder."""
    program = importlib.import_module("programs.%s.%s" % (FOLDERS[name], name))
    recorder = Recorder(getattr(program, "MARKS", False))
    recorder.stacks.started_at(program.__file__, len(inspect.getsource(program).splitlines()) + 4)
    with standing_in(recorder):
        program.main(Run(recorder))
        recorder.on = False
    return recorder, program


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
        recorder, program = record(name)
        truth = write(recorder, program, args.vramscope.resolve(), args.output)
        print("%-28s %6d events %6d allocations %5.1f s" % (
            name, truth["events"], len(truth["allocations"]), time.monotonic() - begin))


if __name__ == "__main__":
    main()
