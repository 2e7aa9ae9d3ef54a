"""How far the general estimate is from the recorded peak, and from that of another batch, predicted from this one."""

# Terms that grow with the batch; the others do not.
FIXED, STATE, BATCH, OPTIMIZER = ("P", "S"), ("B",), ("A", "LG", "H"), ("G", "OI")


def need(terms, factor):
    def total(names):
        return sum(terms.get(name, 0) for name in names)

    side = terms["G_OI"] if terms.get("G_OI") else total(OPTIMIZER)
    return total(FIXED + STATE) + max(side, factor * total(BATCH) + terms.get("W", 0))


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
