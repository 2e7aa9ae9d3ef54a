"""Sums over programs, by style, and how they are printed and compared with targets."""
import statistics
from collections import Counter, defaultdict

from .advice import advice
from .categories import CONFIDENCES, VERDICTS, categories
from .diffs import diffs
from .estimate import estimate
from .leaks import leaks
from .program import Recording
from .steps import steps
from .verdicts import setting, verdict

STYLES = ("all", "python", "late")  # several recordings of a program may be late: they begin at other places


class Sums:
    """Counts of one part of the programs: those looked at, or those held out."""

    def __init__(self):
        self.programs = 0
        self.bytes = Counter()         # style, verdict, confidence
        self.of = Counter()            # style, what: how many
        self.estimates = defaultdict(list)
        self.diffs = []

    def share(self, style, verdict, confidence=None):
        """Of the bytes (stated with a confidence), the share that is right, unknown or wrong."""
        mine = {k: n for k, n in self.bytes.items() if k[0] == style and confidence in (None, k[2])}
        total = sum(mine.values())
        return sum(n for k, n in mine.items() if k[1] == verdict) / total if total else 0.0

    def ratio(self, style, part, whole):
        return self.of[style, part] / self.of[style, whole] if self.of[style, whole] else 1.0


class Judgement:
    """Everything that is judged of one recording."""

    def __init__(self, recording):
        self.recording, self.style = recording, recording.style
        self.categories, self.steps, self.leaks = categories(recording), steps(recording), leaks(recording)
        self.verdict, self.setting = verdict(recording), setting(recording)
        self.advice = advice(recording)
        self.estimate = estimate(recording) if self.style != "late" else None

    def add_to(self, sums):
        style, of = self.style, sums.of
        for (found, confidence), n in self.categories.bytes.items():
            sums.bytes[style, found, confidence] += n
        of[style, "recordings"] += 1
        of[style, "steps right"] += self.steps[0]
        of[style, "planted"] += self.leaks.planted
        of[style, "found"] += self.leaks.found
        of[style, "false"] += len(self.leaks.false)
        of[style, "slopes"] += self.leaks.near is not None
        of[style, "slopes near"] += self.leaks.near is True
        if self.verdict:
            of[style, "verdicts"] += 1
            of[style, "verdicts right"] += self.verdict[0] == self.verdict[1]
        if self.setting:
            of[style, "settings"] += 1
            of[style, "settings true"] += self.setting[2]
        of[style, "due"] += len(self.advice.due)
        of[style, "given"] += len(self.advice.given)
        of[style, "near"] += len(self.advice.near)
        of[style, "harmful"] += len(self.advice.harmful)
        if self.estimate:
            sums.estimates[style, "here"].append(abs(self.estimate[0]))
            if self.estimate[1] is not None:
                sums.estimates[style, "batch"].append(abs(self.estimate[1]))

    def line(self):
        """One line of what `--each` prints."""
        total = sum(self.categories.bytes.values()) or 1
        good, want, have = self.steps
        words = ["%-26s %-6s %6.0f  %5.1f %5.1f %5.1f  %2d/%2d%s" % (
            self.recording.truth["program"], self.style, total / 2**20,
            *(100 * self.categories.sum_of(v) / total for v in VERDICTS[:3]), have, want, "  " if good else " !")]
        words += ["%s -> %s %.1f MiB" % (t, s, n / 2**20)
                  for (t, s), n in self.categories.mistaken.most_common(3) if n >= 0.001 * total]
        if self.leaks.planted:
            words.append("leak " + ("found" if self.leaks.found else "MISSED"))
            if self.leaks.near is False:
                words.append("of %.0f B a step, said %.0f" % self.leaks.slope)
        if self.leaks.false:
            words.append("FALSE " + self.leaks.false[0])
        if self.verdict and self.verdict[0] != self.verdict[1]:
            words.append("VERDICT %s, said %s" % self.verdict)
        if self.setting and not self.setting[2]:
            words.append("SETTING %s said to %s" % (self.setting[0], "save" if self.setting[1] else "serve"))
        for rule, real, said in self.advice.due:
            if said is None:
                words.append("SILENT %s %.0f MiB" % (rule, real / 2**20))
            elif (rule, real, said) not in self.advice.near:
                words.append("FAR %s %.0f MiB, said %.0f" % (rule, real / 2**20, said / 2**20))
        words += ["HARMFUL " + rule for rule in self.advice.harmful]
        if self.estimate and any(e is not None and abs(e) > 0.05 for e in self.estimate):
            words.append("estimate %s" % ", ".join("%+.0f %%" % (100 * e) for e in self.estimate if e is not None))
        return "; ".join(words)


def judged(vramscope, folder, truth):
    return [Judgement(Recording(vramscope, folder, truth, style)) for style in truth["first_event"]]


def add_program(sums, vramscope, folder, truth, judgements):
    sums.programs += 1
    for one in judgements:
        one.add_to(sums)
    sums.diffs += diffs(vramscope, folder, truth)


def bytes_table(sums):
    rows = ["bytes at the peak, %        of those stated, MiB right/unknown/wrong",
            "style    right unknown wrong   " + " ".join("%-19s" % name for name in CONFIDENCES)]
    for style in STYLES:
        stated = ("/".join("%.0f" % (sums.bytes[style, v, name] / 2**20) for v in VERDICTS[:3]) for name in CONFIDENCES)
        rows.append("%-7s %6.2f %6.2f %6.2f   %s" % (
            style, *(100 * sums.share(style, v) for v in VERDICTS[:3]), " ".join("%-19s" % words for words in stated)))
    return rows


def answers_table(sums):
    rows = ["style    steps right   leaks found  false  B a step   verdicts  settings true   "
            "advice due given near harmful   estimate median worst   other batch"]
    for style in STYLES:
        of = sums.of

        def pair(part, whole):
            return "%d of %d" % (of[style, part], of[style, whole])

        def error(kind):
            values = sums.estimates[style, kind]
            return "%.1f %% %5.1f %%" % (100 * statistics.median(values), 100 * max(values)) if values else "-"

        rows.append("%-8s %-13s %-12s %5d  %-10s %-9s %-14s %10d %5d %4d %7d   %21s   %s" % (
            style, pair("steps right", "recordings"), pair("found", "planted"), of[style, "false"],
            pair("slopes near", "slopes"), pair("verdicts right", "verdicts"), pair("settings true", "settings"),
            of[style, "due"], of[style, "given"], of[style, "near"], of[style, "harmful"], error("here"), error("batch")))
    return rows


def diff_table(sums):
    if not sums.diffs:
        return []
    return ["diff of one change: sum exact %d, line right %d, categories right %d of %d%s" % (
        *(sum(d[i] for d in sums.diffs) for i in (1, 2, 3)), len(sums.diffs),
        "".join("; %s %s" % (d[0], "/".join("right" if x else "WRONG" for x in d[1:])) for d in sums.diffs if not all(d[1:])))]


def table(title, sums):
    return ["", "%s: %d programs" % (title, sums.programs), *bytes_table(sums), *answers_table(sums), *diff_table(sums)]
