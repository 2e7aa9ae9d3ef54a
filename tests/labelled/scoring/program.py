"""A recorded program: its truth, its recordings, and how vramscope is asked about them.  Nothing here needs torch."""
import hashlib
import json
import subprocess
from functools import cached_property
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
SECOND_ROUND, THIRD_ROUND = (frozenset(path.stem for path in PROGRAMS.glob(folders + "/[a-z]*.py"))
                             for folders in ("second_*", "third_*"))
PARTS = ("looked at", "held out at first", "second round", "held out")


def held_out(name):
    """A program of the third round, written by somebody who had not seen the rules."""
    return name in THIRD_ROUND


def held_out_at_first(name):
    """A third of the first round; it was opened after rules had been written against the others."""
    if name in SECOND_ROUND | THIRD_ROUND:
        return False
    return hashlib.sha256(("own set:" + name).encode()).digest()[0] % 3 == 0


def part_of(name):
    """The part of the set that a program is summed up with."""
    if held_out(name):
        return "held out"
    if name in SECOND_ROUND:
        return "second round"
    return "held out at first" if held_out_at_first(name) else "looked at"


def programs(folder):
    """Truths of all programs in a folder; those of changed programs (NAME@CHANGE) are not among them."""
    return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json")) if "@" not in path.name]


class Recording:
    """One recording of one program; events of the truth less `first` are those of the recording."""

    def __init__(self, vramscope, folder, truth, style):
        self.vramscope, self.folder, self.truth = vramscope, Path(folder), truth
        self.style = style.rstrip("0123456789")
        self.path = self.folder / ("%s.%s.pickle" % (truth["program"], style))
        self.first = truth["first_event"].get(style, 0)

    def ask(self, *words, path=None):
        done = subprocess.run([str(self.vramscope), *map(str, words), str(path or self.path)], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout)

    def result(self, verb):
        return self.ask(verb, "--json")["devices"][0].get("result") or {}

    @cached_property
    def leaks(self):
        return self.result("leaks")

    @cached_property
    def steps(self):
        """`leaks` has them where it has an answer."""
        return self.leaks.get("steps") or self.result("steps").get("steps") or {}

    def of_kind(self, kind):
        """Ranges that begin in this recording; a step that runs out of memory is none."""
        ranges = self.truth["ranges"][:-1] if self.truth["oom"] else self.truth["ranges"]
        return [r for r in ranges if r["kind"] == kind and r["first_event"] >= self.first]

    @cached_property
    def live_at_peak(self):
        """The true allocations alive at the peak of what this recording shows."""
        change = []
        for a in self.truth["allocations"]:
            if a["free_event"] is None or a["free_event"] > self.first:
                change.append((max(a["alloc_event"], self.first), 1, a["bytes"]))
                if a["free_event"] is not None:
                    change.append((a["free_event"], 0, -a["bytes"]))
        now, most, at = 0, -1, 0
        for event, _, size in sorted(change):
            now += size
            if now > most:
                most, at = now, event
        return [a for a in self.truth["allocations"] if a["alloc_event"] <= at
                and (a["free_event"] is None or a["free_event"] > at)]

    @property
    def peak_bytes(self):
        return sum(a["bytes"] for a in self.live_at_peak)

    def live_at(self, event):
        return sum(a["bytes"] for a in self.truth["allocations"] if a["alloc_event"] <= event
                   and (a["free_event"] is None or a["free_event"] > event))
