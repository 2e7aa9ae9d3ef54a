"""`run --children`: Python processes that the program begins are recorded too.

They find `_children/sitecustomize.py` first on PYTHONPATH, which calls begin().
"""
from __future__ import annotations

import os

from vramscope.history import hooks

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from vramscope.running.run_process import Run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_children")


def announce(run: Run) -> None:
    """Puts into the environment what a child needs."""
    import json
    from vramscope.running import run_folder
    if not run.given:
        # Children are told one name, which therefore is nobody else's.
        run.folder = run_folder.free(run.folder, run.job)
        run.given = True
    os.environ["VRAMSCOPE_RUN"] = json.dumps({**run.settings, "job": run.job})
    os.environ["VRAMSCOPE_DIR"] = run.folder
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = FOLDER + (os.pathsep + before if before else "")


def begin() -> None:
    """Begins recording in a child; what it writes goes into the folder of the outermost run."""
    import json
    from vramscope.running import run_process
    settings = json.loads(os.environ["VRAMSCOPE_RUN"])
    run = run_process.Run(settings, (os.environ["VRAMSCOPE_DIR"], settings["job"]))
    run.begin()
    hooks.Hooks(run.tell).install()
