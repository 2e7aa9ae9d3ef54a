"""Whether all boundaries of steps are found, and no others."""
STEP_SLACK = 3  # allocations: the batch may be copied before the first request of the forward


def steps(recording):
    """(all right, how many there are, how many are found); where nothing is trained passes count as steps."""
    trained = any(r["kind"] == "step" for r in recording.truth["ranges"])
    want = [r["first_event"] - recording.first for r in recording.of_kind("step" if trained else "pass")]
    have = [b["event"] for b in recording.steps.get("boundaries") or []]
    # One more may stand first: a step cut at its beginning, or the prompt of a generation.
    more = recording.style == "late" or any(r["kind"] == "prompt" for r in recording.truth["ranges"])
    beside = have[1:] if more and len(have) == len(want) + 1 else have
    made = [a["alloc_event"] - recording.first for a in recording.truth["allocations"]]

    def between(one, other):
        return sum(min(one, other) <= event < max(one, other) for event in made)

    same = len(want) == len(beside) and all(between(w, h) <= STEP_SLACK for w, h in zip(want, beside))
    return same, len(want), len(have)
