"""Bytes at the peak whose category is right, unknown or wrong, by the confidence stated."""
from collections import Counter

VERDICTS = ("right", "unknown", "wrong", "missing")
CONFIDENCES = ("high", "medium", "low", "split")
NOT_SAID = {"unknown", "persistent"}
# What may also be said of a truth: memory of a moment has two names, by the phase it is made in; a workspace of
# one call is temporary; a moving average is a second set of parameters; a model that nothing touches is what it
# once was or a copy of the parameters; copies in 32 bit are parameters to the optimizer that steps them and state
# to the model; what a forward without a backward leaves
# behind may be either; and for a table of the user's own there is no name.
ALSO = {
    "temporary": {"autograd_detail"}, "autograd_detail": {"temporary"}, "optimizer_temp": {"temporary"},
    "workspace": {"temporary"}, "ema": {"parameter", "parameter_copy"},
    "idle": {"parameter", "gradient", "optimizer_state", "parameter_copy"},
    "master": {"parameter", "optimizer_state", "parameter_copy"}, "held": {"activation", "temporary"},
    "other": {"activation", "temporary", "unknown", "persistent"},
}


def right(truth, said):
    return said == truth or said in ALSO.get(truth, ())


class Judged:
    def __init__(self):
        self.bytes = Counter()     # (right, unknown, wrong or missing; confidence)
        self.mistaken = Counter()  # (truth, said)

    def judge(self, truth, said, confidence, size):
        verdict = "right" if right(truth, said) else "unknown" if said in NOT_SAID else "wrong"
        self.bytes[verdict, confidence] += size
        if verdict != "right":
            self.mistaken[truth, said] += size

    def judge_split(self, size, pairs):
        """Of a split totals alone are claimed: how many of each size are what."""
        truths, said = Counter(t for t, _ in pairs), Counter(s for _, s in pairs)
        both = truths & said
        for name, n in both.items():
            self.judge(name, name, "split", n * size)
        for truth, other in zip((truths - both).elements(), (said - both).elements()):
            self.judge(truth, other, "split", size)

    def sum_of(self, verdict):
        return sum(n for (v, _), n in self.bytes.items() if v == verdict)


def categories(recording):
    # What is said of an allocation is found by its address and when it was made (None: before).
    rows = recording.ask("export", "--to", "json", "-t", "allocations")["tables"]["allocations"]
    said = {(r["address"], r["alloc_event"]): r for r in rows}
    found, split = Judged(), {}
    for a in recording.live_at_peak:
        event = a["alloc_event"] - recording.first
        row = said.get((a["address"], event if event >= 0 else None))
        if row is None:
            found.bytes["missing", "none"] += a["bytes"]
        elif row["undecided"]:
            split.setdefault(row["bytes"], []).append((a["category"], row["category"]))
        else:
            found.judge(a["category"], row["category"], row["confidence"], a["bytes"])
    for size, pairs in split.items():
        found.judge_split(size, pairs)
    return found
