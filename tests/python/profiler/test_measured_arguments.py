"""Wrong arguments of what measures are refused before anything runs, by name, with what was given and what is wanted."""
import pytest
import vramscope
from conftest import ROOT
from vramscope import sim

BEFORE = ROOT / "examples" / "measurements" / "before.json"


class Optimizer:
    """Fails the test that runs it; as the class it is no optimizer."""

    def step(self):
        pytest.fail("it ran")

    zero_grad = step


def ran(*given):
    pytest.fail("it ran")


class Loader:
    def __iter__(self):
        pytest.fail("it was asked for a batch")


GOOD = {"model": ran, "loader": Loader(), "dataloader": Loader(), "criterion": ran, "optimizer": Optimizer(), "step": ran}


def called(name, **how):
    """Calls a function with what it needs, but for what is given."""
    parts = {"diagnose": ("model", "loader", "criterion", "optimizer"), "measure_utilisation": ("step",)}
    of_training = ("model", "dataloader", "criterion", "optimizer")
    needed = parts.get(name, of_training if name.endswith("training") else ("model",))
    if name == "compare":
        return vramscope.compare(*[how.pop(side, str(BEFORE)) for side in ("before", "after")], **how)
    if "step" in how and name == "diagnose":
        needed = ("model", "loader")
    keywords = {**{part: GOOD[part] for part in needed}, **how}
    first = [keywords.pop(part) for part in ("model", "step") if part == needed[0]]
    return getattr(vramscope, name)(*first, **keywords)


MODEL = "model is a function, or a module, not "
BATCHES = " is what gives batches, as a DataLoader, a list or a generator, not "
UPDATES = r"optimizer is an object with step\(\) and zero_grad\(\), as those of torch.optim, not "
COUNT, SIDE = " is a whole number of at least 1, not ", " is a Measurement, a Diagnosis, a Trace or the path of one, not "
PATH = " is the path of a file, or None, not "
NO_TYPES = [
    *[(name, {"model": value}, MODEL + words) for value, words in ((None, "None"), ("x", "'x'"), (int, "the class int"))
      for name in ("measure_latency", "measure_training", "measure_traffic", "profile_call", "profile_training", "diagnose")],
    *[(name, {loader: value}, loader + BATCHES + words)
      for name, loader in (("measure_training", "dataloader"), ("profile_training", "dataloader"), ("diagnose", "loader"))
      for value, words in ((None, "None"), (7, "7"), ("data", "'data'"), (Loader, "the class Loader"), (ran, "an object of function"))],
    *[(name, {"criterion": 3}, "criterion is a function, or a module, not 3") for name in ("measure_training", "profile_training", "diagnose")],
    *[(name, {"optimizer": value}, UPDATES + words)
      for name in ("measure_training", "profile_training", "diagnose")
      for value, words in (([], "an object of list"), (Optimizer, "the class Optimizer"))],
    *[(name, {count: value}, count + COUNT + words)
      for name, counts in (("measure_latency", ["iterations"]), ("measure_training", ["batches"]), ("profile_call", ["iterations"]),
                           ("profile_training", ["steps"]), ("measure_traffic", ["iterations"]), ("diagnose", ["batches", "steps"]))
      for count in counts for value, words in (("5", "'5'"), (5.0, "5.0"), (None, "None"), (True, "True"))],
    *[(name, {"warmup": "5"}, "warmup is a whole number of at least 0, not '5'")
      for name in ("measure_latency", "measure_training", "profile_call", "profile_training", "measure_traffic", "diagnose")],
    *[(name, {"path": 7}, "path" + PATH + "7") for name in ("profile_call", "profile_training")],
    ("diagnose", {"trace": []}, "trace" + PATH + "an object of list"),
    ("diagnose", {"step": "x"}, "step is a function, or a module, not 'x'"),
    ("diagnose", {"step": ran, "loader": None}, "loader" + BATCHES + "None"),
    ("diagnose", {"step": ran, "model": "x"}, "model is a module, or None, not 'x'"),
    ("diagnose", {"seconds": "60"}, "seconds is a finite number above 0, not '60'"),
    ("diagnose", {"progress": "loud"}, "progress is a function, True, False or None, not 'loud'"),
    ("measure_utilisation", {"step": None}, "step is a function, or a module, not None"),
    ("measure_utilisation", {"seconds": None}, "seconds is a finite number of at least 0, not None"),
    ("measure_utilisation", {"model": 3}, "model is a module, or None, not 3"),
    *[("compare", {side: value}, side + SIDE + words) for side in ("before", "after")
      for value, words in ((None, "None"), (7, "7"), ({"schema": 1}, "an object of dict"))],
    ("compare", {"again": None}, "again is a list of measurements, not None"),
    ("compare", {"again": "again.json"}, "again is a list of measurements, not 'again.json'"),
    ("compare", {"again": [str(BEFORE), 7]}, r"again\[1\]" + SIDE + "7"),
    ("compare", {"fail_over": 5}, 'fail_over is a time, as "5ms", a share, as "5%", or None, not 5'),
]


@pytest.mark.parametrize("name, how, words", NO_TYPES, ids=["%s-%s-%d" % (name, [*how][-1], i) for i, (name, how, _) in enumerate(NO_TYPES)])
def test_another_type_is_refused(name, how, words):
    with sim.Device() as device:
        begun = device.clock
        with pytest.raises(TypeError, match="^%s$" % words):
            called(name, **how)
        assert device.clock == begun


@pytest.mark.parametrize("name, argument", (("profile_call", "path"), ("profile_training", "path"), ("diagnose", "trace")))
def test_a_place_that_cannot_be_written_is_refused(name, argument, tmp_path):
    with sim.Device():
        with pytest.raises(FileNotFoundError):
            called(name, **{argument: tmp_path / "none" / "run.json"})
        with pytest.raises(IsADirectoryError):
            called(name, **{argument: str(tmp_path)})
        with pytest.raises(ValueError, match=f"^{argument} is the path of a file, and 'a.x00b' has a NUL in it$"):
            called(name, **{argument: b"a\0b"})


def test_each_function_of_the_package_is_asked():
    """But conditions(), which tells None of whatever it does not know."""
    made = {name for name, home in vramscope._HOMES.items() if home.startswith("measuring.") and name[0].islower()}
    assert made - {"conditions"} == {name for name, _, _ in NO_TYPES}
    assert vramscope.conditions("x", 7, dataloader=None)["batch_size"] is None
