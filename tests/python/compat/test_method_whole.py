"""The method as one call, by vramscope.compat.methodology: devices, loaders, failures, thresholds; row D29."""
import re

import pytest
from method_program import Loader
from test_method_bottleneck import diagnosed  # noqa: F401  fixture
from test_methodology import said, without_a_device  # noqa: F401  fixtures
from vramscope.compat.methodology import _operators, whole

CALL = "comprehensive_profiling(model, dataloader)"
KEYS = ["baseline_ms", "gpu_utilization", "data_loading_ms", "computation_ms", "forward_ms", "backward_ms", "optimizer_ms"]
BANNERS = ["PHASE 1: ESTABLISH BASELINE", "PHASE 2: IDENTIFY BOTTLENECK TYPE", "PHASE 3: NARROW TO COMPONENT",
           "PHASE 4: IDENTIFY OPERATION", "PROFILING COMPLETE"]


def banners(text):
    return re.findall(r"^={80}\n(.*)\n={80}$", text, re.M)


@pytest.mark.parametrize("util, percent, low", [(69, 69, True), (69.6, 70, False), (70, 70, False), (71, 71, False)])
def test_the_threshold_of_the_utilisation(said, util, percent, low):  # noqa: F811
    text, found = said(CALL, util=util)
    assert found["gpu_utilization"] == percent and isinstance(found["gpu_utilization"], int)
    assert "\nGPU Utilization: %d%%\n" % percent in text
    assert ("LOW GPU UTILIZATION" in text) == low and ("GPU utilization healthy" in text) != low


@pytest.mark.parametrize("loading, slower", [(2.999, False), (3, False), (3.001, True)])
def test_loading_against_computation(diagnosed, loading, slower):  # noqa: F811
    """Of forward, backward and step, each of a millisecond."""
    text, found, made = diagnosed("comprehensive_profiling", 5, loading=loading, batches=25)
    assert (found["data_loading_ms"], found["computation_ms"]) == (pytest.approx(loading), 3)
    assert ("BOTTLENECK: Data loading (CPU-bound)" in text) == slower
    assert ("BOTTLENECK: Model computation (GPU-bound)" in text) != slower
    assert not made.training and (found["forward_ms"], found["backward_ms"], found["optimizer_ms"]) == (1, 1, 1)


def test_the_utilisation_is_that_of_the_baseline(said):  # noqa: F811
    """Fixed: neither that of the warm-up, nor that of the time after it."""
    def prepare(scope):
        device = scope["model"].device

        class Watched(Loader):
            epochs = 0

            def __iter__(self):
                self.epochs += 1
                for number, batch in enumerate(super().__iter__()):
                    if self.epochs == 1 and number == 4:  # the last of the warm-up, of 20 ms
                        device.set_util(5, seconds=0.02)
                        device.set_util(88, seconds=0.6)
                        device.set_util(3, seconds=3600)
                    yield batch
        scope["dataloader"] = Watched(device, 30, (64,) * 25)
    assert said(CALL, prepare)[1]["gpu_utilization"] == 88


def test_it_says_how_long_it_took_for_what(said):  # noqa: F811
    taken = re.findall(r"^  (.{15}): +(\d+\.\d\d) s$", said(CALL)[0].partition("\nTime taken:\n")[2], re.M)
    assert [name.strip() for name, _ in taken] == ["baseline", "bottleneck type", "component", "operation"]
    assert all(float(seconds) > 0 for _, seconds in taken)


@pytest.mark.parametrize("batches", (0, 1, 5, 6))
def test_short_loaders(said, batches):  # noqa: F811
    text, found = said(CALL, batches=batches)
    assert banners(text) == BANNERS and list(found) == KEYS
    unknown = [key for key, value in found.items() if value != value]
    assert unknown == (KEYS if batches == 0 else ["gpu_utilization"])
    assert text.count(whole._NO_BATCH) == (3 if batches == 0 else 0)
    assert ("%d steps ran, and 6 are needed" % batches in text) == (batches < 6)
    assert ("Top operations by CUDA time:" in text) == (batches >= 3)
    assert "BOTTLENECK: " in text or batches == 0


def test_a_loader_that_can_be_gone_through_once(said):  # noqa: F811
    text, found = said("comprehensive_profiling(model, iter([*dataloader]))", batches=17)
    assert banners(text) == BANNERS and found["baseline_ms"] > 0
    assert found["computation_ms"] > 0 and found["forward_ms"] != found["forward_ms"]


def test_a_trace_goes_to_both_places(said, tmp_path):  # noqa: F811
    said(CALL)
    log, = (tmp_path / "profiler_logs").iterdir()
    assert log.name.endswith(".pt.trace.json") and log.read_bytes() == (tmp_path / "detailed_trace.json").read_bytes()


def test_devices(said, monkeypatch):  # noqa: F811
    """A model is moved where it is told to, but that a simulated device stands for any."""
    def on_cpu(scope):
        scope["model"] = scope["model"].cuda("cpu")
        scope["moved"] = []
        monkeypatch.setattr(type(scope["model"]), "to", lambda model, place: scope["moved"].append(place) or model)
    assert said("(comprehensive_profiling(model, dataloader), moved)[1]", on_cpu)[1] == []
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "torch")
    assert said("(comprehensive_profiling(model, dataloader), moved)[1]", on_cpu)[1] == ["cuda"]
    text, moved = said("(comprehensive_profiling(model, dataloader, 'cpu'), moved)[1]", on_cpu)
    assert moved == ["cpu"] and "\nTimes are the host's: the model is on cpu.\n" in text


def test_without_a_device_or_torch(without_a_device, monkeypatch):  # noqa: F811
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    text, found = without_a_device(CALL)
    assert "\nThere is no device cuda: the model stays where it is.\n" in text
    assert "\nTimes are the host's: there is no device.\n" in text and "\n" + _operators.NO_PROFILER + "\n" in text
    assert "\nGPU Utilization: unknown\nGPU Memory Used: unknown\n" in text and banners(text) == BANNERS
    assert [key for key in KEYS if found[key] != found[key]] == ["gpu_utilization"]


def test_modes_are_given_back_and_profiles_end(said):  # noqa: F811
    kept = {}

    def prepare(scope, fail_at=None):
        scope["model"].eval()
        kept.update(model=scope["model"], profiler=scope["torch"].profiler, modes=[])
        real = scope["model"].inside.forward

        def forward(data):
            kept["modes"].append(scope["model"].training)
            if len(kept["modes"]) == fail_at:
                raise ValueError("of the model")
            return real(data)
        scope["model"].inside.forward = forward
    said(CALL, prepare, batches=25)
    assert not kept["model"].training and set(kept["modes"]) == {True} and len(kept["modes"]) == 46
    for call in (1, 8, 30, 36, 41):  # in each of the phases, the last while it is profiled
        with pytest.raises(ValueError, match="of the model"):
            said(CALL, lambda scope: prepare(scope, call), batches=25)
        assert not kept["model"].training and not kept["profiler"].profile.active


def test_names_are_the_callers(said):  # noqa: F811
    with pytest.raises(NameError, match="^name 'criterion' is not defined$"):
        said(CALL, lambda scope: scope.pop("criterion"))


@pytest.mark.parametrize("name", ("diagnose_bottleneck_type", "diagnose_cpu_bottleneck", "profile_training_step",
                                  "comprehensive_profiling"))
@pytest.mark.parametrize("good", (0, 1, 5))
def test_a_loader_that_fails(said, name, good):  # noqa: F811
    """What it raises is the program's; the mode is given back, and no profile goes on."""
    kept = {}

    def prepare(scope):
        def loader():
            yield from [(scope["batch"], scope["target"])] * good
            raise OSError("of the loader")
        scope["dataloader"] = loader()
        scope["model"].eval()
        kept.update(model=scope["model"], profiler=scope["torch"].profiler)
    with pytest.raises(OSError, match="^of the loader$"):
        said(name + "(model, dataloader)", prepare)
    assert not kept["model"].training and not kept["profiler"].profile.active and kept["model"].calls == good
