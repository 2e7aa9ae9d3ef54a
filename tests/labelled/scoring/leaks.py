"""Leaks: planted ones found at their line, what is called one and is none, and the bytes a step."""

TOLD = ("leak", "suspect")
FLOOR_BYTES, FLOOR_SHARE = 1 << 20, 1e-4  # the smaller of these over the window does not matter
SLOPE_SHARE = 0.05                        # how near bytes a step must be


class Leaks:
    def __init__(self):
        self.planted = self.found = False
        self.near = None   # whether the bytes a step are those of the truth
        self.false = []    # lines that are called leaks and are none
        self.slope = None  # (true bytes a step, what is said)


def growth(recording, every):
    """(true bytes a step, over which number of steps), after two steps of warming up."""
    ends = [r["last_event"] for r in recording.of_kind("step")]
    if len(ends) < 3:
        ends = [r["last_event"] for r in recording.truth["ranges"] if r["kind"] == "step"]
    ends = ends[1:] if len(ends) > 3 else ends
    count = (len(ends) - 1) // every * every
    if count < 1:
        return 0, 0
    return (recording.live_at(ends[-1]) - recording.live_at(ends[-1 - count])) / count, count


def lines(site):
    return [site["site"][name].split(" ")[0] for name in ("culprit", "owner")]


def is_kept(recording, site):
    """Whether what is shown as staying is alive at the end."""
    alive = {a["alloc_event"] - recording.first for a in recording.truth["allocations"] if a["free_event"] is None}
    return all(s["event"] in alive for s in site["survivors"])


def leaks(recording):
    found, truth = Leaks(), recording.truth["planted"]
    sites = recording.leaks.get("sites") or []
    told = [s for s in sites if s["class"] in TOLD]
    line = truth.get("leak")
    found.planted = line is not None
    if not found.planted:
        found.false = [s["site"]["culprit"] for s in told]
        return found
    found.false = [s["site"]["culprit"] for s in told if not is_kept(recording, s)]
    every = truth.get("every", 1)
    slope, count = growth(recording, every)
    floor = min(FLOOR_BYTES, FLOOR_SHARE * recording.peak_bytes)
    below = truth.get("small") or slope * count <= floor
    here = [s for s in sites if line in lines(s) and (s["class"] in TOLD or below and s["class"] == "too_small")]
    found.found = bool(here)
    if here and slope:
        counted = told or here
        said = sum(s["slope_bytes"] or 0 for s in counted)
        found.slope = (slope, said)
        # Of a leak of every k-th step either the mean or what one of them adds may be told.
        found.near = any(abs(said - want) <= SLOPE_SHARE * want for want in (slope, slope * every))
    return found
