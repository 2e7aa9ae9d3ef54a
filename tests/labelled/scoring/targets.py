"""What the set must reach, in one place.  Each row: what, style, at least or at most, bound, and how it is read.

All parts but the one that is held out are added up for this.
"""
import statistics

ANY = ("all", "python", "late")


def rows(bounds):
    return [(what, style, how, bound) for what, how, styles in bounds for style, bound in styles.items()]


def each(bound):
    return dict.fromkeys(ANY, bound)


# What is reached now; raised whenever a rule becomes better, never lowered.
TARGETS = rows([
    ("right", "least", {"all": 0.985, "python": 0.976, "late": 0.911}),
    ("wrong", "most", {"all": 0.001, "python": 0.005, "late": 0.003}),
    ("wrong of high", "most", each(0.001)),
    ("steps", "least", {"all": 0.98, "python": 0.98, "late": 0.95}),
    ("leaks found", "least", each(1.0)),
    ("leaks false", "most", each(0)),
    ("verdicts", "least", each(1.0)),
    ("settings true", "least", each(1.0)),
    ("advice given", "least", {"all": 0.94, "python": 0.86, "late": 0.77}),
    ("advice near", "least", {"all": 0.89, "python": 0.78, "late": 0.58}),
    ("advice harmful", "most", each(0)),
    ("estimate", "most", {"all": 0.05, "python": 0.05}),
])

READ = {
    "right": lambda s, style: s.share(style, "right"),
    "wrong": lambda s, style: s.share(style, "wrong"),
    "wrong of high": lambda s, style: s.share(style, "wrong", "high"),
    "steps": lambda s, style: s.ratio(style, "steps right", "recordings"),
    "leaks found": lambda s, style: s.ratio(style, "found", "planted"),
    "leaks false": lambda s, style: s.of[style, "false"],
    "verdicts": lambda s, style: s.ratio(style, "verdicts right", "verdicts"),
    "settings true": lambda s, style: s.ratio(style, "settings true", "settings"),
    "advice given": lambda s, style: s.ratio(style, "given", "due"),
    "advice near": lambda s, style: s.ratio(style, "near", "due"),
    "advice harmful": lambda s, style: s.of[style, "harmful"],
    "estimate": lambda s, style: statistics.median(s.estimates[style, "here"] or [0]),
}


def missed(sums):
    """A line for each target that is not reached."""
    found = []
    for what, style, how, bound in TARGETS:
        value = READ[what](sums, style)
        if value < bound if how == "least" else value > bound:
            found.append("%s, %s: %.4g, at %s %.4g is wanted" % (what, style, value, how, bound))
    return found
