"""`vramscope categories` and the categories of `peak`: figures of real files, sums, a known truth."""
import pytest
from models import model, reader

from conftest import run

NEVER_LOW = ("G1", "W1", "S1", "O1", "B1", "F1")
EXACT = {
    # (P, S, B, G + OI, A, LG, H, W, formula, measured), P, S and G + OI as worked out apart.
    "lm_fullstep_from_start": (13627238400, 27254476800, 1314816, 13941811200, 5690402816, 40960000, 20480000, 67108865,
                               54824841216, 54802667524),
    "lm_train_medium_ctx512": (1692733440, 3385466880, 327680, 1815613440, 7167213568, 122888192, 40960000, 17039361,
                               12426629121, 12426629128),
    "lm_fwd_bwd_ctx150": (90785792, 181571584, 0, 152225792, 468425736, 119199880, 60012084, 17039361, 937034437, 937034440),
    "lm_train_full": (3877647360, 7755294720, 8192, 3930076160, 7218368512, 46202880, 40960000, 17039361,
                      18955521025, 22827925508),
}
# (copies, bytes of one, remainder by rule and bytes); the start of the requested curve is their sum.
SPLITS = {
    "lm_compile_adamw": (4, 761840640, {"W3": 2 * 8519680, "N2": 16384}, 3064418304),
    "lm_train_medium_ctx512": (3, 1692733440, {"W3": 2 * 8519680, "N2": 327680}, 5095567360),
    "lm_train_full": (4, 3877647360, {"W1": 2 * 8519680, "N2": 8192, "U": 40968196 - 8192}, 15568596996),
    "lm_fullstep_from_start": (1, 13627238400, {"W1": 33554432, "N2": 1314816}, 13662107648),
}


def ask(path, *options, verb="categories"):
    """device -> answer of the one recording of a file."""
    doc = run(verb, "--json", *options, path, expect=0).json()
    entry = doc["files"][0] if "files" in doc else doc
    return {d["device"]: d for d in entry["devices"]}


@pytest.fixture(scope="session")
def named(real):
    """The path of a real file by its name without suffix."""
    return {name.split(".")[0]: path for name, (path, _) in real.items()}


def by_category(result):
    return {c["category"]: c for c in result["by_category"]}


def by_rule(result, category):
    return {r["rule"]: r for r in by_category(result)[category]["rules"]}


# Figures of the specification ---------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_terms_of_the_formula(named, name):
    e = ask(named[name])[0]["result"]["estimate"]
    terms = {t["id"]: t["bytes"] for t in e["terms"]}
    have = tuple(terms[i] for i in ("P", "S", "B", "G_OI", "A", "LG", "H", "W")) + (e["formula_bytes"], e["measured_bytes"])
    assert have == EXACT[name]
    sides = terms["G_OI"], sum(terms[i] for i in ("A", "LG", "H", "W"))
    assert e["formula_bytes"] == terms["P"] + terms["S"] + terms["B"] + max(sides)
    assert e["winner"] == ("optimizer_side" if sides[0] > sides[1] else "activation_side")
    assert e["margin_bytes"] == abs(sides[0] - sides[1])
    assert e["residual_bytes"] == e["measured_bytes"] - e["formula_bytes"]
    assert sum(i["bytes"] for i in e["residual_items"]) == e["residual_bytes"]
    assert e["unexplained_bytes"] == 0


def test_what_the_residuals_are(named):
    items = {n: {i["id"]: i["bytes"] for i in ask(named[n])[0]["result"]["estimate"]["residual_items"]} for n in EXACT}
    # The 4 bytes are the first gradient, which Python's part of backward makes.
    assert items["lm_fwd_bwd_ctx150"] == {"W": -1, "unknown": 4}
    full = items["lm_train_full"]
    assert full.pop("G") == 3877647360 and full == {"A": -46202880, "W": -1, "unknown": 40960004}
    assert items["lm_fullstep_from_start"]["G_OI"] < 0


@pytest.mark.parametrize("name, percent", (("lm_fullstep_from_start", "-0.04"), ("lm_train_medium_ctx512", "0.0"),
                                          ("lm_fwd_bwd_ctx150", "0.0"), ("lm_train_full", "17.0")))
def test_how_far_the_formula_is_off(named, name, percent):
    """Of what was measured."""
    e = ask(named[name])[0]["result"]["estimate"]
    digits = len(percent.split(".")[1])
    assert "%.*f" % (digits, 100 * e["residual_bytes"] / e["measured_bytes"]) == percent
    assert e["residual_ratio"] == pytest.approx(e["residual_bytes"] / e["measured_bytes"], abs=1e-5)


def test_lm_fullstep_at_its_peak(named):
    result = ask(named["lm_fullstep_from_start"])[0]["result"]
    assert result["at_event"] == 19763 and result["total_bytes"] == 54802667524
    found = by_category(result)
    assert found["optimizer_state"]["bytes"] == 27254476800 == 2 * 13627238400
    assert (found["gradient"]["bytes"], found["gradient"]["count"]) == (13627238400, 291)
    assert len(result["copies"]["multiset"]) == 4
    assert result["copies"]["state_factor_ratio"] == 2.0


@pytest.mark.parametrize("name", sorted(SPLITS))
def test_splits_reach_the_last_byte(named, name):
    copies, one, remainder, start = SPLITS[name]
    result = ask(named[name], "--at", "start")[0]["result"]
    split = result["copies"]
    assert split["count"] == copies
    assert sum(m["bytes"] * m["count"] for m in split["multiset"]) == one == split["parameter_bytes"]
    assert split["parameter_bytes"] + split["gradient_bytes"] + split["optimizer_state_bytes"] == copies * one
    assert {r["rule"]: r["bytes"] for r in result["remainder"]} == remainder
    assert sum(remainder.values()) + copies * one == start == result["total_bytes"]


def test_copies_of_gradients_are_known_by_what_happens_to_them(named):
    copies = {n: ask(named[n])[0]["result"]["copies"] for n in SPLITS}
    assert copies["lm_compile_adamw"]["gradient_bytes"] == 761840640        # added to in place
    assert copies["lm_train_full"]["gradient_bytes"] == 3877647360          # freed by zero_grad
    assert copies["lm_train_medium_ctx512"]["gradient_bytes"] == 0          # cloned, not added to
    assert copies["lm_fullstep_from_start"]["gradient_bytes"] == 0


def test_tensors_that_an_optimizer_replaces(named):
    medium = by_rule(ask(named["lm_train_medium_ctx512"], "--at", "end")[0]["result"], "optimizer_state")
    assert (medium["O2"]["count"], medium["O2"]["bytes"]) == (438, 3385466880)
    compiled = by_rule(ask(named["lm_compile_adamw"], "--at", "end")[0]["result"], "optimizer_state")
    assert (compiled["O2"]["count"], compiled["O2"]["bytes"]) == (222, 1523681280)
    path = named["lm_fwd_bwd_ctx150"]
    start = ask(path, "--at", "155")[0]["result"]
    assert by_rule(start, "parameter")["P1"]["bytes"] == 90785792
    assert by_rule(start, "optimizer_state")["O0"]["bytes"] == 2 * 90785792
    for step, after in enumerate((3981, 7768, "end")):
        result = ask(path, "--at", after)[0]["result"]
        parameter, state = by_rule(result, "parameter")["O2"], by_rule(result, "optimizer_state")["O2"]
        assert (parameter["bytes"], state["bytes"]) == (90785792, 2 * 90785792), step
        assert (parameter["count"], state["count"]) == (39, 78), step


def test_the_adapters_of_a_quantized_model_are_its_parameters(named):
    """LoRA of rank 16 on the query and value of 22 layers: 66 matrices of 2048 x 16, 22 of 256 x 16; the rest is frozen."""
    result = ask(named["qlora_notebook"])[0]["result"]
    assert {m["bytes"]: m["count"] for m in result["copies"]["multiset"]} == {2048 * 16 * 4: 66, 256 * 16 * 4: 22}
    assert result["copies"]["count"] == 1 and result["copies"]["optimizer_state_bytes"] == 0
    assert by_category(result)["parameter"]["bytes"] == result["copies"]["parameter_bytes"] == 66 * 131072 + 22 * 16384
    assert {(r["category"], r["rule"]) for r in result["remainder"]} == {("persistent", "N3"), ("workspace", "W3")}


# Laws ---------------------------------------------------------------------------------------

def result_problems(device, recording_device, stacks):
    """What is wrong with the answer about one device."""
    result, found = device["result"], []
    rows = result["by_category"]
    if sum(r["bytes"] for r in rows) != result["total_bytes"]:
        found.append("categories do not add up to the live set")
    live = [a for a in recording_device.allocations if a.a <= result["at_event"] < a.fc]
    if sum(a.req for a in live) != result["total_bytes"] or len(live) != sum(r["count"] for r in rows):
        found.append("%d bytes in %d allocations, wanted %d in %d" % (
            result["total_bytes"], sum(r["count"] for r in rows), sum(a.req for a in live), len(live)))
    if [r["bytes"] for r in rows] != sorted((r["bytes"] for r in rows), reverse=True):
        found.append("rows are not sorted")
    for r in rows:
        sure = r["high_bytes"] + r["medium_bytes"] + r["low_bytes"]
        if sure != (0 if r["category"] == "unknown" else r["bytes"]):
            found.append("confidences of %s do not add up" % r["category"])
        for what in ("bytes", "count"):
            if sum(x[what] for x in r["rules"]) != r[what]:
                found.append("rules of %s do not add up" % r["category"])
        if any(x["rule"] in NEVER_LOW for x in r["rules"]) and r["high_bytes"] == 0:
            found.append("%s has a sure rule and nothing sure" % r["category"])
    e = result["estimate"]
    if e:
        if sum(i["bytes"] for i in e["residual_items"]) + e["unexplained_bytes"] != e["residual_bytes"]:
            found.append("residual items do not add up")
        if e["measured_bytes"] - e["formula_bytes"] != e["residual_bytes"]:
            found.append("the residual is not the difference")
        for t in e["terms"]:
            if any(s["stack"] is not None and not 0 <= s["stack"] < stacks for s in t["sites"]):
                found.append("term %s names a stack that is not there" % t["id"])
    return found


@pytest.mark.parametrize("moment", ["peak", "start", "end"])
def test_categories_add_up_on_every_real_file(real, moment):
    seen = 0
    for name, (path, recording) in real.items():
        doc = run("categories", "--json", "--at", moment, path, expect=0).json()
        wanted = {d.number: d for d in model.devices(recording)}
        for entry in doc.get("files", [doc])[:1]:
            for device in entry["devices"]:
                if device["result"] is None:
                    assert device["status"] in ("needs_stacks", "not_applicable"), (name, device["status"])
                    continue
                assert not result_problems(device, wanted[device["device"]], len(entry["stacks"])), (name, moment)
                seen += 1
    assert seen >= 30


def test_steps_and_phases_are_moments(bundled):
    path, _ = bundled["train.pickle"]
    for moment in ("step:2", "phase:backward"):
        d = ask(path, "--at", moment)[0]
        same = ask(path, "--at", moment, verb="peak")[0]
        assert d["status"] == "ok" and d["result"]["at_event"] == same["result"]["at_event"], moment
    assert ask(path, "--at", "step:99")[0]["reasons"][0]["id"] == "no_such_moment"


def test_peak_says_the_same_as_categories(real):
    for name, (path, _) in real.items():
        rows = ask(path, "--by", "category", verb="peak")
        for number, device in ask(path).items():
            if device["result"] is None:
                continue
            have = {r["name"]: (r["bytes"], r["count"]) for r in rows[number]["result"]["rows"]}
            want = {c["category"]: (c["bytes"], c["count"]) for c in device["result"]["by_category"]}
            if device["result"]["at_event"] == rows[number]["result"]["at_event"]:
                assert have == want, name
            for row in rows[number]["result"]["rows"]:
                assert row["category"] == row["name"], name


def test_rows_of_peak_have_the_category_that_all_members_share(bundled):
    path, _ = bundled["train.pickle"]
    rows = ask(path, "--by", "culprit", verb="peak")[0]["result"]["rows"]
    by_name = {r["name"]: r for r in rows}
    assert by_name["model.py:22 forward"]["category"] == "activation"
    assert by_name["model.py:22 forward"]["rule"] == "S1"
    mixed = [r for r in rows if r["category"] is None]
    assert mixed, "no line makes two kinds of memory"


# A known truth ------------------------------------------------------------------------------

def test_a_simulated_training_is_told_apart(bundled):
    path, recording = bundled["train.pickle"]
    device, = model.devices(recording)
    # The truth is in the stacks that the simulation wrote: AdamW's state is made in _init_group,
    # gradients are freed by zero_grad, and everything of the first iteration of main is the model.
    functions = lambda frames: [f["name"] for f in frames or []]
    state = [a for a in device.allocations if "_init_group" in functions(a.frames)]
    # PyTorch's Adam has two moments for each parameter.
    parameters = sum(a.req for a in state) // 2
    end = by_category(ask(path, "--at", "end")[0]["result"])
    assert end["optimizer_state"]["bytes"] == 2 * parameters
    assert end["optimizer_state"]["count"] == len(state)
    assert (end["parameter"]["bytes"], end["parameter"]["count"]) == (parameters, len(state) // 2)
    assert end["buffer"]["bytes"] > 0
    gradients = [a for a in device.allocations if 0 <= a.fr < len(device.events)
                 and "zero_grad" in functions(device.events[a.fr]["frames"])]
    most = max(sum(a.req for a in gradients if a.a <= i < a.fc) for i in range(len(device.events)))
    terms = {t["id"]: t for t in ask(path)[0]["result"]["estimate"]["terms"]}
    assert terms["G"]["bytes"] == most == parameters and terms["G"]["confidence"] == "high"
    assert terms["P"]["bytes"] == parameters and terms["S"]["bytes"] == 2 * parameters
    # Of the bytes alive at the peak at least 99 % are told, and told right where the frees say so.
    result = ask(path)[0]["result"]
    unknown = by_category(result).get("unknown", {"bytes": 0})["bytes"]
    assert unknown <= result["total_bytes"] // 100
    saved = sum(a.req for a in device.allocations if a.a <= result["at_event"] < a.fc and a.fr < len(device.events)
                and any("release_variables" in f for f in functions(device.events[a.fr]["frames"])))
    assert by_rule(result, "activation")["S1"]["bytes"] == saved


# Rules --------------------------------------------------------------------------------------

def with_rules(tmp_path, bundled, text, *options):
    rules = tmp_path / "my.rules"
    rules.write_text(text)
    path, recording = bundled["train.pickle"]
    return by_category(ask(path, "--rules", rules, *options)[0]["result"]), model.devices(recording)[0]


@pytest.mark.parametrize("condition, keeps", [
    ("size = 524288", lambda a, n: a.req == 524288),
    ("size >= 512MiB", lambda a, n: a.req >= 512 << 20),
    ("size < 1KiB", lambda a, n: a.req < 1024),
    ("life_events < 9", lambda a, n: a.a >= 0 and a.fc < n and a.fc - a.a < 9),
    ("alive_at_end = yes", lambda a, n: a.fc >= n),
    ("alive_at_end = no", lambda a, n: a.fc < n),
    ("origin = pre_live pre_freed", lambda a, n: a.a < 0),
    ("alloc.any ~ train\\.py:main$", lambda a, n: any(f["name"] == "main" for f in a.frames)),
    ("alloc.any !~* TRAIN\\.PY", None),
    ("alloc.any ~* TRAIN\\.PY:MAIN", lambda a, n: any(f["name"] == "main" for f in a.frames)),
    ("alloc.native = at::_ops::mm::call(at::Tensor const&, at::Tensor const&)", lambda a, n: any(
        f["name"] == "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)" for f in a.frames)),
    ("stream = 0", lambda a, n: True),
    ("stream >= 1", lambda a, n: False),
    ("pool < 1", lambda a, n: True),
])
def test_each_key_keeps_what_it_says(tmp_path, bundled, condition, keeps):
    if keeps is None:
        rules = tmp_path / "my.rules"
        rules.write_text("rule mine kv_cache low\n  %s\n" % condition)
        run("categories", "--rules", rules, bundled["train.pickle"][0], expect=2)
        return
    found, device = with_rules(tmp_path, bundled, "rule mine kv_cache low\n  %s\n" % condition)
    at = ask(bundled["train.pickle"][0])[0]["result"]["at_event"]
    want = sum(a.req for a in device.allocations if a.a <= at < a.fc and keeps(a, len(device.events)))
    assert found.get("kv_cache", {"bytes": 0})["bytes"] == want


def test_the_first_rule_of_ones_own_decides(tmp_path, bundled):
    both = "rule first communication high\n  born = forward\nrule second kv_cache high\n  born = forward\n"
    found, _ = with_rules(tmp_path, bundled, both)
    assert "kv_cache" not in found and found["communication"]["high_bytes"] == found["communication"]["bytes"] > 0


def test_rules_may_say_whose_code_it_is(tmp_path, bundled):
    path, _ = bundled["train.pickle"]
    rules = tmp_path / "my.rules"
    rules.write_text("plumbing = tinylm/model.py\nrule mine kv_cache low\n  alloc.owner ~ ^model.py\n")
    assert "kv_cache" not in by_category(ask(path, "--rules", rules)[0]["result"])
    rules.write_text("rule mine kv_cache low\n  alloc.owner ~ ^model.py\n")
    assert by_category(ask(path, "--rules", rules)[0]["result"])["kv_cache"]["bytes"] > 1 << 30


def test_many_rules_and_expressions(tmp_path, bundled):
    filler = "".join("rule r%d kv_cache low\n  alloc.any ~ nothing_%d\n  size = %d\n" % (i, i, i) for i in range(200))
    path, _ = bundled["train.pickle"]
    plain = ask(path)[0]["result"]
    rules = tmp_path / "my.rules"
    rules.write_text(filler)
    assert ask(path, "--rules", rules)[0]["result"] == plain
    rules.write_text(filler + "rule last kv_cache low\n  size >= 0\n")
    everything = by_category(ask(path, "--rules", rules)[0]["result"])
    assert list(everything) == ["kv_cache"]
    rules.write_text(filler * 3)
    assert "more than" in run("categories", "--rules", rules, path, expect=2).err
