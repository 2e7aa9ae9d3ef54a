"""Recordings of one run in several styles, beside a file that says what is true."""
import json
import pickle
from pathlib import Path

from .placing import numbers, placed
from .styles import begun_at, late_starts, without_native


def body_of(source):
    """The number of the line at which a program's constants end."""
    lines = source.splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(("def ", "class ", "@")))


def line_of(program, text):
    """FILE:LINE of a line of the program or of a network, `text` being in it and in no other."""
    own = Path(program.__file__)
    files = {path: path.read_text() for path in own.parents[2].glob("nets/**/*.py")}
    files[own] = getattr(program, "SOURCE", own.read_text())
    begin = body_of(files[own])
    found = [(path.name, number) for path, source in files.items()
             for number, line in enumerate(source.splitlines(), 1) if text in line and (path != own or number >= begin)]
    if len(found) != 1:
        raise SystemExit("%s: %d lines with %r" % (program.__file__, len(found), text))
    return "%s:%d" % found[0]


def planted_in(program):
    """What the program says is planted, with the line in place of its text."""
    planted = dict(getattr(program, "PLANTED", {}))
    if "leak" in planted:
        planted["leak"] = line_of(program, planted["leak"])
    planted["harmful"] = list(getattr(program, "HARMFUL", ()))  # rules that would do harm here
    return planted


def truth_of(recorder, program, trace):
    """The JSON beside the recordings; numbers of events are those of the placed trace."""
    at = numbers(trace, recorder.events)
    last = len(at) - 1
    labels = recorder.labels(len(at))

    def event(number):
        return at[min(number, last)]

    allocations = [{"alloc_event": event(a.event), "address": trace[event(a.event)]["addr"], "bytes": a.size,
                    "free_event": event(a.died + 1) if a.died is not None and a.died < last else None,
                    "category": labels[a.number]}
                   for a in recorder.allocations if a.event <= last]
    ranges = [{"kind": kind, "first_event": event(begin), "last_event": event(end - 1)}
              for kind, begin, end in recorder.ranges if end > begin and begin <= last]
    first = 0 if recorder.first == 0 else event(recorder.first) if recorder.first <= last else len(trace)
    return {"schema": "vramscope.labelled/2", "program": program.__name__.rsplit(".", 1)[-1],
            "planted": planted_in(program), "oom": last + 1 < len(recorder.events),
            "peak_bytes": recorder.peak(), "capacity_bytes": getattr(program, "CAPACITY", None),
            "events": len(trace), "first_event": {"all": first, "python": first},
            "allocations": allocations, "ranges": ranges}


def recordings_of(top, truth, recorder):
    """Style -> recording; notes in the truth where each begins."""
    first = truth["first_event"]["all"]
    whole = begun_at(top, first, recorder.keeps_stacks) if first else top
    made = {"all": whole, "python": without_native(whole)}
    if first == truth["events"]:
        return made
    for style, start in late_starts(truth["ranges"], truth["events"], first).items():
        if first < start < truth["events"]:
            truth["first_event"][style] = start
            made[style] = begun_at(top, start)
    return made


def write_changed(recorder, program, change, line, vramscope, folder):
    """NAME@CHANGE.all.pickle and its truth, to be compared with the program's own by `diff`."""
    top = placed(recorder.events, recorder.annotations, vramscope, None)
    truth = truth_of(recorder, program, top["device_traces"][0])
    name = truth["program"] + "@" + change
    truth.update(program=name, line=line and line_of(program, line))
    Path(folder, name + ".all.pickle").write_bytes(pickle.dumps(top, 4))
    Path(folder, name + ".json").write_text(json.dumps(truth))


def write(recorder, program, vramscope, folder, more):
    """NAME.STYLE.pickle for each style and NAME.json in `folder`, which has `more` too."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    capacity = getattr(program, "CAPACITY", None)
    top = placed(recorder.events, recorder.annotations, vramscope, capacity)
    truth = dict(truth_of(recorder, program, top["device_traces"][0]), **more)
    made = recordings_of(top, truth, recorder)
    if truth["oom"]:  # what would come after the end decides whether a setting saves the run
        made["whole"] = placed(recorder.events, recorder.annotations, vramscope, None)
    for style, recording in made.items():
        Path(folder, "%s.%s.pickle" % (truth["program"], style)).write_bytes(pickle.dumps(recording, 4))
    Path(folder, truth["program"] + ".json").write_text(json.dumps(truth))
    return truth
