"""Advice that is due: given, near the real saving, harmful.  The real saving is measured: PAIRS of runs."""

LEAST_BYTES, LEAST_SHARE = 16 << 20, 0.01  # a fix frees at least this
NEAR = 0.25
# Rules whose remedy is the same edit count as one.
SAME = [{"retained-output", "two-generations", "graph-kept", "held-over-backward"},
        {"grad-late-zero", "grad-not-cleared"}]


def like(rule):
    return next((group for group in SAME if rule in group), {rule})


class Advice:
    def __init__(self):
        self.due = []      # (rule, real saving, what is said or None)
        self.harmful = []  # rules given that save nothing, or that a program says do harm

    @property
    def given(self):
        return [one for one in self.due if one[2] is not None]

    @property
    def near(self):
        return [one for one in self.given if abs(one[2] - one[1]) <= NEAR * one[1]]


def advice(recording):
    found, truth = Advice(), recording.truth
    said = {}
    for one in recording.result("advise").get("advice") or []:
        said[one["id"]] = max(said.get(one["id"], 0), one["saving_bytes"] or 0)
    for rule, changed in truth.get("advice", {}).items():
        real = truth["peak_bytes"] - changed["peak_bytes"]
        given = [said[name] for name in like(rule) if name in said]
        if real >= max(LEAST_BYTES, LEAST_SHARE * truth["peak_bytes"]):
            # The nearest: one program may have two causes of one remedy.
            found.due.append((rule, real, min(given, key=lambda n: abs(n - real)) if given else None))
        elif rule in said and said[rule] > 0 and real <= 0:
            found.harmful.append(rule)
    found.harmful += [rule for rule in truth["planted"].get("harmful", ()) if said.get(rule)]
    return found
