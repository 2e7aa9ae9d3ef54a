"""`diff` of a program as it is and changed in one place: the sum, the line and the categories."""
import json
from collections import Counter
from pathlib import Path

from .categories import ALSO
from .program import Recording

CLOSE = 1 << 20  # bytes that may stand under another category


def by_category(recording):
    found = Counter()
    for a in recording.live_at_peak:
        found[a["category"]] += a["bytes"]
    return found


def categories_agree(wanted, said):
    """Whether the bytes that are said of no category that they may have are few."""
    rest = {name: n for name, n in wanted.items() if n}
    left = Counter({name: n for name, n in said.items() if n})
    for name in sorted(rest):
        for other in (name, *sorted(ALSO.get(name, ()))):
            if rest[name] * left[other] > 0:
                part = min(abs(rest[name]), abs(left[other])) * (1 if rest[name] > 0 else -1)
                rest[name] -= part
                left[other] -= part
    return max(sum(map(abs, rest.values())), sum(map(abs, left.values()))) <= CLOSE


def diffs(vramscope, folder, truth):
    """(change, sum exact, line right, categories right) for each change of a program."""
    mine = Recording(vramscope, folder, truth, "all")
    found = []
    for path in sorted(Path(folder).glob(truth["program"] + "@*.json")):
        other = Recording(vramscope, folder, json.loads(path.read_text()), "all")
        result = mine.ask("diff", "--json", mine.path, path=other.path)["devices"][0]["result"]
        real = other.peak_bytes - mine.peak_bytes
        wanted = by_category(other)
        wanted.subtract(by_category(mine))
        said = Counter({row["category"]: row["delta_bytes"] for row in result["by_category"]})
        rows = [row for row in result["rows"] if row["delta_bytes"]]
        line = other.truth["line"]
        if line:
            sums = Counter()
            for row in rows:
                sums[row["name"].split(" ")[0]] += row["delta_bytes"]
            at_line = max(sums, key=lambda name: abs(sums[name]), default=None) == line
        else:
            at_line = not rows if not real else True
        found.append((truth["program"] + "@" + path.stem.split("@")[1], result["total_delta_bytes"] == real, at_line,
                      categories_agree(wanted, said)))
    return found
