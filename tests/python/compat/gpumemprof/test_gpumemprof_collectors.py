"""What reads a device for a tracker: simulated, torch's, ROCm's, one of another kind; rows B54, B67."""
import doctest

import pytest
from stand_in import installed
from stand_in.counters import SimCounters
from vramscope import sim
from vramscope.compat import gpumemprof
from vramscope.compat.gpumemprof import DeviceMemoryCollector, DeviceMemorySample, build_device_memory_collector, collectors
from vramscope.compat.gpumemprof import detect_torch_runtime_backend

MIB, GIB = 1 << 20, 1 << 30
CAPABILITIES = ["backend", "supports_device_total", "supports_device_free", "sampling_source", "telemetry_collector"]


def test_a_simulated_device_B54():
    with sim.Device("4GiB", count=2, context="100MiB") as device:
        kept = device.alloc(30 * MIB, device=1)
        device.free(device.alloc(50 * MIB, device=1))
        device.other("1GiB", device=1)
        collector = build_device_memory_collector("cuda:1")
        sample, told = collector.sample(), device.stats(1)
        assert (collector.name(), collector.is_available(), str(collector.device)) == ("sim", True, "cuda:1")
        assert (sample.allocated_bytes, sample.reserved_bytes) == (kept.bytes, 80 * MIB)
        assert (sample.active_bytes, sample.inactive_bytes) == (told["active_bytes"], told["inactive_split_bytes"])
        # Not what the allocator has reserved: memory that it does not know of is seen.
        assert (sample.total_bytes, sample.used_bytes, sample.device_id) == (4 * GIB, 80 * MIB + 100 * MIB + GIB, 1)
        assert sample.free_bytes == sample.total_bytes - sample.used_bytes
        assert collector.capabilities() == {"backend": "sim", "supports_device_total": True, "supports_device_free": True,
                                            "sampling_source": "simulated device", "telemetry_collector": "gpumemprof.sim_tracker"}
        assert build_device_memory_collector().sample().device_id == 0 and build_device_memory_collector(1).sample() == sample
        with pytest.raises(ValueError):
            build_device_memory_collector(2)
        with pytest.raises(ValueError, match="mps"):
            build_device_memory_collector("mps")
    assert not collector.is_available()


def torch_device(torch, free=None):
    torch.cuda.memory.mem_get_info = torch.cuda.mem_get_info = lambda number: (free, 80 * GIB)


def test_a_device_of_torch_B54():
    with installed(devices=[SimCounters(sim.Device("80GiB"))]) as torch:
        before = build_device_memory_collector(0)
        assert before.sample() == DeviceMemorySample(0, 0, None, None, None, 0, 0, 0)  # CUDA is not initialised by it
        assert not torch.cuda.is_initialized()
        assert before.capabilities()["supports_device_total"] is False and list(before.capabilities()) == CAPABILITIES
        torch.cuda.init()
        torch_device(torch, free=70 * GIB)
        kept = torch.randn(1 << 20, device="cuda")
        sample = build_device_memory_collector().sample()
        assert before.name() == "cuda" and before.is_available() and before.telemetry_collector == "gpumemprof.cuda_tracker"
        assert before.capabilities()["supports_device_free"] is True
    assert (sample.allocated_bytes, sample.used_bytes, sample.free_bytes) == (4 * MIB, 10 * GIB, 70 * GIB) and kept.is_cuda


def test_a_device_of_rocm_B54():
    with installed(devices=[SimCounters(sim.Device("80GiB"))]) as torch:
        torch.version.hip = "6.4"
        collector = build_device_memory_collector(0)
        assert collector.name() == detect_torch_runtime_backend() == "rocm" and collector.is_available()
        assert collector.capabilities()["telemetry_collector"] == "gpumemprof.rocm_tracker"
        assert not gpumemprof.collectors.CudaDeviceCollector(0).is_available()


def test_what_is_unavailable_is_not_0_B54_B67():
    with installed(devices=[SimCounters(sim.Device("80GiB"))]) as torch:
        collector = build_device_memory_collector(0)
        torch._C._cuda_isInBadFork = lambda: True
        from vramscope import backends
        backends._made.pop("torch", None), backends._made.pop("torch module", None)
        with pytest.raises(RuntimeError, match="unavailable"):
            build_device_memory_collector(0).sample()
        assert collector.sample().allocated_bytes == 0  # made before: it looks at what it was made for
        backends._made.pop("torch", None), backends._made.pop("torch module", None)


def test_what_torch_runs_on_B54(monkeypatch):
    with sim.Device():
        assert detect_torch_runtime_backend() == "cuda"
    with installed(devices=[SimCounters(sim.Device("80GiB"))]):
        assert detect_torch_runtime_backend() == "cuda"
    with installed(devices=[]) as torch:
        assert detect_torch_runtime_backend() == "cpu"
        torch.backends = type("backends", (), {"mps": type("mps", (), {"is_available": staticmethod(lambda: True)})})
        assert detect_torch_runtime_backend() == "mps"
        torch.backends.mps.is_available = staticmethod(lambda: 1 / 0)
        assert detect_torch_runtime_backend() == "cpu"
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "none")
    assert detect_torch_runtime_backend() == "cpu"
    with pytest.raises(RuntimeError):
        build_device_memory_collector()


def test_a_collector_of_another_kind_B67():
    class Host(DeviceMemoryCollector):
        def name(self):
            return "host"

        def is_available(self):
            return True

        def sample(self):
            return DeviceMemorySample(1, 2, None, None, None, None, None, -1)

        def capabilities(self):
            return {"backend": "host"}
    assert Host().sample().used_bytes is None and isinstance(Host(), DeviceMemoryCollector)
    for missing in ("name", "is_available", "sample", "capabilities"):
        with pytest.raises(TypeError, match=missing):
            type("Less", (Host,), {missing: getattr(DeviceMemoryCollector, missing)})()


def test_names_of_the_module_B54():
    assert collectors.DeviceMemorySample is DeviceMemorySample
    with pytest.raises(AttributeError, match="nothing"):
        collectors.nothing
    done = doctest.testmod(collectors)
    assert done.attempted and not done.failed
