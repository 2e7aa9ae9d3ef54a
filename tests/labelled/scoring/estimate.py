"""How far the general estimate is from the recorded peak, and from that of another batch, predicted from this one."""

# Terms by whether they grow with the batch; W does not either, but is needed beside it alone.
FIXED, BATCH = ("P", "S", "B"), ("A", "LG", "H")


def need(terms, factor):
    def total(names):
        return sum(terms.get(name, 0) for name in names)

    return total(FIXED) + max(terms.get("G_OI", 0), factor * total(BATCH) + terms.get("W", 0))


def estimate(recording):
    """(error against the recording, error for the other batch or None), as signed shares; None where it has no answer.

    A recording that begins after the program is not asked: it does not show what parameters need.
    """
    if recording.truth["oom"] or recording.first or not recording.of_kind("step"):
        return None
    found = recording.result("categories").get("estimate") or {}
    terms = {t["id"]: t["bytes"] or 0 for t in found.get("terms") or []}
    if not terms or not found.get("formula_bytes") or not found.get("measured_bytes"):
        return None
    here = found["formula_bytes"] / found["measured_bytes"] - 1
    batch = recording.truth.get("batch")
    return here, need(terms, batch["factor"]) / batch["peak_bytes"] - 1 if batch else None
