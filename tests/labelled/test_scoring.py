"""The score itself: what it calls right, found, near and harmful.  Nothing here needs torch."""
from collections import Counter

import pytest
from scoring import targets
from scoring.advice import advice
from scoring.categories import categories
from scoring.diffs import categories_agree
from scoring.estimate import need
from scoring.leaks import leaks
from scoring.program import SECOND_ROUND, THIRD_ROUND, Recording, held_out, held_out_at_first, part_of
from scoring.steps import steps
from scoring.table import Sums

MIB = 1 << 20


def allocation(event, address, size, category, freed=None):
    return {"alloc_event": event, "address": address, "bytes": size, "free_event": freed, "category": category}


class Answered(Recording):
    """A recording whose answers are given."""

    def __init__(self, truth, style="all", **answers):
        super().__init__("", "", {"program": "p", "oom": False, "planted": {}, "ranges": [], "allocations": [],
                                  "first_event": {style: 0}, "peak_bytes": 0, **truth}, style)
        self.answers = answers

    def ask(self, verb, *words, path=None):
        return self.answers[verb]

    def result(self, verb):
        return self.answers.get(verb) or {}


def row(address, event, size, category, confidence="high", undecided=False):
    return {"address": address, "alloc_event": event, "bytes": size, "category": category,
            "confidence": confidence, "undecided": undecided}


def exported(*rows):
    return {"tables": {"allocations": list(rows)}}


def test_bytes_are_right_unknown_or_wrong():
    truth = [allocation(0, 1, 10, "parameter"), allocation(1, 2, 20, "activation"), allocation(2, 3, 40, "gradient"),
             allocation(3, 4, 80, "workspace"), allocation(4, 5, 160, "input", freed=5)]
    said = exported(row(1, 0, 10, "parameter"), row(2, 1, 20, "unknown", None), row(3, 2, 40, "input", "low"),
                    row(4, 3, 80, "temporary", "medium"))
    found = categories(Answered({"allocations": truth}, export=said))
    assert found.bytes == {("right", "high"): 10, ("unknown", None): 20, ("wrong", "low"): 40, ("right", "medium"): 80,
                           ("missing", "none"): 160}


def test_of_a_split_totals_alone_are_claimed():
    truth = [allocation(0, 1, 8, "parameter"), allocation(1, 2, 8, "optimizer_state"), allocation(2, 3, 8, "gradient")]
    said = exported(*(row(a, a - 1, 8, c, "low", True) for a, c in
                      ((1, "optimizer_state"), (2, "parameter"), (3, "parameter"))))
    assert categories(Answered({"allocations": truth}, export=said)).bytes == {("right", "split"): 16, ("wrong", "split"): 8}


@pytest.mark.parametrize("said, good", [([0, 10, 20], True), ([0, 11, 20], True), ([0, 10], False),
                                        ([0, 5, 10, 20], False), ([0, 15, 20], False)])
def test_steps_are_right_when_all_boundaries_are(said, good):
    truth = {"ranges": [{"kind": "step", "first_event": e, "last_event": e + 9} for e in (0, 10, 20)],
             "allocations": [allocation(e, e, 1, "input", e + 1) for e in range(30)]}
    assert steps(Answered(truth, leaks={"steps": {"boundaries": [{"event": e} for e in said]}}))[0] == good


def site(line, kind, slope, events=()):
    return {"class": kind, "slope_bytes": slope, "site": {"culprit": line + " main", "owner": line + " main"},
            "survivors": [{"event": e} for e in events]}


def leaking(*sites, planted=None, size=MIB):
    kept = [allocation(10 * step + 1, step, size, "held") for step in range(6)]
    ranges = [{"kind": "step", "first_event": 10 * step, "last_event": 10 * step + 9} for step in range(6)]
    return leaks(Answered({"allocations": kept, "ranges": ranges, "planted": planted or {}}, leaks={"sites": list(sites)}))


def test_a_planted_leak_is_found_at_its_line():
    planted = {"leak": "a.py:3"}
    found = leaking(site("a.py:3", "leak", MIB, [1, 11]), planted=planted)
    assert (found.found, found.near, found.false) == (True, True, [])
    assert not leaking(site("a.py:4", "leak", MIB), planted=planted).found
    assert not leaking(site("a.py:3", "stable", MIB), planted=planted).found
    assert leaking(site("a.py:3", "leak", 2 * MIB), planted=planted).near is False
    # One above the floor must not be called too small, one below it may.
    assert not leaking(site("a.py:3", "too_small", MIB), planted=planted).found
    assert leaking(site("a.py:3", "too_small", 4), planted={"leak": "a.py:3", "small": True}, size=4).found


def test_what_is_called_a_leak_and_is_none_is_false():
    assert leaking(site("a.py:3", "suspect", MIB)).false == ["a.py:3 main"]
    assert leaking(site("a.py:3", "too_small", MIB)).false == []
    # Beside a planted leak: what it says stays must stay.
    beside = site("b.py:1", "leak", MIB, [5])
    assert leaking(site("a.py:3", "leak", MIB, [1]), beside, planted={"leak": "a.py:3"}).false == ["b.py:1 main"]


def advised(real, *given, planted=None, rule="no-grad"):
    truth = {"peak_bytes": 1000 * MIB, "advice": {rule: {"peak_bytes": (1000 - real) * MIB}}, "planted": planted or {}}
    said = {"advice": [{"id": name, "saving_bytes": mib * MIB} for name, mib in given]}
    return advice(Answered(truth, advise=said))


def test_advice_is_due_given_near_or_harmful():
    found = advised(100, ("no-grad", 80))
    assert (len(found.due), len(found.given), len(found.near), found.harmful) == (1, 1, 1, [])
    assert len(advised(100, ("no-grad", 70)).near) == 0
    assert len(advised(100, ("checkpoint", 100)).given) == 0
    assert len(advised(100, ("graph-kept", 100), rule="retained-output").near) == 1
    assert advised(10).due == []  # under the floor
    assert advised(-5, ("no-grad", 80)).harmful == ["no-grad"]
    assert advised(0, ("grad-late-zero", 80), planted={"harmful": ["grad-late-zero"]}).harmful == ["grad-late-zero"]


def test_the_other_batch_scales_what_grows_with_it():
    terms = {"P": 10, "S": 20, "G_OI": 25, "A": 10, "LG": 5, "W": 3}
    assert need(terms, 1) == 30 + 25
    assert need(terms, 2) == 30 + 33


def test_categories_of_a_difference_agree_within_a_mebibyte():
    assert categories_agree({"ema": 8 * MIB}, Counter(parameter=8 * MIB))
    assert categories_agree({"activation": -8 * MIB}, Counter(activation=-8 * MIB + 1000))
    assert not categories_agree({"activation": 8 * MIB}, Counter(gradient=8 * MIB))
    assert not categories_agree({}, Counter(gradient=8 * MIB))


def test_a_target_that_is_missed_is_told():
    sums = Sums()
    sums.bytes["all", "wrong", "high"] = 1
    assert any(line.startswith("right, all: 0") for line in targets.missed(sums))


def test_a_third_was_held_out_at_first():
    assert 250 < sum(held_out_at_first("program %d" % i) for i in range(1000)) < 420


def test_the_third_round_is_held_out_and_nothing_else():
    assert len(THIRD_ROUND) >= 40
    assert all(held_out(name) and not held_out_at_first(name) for name in THIRD_ROUND)
    assert not held_out("gpt_adamw") and not any(held_out("program %d" % i) for i in range(100))


def test_each_round_is_summed_up_apart():
    assert len(SECOND_ROUND) >= 40
    assert {part_of(name) for name in SECOND_ROUND} == {"second round"}
    assert {part_of(name) for name in THIRD_ROUND} == {"held out"}
    assert {part_of("program %d" % i) for i in range(100)} == {"looked at", "held out at first"}
