"""`run --children`: Python processes that the program begins are recorded too.

They find `_children/sitecustomize.py` first on PYTHONPATH, which calls begin().
"""
from __future__ import annotations

import os

from vramscope import hooks

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
    # Random, since it lies where others write too; it is made by the first child that needs it.
    # A child may have another current folder, for which a relative TMPDIR is another one.
    folder = os.path.abspath(os.environ.get("TMPDIR") or "/tmp")
    run.unrecorded_path = os.path.join(folder, f"vramscope-{run.pid}-{os.urandom(8).hex()}.txt")
    os.environ["VRAMSCOPE_UNRECORDED"] = run.unrecorded_path
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


def tell_unrecorded(run: Run) -> None:
    """Says which children could not begin recording, and keeps what they wrote of it."""
    if run.unrecorded_path is None:
        return
    try:
        with open(run.unrecorded_path, encoding="ascii", errors="backslashreplace") as file:
            lines = [line if line.isprintable() else ascii(line)[1:-1]
                     for line in file.read().split("\n")[:-1]]
        os.unlink(run.unrecorded_path)
    except FileNotFoundError:
        return
    if not lines:
        return
    from vramscope.history import recording
    run.unrecorded = len(lines)
    hooks.say(f"vramscope: {sentence(lines)}\n")
    recording.write_text(unrecorded_file(run.take_folder(), run.who), "\n".join(lines) + "\n")


def sentence(lines: list[str]) -> str:
    """Of lines as `123: why` one sentence, without a full stop."""
    if len(lines) > 1:
        return (f"{len(lines)} processes that the program began are not recorded; "
                f"the first is {lines[0]}")
    pid, _, why = lines[0].partition(": ")
    return f"process {pid}, which the program began, is not recorded: {why}"


def unrecorded_file(folder: str, who: str) -> str:
    """Where it is kept which children of a process were not recorded, and why."""
    return os.path.join(folder, who + ".unrecorded.txt")
