"""What the set must reach, in one place.  Each row: what, style, at least or at most, bound, and how it is read.

Programs that are looked at and those that are held out are added up for this.
"""
import statistics

ANY = ("all", "python", "late")


def rows(bounds):
    return [(what, style, how, bound) for what, how, styles in bounds for style, bound in styles.items()]


def each(bound):
    return dict.fromkeys(ANY, bound)


# What is reached now; raised whenever a rule becomes better, never lowered.
TARGETS = rows([
    ("right", "least", {"all": 0.984, "python": 0.971, "late": 0.91}),
    ("wrong", "most", {"all": 0.008, "python": 0.017, "late": 0.011}),
    ("wrong of high", "most", {"all": 0.003, "python": 0.0035, "late": 0.004}),
    ("steps", "least", {"all": 0.96, "python": 0.96, "late": 0.91}),
    ("leaks found", "least", each(1.0)),
    ("leaks false", "most", {"all": 1, "python": 1, "late": 4}),
    ("verdicts", "least", each(1.0)),
    ("settings true", "least", each(1.0)),
    ("advice given", "least", {"all": 0.90, "python": 0.81, "late": 0.77}),
    ("advice near", "least", {"all": 0.78, "python": 0.66, "late": 0.53}),
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
