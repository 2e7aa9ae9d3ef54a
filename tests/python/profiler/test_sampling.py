"""The sampling thread: what samples say, what they miss, and that it ends with whatever ends."""
import collections.abc
import doctest
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
import weakref
from pathlib import Path

import pytest
import vramscope
from conftest import PACKAGE, SANITIZER
from stand_in import Counters, installed, torch_forms
from vramscope import _core, backends, profiler
from vramscope.sim import Device

MIB = 1 << 20
TASKS = Path("/proc/self/task")
FAKE = Path(PACKAGE).parent / "tests/unit/device/fake_nvml.so"


class Counted:
    """Counters of Python: so many MiB more with each reading, of which a scratch part goes again."""

    def __init__(self):
        self.readings, self.others = 0, []

    def stats(self, device):
        self.readings += 1
        now = self.readings * MIB
        return {"allocated_bytes": {"all": {"current": now, "peak": now + 512}}}

    def synchronize(self, device):
        self.others.append("synchronize")

    def empty_cache(self, device):
        self.others.append("empty_cache")


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.002)


def named(task):
    """Whether a thread has our name; one that ended since it was listed has none."""
    try:
        return Path(task, "comm").read_text() == "vramscope\n"
    except (FileNotFoundError, ProcessLookupError):
        return False


def threads():
    """How many threads of this process have our name."""
    return sum(named(task) for task in TASKS.iterdir())


def program(code, *words, **more):
    """Runs a program of its own; what it wrote to stdout."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    done = subprocess.run([sys.executable, "-B", "-c", code, *words], capture_output=True, env=env, timeout=600)
    assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode("utf-8", "replace")[-3000:]
    return done.stdout.decode()


# On the virtual clock.

def test_a_day_of_samples():
    device, minute = Device("1GiB"), 60 * 10**9
    sampler = _core.Sampler(backend=device.backend, capacity=2048, reset_peaks=True)
    start = device.clock
    for i in range(24 * 60):
        device.free(device.alloc((1 + i % 7) * MIB))
        device.advance(minute)
        sampler.now()
    samples = sampler.table()
    assert len(samples) == 1440 and samples.column("index") == list(range(1440))
    # An allocation and its free are two events, of a microsecond each; so are segments.
    assert samples[-1].t_ns == device.clock - start and samples[-1].t_ns // minute == 1440
    assert [s.unix_us - samples[0].unix_us for s in samples] == [(s.t_ns - samples[0].t_ns) // 1000 for s in samples]
    assert samples.column("peak_bytes") == [(1 + i % 7) * MIB for i in range(1440)]
    assert set(samples.column("state")) == {"exact"} and set(samples.column("age_ns")) == {0}
    assert set(samples.column("allocated_bytes")) == {0}
    assert samples.column("allocations") == list(range(1, 1441))


def test_a_sample_tells_of_the_device_and_the_process():
    device = Device("1GiB", count=2, context="100MiB")
    sampler = _core.Sampler(backend=device.backend, device=1)
    kept = device.alloc("30MiB", device=1)
    device.other("200MiB", device=1)
    device.set_util(62.5, 10, device=1)
    sampler.now()
    sample, = sampler.samples()
    assert (sample.device, sample.allocated_bytes) == (1, 30 * MIB)
    assert sample.device_total_bytes == 1024 * MIB
    assert sample.device_used_bytes == 300 * MIB + sample.reserved_bytes
    assert sample.device_free_bytes == device.memory(1)[0]
    assert sample.utilisation_percent == 62.5 and sample.rss_bytes > MIB
    assert abs(sample.time - time.time()) < 60
    assert sample.cached_bytes == sample.reserved_bytes - sample.active_bytes
    device.free(kept)


def test_without_resets_the_counters_of_the_program_stay():
    device = Device("1GiB")
    device.free(device.alloc("50MiB"))
    for reset in (False, True):
        sampler = _core.Sampler(backend=device.backend, reset_peaks=reset)
        device.free(device.alloc("20MiB"))
        sampler.now()
        sample, = sampler.samples()
        peak = device.stats()["allocated_peak_bytes"]
        if reset:
            assert (sample.peak_bytes, sample.state, peak) == (20 * MIB, "exact", 0)
        else:  # a lower bound: the counter stood at 50 MiB from before
            assert (sample.peak_bytes, sample.state, peak) == (0, "sampled", 50 * MIB)


def test_nothing_is_known_of_no_device():
    sampler = _core.Sampler(backend=_core.Backend(object()))
    sampler.now()
    sample = sampler.samples()[0].to_dict()
    known = {name for name, value in sample.items() if value is not None}
    assert known == {"index", "device", "t_ns", "unix_us", "time", "rss_bytes", "state"}
    assert sample["state"] == "unknown"
    assert sampler.counts()["driver"] is None


def test_old_samples_are_overwritten_and_counted():
    sampler = _core.Sampler(backend=Device("1GiB").backend, capacity=1)  # a ring has 1,024 at least
    for _ in range(1030):
        sampler.now()
    counts = sampler.counts()
    assert (counts["first"], counts["next"], counts["lost"]) == (6, 1030, 6)
    assert [s.index for s in sampler.samples(1027)] == [1027, 1028, 1029] and sampler.samples(2000) == []
    assert sampler.samples()[0].index == 6 and len(sampler.table()) == 1024
    sampler.clear()
    assert sampler.samples() == [] and sampler.counts()["lost"] == 0 and sampler.counts()["next"] == 1030


# The thread.

def test_it_samples_until_it_is_stopped_and_can_begin_again():
    device = Device("1GiB")
    sampler = _core.Sampler(backend=device.backend, interval=0.001)
    assert not sampler.running and threads() == 0 and sampler.counts()["state"] == "stopped"
    sampler.start()
    sampler.start()  # ignored
    until(lambda: len(sampler.samples()) > 3)
    assert sampler.running and threads() == 1
    ours, = [task for task in TASKS.iterdir() if named(task)]
    blocked = [line for line in Path(ours, "status").read_text().splitlines() if line.startswith("SigBlk:")]
    everything = (1 << 64) - 1 & ~sum(1 << s - 1 for s in (signal.SIGKILL, signal.SIGSTOP, 32, 33))
    assert int(blocked[0].split()[1], 16) & everything == everything
    sampler.stop()
    sampler.stop()
    count = len(sampler.samples())
    time.sleep(0.02)
    assert threads() == 0 and len(sampler.samples()) == count and not sampler.running
    sampler.start()
    until(lambda: len(sampler.samples()) > count)
    sampler.stop()


def test_one_that_is_forgotten_ends():
    for make in (lambda: Device("1GiB").backend, lambda: _core.Backend(Counted())):
        backend = make()
        sampler = _core.Sampler(backend=backend, interval=0.001)
        sampler.start()
        until(lambda: len(sampler.samples()) > 1)
        del sampler
        gc.collect()
        until(lambda: "vramscope-reader" not in [t.name for t in threading.enumerate()])
        assert threads() == 0
        alive = weakref.ref(backend)
        del backend
        gc.collect()
        assert alive() is None


@pytest.mark.parametrize("interval", [0, -1, float("nan"), float("inf"), 0.0009, 3600.1, -0.0])
def test_an_interval_has_bounds(interval):
    with pytest.raises(ValueError, match="0.001 to 3600"):
        _core.Sampler(backend=Device("1GiB").backend, interval=interval)
    with vramscope.Profiler(backend="none") as p:
        with pytest.raises(ValueError):
            p.start_sampling(interval)
        assert len(p.samples()) == 0


def test_what_it_is_made_of_is_looked_at():
    backend = Device("1GiB").backend
    for wrong in ({"interval": "1"}, {"device": "cuda:0"}, {"backend": "sim"}, {"capacity": "1"}):
        with pytest.raises(TypeError):
            _core.Sampler(**{"backend": backend, **wrong})
    for capacity in (0, -1, (1 << 24) + 1):
        with pytest.raises(ValueError):
            _core.Sampler(backend=backend, capacity=capacity)
    with pytest.raises(vramscope.Error, match="there is device 0 alone"):
        _core.Sampler(backend=backend, device=1)
    for bound in (0.001, 3600):
        _core.Sampler(backend=backend, interval=bound)


def test_the_longest_interval_ends_at_once():
    sampler = _core.Sampler(backend=Device("1GiB").backend, interval=3600)
    sampler.start()
    begun = time.monotonic()
    sampler.stop()
    assert time.monotonic() - begun < 60 and len(sampler.samples()) == 1


# Where Python has to read.

def test_a_reader_reads_for_it():
    counted = Counted()
    sampler = _core.Sampler(backend=_core.Backend(counted), interval=0.05)
    sampler.start()
    until(lambda: counted.readings >= 4)
    reader, = [t for t in threading.enumerate() if t.name == "vramscope-reader"]
    assert reader.daemon
    readings, elapsed = counted.readings, sampler.samples()[-1].t_ns
    sampler.stop()
    assert not reader.is_alive()
    samples = sampler.table()
    # One reading when it was made, then 20 a second at most, and none for nobody.
    assert readings <= 3 + elapsed / 50e6
    assert samples[0].allocated_bytes == MIB and samples[0].age_ns is not None
    assert samples[-1].allocated_bytes > MIB
    assert counted.others == []  # it never waits for the device, nor gives anything back
    readings = counted.readings
    time.sleep(0.15)
    assert counted.readings == readings


def test_what_the_program_reads_itself_is_taken():
    counted = Counted()
    backend = _core.Backend(counted)
    sampler = _core.Sampler(backend=backend, interval=10)
    with vramscope.Profiler(backend=backend) as p:
        record = p.checkpoint("here")
        sampler.start()
        until(lambda: len(sampler.samples()) == 1)
        sampler.stop()
    sample, = sampler.samples()
    assert sample.allocated_bytes == record.allocated_bytes and 0 <= sample.age_ns < 60e9


def test_a_reading_that_fails_is_unknown():
    class Broken:
        def stats(self, device):
            raise RuntimeError("no driver")

    sampler = _core.Sampler(backend=_core.Backend(Broken()))
    sampler.now()
    sample, = sampler.samples()
    assert (sample.allocated_bytes, sample.age_ns, sample.state) == (None, None, "unknown")


def test_a_program_that_computes_in_python_is_sampled():
    device, counted = Device("1GiB"), Counted()
    alone = _core.Sampler(backend=device.backend, interval=0.001)
    read = _core.Sampler(backend=_core.Backend(counted), interval=0.05)
    alone.start()
    read.start()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        sum(range(1000))
    alone.stop()
    read.stop()
    counts = alone.counts()
    # Slots that a busy machine missed are counted, so that the table of times stays.
    assert 400 <= counts["next"] + counts["skipped"] and counts["next"] > 20
    assert counted.readings >= 3


@pytest.mark.parametrize("form", torch_forms.FORMS)
def test_torch_is_read_beside_the_program(form):
    counters = Counters()
    with installed(form, [counters]) as torch:
        with vramscope.Profiler(backend="torch") as p:
            before = p.losses  # of the process
            p.start_sampling(0.05)
            until(lambda: len(p.samples()) > 1)
            assert not torch.cuda.is_initialized() and set(p.samples().column("allocated_bytes")) == {0}
            tensor = torch.randn(1000, device="cuda")
            until(lambda: p.samples()[-1].allocated_bytes)
            del tensor
            until(lambda: p.samples()[-1].allocated_bytes == 0)
            assert all(p.losses[kind] == before[kind] for kind in ("readings", "nested", "foreign_resets"))


def test_torch_tells_what_the_driver_knows_a_device_by():
    with installed("2.15") as torch:
        owner = backends.torch().owner
        torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(uuid="5d8e-%d" % device)
        assert owner.driver_id(1) is None  # CUDA is not in use
        torch.cuda.init()
        assert owner.driver_id(1) == "GPU-5d8e-1"
        torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(
            pci_domain_id=1, pci_bus_id=0x65, pci_device_id=10)
        assert owner.driver_id(0) == "00000001:65:0A.0"
        torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(name="older than both")
        assert owner.driver_id(0) is None


# Fork, and the ends of programs.

def test_a_child_of_fork_has_none_and_may_begin_one():
    device = Device("1GiB")
    sampler = _core.Sampler(backend=device.backend, interval=0.001)
    sampler.start()
    until(lambda: sampler.samples())
    child = os.fork()
    if child == 0:
        ok = not sampler.running and sampler.counts()["state"] == "stopped by fork" and threads() == 0
        count = sampler.counts()["next"]
        sampler.start()
        end = time.monotonic() + 30
        while sampler.counts()["next"] < count + 3 and time.monotonic() < end:
            time.sleep(0.001)
        ok = ok and sampler.counts()["next"] >= count + 3 and sampler.running and threads() == 1
        sampler.stop()
        os._exit(0 if ok and sampler.counts()["state"] == "stopped" else 1)
    assert os.waitpid(child, 0)[1] == 0
    count = len(sampler.samples())
    until(lambda: len(sampler.samples()) > count)
    sampler.stop()


def test_the_reader_begins_again_in_a_child():
    counted = Counted()
    sampler = _core.Sampler(backend=_core.Backend(counted), interval=0.05)
    sampler.start()
    until(lambda: counted.readings >= 2)
    child = os.fork()
    if child == 0:
        before = counted.readings
        sampler.start()
        end = time.monotonic() + 30
        while counted.readings < before + 2 and time.monotonic() < end:
            time.sleep(0.001)
        sampler.stop()
        os._exit(0 if counted.readings >= before + 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    sampler.stop()


def test_open_scopes_stay_in_a_child():
    """Also where the thread is at the device while the process forks, but for a few instructions."""
    device, exact = Device("1GiB"), 0
    sampler = _core.Sampler(backend=device.backend, interval=0.001)
    sampler.start()
    for _ in range(20):
        with vramscope.Profiler(backend=device.backend) as p, p.scope("outer") as scope:
            device.free(device.alloc("20MiB"))
            child = os.fork()
            if child == 0:
                scope.__exit__(None, None, None)
                known = scope.result.state == "exact"
                os._exit(1 if known and scope.result.peak_bytes != 20 * MIB else 2 if known else 3)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert status in (2, 3)
            exact += status == 2
    sampler.stop()
    assert exact >= 15


STOPPED = """
import os, signal, sys, time
from vramscope import _core
sampler = _core.Sampler(backend=_core.Backend(object()), interval=0.01)
def more(than):
    end = time.monotonic() + 60
    while len(sampler.table()) <= than:
        assert time.monotonic() < end, "no sample for a minute"
        time.sleep(0.01)
sampler.start()
more(3)
if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(0.6)  # for so long it is stopped
    os.kill(os.getppid(), signal.SIGCONT)
    os._exit(0)
os.wait()
more(len(sampler.table()) + 3)
sampler.stop()
samples, counts = sampler.table(), sampler.counts()
print([s.t_ns for s in samples], counts["skipped"])
"""


def test_a_process_that_was_stopped_makes_no_burst():
    times, skipped = eval(program(STOPPED).replace("] ", "], "))
    gaps = [b - a for a, b in zip(times, times[1:])]
    assert max(gaps) > 0.4e9 and skipped >= 40
    # Each time is that of a slot of its own: with those that were skipped there are as many as went by, and one more
    # where the first was late in its slot.
    assert len(times) - 1 + skipped <= (times[-1] - times[0]) / 1e7 + 2


EXITS = """
import os, sys, threading, time
import vramscope
from vramscope import _core
from vramscope.sim import Device

class Counted:
    def stats(self, device):
        return {"allocated_bytes": {"all": {"current": 1, "peak": 1}}}

def sampler_of(backend):
    made = _core.Sampler(backend=backend, interval=0.001)
    made.start()
    return made

for kind in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        break
    status = os.waitpid(child, 0)[1]
    if os.waitstatus_to_exitcode(status) != (3 if kind % 7 == 4 else 0):
        sys.exit(f"{kind}: {status}")
else:
    print("all")
    os._exit(0 if sys.stdout.flush() is None else 1)

device = Device("1GiB")
keep = [sampler_of(device.backend), sampler_of(_core.Backend(Counted()))]
p = vramscope.Profiler(backend=device.backend)
p.start_sampling(0.001)
if kind % 7 == 1:
    p.scope("open").__enter__()
elif kind % 7 == 2:
    # Threads that begin hold locks of the sanitizer, which a child would wait for.
    while not (p.samples() and all(s.counts()["next"] for s in keep)):
        time.sleep(0.001)
    if os.fork() != 0:
        os.wait()
elif kind % 7 == 3:
    threading.Thread(target=sys.exit).start()
elif kind % 7 == 4:
    os._exit(3)
elif kind % 7 == 5:
    def work():
        while True:
            p.checkpoint("still")
    threading.Thread(target=work, daemon=True).start()
elif kind % 7 == 6:
    keep.append(keep)
    del keep, device, p
time.sleep(0.001 * (kind % 3))
"""


@pytest.mark.parametrize("exits", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_the_interpreter_ends_while_it_samples(exits):
    assert program(EXITS, str(exits)) == "all\n"


def test_a_program_that_samples_exits_as_without():
    code = ("import vramscope\nfrom vramscope.sim import Device\n"
            "p = vramscope.Profiler(backend=Device('1GiB').backend)\np.start_sampling(0.001)\np.checkpoint('a')\nprint('done')\n")
    assert program(code) == "done\n"


# The driver.

DRIVER = """
import ctypes, sys, time
from vramscope import _core

class Fake(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in ("init", "find", "memory", "utilisation", "processes")] + [
        ("total", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong), ("percent", ctypes.c_uint)]
fake = Fake.in_dll(ctypes.CDLL(sys.argv[1]), "fake_nvml")

class Named:
    def stats(self, device):
        return {}
    def driver_id(self, device):
        return "GPU-%d" % device

backend = _core.Backend(Named())
sampler = _core.Sampler(backend=backend)
sampler.now()
fake.memory = 15
time.sleep(0.15)
sampler.now()
print([(s.device_used_bytes, s.device_total_bytes, s.utilisation_percent) for s in sampler.samples()])
print(sampler.counts()["driver"])
print(backend.utilisation(), backend.driver())
"""


def test_the_driver_is_asked_by_its_library():
    out = program(DRIVER, str(FAKE), VRAMSCOPE_NVML=str(FAKE)).splitlines()
    assert out[0] == "[(400, 1000, 30.0), (None, None, 30.0)]"
    assert out[1] == "nvmlDeviceGetMemoryInfo: GPU is lost"
    assert out[2] == ("30.0 {'used_bytes': None, 'total_bytes': None, 'utilisation_percent': 30.0, 'processes': 0, "
                      "'own_bytes': 0, 'why': 'nvmlDeviceGetMemoryInfo: GPU is lost'}")


def test_without_a_driver_there_is_a_reason():
    out = program(DRIVER, str(FAKE), VRAMSCOPE_NVML="/nowhere/libnvidia-ml.so.1").splitlines()
    assert out[0] == "[(None, None, None), (None, None, None)]"
    assert "/nowhere/libnvidia-ml.so.1" in out[1] and out[2].startswith("None {")


def test_a_backend_that_names_no_device_has_no_driver():
    backend = _core.Backend(Counted())
    sampler = _core.Sampler(backend=backend)
    sampler.now()
    assert sampler.counts()["driver"] == "the backend does not say which device of the driver it is"
    assert backend.driver() is None and backend.utilisation() is None


# A profiler's.

def test_a_profiler_samples_its_device():
    with Device("1GiB") as device, vramscope.Profiler() as p:
        assert len(p.samples()) == 0 and p.losses["samples"] == 0
        p.start_sampling(0.001)
        p.start_sampling(0.5)  # ignored
        kept = device.alloc("7MiB")
        until(lambda: len(p.samples()) > 3 and p.samples()[-1].allocated_bytes == 7 * MIB)
        p.stop_sampling()
        count = len(p.samples())
        p.start_sampling(0.001)
        until(lambda: len(p.samples()) > count)  # those of before stay
        p.stop_sampling()
        p.reset()
        assert len(p.samples()) == 0
        p.start_sampling(0.002)
        device.free(kept)
    assert threads() == 0 and len(p.samples()) >= 1  # close() has ended it
    assert {"samples", "skipped_samples", "busy_samples", "records"} <= set(p.losses)
    with pytest.raises(ValueError, match="closed"):
        p.start_sampling()


def test_a_profiler_that_keeps_peaks_resets_none_for_samples():
    for keep in (True, False):
        with Device("1GiB") as device:
            device.free(device.alloc("50MiB"))
            with vramscope.Profiler(preserve_torch_peak=keep, enabled=False) as p:
                p.start_sampling(0.001)
                until(lambda: len(p.samples()) > 1)
            assert device.stats()["allocated_peak_bytes"] == (50 * MIB if keep else 0)


def test_samples_are_a_sequence_that_does_not_change():
    device = Device("1GiB")
    sampler = _core.Sampler(backend=device.backend)
    for i in range(5):
        device.advance(10)
        sampler.now()
    samples = sampler.table()
    assert isinstance(samples, collections.abc.Sequence) and isinstance(samples, vramscope.Samples)
    assert len(samples) == 5 and [s.index for s in samples] == [0, 1, 2, 3, 4] == samples.column("index")
    assert samples[-1] == samples[4] != samples[0] and samples[1:-1:2].column("index") == [1, 3]
    assert samples[::-1].column("index") == [4, 3, 2, 1, 0] and len(samples[3:1]) == 0
    for i in (5, -6):
        with pytest.raises(IndexError):
            samples[i]
    with pytest.raises(KeyError):
        samples.column("bytes")
    with pytest.raises(TypeError):
        samples.column(3)
    assert tuple(samples[0].to_dict()) == samples.columns == tuple(samples.to_dict())
    assert samples.to_dict()["t_ns"] == [10, 20, 30, 40, 50]
    again = pickle.loads(pickle.dumps(samples))
    assert again == samples and again != samples[1:] and again[2] == samples[2]
    assert samples == sampler.table() and samples != [*samples]
    for thing, name in ((samples, "columns"), (samples[0], "t_ns")):
        with pytest.raises(AttributeError):
            setattr(thing, name, 1)
    with pytest.raises(TypeError):
        samples[0] = samples[1]
    for cls in (vramscope.Sample, vramscope.Samples):
        with pytest.raises(TypeError):
            cls()
    assert repr(samples) == "<Samples: 5>" and repr(samples[0]) == "<Sample t_ns=10: allocated_bytes=0>"


def test_the_examples_in_the_docstrings_run():
    found = doctest.testmod(profiler)
    assert found.attempted > 10 and found.failed == 0
    assert "start_sampling" in profiler.Profiler.__dict__ and ">>>" in profiler.Profiler.start_sampling.__doc__
