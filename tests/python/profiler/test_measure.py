"""Native measurements on simulated devices: rows D02 to D06, D08, D11, D17, D18, D21 to D23."""
import json
import types

import pytest
import vramscope
from conftest import validate
from method_program import MS, Loader, program
from stand_in import installed, tensors
from stand_in.simulated import Simulated
from vramscope import backends, sim

CLOCKS = {"device", "host", None}


@pytest.fixture
def run():
    """run(call, **how): what a call of the program's names and vramscope's gives on a simulated device."""
    def run(call, prepare=lambda scope: None, **how):
        with sim.Device("80GiB") as device, installed("2.15", [Simulated(device)]) as torch:
            torch.cuda.init()
            scope = {**program(torch, device, **how), "vramscope": vramscope, "device": device}
            scope["train"] = lambda **more: vramscope.measure_training(
                scope["model"], scope["dataloader"], criterion=scope["criterion"], optimizer=scope["optimizer"], **more)
            prepare(scope)
            return eval(call, scope)
    return run


def checked(made):
    """Each figure says whose clock it is of (row D21), and the document is as its schema."""
    validate(json.loads(made.json()))
    assert all(row["clock"] in ("device", "host") for row in made["times"])
    assert all(row["clock"] in CLOCKS for row in made["figures"])
    timed = {row["name"]: row["clock"] for row in made["figures"] if row["unit"] in ("samples/s", "ms")}
    assert None not in timed.values()
    return made


def test_a_training_is_taken_apart(run):
    made = checked(run("train(batches=5, warmup=2)"))
    time = {row["name"]: row for row in made["times"]}
    # Loading takes 4 ms and one more with each batch; a forward 5 to 7 but for the first, which takes 90.
    assert time["data"]["clock"] == "host" and time["data"]["median"] == pytest.approx(8, abs=0.01)
    assert {row["clock"] for name, row in time.items() if name != "data"} == {"device"}
    assert time["forward"]["median"] == pytest.approx(6, abs=0.05) and time["forward"]["first"] == pytest.approx(90, abs=0.05)
    assert time["backward"]["median"] == pytest.approx(11, abs=0.05)
    assert time["optimizer"]["median"] == pytest.approx(3, abs=0.05)
    assert time["step"]["mean"] == pytest.approx(sum(time[name]["mean"] for name in ("copy", "forward", "backward", "optimizer")))
    assert {row["count"] for row in made["times"]} == {5} and {row["warmup"] for row in made["times"]} == {2}


def test_throughput_is_told_with_and_without_loading(run):
    """Row D02: batches of 64 that take 8 ms to load and 20 ms to train on."""
    made = run("train(batches=5, warmup=2)")
    assert made.figure("throughput") == pytest.approx(64 / 0.028, rel=0.02)
    assert made.figure("throughput_without_loading") == pytest.approx(64 / 0.020, rel=0.02)
    assert made.figure("time_per_batch") == pytest.approx(28, rel=0.02)
    text = str(made)
    assert "Throughput: 2" in text and "Without loading: 3" in text and "samples/s (device clock)" in text
    assert "Computing takes 2.5 times as long as loading." in text
    assert "Loading takes 15.3 times as long as computing." in str(run("train(batches=5, warmup=2)", loading_ms=300))


def test_loading_and_its_first_batch_are_told_apart(run):
    """Row D08: the copy has a row of its own, and what starts the workers is in no statistics."""
    def slow_start(scope):
        real = scope["dataloader"]

        class Slow(Loader):
            def __iter__(self):
                self.device.advance(5000 * MS)
                return super().__iter__()
        scope["dataloader"] = Slow(real.device, real.ms)
    made = run("train(batches=5)", slow_start)
    data = made.time("data")
    assert data["first"] == pytest.approx(5004, abs=0.1) and data["most"] < 20
    assert made.time("copy")["clock"] == "device" and "The first data took 5004.00 ms" in str(made)


def test_peaks_are_those_of_each_phase(run):
    """Row D18: not until the end of each, as the drop-in has them.  Row D17: gross figures beside net ones."""
    made = run("train(batches=3, warmup=0)", columns=100_000)
    phases = {row["path"][-1]: row for row in made["phases"]}
    weights, output = 4 * 1000 * 100_000, 4 * 64 * 100_000
    assert list(phases) == ["copy", "forward", "backward", "optimizer"]
    assert phases["forward"]["peak_delta_bytes"] == pytest.approx(output, rel=0.02)
    assert phases["backward"]["peak_delta_bytes"] == pytest.approx(weights, rel=0.02)
    assert phases["optimizer"]["allocated_total_bytes"] == pytest.approx(2 * weights, rel=0.02)
    assert all(row["states"]["exact"] == 3 for row in phases.values())
    split = made.figure("inactive_split_ratio")
    assert "peak above begin" in str(made) and 0 < split < 1
    assert "Of what is reserved %.1f %% is split and can not be given back." % (split * 100) in str(made)


def test_a_model_has_its_mode_back(run):
    assert run("(model.eval(), train(batches=1, warmup=0), model.training)[1:]")[1] is False
    made = run("(model.eval(), train(batches=1, warmup=0))[1]")
    assert made["conditions"]["mode"] == "train"


def test_a_short_loader_ends_it(run):
    made = checked(run("train(batches=50, warmup=5)"))
    assert made.time("step")["count"] == 7 and made.figure("throughput") > 0
    made = checked(run("train(batches=50, warmup=12)"))
    assert made.time("step")["count"] == 0 and made.time("step")["median"] is None
    assert made.figure("throughput") is None and made["notes"] == ["No batch was measured: the loader ended in the warm-up."]
    made = checked(run("train()", lambda scope: scope.update(dataloader=[])))
    assert made.time("data")["first"] is None and "-" in str(made)


def test_utilisation_is_the_mean_of_the_window(run):
    """Row D06: a reading each 100 ms while it runs, not one while nothing does."""
    def busy(scope):
        for percent, seconds in ((10, 0.15), (20, 0.1), (60, 0.1), (90, 1)):
            scope["device"].set_util(percent, seconds)
        scope["step"] = lambda: scope["device"].advance(100 * MS)
    made = checked(run("vramscope.measure_utilisation(step, seconds=0.4)", busy))
    assert made.figure("utilisation") == 45 and made.figure("utilisation_readings") == 4
    line, _, under = str(made).splitlines()
    assert line == "GPU Utilization: 45%%, Memory: %d MB" % (made.figure("device_used_bytes") >> 20)
    assert under.startswith('Conditions: {"model": "<lambda>", ')
    made = run("vramscope.measure_utilisation(lambda: device.advance(10**9))")
    assert made.figure("utilisation") is None and str(made).startswith("GPU Utilization: unknown, Memory: ")
    made = run("(device.set_util(70, 60), train(batches=5))[1]")
    assert made.figure("utilisation") == 70 and "GPU Utilization: 70%" in str(made)


def test_the_step_that_never_moves_the_clock_ends():
    with sim.Device():
        assert vramscope.measure_utilisation(lambda: None, seconds=1)["what"] == "utilisation"


def test_without_a_device_all_is_unknown_and_the_host_times():
    made = checked(vramscope.measure_latency(lambda: None, iterations=5))
    assert made.time("latency")["clock"] == "host" and made.time("latency")["median"] >= 0
    assert made["notes"] == ["Times are the host's: there is no device."]
    assert made.figure("utilisation") is made.figure("device_used_bytes") is None
    assert str(made).endswith(made["notes"][0]) and "GPU Utilization: unknown, Memory: unknown" in str(made)


def test_latency_has_a_warm_up_and_gives_the_mode_back(run):
    """Row D23: the first call takes 90 ms, the others 5 to 7, which is not steady."""
    kept = []
    made = checked(run("vramscope.measure_latency(model, batch, iterations=20, warmup=3)",
                       lambda scope: kept.append(scope["model"])))
    latency = made.time("latency")
    assert latency["first"] == pytest.approx(90, abs=0.05) and latency["most"] < 8 and latency["count"] == 20
    assert latency["steady_from"] is None and "it was not steady" in str(made)
    assert kept[0].training and made["conditions"]["mode"] == "eval"
    steady = run("vramscope.measure_latency(lambda: device.advance(times.pop()), iterations=20, warmup=0)",
                 lambda scope: scope.update(times=[10 * MS] * 18 + [50 * MS, 80 * MS]))
    assert steady.time("latency")["steady_from"] == 2 and "steady from number 3 on" in str(steady)
    few = run("vramscope.measure_latency(lambda: device.advance(10**6), iterations=2, warmup=0)")
    assert few.time("latency")["steady_from"] is None  # two values show nothing


def test_no_gradient_is_made_by_a_latency(run):
    def spy(scope):
        real = scope["model"].forward
        scope["seen"] = seen = []
        scope["model"].forward = lambda data: seen.append(tensors.Tensor.gradients) or real(data)
    assert run("(vramscope.measure_latency(model, batch, iterations=2, warmup=1), seen)[1]", spy) == [False] * 3
    assert tensors.Tensor.gradients


def test_conditions_are_those_of_the_batch(run):
    """Row D05: its nine keys, in their order; the mode is the model's."""
    found = run("vramscope.conditions(model, batch, dataloader=dataloader)")
    assert found == {"model": "Net", "batch_size": 64, "input_shape": [1000], "device": "cuda:0", "dtype": "float32",
                     "mode": "train", "num_workers": 2, "cudnn_benchmark": None, "gpu": "simulated device 0"}
    assert list(found) == ["model", "batch_size", "input_shape", "device", "dtype", "mode", "num_workers",
                           "cudnn_benchmark", "gpu"]
    assert run("vramscope.conditions(model.eval())")["mode"] == "eval"
    assert json.loads(json.dumps(vramscope.conditions(print)))["model"] == "print"
    assert run("train(batches=1)")["conditions"]["batch_size"] == 64


def test_on_torchs_events_figures_are_the_same(monkeypatch):
    """The stand-in's events fail where nobody has waited for the device."""
    found = []
    for backend in ("sim", "torch"):
        monkeypatch.setenv("VRAMSCOPE_BACKEND", backend)
        with sim.Device("80GiB") as device, installed("2.15", [Simulated(device)]) as torch:
            torch.cuda.init()
            scope = program(torch, device)
            made = vramscope.measure_training(scope["model"], scope["dataloader"], criterion=scope["criterion"],
                                              optimizer=scope["optimizer"], batches=4)
            found.append([(row["name"], row["median"], row["clock"]) for row in made["times"][1:]])
            assert torch.profiler.times.ranges[:4] == ["## copy ##", "## forward ##", "## backward ##", "## optimizer ##"]
            assert made["conditions"]["gpu"] == {"sim": "simulated device 0", "torch": "stand-in"}[backend]
            assert made.figure("throughput") > 0
    assert found[0] == found[1]
    # A model that is on the host is not timed by the device's events.
    with installed("2.15") as torch:
        torch.cuda.init()
        monkeypatch.setenv("VRAMSCOPE_BACKEND", "torch")
        made = vramscope.measure_latency(tensors.Linear(3, 4), tensors.Tensor((2, 3)), iterations=3)
        assert made["notes"] == ["Times are the host's: the model is on cpu."] and made["conditions"]["gpu"] is None


def test_without_a_driver_figures_are_unknown_and_not_zero():
    with installed(driver=False) as torch:
        backend = backends.auto()
        assert backend.name == "torch" and backend.stats()["state"] == "unknown"
        assert backend.stats()["allocated_bytes"] is None
        with vramscope.Profiler() as profiler, profiler.scope("work") as work:
            pass
        assert work.result.end_bytes is None and work.result.state == "unknown"
        assert "Nothing is known" in str(vramscope.expect_recording(lambda: None))
        assert not torch.cuda.is_initialized()
    with installed() as torch:
        assert backends.auto().stats()["allocated_bytes"] == 0 and not torch.cuda.is_initialized()


def test_a_driver_is_known_by_its_files_alone(monkeypatch, tmp_path):
    from vramscope import _torch
    look = _torch.has_driver.__defaults__[0]  # what the stand-in stands in front of
    there, away = str(tmp_path), str(tmp_path / "none")
    for kind, cuda, hip in (("cuda", "13.2", None), ("hip", None, "6.4")):
        torch = types.SimpleNamespace(version=types.SimpleNamespace(cuda=cuda, hip=hip))
        for paths, found in (((away, there), True), ((away,), False)):
            monkeypatch.setattr(_torch, "_DRIVERS", {"cuda": (), "hip": (), kind: paths})
            assert look(torch) is found


@pytest.mark.parametrize("seconds", (float("nan"), float("inf"), -1))
def test_seconds_that_never_end_are_refused(seconds):
    with sim.Device(), pytest.raises(ValueError, match="seconds is a finite number of at least 0"):
        vramscope.measure_utilisation(lambda: pytest.fail("it ran"), seconds=seconds)


@pytest.mark.parametrize("counts", ({"iterations": 0}, {"iterations": -1}, {"warmup": -1}))
def test_calls_that_are_none_are_refused(counts):
    with sim.Device(), pytest.raises(ValueError, match=f"{next(iter(counts))} is . at least"):
        vramscope.measure_latency(lambda: pytest.fail("it ran"), **counts)


@pytest.mark.parametrize("counts", ({"batches": 0}, {"batches": -3}, {"warmup": -1}))
def test_batches_that_are_none_are_refused(counts):
    with sim.Device(), pytest.raises(ValueError, match=f"{next(iter(counts))} is . at least"):
        vramscope.measure_training(None, [], criterion=None, optimizer=None, **counts)


def test_a_name_that_is_not_measured_is_a_key_error():
    with sim.Device() as device:
        made = vramscope.measure_latency(lambda: device.advance(1000), iterations=1, warmup=0)
    for call, there in ((made.time, "latency"), (made.figure, "utilisation")):
        with pytest.raises(KeyError, match="there is no 'nope' among the .*" + there):
            call("nope")
