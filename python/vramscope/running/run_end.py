"""What `run` does when the program has ended: last files, the report of all processes, its page."""
from __future__ import annotations

import os
import time

from vramscope import hooks

from vramscope.history import oom
from vramscope.running import run_children, run_folder, run_process

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vramscope._core import Result
    from vramscope.running.run_folder import Unit
    from vramscope.running.run_process import Run

CHANGED = "recording was changed by the program"
POLL_SECONDS, POLL_MOST_SECONDS = 0.05, 1.0
# Files of one job are no older than its rank 0, but for clocks that differ.
OLDER_SECONDS = 60


def finish(run: Run) -> None:
    """All of it; what fails is one line, and the rest goes on."""
    for part in (end_monitor, tell_caught, run_children.tell_unrecorded, write_end, write_process,
                 report):
        try:
            part(run)
        except OSError as error:
            run.failed(error)
        except Exception as error:
            hooks.swallow(error)
            hooks.say(f"vramscope: {type(error).__name__}: {error}\n")
        run.say_lines()


def end_monitor(run: Run) -> None:
    """<who>.telemetry.jsonl; the status line ends."""
    if run.monitor is not None:
        run.telemetry_path = run.monitor.end()


def tell_caught(run: Run) -> None:
    """What the program caught is one line; where it then gave up, the last one's verdict."""
    caught = oom.untold()
    if not caught or run.settings["on_oom"] == "off":
        return
    from vramscope.history import telling
    if run.exits and run.status != 0:
        telling.tell_event(caught[-1], "", run.rank, run.limits.kept)
        run.write_told(caught[-1])
        return
    # A child's exceptions may end in a hook of its own.
    telling.tell_caught(caught, run.limits.kept, known=run.status is not None)
    if run.settings["stacks"] == "all" and run.limits.kept:
        hooks.say("vramscope: --stacks all makes a snapshot a hundred times slower to write\n")


def write_end(run: Run) -> None:
    """<who>.end.pickle, and with --view its page where others have one too."""
    if not run.shows_end or not run.sources:
        return
    run.end_path = run.write_snapshot(run.sources[-1], "end", None)
    if run.end_path is not None and run.settings["view"] and (run.rank is not None or run.child):
        from vramscope import _core
        with _core.load(run.end_path) as recording:
            recording.view(os.path.join(run.take_folder(), run.who + ".html"))


def write_process(run: Run) -> None:
    """<who>.json, where this process has a file or another one waits for this."""
    waited_for = run.shows_end and run.rank is not None and not run.child
    written = run.ooms or run.end_path is not None or run.telemetry_path is not None or \
        run.unrecorded
    if not written and not waited_for:
        return
    folder = run.take_folder()
    run_folder.write_document(os.path.join(folder, run.who + ".json"), document(run))


def document(run: Run) -> dict[str, Any]:
    """What is said of a process."""
    import socket
    from vramscope import ranks
    try:
        identity = ranks.identity()
    except ValueError:
        identity = dict.fromkeys(ranks.FIELDS)
    paths = [path for path, _ in run.ooms]
    paths += [run_process.event_path(path) for path in paths]
    paths += [path for path in (run.end_path, run.telemetry_path) if path is not None]
    paths.append(run_children.unrecorded_file(run.folder, run.who))
    caught = len(oom.untold())
    unrecorded = None if run.unrecorded_path is None else run.unrecorded
    losses = {"hooks": hooks.failures, "failures_forgotten": oom._counted - len(oom._events),
              "snapshots_limited": run.losses["limited"], "snapshots_failed": run.losses["failed"],
              "snapshots_removed": run.losses["removed"], "children_unrecorded": unrecorded}
    return {"part": "process", "who": run.who, "pid": run.pid, "child": run.child,
            "host": socket.gethostname(), **identity, "restart": run.restart,
            "start": run.start, "end": time.time(), "status": run.status, "raised": run.raised,
            "recording": {"began": bool(run.began), "changed": run.changed(),
                          "refused": run.refused},
            "failures": {"seen": oom._counted, "caught": caught},
            "files": sorted(os.path.basename(path) for path in paths if os.path.exists(path)),
            "losses": losses,
            "versions": oom.versions(), "allocator": oom.allocator_settings()}


def report(run: Run) -> None:
    """By rank 0, or the only process: the report of all, the page, and run.json completed."""
    if run.child or run.rank not in (None, 0):
        return
    if run.shows_end and run.rank is not None:
        wait(run)
    folder = run.found_folder()
    if folder is None:
        say_nothing_recorded(run)
        return
    units = units_of(run, folder)
    missing = missing_ranks(run, units)
    try:
        if run.shows_end:
            # The report reads of it who is missing; who waits for the report sees that it runs.
            complete(run, folder, units, missing, reported=False)
            show(run, folder, units, missing)
    finally:
        complete(run, folder, units, missing, reported=True)


def say_nothing_recorded(run: Run, notes: str = "") -> None:
    """What could not be written was said by a line of its own."""
    if run.shows_end and not run.losses["failed"]:
        notes = f"vramscope: nothing was recorded{why_not(run)}\n" + notes
    if notes:
        hooks.say(notes)


def why_not(run: Run) -> str:
    if run.refused is not None:
        return f": {run.refused}"
    return ": no device was used" if run.records else ": this rank is none of --ranks"


def wait(run: Run) -> None:
    """Waits until every rank has written what it has to say, no longer than --wait."""
    end, pause = time.monotonic() + run.settings["wait"], POLL_SECONDS
    while (left := end - time.monotonic()) > 0:
        folder = run.found_folder()
        if folder is not None and not missing_ranks(run, units_of(run, folder)):
            return
        time.sleep(min(pause, left))
        pause = min(2 * pause, POLL_MOST_SECONDS)


def units_of(run: Run, folder: str) -> list[Unit]:
    """The processes of this job; one that had the same name may have left files there before."""
    return run_folder.units(folder, run.start - OLDER_SECONDS)


def missing_ranks(run: Run, units: list[Unit]) -> list[int]:
    """The ranks that record and have not said how they ended."""
    documents = [unit.document for unit in units if unit.document is not None]
    there = {d["rank"] for d in documents if not d["child"] or run.rank is None}
    return [rank for rank in run_folder.recording_ranks(world_size(units), run.settings["ranks"])
            if rank not in there]


def world_size(units: list[Unit]) -> int | None:
    """The number of ranks, as this process or one of the others knows it."""
    from vramscope import ranks
    sizes = [ranks.world_size() or 0]
    sizes += [unit.document["world_size"] or 0 for unit in units if unit.document is not None]
    return max(sizes) or None


def show(run: Run, folder: str, units: list[Unit], missing: list[int]) -> None:
    """Writes report and page into the folder; prints the report, and who is missing in it."""
    from vramscope.history import recording, telling
    files = sorted((name, unit) for unit in units if (name := unit.snapshot()) is not None)
    notes = notes_of(units, missing, run.settings["wait"])
    if not files:
        say_nothing_recorded(run, notes)
        return
    answer = (one_report if len(files) == 1 else merged_report)(folder, files)
    if run.settings["report"]:
        recording.write_text(os.path.join(folder, "report.txt"),
                             answer(False, 80) + notes)
        recording.write_text(os.path.join(folder, "report.json"), answer.json())
        hooks.say(answer(*telling.terminal()) + notes)
    if run.settings["view"]:
        page = os.path.join(folder, "index.html")
        answer.page(page)
        notes_of_page = f"vramscope: {page}\n"
        hooks.say(notes_of_page if run.settings["report"] else notes + notes_of_page)


def notes_of(units: list[Unit], missing: list[int], seconds: float) -> str:
    """Lines under the report."""
    text = ""
    if missing:
        numbers = ", ".join(map(str, missing))
        many = f"ranks {numbers} are" if len(missing) > 1 else f"rank {numbers} is"
        text += f"vramscope: {many} missing: no word within {seconds:g} s\n"
    changed = [unit.who for unit in units
               if unit.document is not None and unit.document["recording"]["changed"]]
    for who in changed:
        text += f"vramscope: {who}: {CHANGED}\n" if len(units) > 1 else f"vramscope: {CHANGED}\n"
    return text


class Report:
    """A report as text, by calling it with (whether in colour, width), as JSON and as a page."""

    def __init__(self, result: Result, page: Callable[[str], object]) -> None:
        self.result, self.page = result, page

    def __call__(self, colour: bool, wide: int) -> str:
        return self.result.text(colour=colour, width=wide, picture=True)

    def json(self) -> str:
        return self.result.json()


def one_report(folder: str, files: list[tuple[str, Unit]]) -> Report:
    """Of the only process that has a snapshot, as `vramscope report FILE`."""
    from vramscope import _core
    (name, _), = files
    path = os.path.join(folder, name)
    recording = _core.load(path)
    return Report(recording.report(timeline=True, path=path), recording.view)


def merged_report(folder: str, files: list[tuple[str, Unit]]) -> Report:
    """Of several, as `vramscope report FOLDER`; the page is a table with a link to each."""
    from vramscope import _core
    parts: list[Result] = []
    failures: dict[str, str] = {}
    for name, _ in files:
        path = os.path.join(folder, name)
        try:
            with _core.load(path) as recording:
                parts.append(recording.report(part=True, curve=True, path=path))
        except _core.Error as error:
            failures[path] = error._message
            parts.append(_core.unread(path, error))
    try:
        parts.append(_core.report_run(os.path.join(folder, "run.json")))
    except _core.Error as error:
        hooks.swallow(error)
    result = _core.merge(parts)

    def page(path: str) -> None:
        _core.index(result, path, [(os.path.join(folder, name),
                                    unit.who + ".html" if unit.page else None,
                                    failures.get(os.path.join(folder, name)))
                                   for name, unit in files])
    return Report(result, page)


def status_of(run: Run, units: list[Unit], missing: list[int]) -> str:
    """failed: this process, or one that said how it ended, had a status that is not 0.

    unknown: another one that records was killed, or has not ended yet.
    """
    known = [run.status, *(unit.document["status"] for unit in units if unit.document is not None)]
    if any(status not in (None, 0) for status in known):
        return "failed"
    silent = any(unit.document is None and unit.who != run.who for unit in units)
    return "unknown" if missing or silent else "completed"


def complete(run: Run, folder: str, units: list[Unit], missing: list[int], *,
             reported: bool) -> None:
    """run.json once more, with the processes and files that are there; until the report has been
    written it says that the run goes on."""
    own = [name for name in ("report.txt", "report.json", "index.html")
           if os.path.exists(os.path.join(folder, name))]
    started = run_folder.start_of(folder)
    run_folder.write_document(os.path.join(folder, "run.json"), {
        **run_folder.begun(run.job, run.start if started is None else started, ()),
        "status": status_of(run, units, missing) if reported else "running",
        "end": time.time() if reported else None,
        "world_size": world_size(units),
        "processes": sorted(unit.who for unit in units), "missing_ranks": missing, "files": own})
