"""diagnose() on simulated devices: the kind of bottleneck, its thresholds, loaders, modes, time, and the page."""
import json
import types

import pytest
import vramscope
from conftest import ROOT, validate
from method_program import MS, program
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import _core, sim

OPTIMIZER = types.SimpleNamespace(step=int, zero_grad=int)


@pytest.fixture
def device():
    with sim.Device("8GiB") as made:
        yield made


def loader(device, ms, count=100):
    """An iterable that is begun anew as often as it is asked."""
    class Loader:
        def __iter__(self):
            for number in range(count):
                device.advance(int(ms * MS))
                yield number
    return Loader()


def busy_for(device, ms, percent=None):
    """A step; the driver then finds the device busy for so much of the time."""
    if percent is not None:
        device.set_util(percent, seconds=1000)
    return lambda batch: device.advance(int(ms * MS))


def diagnosed(device, loading_ms, step_ms, percent=None, **more):
    return vramscope.diagnose(None, loader(device, loading_ms), step=busy_for(device, step_ms, percent), **more)


@pytest.mark.parametrize("loading, percent, kind", (
    (30, None, "data"), (30, 60, "data"), (30, 95, "device"), (1, 95, "device"), (1, 30, "host"), (1, 70, "mixed"),
))
def test_the_kind_of_bottleneck(device, loading, percent, kind):
    found = diagnosed(device, loading, 10, percent)
    validate(json.loads(found.json()))
    assert found.kind == found["bottleneck"]["kind"] == kind
    assert found["training"]["step_ns"] == 10 * MS and found["training"]["loading_ns"] == loading * MS
    assert found.measurement.time("step")["median"] == 10 and found.trace is found["trace"] is None


def judged(*, steps=20, on_device=True, step=0.01, loading=0.001, busy=-1.0, trace=None):
    seconds = (step, step, loading, -1.0, -1.0, -1.0, -1.0)
    return _core._measured("a model", steps, on_device, seconds, -1.0, busy, -1, -1, trace)["bottleneck"]


@pytest.mark.parametrize("how, kind", (
    # Loading that takes as long as a step is no bottleneck of its own, and a nanosecond more is one.
    ({"loading": 0.010000000, "busy": 0.6}, "mixed"), ({"loading": 0.010000001, "busy": 0.6}, "data"),
    ({"busy": 0.9}, "mixed"), ({"busy": 0.900001}, "device"),
    ({"busy": 0.5}, "mixed"), ({"busy": 0.499999}, "host"),
    # A device that is busy all the time comes first, loading before a host, a host without a device before its utilisation.
    ({"busy": 0.95, "loading": 1.0}, "device"), ({"busy": 0.1, "loading": 1.0}, "data"),
    ({"on_device": False}, "host"), ({"on_device": False, "busy": 0.95}, "host"), ({"on_device": False, "loading": 1.0}, "data"),
    # What was not measured decides nothing.
    ({}, "unknown"), ({"loading": -1.0}, "unknown"), ({"steps": 0, "busy": 0.95}, "unknown"),
    ({"step": 0.0, "busy": 0.6}, "mixed"), ({"busy": 1.01}, "unknown"), ({"busy": float("nan")}, "unknown"),
))
def test_thresholds_of_the_kind(how, kind):
    found = judged(**how)
    assert found["kind"] == kind and found["text"]
    for name in ("nan", "{", "}"):
        assert name not in found["text"].lower()


@pytest.mark.parametrize("workers, processors, advised, told", (
    (0, 2, "(num_workers=2, persistent_workers=True, prefetch_factor=4)",
     "the loader has 0 workers; the process may use 2 processors, and as many workers can load at once"),
    (1, 2, "(num_workers=2, persistent_workers=True, prefetch_factor=4)", "the loader has 1 worker;"),
    (8, 64, "(num_workers=16, persistent_workers=True, prefetch_factor=4)", "the loader has 8 workers;"),
    (40, 64, "(num_workers=64, persistent_workers=True, prefetch_factor=4)", "the loader has 40 workers;"),
    (2, 2, None,
     "the loader has 2 workers; the process may use 2 processors: more workers help only where they wait, as for files"),
    (0, 64, "(num_workers=8, persistent_workers=True, prefetch_factor=4)", "the process may use 64 processors, and as many"),
    (0, -1, "(num_workers=8, or the number of processors if that is less; persistent_workers=True, prefetch_factor=4)",
     "the loader has 0 workers"),
))
def test_no_more_workers_are_advised_than_there_are_processors(workers, processors, advised, told):
    """Nor pinned memory, where no device worked; the trace itself does not know the machine."""
    with vramscope.load(ROOT / "examples" / "traces" / "training.pt.trace.json.gz") as trace:
        seconds = (0.01, 0.01, 0.02, -1.0, -1.0, -1.0, -1.0)
        page = " ".join(_core._measured("a model", 20, False, seconds, -1.0, -1.0, workers, processors, trace).text().split())
        advice = "keep decoded samples: the loader has a worker for each processor" if advised is None else \
            f"give the loader workers {advised}, or keep decoded samples"
        assert advice in page and told in page and ("num_workers" in page) == (advised is not None)
        assert "pin_memory" not in page and "device" not in page.partition("do ")[2].partition("verify")[0]
        assert "num_workers=8, or the number of processors" in " ".join(trace.findings().text().split())


def test_what_a_kind_was_held_against(device):
    found = diagnosed(device, 30, 10, 60)["bottleneck"]
    assert found["evidence"] == {"busy_ratio": 0.6, "loading_ns": 30 * MS, "step_ns": 10 * MS, "data_compute_ratio": 3.0}
    assert found["threshold"] == {"gpu-high-busy_ratio": 0.9, "data-compute_ratio": 1.0}


def test_the_page(device):
    found = diagnosed(device, 30, 10, 60, batches=8)
    page = found.text(width=80)
    assert page == str(found) and max(map(len, page.splitlines())) <= 80
    labels = [line.split()[0] for line in page.splitlines() if line[:1].strip()]
    assert labels == ["training", "baseline", "kind", "ops", "verify", "time", "note"]
    assert "baseline 8 steps, each 10.0 ms in the mean and 10.0 ms in the median, by the device's clock; loading" in " ".join(page.split())
    assert "kind     the loading of data: loading a batch takes 30.0 ms in the mean" in page
    assert "verify   vramscope compare before.json after.json" in page
    assert "time     baseline 0.5 s, recording 0.0 s, reading 0.0 s; of 60 s" in page
    assert "ops      none was recorded, and a note says why" in page
    assert "No operator was recorded: torch.profiler alone records operators" in " ".join(page.split())


def test_which_phases_have_their_evidence(device):
    """Row D31: without torch there is no component and no operation; without a batch nothing at all."""
    assert diagnosed(device, 30, 10)["checklist"] == {"baseline": True, "kind": True, "component": False, "operation": False}
    assert diagnosed(device, 1, 10)["checklist"]["kind"] is False
    assert set(vramscope.diagnose(None, [], step=len)["checklist"].values()) == {False}


def test_names_are_text(device):
    def hostile(batch):
        device.advance(MS)
    hostile.__name__ = "\x1b[31mred\x00\ud800"
    page = str(vramscope.diagnose(hostile, loader(device, 1), step=hostile, batches=3, warmup=0))
    assert "\x1b" not in page and "\x00" not in page and "[31mred\\x00" in page


def test_a_note_is_text(device, tmp_path):
    """What a note quotes of a path is shown in the way of the page."""
    found = diagnosed(device, 1, 1)
    found["notes"].append("h\x1b[0m\u00fc")
    assert "\x1b" not in str(found) and "h\\x1b[0m\u00fc" in str(found) and "h\\x1b[0m\\xfc" in found.text(ascii=True)


def test_a_loader_that_ends_is_begun_anew(device):
    begun = []

    class Short:
        def __iter__(self):
            begun.append(1)
            device.advance(500 * MS)  # what starts its workers
            for number in range(4):
                device.advance(2 * MS)
                yield number
    found = vramscope.diagnose(None, Short(), step=busy_for(device, 10), batches=9, warmup=1)
    assert found["training"]["steps"] == 9 and len(begun) == 3
    data = found.measurement.time("data")
    assert data["first"] == 502 and data["most"] == 2  # the starts are in no statistics
    assert "The loader was gone through 3 times; beginning anew is in no figure." in found.measurement["notes"]
    assert found.measurement.figure("time_per_batch") == pytest.approx(12 - 2 * 2 / 9)


def test_an_iterator_is_read_once(device):
    found = vramscope.diagnose(None, iter(range(7)), step=busy_for(device, 10), warmup=2)
    assert found["training"]["steps"] == 5 and found.kind == "unknown"
    assert "gone through" not in str(found)


def test_a_loader_without_batches(device):
    found = vramscope.diagnose(None, [], step=busy_for(device, 10))
    validate(json.loads(found.json()))
    assert found.kind == "unknown" and found["bottleneck"]["text"] == "no step was measured"
    assert "baseline no step was measured" in str(found) and "gone through" not in str(found)
    assert "No batch was measured: the loader gave none." in str(found)


def test_it_keeps_to_its_time(device):
    begun = device.clock
    found = diagnosed(device, 0, 1000, batches=1000, seconds=20)
    assert device.clock - begun < 21 * 1000 * MS
    assert found.measurement.time("step")["count"] == 7  # 12 s of the baseline, 5 of which are the warm-up's
    assert found["seconds"]["baseline"] == 12 and found["seconds"]["budget"] == 20
    assert "The time ran out after 12 of 1005 batches." in found.measurement["notes"]
    cut = diagnosed(device, 0, 1000, seconds=2)
    assert cut.kind == "unknown" and "No batch was measured: the time ran out in the warm-up." in str(cut)


def test_progress_is_told(device):
    told = []
    diagnosed(device, 1, 1, progress=told.append, batches=4, warmup=1)
    assert told == ["baseline: 1 + 4 steps, at most 36 s", "reading what was recorded"]


def test_progress_goes_to_standard_error(device, capfd):
    diagnosed(device, 1, 1, progress=True)
    said = capfd.readouterr()
    assert said.out == "" and said.err.splitlines()[0] == "vramscope: baseline: 5 + 20 steps, at most 36 s"
    diagnosed(device, 1, 1)
    diagnosed(device, 1, 1, progress=False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("how, text", (
    ({}, "criterion and optimizer: missing; or give step"), ({"criterion": len}, "optimizer: missing"),
    ({"step": len, "optimizer": len}, "give step, or criterion and optimizer"),
    ({"step": len, "batches": 0}, "batches is 1 at least"), ({"step": len, "warmup": -1}, "warmup is 0 at least"),
    ({"step": len, "steps": 0}, "steps is 1 at least"), ({"step": len, "seconds": 0}, "seconds is a finite number above 0"),
    ({"step": len, "seconds": float("nan")}, "seconds is a finite number above 0"),
))
def test_wrong_arguments(device, how, text):
    with pytest.raises(ValueError, match=text):
        vramscope.diagnose(None, [], **how)


def test_what_a_step_raises_is_raised_and_workers_end(device):
    ended = []

    class Workers:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

        def _shutdown_workers(self):
            ended.append(1)
    workers = Workers()

    class Loader:
        def __iter__(self):
            return workers

    def fail(batch):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        vramscope.diagnose(None, Loader(), step=fail)
    assert ended == [1]
    # Those that are to persist are the loader's.
    Loader.persistent_workers = True
    with pytest.raises(KeyboardInterrupt):
        vramscope.diagnose(None, Loader(), step=fail)
    assert ended == [1]


@pytest.mark.parametrize("batch", (1, "ab", {"input": 1, "labels": 2}, (1, 2, 3), None))
def test_a_batch_that_is_no_pair(device, batch):
    """Nor is a dict of two keys, on which a training would run with the keys."""
    kind = type(batch).__name__
    with pytest.raises(TypeError, match=r"a batch is a pair of data and target, and the loader gave %s; diagnose\(step" % kind):
        vramscope.diagnose(len, [batch] * 2, criterion=len, optimizer=OPTIMIZER)


def test_the_kind_is_that_of_the_whole_loop(device):
    """A few long steps, or long loads, count as long as they are: both sides are means."""
    steps = iter([100, 4, 4, 4, 100] * 10)
    found = vramscope.diagnose(None, loader(device, 5), step=lambda batch: device.advance(next(steps) * MS), warmup=0)
    assert found["training"]["median_ns"] == 4 * MS and found["training"]["step_ns"] == 42.4 * MS
    assert found.kind == "unknown"  # and not loading, though its mean is above the median of the steps


@pytest.fixture
def trained():
    """What diagnose() finds on the program of the documents, on a simulated device with the stand-in's torch."""
    def run(prepare=lambda scope: None, how=None, **more):
        with sim.Device("80GiB") as device, installed("2.15", [Simulated(device)]) as torch:
            torch.cuda.init()
            scope = program(torch, device, **more)
            prepare(scope)
            found = vramscope.diagnose(scope["model"], scope["dataloader"], criterion=scope["criterion"],
                                       optimizer=scope["optimizer"], batches=5, warmup=2, **(how or {}))
            return found, scope
    return run


def test_a_training_has_its_phases(trained):
    found, _ = trained(util=60)
    validate(json.loads(found.json()))
    training = found["training"]
    assert training["forward_ns"] == pytest.approx(6 * MS, rel=0.05) and training["backward_ns"] == pytest.approx(11 * MS, rel=0.01)
    assert "phases   of a step, in the mean: backward 11.0 ms (5" in str(found)
    assert found["checklist"] == dict.fromkeys(("baseline", "kind", "component", "operation"), True)
    assert training["on_device"] and training["samples_per_second"] == pytest.approx(64 / 0.028, rel=0.02)


def test_it_gives_modes_back(trained):
    def evaluate(scope):
        scope["model"].eval()
    _, scope = trained(evaluate)
    assert scope["model"].training is False


def test_a_recording_that_is_kept(trained, tmp_path):
    found, _ = trained(how={"trace": tmp_path / "kept.json"})
    assert found.trace is not None and (tmp_path / "kept.json").exists()
    assert vramscope.load(tmp_path / "kept.json").report()["file"]["events"] == found["trace"]["file"]["events"]
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_what_is_saved_is_whole(trained, tmp_path):
    found, _ = trained()
    found.save(tmp_path / "before.json")
    saved = json.loads((tmp_path / "before.json").read_text())
    validate(saved)
    assert saved == json.loads(found.json()) and list(found) == list(saved) and len(found) == len(saved)


def test_a_place_for_the_trace_is_looked_at_first(device, tmp_path):
    """Before a minute is measured."""
    begun = device.clock
    with pytest.raises(FileNotFoundError):
        diagnosed(device, 1, 1, trace=tmp_path / "none" / "run.json")
    assert device.clock == begun


@pytest.mark.parametrize("call", (
    lambda: vramscope.profile_call(len, []), lambda: vramscope.profile_training(len, [], criterion=len, optimizer=OPTIMIZER)))
def test_operators_need_torch(device, call):
    with pytest.raises(vramscope.Error, match="torch.profiler alone records operators"):
        call()
