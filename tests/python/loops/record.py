"""record.py FOLDER: runs each loop with and without stacks, and each other program with them, in a process of its own;
its text stands beside its traces.  Prints JSON: name -> what is planted, and where."""
import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path

import torch
import torch._dynamo  # noqa: F401, which the first optimizer would load in each process
import torch.profiler  # noqa: F401
import torch.utils.data  # noqa: F401
from loops import LOOPS, planted, source
from others import OTHERS

torch.set_num_threads(1)


def run(path, trace, stacks):
    """In a child, so that no loop sees what another left behind."""
    child = os.fork()
    if child == 0:
        sys.argv = [str(path), str(trace), stacks]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(path), run_name="__main__")
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0, path


def record(folder, name, text, *stacks):
    path = folder / (name + ".py")
    path.write_text(text)
    for how in stacks:
        run(path, folder / ("%s.%s.json" % (name, how)), how)


def main(folder):
    truth = {}
    for name, loop in LOOPS.items():
        text = source(loop)
        record(folder, name, text, "stacks", "plain")
        truth[name] = [loop.fault, planted(text) if loop.fault else None]
    for name, (text, _) in OTHERS.items():
        record(folder, name, text, "stacks")
    print(json.dumps(truth))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
