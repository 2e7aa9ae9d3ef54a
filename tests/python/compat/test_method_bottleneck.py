"""What a training waits for, by vramscope.compat.methodology: verdicts at their thresholds, rows D09, D24."""
import re

import pytest
from stand_in import installed
from stand_in.simulated import Simulated
from test_methodology import said, without_a_device  # noqa: F401  fixtures
from vramscope import sim
from vramscope.compat import methodology
from vramscope.compat.methodology import bottleneck

LOW, HEALTHY = "LOW GPU UTILIZATION", "GPU utilization is healthy"


class Scripted:
    """A training on a simulated device whose parts take the milliseconds that they are given."""
    training = False

    def __init__(self, device, loading=1, forward=1, backward=1, batches=8):
        self.device, self.batches, self.modes, self.num_workers = device, batches, [], 3
        self.loading, self.forward_ms, self.backward_ms = loading, forward, backward

    def __iter__(self):
        for _ in range(self.batches):
            self.device.advance(int(self.loading * 1e6))
            yield "data", "target"

    def __call__(self, data):
        self.modes.append(self.training)
        self.device.advance(int(self.forward_ms * 1e6))

    def train(self):
        self.training = True

    def backward(self):
        self.device.advance(int(self.backward_ms * 1e6))

    def step(self):
        self.device.advance(1_000_000)

    def zero_grad(self):
        pass


@pytest.fixture
def diagnosed(capsys):
    """diagnosed(name, util, **times): (text, value, program) of a diagnosis."""
    def run(name, util=None, **times):
        with sim.Device() as device:
            if util is not None:
                device.set_util(util, seconds=3600)
            made = Scripted(device, **times)
            found = getattr(methodology, name)(made, made, criterion=lambda output, target: made, optimizer=made)
        return capsys.readouterr().out, found, made
    return run


@pytest.mark.parametrize("util, percent, low", [
    (0, 0, True), (69, 69, True), (69.4, 69, True), (69.6, 70, False), (70, 70, False), (71, 71, False), (100, 100, False)])
def test_the_threshold_of_the_utilisation(diagnosed, util, percent, low):
    text, found, made = diagnosed("diagnose_cpu_bottleneck", util, forward=50)
    assert text.startswith("GPU Utilization: %d%%\n" % percent) and found == percent and isinstance(found, int)
    assert (LOW in text) == low and (HEALTHY in text) != low and ("Avg data loading" in text) == low
    assert len(made.modes) == 8


@pytest.mark.parametrize("loading, of_loading", [(2.999, False), (3, False), (3.001, True)])
def test_loading_against_preprocessing(diagnosed, loading, of_loading):
    """Of forward, backward and step, each of a millisecond; workers are told as they are."""
    text = diagnosed("diagnose_cpu_bottleneck", 5, loading=loading)[0]
    assert ("BOTTLENECK: Data loading\nSolutions:" in text) == of_loading
    assert ("BOTTLENECK: CPU preprocessing\nSolutions:" in text) != of_loading
    assert ("\n Current: 3, try: " in text) == of_loading
    assert len(re.findall(r"^ \d\. ", text, re.M)) == (5 if of_loading else 3)


def test_a_utilisation_that_nobody_tells(diagnosed):
    """Loading is judged all the same, and nothing is called low."""
    for loading, solutions in ((50, 5), (1, 0)):
        text, found, _ = diagnosed("diagnose_cpu_bottleneck", loading=loading)
        assert text.startswith("GPU Utilization: unknown\n" + bottleneck.UNKNOWN_BUSY) and found != found
        assert LOW not in text and HEALTHY not in text and "Avg data loading time" in text
        assert len(re.findall(r"^ \d\. ", text, re.M)) == solutions


def test_an_idle_device_is_not_sampled():
    """Fixed: what the driver tells of the time in which nothing ran is in no figure."""
    with sim.Device() as device:
        device.set_util(0, seconds=0.154)  # until the first batch, that takes 153 ms, is done
        device.set_util(100, seconds=3600)
        made = Scripted(device, forward=150)
        assert device.utilisation() == 0
        found = methodology.diagnose_cpu_bottleneck(made, made, criterion=lambda output, target: made, optimizer=made)
    assert found == 100


def test_an_empty_loader_is_no_reading(diagnosed):
    text, found, _ = diagnosed("diagnose_cpu_bottleneck", 90, batches=0)
    assert text.startswith("GPU Utilization: unknown\n") and found != found
    text, found, _ = diagnosed("diagnose_bottleneck_type", 90, batches=0)
    assert "GPU Utilization: unknown" in text and found is None
    assert "No batch ran: the loader is empty." in text and "BOTTLENECK" not in text
    assert [line for line in text.splitlines() if line.startswith("===")] == [
        "=== GPU Utilization Check ===", "=== Memory Bandwidth Check ===", "=== Phase Profiling ===", "=== Diagnosis ==="]


@pytest.mark.parametrize("times, verdict", [
    ({"loading": 2.001}, "CPU-bound (data loading)"), ({"loading": 2}, "Mixed or memory-bound"),
    ({"loading": 1.999}, "Mixed or memory-bound"),
    ({"forward": 2.001}, "GPU-bound (forward pass)"), ({"forward": 2}, "Mixed or memory-bound"),
    ({"forward": 1.999}, "Mixed or memory-bound"),
    ({"backward": 2.001}, "GPU-bound (backward pass)"), ({"backward": 2}, "Mixed or memory-bound"),
    ({"backward": 1.999}, "Mixed or memory-bound"),
    ({"loading": 3.002, "forward": 2.001}, "CPU-bound (data loading)"),
    ({"loading": 3.001, "forward": 2.001}, "GPU-bound (forward pass)")])
def test_the_type_of_a_bottleneck(diagnosed, times, verdict):
    text = diagnosed("diagnose_bottleneck_type", 42, **times)[0]
    assert "\nBOTTLENECK: %s\nAction: " % verdict in text
    for phase, ms in {"loading": 1, "forward": 1, "backward": 1, **times}.items():
        assert re.search(r"^  (data_)?%s *: +%.2f ms" % (phase, ms), text, re.M)


def test_loading_is_measured_without_the_start_of_workers(capsys):
    """Fixed: the document asks for a time that nobody measured.  The first batch counts only where it is alone."""
    class Slow(Scripted):
        def __iter__(self):
            self.device.advance(900_000_000)
            yield from super().__iter__()
    for batches, ran, loading in ((1, 1, 901), (2, 2, 1), (9, 6, 1)):
        with sim.Device() as device:
            made = Slow(device, batches=batches)
            methodology.diagnose_bottleneck_type(made, made, criterion=lambda output, target: made, optimizer=made)
        assert len(made.modes) == ran
        assert re.search(r"data_loading +: +%d\.00 ms$" % loading, capsys.readouterr().out, re.M)


def test_modes_are_given_back(diagnosed):
    for name in ("diagnose_cpu_bottleneck", "diagnose_bottleneck_type"):
        made = diagnosed(name, 5)[2]
        assert made.training is False and set(made.modes) == {name == "diagnose_cpu_bottleneck"}

    class Failing(Scripted):
        def __call__(self, data):
            super().__call__(data)
            raise ValueError("of the model")
    with sim.Device() as device:
        made = Failing(device)
        for diagnose in (methodology.diagnose_cpu_bottleneck, methodology.diagnose_bottleneck_type):
            with pytest.raises(ValueError, match="of the model"):
                diagnose(made, made, criterion=print, optimizer=made)
        assert made.training is False and made.modes == [True, False]


def test_the_copy_of_a_device_is_timed(said, monkeypatch):  # noqa: F811
    """A thousand bytes in a nanosecond, as the stand-in copies; blocks are given back."""
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "torch")
    text, kept = said("(diagnose_bottleneck_type(model, dataloader), torch.cuda.memory_allocated())[1]")
    assert "\nDevice copy: 1000.0 GB/s (each byte is read once and written once)\n" in text and kept < 100 << 20


def test_a_device_that_has_no_memory_for_a_copy(said, monkeypatch):  # noqa: F811
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "torch")
    text = said("diagnose_bottleneck_type(model, dataloader)",
                lambda scope: scope.update(held=scope["model"].device.alloc((80 << 30) - (250 << 20))))[0]
    assert re.search(r"\nDevice copy: unknown, it failed: \S.*\n\n=== Phase", text) and "\nBOTTLENECK: " in text


def test_without_a_device_it_is_said(without_a_device):  # noqa: F811
    text = without_a_device("diagnose_bottleneck_type(model, dataloader)")[0]
    assert "\nGPU Utilization: unknown\n" in text and "\nDevice copy: unknown, there is no device.\n" in text
    assert "\nTimes are the host's: there is no device.\n" in text and "\nBOTTLENECK: " in text
    text, found = without_a_device("diagnose_cpu_bottleneck(model, dataloader)")
    assert "Times are the host's: there is no device." in text and found != found


def test_names_are_the_callers(said):  # noqa: F811
    for call in ("diagnose_cpu_bottleneck(model, dataloader)", "diagnose_bottleneck_type(model, dataloader)"):
        with pytest.raises(NameError, match="^name 'optimizer' is not defined$"):
            said(call, lambda scope: scope.pop("optimizer"))
