"""record() and on_oom() on simulated devices and on the stand-in for torch."""
import gc
import json
import os
import pickle
import shlex
import sys
import threading
import time
import weakref

import pytest
import vramscope
from models import page
from run_programs import python, script
from stand_in import Counters, installed
from vramscope import hooks, sim
from vramscope.history import named, oom, recording, telling

FORMS = ("2.1", "2.5", "2.9", "2.15")


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch):
    """What a process keeps for its whole life, anew for each test."""
    for name in ("_handlers", "_events"):
        monkeypatch.setattr(oom, name, [])
    monkeypatch.setattr(oom, "_observed", weakref.WeakSet())
    before, finders = sys.excepthook, list(sys.meta_path)
    failures = hooks.failures
    yield
    assert hooks.failures == failures
    sys.excepthook, sys.meta_path[:] = before, finders


def test_a_block_is_recorded_and_the_recording_stops(tmp_path):
    with sim.Device("1GiB", history=0) as device:
        with vramscope.record(tmp_path / "run.pickle") as recorder:
            assert device.history_enabled()
            kept = device.alloc("20MiB", tag="kept")
        assert not device.history_enabled() and recorder.refused is None
        found = recorder.recording
        assert len(found["events.size"]) == 2 and kept.live
        assert os.listdir(tmp_path) == ["run.pickle"]
        extra = pickle.loads((tmp_path / "run.pickle").read_bytes())["vramscope"]
        assert [t["name"] for t in extra["names"]["tensors"] if t["address"] == kept.address] == ["kept"]


def test_the_page_of_a_recording_has_its_names(tmp_path):
    """From the names of live handles to what a page says of the rows alive at the end."""
    with sim.Device("1GiB", history=0) as device, vramscope.record(tmp_path / "run.pickle") as recorder:
        kept = {f"layers.{n}.</script>": device.alloc(f"{20 + n}MiB", tag=f"layers.{n}.</script>") for n in range(3)}
        device.free(device.alloc("40MiB", tag="gone"))
        del kept["layers.1.</script>"]
    vramscope.view(recorder.recording, tmp_path / "run.html")
    read = page.Page((tmp_path / "run.html").read_text(encoding="utf-8"))
    [table] = read.head["files"][0]["devices"]
    alloc, tensor, strings = read.table(table, "alloc"), read.table(table, "tensor"), read.strings(table, "tensor_string")
    named_rows = {size >> 20: strings[tensor["name"][n]] for size, n in zip(alloc["bytes"], alloc["tensor"]) if n}
    assert named_rows == {20: "layers.0.</script>", 22: "layers.2.</script>"} and len(kept) == 2


def test_a_snapshot_has_the_names_of_its_own_device(tmp_path):
    """Addresses of simulated devices begin alike."""
    other = sim.Device("1GiB")
    theirs = other.alloc("20MiB", tag="theirs")
    with sim.Device("1GiB", history=0) as device, vramscope.record(tmp_path / "run.pickle"):
        mine = device.alloc("20MiB", tag="mine")
    assert mine.address == theirs.address
    tensors = pickle.loads((tmp_path / "run.pickle").read_bytes())["vramscope"]["names"]["tensors"]
    assert [(t["name"], t["address"]) for t in tensors] == [("mine", mine.address)]


def names_of(path):
    made = json.loads(vramscope.load(path).export("json", table="blocks"))
    return {block["tensor_name"] for block in made["tables"]["blocks"]} - {None}


@pytest.mark.parametrize("clock", (0, 999, 1_700_000_000_000_000_500))
def test_a_name_is_never_of_what_another_thread_put_in_its_place(tmp_path, monkeypatch, clock):
    """Between the list of names and the snapshot a thread frees and allocates."""
    path = tmp_path / "run.pickle"
    with sim.Device("1GiB", history=0, clock=clock) as device, vramscope.record(path):
        kept = device.alloc("20MiB", tag="kept")
        old = [device.alloc("30MiB", tag="old"), device.alloc("40MiB", tag="gone")]
        last = device.alloc("50MiB", tag="last")

        def go_on():
            for handle in old:
                device.free(handle)
            old.append(device.alloc("30MiB", tag="new"))

        snapshot = recording.SimSource.snapshot

        def meanwhile(self):
            thread = threading.Thread(target=go_on)
            thread.start()
            thread.join()
            return snapshot(self)

        monkeypatch.setattr(recording.SimSource, "snapshot", meanwhile)
    assert old[2].address == old[0].address and kept.live and last.live
    listed = pickle.loads(path.read_bytes())["vramscope"]["names"]["tensors"]
    assert {t["name"] for t in listed} == {"kept", "old", "gone", "last"}
    assert names_of(path) == {"kept", "last"}
    items = {i["id"]: i["count"] for i in vramscope.load(path).report()["devices"][0]["trust"]["items"]}
    assert items["names_later"] == 2 and "names" not in items


def test_somebody_elses_recording_goes_on(tmp_path):
    with sim.Device("1GiB") as device, vramscope.record(tmp_path / "run.pickle") as recorder:
        pass
    assert device.history_enabled() and recorder.refused == "already on" and (tmp_path / "run.pickle").exists()


def begun_by(path):
    """Who began the recording of a file, as it says, and whether its trust names the program."""
    said = pickle.loads(path.read_bytes())["vramscope"].get("recorder", {}).get("begun_by")
    devices = vramscope.load(path).report()["devices"]
    return said, ["begun_by_program" in [item["id"] for item in d["trust"]["items"]] for d in devices]


def test_whose_settings_a_recording_has_is_said(tmp_path):
    """The program records, then nobody, then record() alone."""
    theirs, nobody, ours, inner = (tmp_path / name for name in ("theirs", "nobody", "ours", "inner"))
    with sim.Device("1GiB", history=0) as device:
        kept = device.alloc("20MiB")
        recording.write_snapshot(recording.SimSource(device), nobody)
        device.history_start(7, context="alloc")
        with vramscope.record(theirs):
            more = device.alloc("20MiB")
        text = " ".join(vramscope.load(theirs).report(trust=True).text().split())
        assert "its settings (entries, stacks) are not those of vramscope" in text
        device.history_stop()
        with vramscope.record(ours), vramscope.record(inner):
            more = device.alloc("20MiB")
        device.history_start()
        with vramscope.record(tmp_path / "again") as recorder:
            pass
    assert kept.live and more.live and recorder.refused == "already on"
    assert begun_by(theirs) == begun_by(tmp_path / "again") == ("program", [True])
    assert begun_by(ours) == begun_by(inner) == ("vramscope", [False])
    assert begun_by(nobody) == (None, [False])


def test_a_failure_in_a_recording_of_the_program_says_so(tmp_path):
    for history, said in ((1000, ("program", [True])), (0, ("vramscope", [False]))):
        with sim.Device("1GiB", history=history) as device, vramscope.on_oom(tmp_path / str(history)) as handle:
            with pytest.raises(sim.OutOfMemoryError):
                device.alloc("2GiB")
        folder, = handle.dumps
        assert begun_by(tmp_path / folder / "snapshot.pickle") == said


def test_without_names_it_is_still_said(tmp_path, monkeypatch):
    monkeypatch.setattr(named, "find", lambda **_: 1 / 0)
    with sim.Device("1GiB"), vramscope.record(tmp_path / "run"):
        pass
    assert pickle.loads((tmp_path / "run").read_bytes())["vramscope"] == {
        "schema": "vramscope.extra/1", "recorder": {"begun_by": "program"}}


def test_nested_the_inner_dumps_and_the_outer_stops(tmp_path):
    with sim.Device("1GiB", history=0) as device:
        with vramscope.record(tmp_path / "outer.pickle"):
            with vramscope.record(tmp_path / "inner.pickle"):
                pass
            assert device.history_enabled() and (tmp_path / "inner.pickle").exists()
        assert not device.history_enabled() and (tmp_path / "outer.pickle").exists()


def test_the_programs_exception_wins_over_a_dump_that_fails(tmp_path, caplog):
    with sim.Device("1GiB", history=0) as device:
        with pytest.raises(KeyError) as raised, vramscope.record(tmp_path / "no" / "run.pickle"):
            raise KeyError("mine")
        assert raised.value.__context__ is None and raised.value.__cause__ is None
        assert not device.history_enabled() and "was not written" in caplog.text


def test_a_place_that_can_not_be_written_is_known_at_the_beginning(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    with sim.Device("1GiB", history=0):
        for path, why in ((tmp_path / "no" / "run.pickle", "No such file or directory"), (tmp_path, "Is a directory"),
                          (tmp_path / "file" / "run.pickle", "Not a directory")):
            caplog.clear()
            with vramscope.record(path):
                assert caplog.messages == [f"nothing can be kept: {path}: {why}"]
            assert caplog.messages[1:] == [f"the recording was not written: {path}: {why}"]
        caplog.clear()
        with vramscope.record(tmp_path / "run.pickle"):
            pass
        assert caplog.messages == []


def test_without_a_device_the_block_runs(caplog, tmp_path):
    @vramscope.record(tmp_path / "run.pickle")
    def work(x):
        return x + 1
    assert work(1) == 2 and "nothing is recorded" in caplog.text and not os.listdir(tmp_path)
    with pytest.raises(RuntimeError, match="torch is not imported"), vramscope.record(strict=True):
        pass


@pytest.mark.parametrize("call, error, says", (
    (lambda: vramscope.on_oom(5), TypeError, "dir is a path, not int"),
    (lambda: vramscope.on_oom(None), TypeError, "dir is a path, not NoneType"),
    (lambda: vramscope.on_oom([]), TypeError, "dir is a path, not list"),
    (lambda: vramscope.on_oom("a\0b"), ValueError, "dir is a path, not 'a"),
    (lambda: vramscope.on_oom(""), ValueError, "dir is a path, not ''"),
    (lambda: vramscope.on_oom(max_dumps=-1), ValueError, "max_dumps is at least 0, not -1"),
    (lambda: vramscope.on_oom(max_dumps="5"), TypeError, "max_dumps is an int, not str"),
    (lambda: vramscope.on_oom(max_bytes=-1), ValueError, "max_bytes is at least 0"),
    (lambda: vramscope.on_oom(min_seconds=float("nan")), ValueError, "min_seconds is at least 0"),
    (lambda: vramscope.record(3), TypeError, "path is a path, not int"),
    (lambda: vramscope.record("a\0b"), ValueError, "path is a path, not 'a"),
    (lambda: vramscope.record(max_entries=0), ValueError, "max_entries is at least 1, not 0"),
    (lambda: vramscope.record(context="some"), ValueError, "context is one of None, 'state'"),
    (lambda: vramscope.record(stacks="none"), ValueError, "stacks is one of 'python', 'all'")))
def test_arguments_are_looked_at_by_the_call(call, error, says):
    with pytest.raises(error, match=says):
        call()
    assert oom._handlers == []


def test_packed(tmp_path):
    with sim.Device("1GiB") as device, vramscope.record(tmp_path / "a.pickle.gz", compression="gzip") as recorder:
        device.alloc("20MiB")
    assert (tmp_path / "a.pickle.gz").read_bytes()[:2] == b"\x1f\x8b" and len(recorder.recording["events.size"])


def test_a_failure_leaves_a_bundle_and_the_block_prints_its_verdict(tmp_path, capfd):
    with sim.Device("1GiB") as device:
        with pytest.raises(sim.OutOfMemoryError) as raised, vramscope.on_oom(tmp_path / "dumps") as handle:
            device.alloc("2GiB")
        error = capfd.readouterr().err
        assert "verdict" in error and raised.value.__cause__ is raised.value.__context__ is None
        assert not hasattr(raised.value, "__notes__")
        folder, = handle.dumps
        assert sorted(os.listdir(folder)) == ["environment.json", "events.json", "manifest.json", "metadata.json",
                                              "snapshot.pickle", "verdict.txt"]
        assert open(folder + "/verdict.txt").read() in error
        assert json.loads(open(folder + "/metadata.json").read())["asked_bytes"] == 2 << 30
        with pytest.raises(sim.OutOfMemoryError):
            device.alloc("2GiB")
        assert len(os.listdir(tmp_path / "dumps")) == 1, "it ended with its block"


def test_a_snapshot_that_takes_long_to_read_has_no_verdict(tmp_path, capfd, monkeypatch):
    from vramscope.history import telling
    monkeypatch.setattr(telling, "VERDICT_SECONDS", -1)
    with sim.Device("1GiB") as device:
        with pytest.raises(sim.OutOfMemoryError) as raised, vramscope.on_oom(tmp_path) as handle:
            for _ in range(50_000):
                device.free(device.alloc("1MiB"))
            device.alloc("2GiB")
    path = handle.dumps[0] + "/snapshot.pickle"
    assert os.stat(path).st_size > 4 << 20
    assert capfd.readouterr().err == ("vramscope: memory ran out on cuda:0\n"
                                      f"vramscope: {path}   more: vramscope oom --message {shlex.quote(str(raised.value))} {path}\n")


def test_a_line_that_fails_again_is_not_written_again(tmp_path, capfd):
    with sim.Device("1GiB") as device, vramscope.on_oom(tmp_path, verdict=False) as handle:
        for _ in range(3):
            with pytest.raises(sim.OutOfMemoryError):
                device.alloc("2GiB")
        assert len(handle.dumps) == 1
    with sim.Device("1GiB") as device, vramscope.on_oom(tmp_path / "b", max_dumps=2, min_seconds=0) as handle:
        for _ in range(5):
            with pytest.raises(sim.OutOfMemoryError):
                device.alloc("2GiB")
        assert len(os.listdir(tmp_path / "b")) == len(handle.dumps) == 2
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("paced", (False, True))
def test_a_failure_after_a_caught_one_of_its_line_has_a_verdict(tmp_path, capfd, monkeypatch, paced):
    if paced:
        monkeypatch.setattr(oom, "UNPACED_SECONDS", 0)
    def attempt(size):
        device.alloc(size)
    with sim.Device("1GiB") as device:
        with pytest.raises(sim.OutOfMemoryError), vramscope.on_oom(tmp_path) as handle:
            try:
                attempt("2GiB")
            except sim.OutOfMemoryError:
                attempt("3GiB")
    error = capfd.readouterr().err
    folder, = handle.dumps
    assert "request  3.00 GiB" in error and os.listdir(tmp_path) == [os.path.basename(folder)]
    assert ("the snapshot is of now" in error) == paced
    assert json.loads(open(folder + "/metadata.json").read())["asked_bytes"] == 3 << 30


def numbers_of(handle):
    """Of the bundles that are kept."""
    return [int(name.rpartition("_")[2]) for name in handle.dumps]


def test_a_line_that_fails_without_end_writes_at_a_pace(tmp_path, monkeypatch):
    monkeypatch.setattr(oom, "UNPACED_SECONDS", 0)
    with sim.Device("1GiB") as device, vramscope.on_oom(tmp_path, verdict=False) as handle:
        for number in range(50):
            if number == 1:
                (first,) = numbers_of(handle)
            if number == 49:
                assert numbers_of(handle) == [first]
                monkeypatch.setattr(oom, "PACE_SECONDS", 0)
                monkeypatch.setattr(oom, "PACE_SHARE", 0)
            with pytest.raises(sim.OutOfMemoryError):
                device.alloc("2GiB")
        assert numbers_of(handle) == [first + 1]


def test_a_folder_that_can_not_be_made_is_one_line(tmp_path, capfd):
    (tmp_path / "file").write_text("")
    with sim.Device("1GiB") as device, vramscope.on_oom(tmp_path / "file", verdict=False) as handle:
        with pytest.raises(sim.OutOfMemoryError):
            device.alloc("2GiB")
    assert capfd.readouterr().err.count("\n") == 1 and handle.dumps == []


CAUGHT = """
import os, sys, vramscope
from vramscope import sim
device = sim.Device("1GiB")
device.__enter__()
handle = vramscope.on_oom("dumps", min_seconds=0, verdict=len(sys.argv) == 1)
for _ in range(2):
    try:
        device.alloc("2GiB")
    except sim.OutOfMemoryError:
        pass
if os.fork() == 0:
    sys.exit(3)
os.wait()
"""


def test_what_was_caught_is_one_line_at_the_end(tmp_path):
    path = script(tmp_path, CAUGHT)
    status, out, err = python(path, cwd=tmp_path, under=None)
    folders = sorted((tmp_path / "dumps").iterdir())
    assert (status, out) == (0, "") and len(folders) == 2
    assert err == "vramscope: memory ran out 2 times, which the program caught; %s %s\n" % tuple(
        f"dumps/{folder.name}" for folder in folders)
    assert python(path, "quiet", cwd=tmp_path, under=None) == (0, "", "")
    _, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert err.count("\n") == 1 and "out/" in err, "run says it"


def test_a_ring_keeps_the_newest_and_may_be_written_any_number_of_times(tmp_path):
    with sim.Device("1GiB", history=0) as device, vramscope.record(tmp_path / "a.pickle", max_entries=10) as recorder:
        for _ in range(20):
            device.free(device.alloc("1MiB"))
        recorder.dump(tmp_path / "b.pickle")
        kept = device.alloc("2MiB")
    for name, newest in (("a", "alloc"), ("b", "free_completed")):
        recorded = pickle.loads((tmp_path / (name + ".pickle")).read_bytes())["device_traces"][0]
        assert len(recorded) == 10 and recorded[-1]["action"] == newest and recorded[-1]["frames"]
    assert kept.live and vramscope.load(tmp_path / "a.pickle").report()["devices"][0]["trust"]["window"] != "complete"


def test_the_bundle_says_where_it_ran_and_nothing_else_of_the_environment(tmp_path, monkeypatch):
    for name, value in (("RANK", "2"), ("WORLD_SIZE", "4"), ("SECRET", "x"), ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:20")):
        monkeypatch.setenv(name, value)
    with sim.Device("1GiB", count=2) as device, vramscope.on_oom(tmp_path, verdict=False) as handle:
        with pytest.raises(sim.OutOfMemoryError):
            device.alloc("2GiB")
    folder, = handle.dumps
    environment = json.loads(open(folder + "/environment.json").read())
    assert environment["variables"] == {"RANK": "2", "WORLD_SIZE": "4"} and "SECRET" not in str(environment)
    assert environment["allocator"] == "max_split_size_mb:20" and len(environment["devices"]) == 2
    assert environment["vramscope"] == vramscope.__version__ and environment["torch"] is None


def test_which_exceptions_are_of_device_memory():
    inner = sim.OutOfMemoryError("CUDA out of memory.")
    outer = ValueError("no")
    outer.__cause__ = inner
    assert oom.recognise(outer) is inner
    unrelated = ValueError("out of memory")
    unrelated.__context__ = inner
    assert oom.recognise(unrelated) is None and oom.recognise(MemoryError("out of memory")) is None
    assert oom.recognise(RuntimeError("HIP OUT OF MEMORY")) and oom.recognise(KeyboardInterrupt()) is None
    class ResourceExhaustedError(Exception):
        pass
    assert oom.recognise(ResourceExhaustedError())
    loop = ValueError()
    loop.__cause__ = loop
    assert oom.recognise(loop) is None


@pytest.mark.parametrize("form", FORMS)
def test_recording_begins_once_when_torch_is_ready(form, tmp_path):
    with installed(form) as torch:
        with vramscope.record(tmp_path / "run.pickle", max_entries=7) as recorder:
            assert not torch.cuda.is_initialized() and torch.cuda.stand_in.settings == []
            kept = torch.randn(4, device="cuda")
            first, = torch.cuda.stand_in.settings
            assert (first["max_entries"], first["stacks"], first["context"]) == (7, "python", "all")
            assert not first.get("compile_context") and kept.is_cuda
        assert recorder.refused is None and (tmp_path / "run.pickle").exists()
        assert [bool(s["enabled"]) for s in torch.cuda.stand_in.settings] == [True, False]


@pytest.mark.parametrize("form", FORMS)
def test_a_program_that_never_uses_its_device_is_left_alone(form, tmp_path):
    with installed(form) as torch, vramscope.record(tmp_path / "run.pickle"), vramscope.on_oom(tmp_path / "dumps"):
        assert not torch.cuda.is_initialized()
    assert os.listdir(tmp_path) == []
    with installed(form, [], False) as torch, vramscope.record(tmp_path / "run.pickle"), vramscope.on_oom(tmp_path):
        with pytest.raises(RuntimeError, match="NVIDIA driver"):
            torch.cuda.init()
    assert os.listdir(tmp_path) == []


def test_a_strict_one_that_was_refused_is_not_in_the_way_of_the_next(tmp_path, monkeypatch):
    with installed("2.15") as torch:
        with monkeypatch.context() as without:
            without.delattr(torch.cuda, "_lazy_call")
            without.delattr(torch.cuda, "_queued_calls")
            with pytest.raises(RuntimeError, match="tells nobody"), vramscope.record(strict=True):
                pass
        with vramscope.record(tmp_path / "run.pickle"):
            torch.cuda.init()
            assert [bool(s["enabled"]) for s in torch.cuda.stand_in.settings] == [True]


def test_a_recorder_that_is_too_old_is_refused(tmp_path):
    with installed("1.13") as torch:
        with vramscope.record(tmp_path / "run.pickle") as recorder:
            torch.cuda.init()
        assert "older than 2.1" in recorder.refused and torch.cuda.stand_in.settings == []
        assert "older than 2.1" in vramscope.on_oom(tmp_path).refused


@pytest.mark.parametrize("form", FORMS)
def test_who_began_the_recorder_of_torch_is_said(tmp_path, form):
    with installed(form) as torch:
        torch.cuda.init()
        with vramscope.record(tmp_path / "ours"):
            pass
        torch.cuda.memory._record_memory_history(max_entries=7)
        with vramscope.record(tmp_path / "theirs"):
            pass
    said = [pickle.loads((tmp_path / name).read_bytes())["vramscope"]["recorder"] for name in ("ours", "theirs")]
    assert said == [{"begun_by": "vramscope"}, {"begun_by": "program"}]


@pytest.mark.parametrize("form", FORMS)
def test_one_observer_a_process_and_it_never_raises(form, tmp_path, monkeypatch):
    with installed(form, [Counters(total=4096)]) as torch:
        with vramscope.on_oom(tmp_path / "a", verdict=False), vramscope.on_oom(tmp_path / "b", verdict=False) as second:
            torch.cuda.init()
            assert len(torch.cuda.stand_in.observers) == 1 and len(torch.cuda.stand_in.settings) == 1
            with pytest.raises(torch.cuda.OutOfMemoryError):
                torch.randn(4096, device="cuda")
            assert len(second.dumps) == 1 and len(os.listdir(tmp_path / "a")) == 1
            before = hooks.failures
            monkeypatch.setattr(torch.cuda.memory, "_snapshot", lambda: 1 / 0)
            with vramscope.on_oom(tmp_path / "c", verdict=False) as third:
                with pytest.raises(torch.cuda.OutOfMemoryError):
                    torch.randn(4096, device="cuda")
            hooks.failures = before
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.randn(4096, device="cuda")
        assert len(os.listdir(tmp_path / "a")) <= 2


def test_a_device_that_was_observed_is_forgotten(tmp_path):
    with vramscope.on_oom(tmp_path, verdict=False):
        with sim.Device("1GiB", history=0) as device:
            pass
        forgotten = weakref.ref(device)
        del device
        gc.collect()
        assert forgotten() is None


@pytest.mark.parametrize("kind", (RuntimeError, type("OutOfMemoryError", (RuntimeError,), {})))
def test_each_failure_without_a_snapshot_is_told_once(kind, capfd):
    for number in range(3):
        error = kind(f"CUDA out of memory {number}")
        telling.tell(error)
        telling.tell(error)
        del error
    assert [line for line in capfd.readouterr().err.splitlines() if "of memory " in line] == [
        f"CUDA out of memory {number}" for number in range(3)]


def test_an_interrupt_is_given_back_where_no_thread_can_be_had(monkeypatch):
    def none(*given):
        raise RuntimeError("can't create new thread at interpreter shutdown")
    monkeypatch.setattr("_thread.start_new_thread", none)
    before = hooks.failures
    with pytest.raises(KeyboardInterrupt):
        hooks.swallow(KeyboardInterrupt())
        time.sleep(1)
    hooks.failures = before


def test_a_handle_that_was_cancelled_is_forgotten(tmp_path):
    finders = list(sys.meta_path)
    with sim.Device("1GiB"):
        handle = vramscope.on_oom(tmp_path)
        handle.cancel()
        handle.cancel()
    forgotten = weakref.ref(handle)
    del handle
    gc.collect()
    assert forgotten() is None and sys.meta_path == finders


def test_a_search_for_names_keeps_nothing_that_the_program_then_drops():
    device = sim.Device("1GiB")
    batch = device.alloc("20MiB")
    assert [n["name"] for n in vramscope.names() if n["address"] == batch.address] == [
        "test_a_search_for_names_keeps_nothing_that_the_program_then_drops.batch"]
    del batch
    assert device.stats()["allocated_bytes"] == 0, "while this frame still runs"


def test_locals_that_the_program_keeps_stay_as_they_are():
    device = sim.Device("1GiB")
    batch = device.alloc("20MiB")
    kept = locals()
    vramscope.names()
    assert kept["batch"] is batch and kept["device"] is device


def test_what_is_gone_or_not_a_devices_has_no_name(tmp_path):
    device = sim.Device("1GiB")
    one, two = device.alloc("20MiB"), device.alloc("30MiB")
    device.free(one)
    found = vramscope.names(tmp_path / "names.json")
    assert {n["address"] for n in found} >= {two.address}
    assert not [n for n in found if n["bytes"] == 20 << 20]
    assert json.loads((tmp_path / "names.json").read_text()) == found.to_dict()


def test_an_empty_tag_is_no_name(tmp_path):
    """The variable's is taken, and where there is none the memory is counted; the reader takes all that is written."""
    device, kept = sim.Device("1GiB"), []
    with device, vramscope.record(tmp_path / "run.pickle"):
        tagless = device.alloc("20MiB", tag="")
        kept.append([device.alloc("30MiB", tag="")])
    extra = pickle.loads((tmp_path / "run.pickle").read_bytes())["vramscope"]["names"]
    assert [t["name"] for t in extra["tensors"] if t["address"] == tagless.address] == [
        "test_an_empty_tag_is_no_name.tagless"]
    assert extra["dropped"] == 1 and all(t["name"] for t in extra["tensors"])
    with vramscope.load(tmp_path / "run.pickle") as recording:
        assert "malformed" not in recording.report().text()


def test_names_tell_of_themselves_in_a_line():
    entries = [{"name": "a\nb", "bytes": 3 << 20}, {"name": "c", "bytes": 1 << 20}]
    assert str(named.Names(entries, 1200, 0)) == (
        "<Names of 2 tensors in 4.00 MiB, the largest 'a\\nb' with 3.00 MiB; 1,200 are left out>")
    assert str(named.Names(entries[1:], 0, 0)) == "<Names of 1 tensor in 1.00 MiB, the largest 'c' with 1.00 MiB>"
    assert str(named.Names([], 0, 0)) == "<Names of 0 tensors in 0 B>"


def test_two_handles_share_a_folder(tmp_path):
    with sim.Device("1GiB") as device, vramscope.on_oom(tmp_path) as one, vramscope.on_oom(tmp_path) as other:
        with pytest.raises(sim.OutOfMemoryError):
            device.alloc("2GiB")
    assert len(one.dumps) == len(other.dumps) == 1 and len(os.listdir(tmp_path)) == 2
