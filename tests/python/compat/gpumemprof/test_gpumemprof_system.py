"""Facts of devices, shares, hints, the summary's text, MemoryContext, and memory of the host: rows B59, B60."""
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from stand_in import installed
from stand_in.counters import SimCounters
from vramscope import sim
from vramscope.compat import gpumemprof
from vramscope.compat.gpumemprof import CPUMemoryProfiler, MemoryContext, system

GOLDEN = Path(__file__).parents[1] / "golden/gpumemprof"
MIB, GIB = 1 << 20, 1 << 30
INFO = ["device_id", "device_name", "device_capability", "total_memory", "multiprocessor_count", "cuda_version", "pytorch_version",
        "allocated_memory", "reserved_memory", "max_memory_allocated", "max_memory_reserved", "memory_stats"]
COUNTERS = ["active_bytes", "inactive_bytes", "reserved_bytes", "num_alloc_retries", "num_ooms"]
SHARES = ["device_id", "total_memory", "allocated_memory", "reserved_memory", "active_memory", "inactive_memory", "free_memory",
          "fragmentation_ratio", "utilization_ratio", "reservation_ratio", "waste_ratio", "total_memory_formatted",
          "allocated_memory_formatted", "reserved_memory_formatted", "active_memory_formatted", "inactive_memory_formatted",
          "free_memory_formatted"]
SYSTEM = ["platform", "architecture", "python_version", "torch_available", "cuda_available", "rocm_available", "rocm_version",
          "mps_available", "mps_built", "detected_backend"]
OF_CUDA = ["cuda_device_count", "cuda_version", "cudnn_version", "current_device"]
HOST = ["cpu_count", "cpu_count_logical", "memory_total", "memory_available", "memory_percent"]


def test_info_of_a_device():
    with sim.Device("4GiB", count=2) as device:
        kept = device.alloc(20 * MIB, device=1)
        info = gpumemprof.get_gpu_info("cuda:1")
        assert list(info) == INFO and list(info["memory_stats"]) == COUNTERS
        assert (info["device_id"], info["total_memory"], info["allocated_memory"]) == (1, 4 * GIB, kept.bytes)
        assert info["memory_stats"]["active_bytes"] == kept.bytes and info["device_capability"] is None
        assert gpumemprof.get_gpu_info()["device_id"] == 0
        with pytest.raises(ValueError):
            gpumemprof.get_gpu_info(2)


def test_info_of_a_device_of_torch(monkeypatch, tmp_path):
    """nvidia-smi is asked for the device by its UUID; what it does not know is None."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > " + str(tmp_path / "asked") + "\necho '81920, 512, 81408, 37, [N/A], 99.5'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with installed(devices=[SimCounters(sim.Device("80GiB"))]) as torch:
        torch.cuda.init()
        torch.cuda.get_device_properties = lambda number: types.SimpleNamespace(
            total_memory=79 * GIB, major=9, minor=0, multi_processor_count=132, uuid="ab-cd")
        kept = torch.randn(1000, device="cuda")
        info = gpumemprof.get_gpu_info(0)
        assert gpumemprof.check_memory_fragmentation(0)["total_memory"] == 79 * GIB
    assert kept.is_cuda and list(info) == [*INFO, "nvidia_smi_info"]
    assert (info["total_memory"], info["device_capability"], info["multiprocessor_count"]) == (79 * GIB, (9, 0), 132)
    assert (info["allocated_memory"], info["cuda_version"], info["pytorch_version"]) == (4096, "13.2", "2.15.0")
    assert info["nvidia_smi_info"] == {"memory_total_mb": 81920, "memory_used_mb": 512, "memory_free_mb": 81408,
                                       "gpu_utilization_percent": 37, "temperature_c": None, "power_draw_w": 99.5}
    assert "--id=GPU-ab-cd" in (tmp_path / "asked").read_text()
    program.write_text("#!/bin/sh\nexit 6\n")
    assert system._smi("ab-cd") == {} and system._smi(None) == {}


def test_shares_of_a_device():
    with sim.Device("4GiB") as device:
        empty = gpumemprof.check_memory_fragmentation()
        kept, cached = device.alloc(30 * MIB), device.alloc(50 * MIB)
        part = device.alloc(8 * MIB)  # of a segment of 20 MiB
        device.free(cached)
        told, stats = gpumemprof.check_memory_fragmentation(0), device.stats()
    assert list(told) == list(empty) == SHARES and kept.bytes + part.bytes == told["allocated_memory"]
    assert (empty["fragmentation_ratio"], empty["waste_ratio"], empty["free_memory"]) == (0, 0, 4 * GIB)
    assert told["reserved_memory"] == stats["reserved_bytes"] == 100 * MIB
    assert told["fragmentation_ratio"] == stats["inactive_split_bytes"] / (100 * MIB) > 0
    assert told["utilization_ratio"] == 38 / 4096 and told["reservation_ratio"] == 100 / 4096 and told["waste_ratio"] == 62 / 4096
    assert (told["reserved_memory_formatted"], told["free_memory_formatted"]) == ("100.00 MB", "3.90 GB")
    assert gpumemprof.suggest_memory_optimization(told)


def test_what_is_not_known_is_none():
    class Blind:
        """A device whose counters cannot be read."""
        def available(self): return True
        def count(self): return 1
        def current(self): return 0
    from vramscope import _core
    backend = _core.Backend(Blind())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system, "_bound", lambda device: (backend, 0))
        told = gpumemprof.check_memory_fragmentation()
        assert {name: value for name, value in told.items() if value is not None} == {"device_id": 0}
        assert "Total Memory: unknown" in gpumemprof.memory_summary() and "Waste: unknown" in gpumemprof.memory_summary()
        assert len(gpumemprof.suggest_memory_optimization(told)) == 4


def test_without_a_device_there_is_an_error():
    assert gpumemprof.get_gpu_info() == gpumemprof.check_memory_fragmentation() == {"error": "CUDA is not available"}
    with pytest.raises(RuntimeError), MemoryContext():
        pass


@pytest.mark.parametrize("name", ["empty", "full", "wasted", "none"])
def test_texts_of_the_summary(name):
    golden = (GOLDEN / f"summary_{name}.txt").read_text()
    if name == "none":
        assert gpumemprof.memory_summary() + "\n" == golden
        return
    with sim.Device("4GiB") as device:
        kept = [device.alloc(3900 * MIB)] if name == "full" else []
        if name == "wasted":
            kept = [device.alloc(1030 * MIB), device.alloc(1030 * MIB)]
            device.free(kept.pop())
        assert gpumemprof.memory_summary() + "\n" == golden


def test_every_golden_text_is_asked_for():
    assert {path.name for path in GOLDEN.iterdir()} == {f"summary_{name}.txt" for name in ("empty", "full", "wasted", "none")}


def test_the_system():
    told = gpumemprof.get_system_info()
    assert list(told) == SYSTEM + HOST
    assert (told["platform"], told["cuda_available"], told["detected_backend"]) == ("Linux", False, "cpu")
    assert 0 < told["memory_available"] < told["memory_total"] and 0 <= told["memory_percent"] <= 100
    with sim.Device(count=3) as device:
        device.current = 2
        told = gpumemprof.get_system_info()
    assert list(told) == SYSTEM + OF_CUDA + HOST
    assert (told["cuda_device_count"], told["current_device"], told["detected_backend"]) == (3, 2, "cuda")


def test_a_memory_context():
    with sim.Device() as device:
        resident = device.alloc(10 * MIB)
        device.free(device.alloc(500 * MIB))
        measured = MemoryContext("load")
        assert measured.get_summary() == {"error": "Context not properly initialized"}
        with measured as given, MemoryContext() as inner:
            assert given is measured and measured.start_memory == resident.bytes
            device.free(device.alloc(40 * MIB))
        with pytest.raises(KeyError), measured:
            device.free(resident)
            raise KeyError
    assert inner.get_summary()["peak_memory_usage"] == 40 * MIB
    assert measured.get_summary() == {
        "name": "load", "start_memory": 10 * MIB, "end_memory": 0, "peak_memory": 10 * MIB, "memory_diff": -10 * MIB,
        "peak_memory_usage": 0, "start_memory_formatted": "10.00 MB", "end_memory_formatted": "0 B",
        "peak_memory_formatted": "10.00 MB", "memory_diff_formatted": "10.00 MB", "peak_memory_usage_formatted": "0 B"}


HOST_PROGRAM = """
import json
from vramscope.compat.gpumemprof import CPUMemoryProfiler
profiler = CPUMemoryProfiler()
kept = []
grown = profiler.profile_function(lambda: kept.append(b"x" * (64 << 20)))
with profiler.profile_context("free"):
    kept.clear()
print(json.dumps([result.to_dict() for result in profiler.results] + [profiler.get_summary()]))
"""


def test_memory_of_the_process_B60():
    """In a process of its own, whose allocator gives large blocks back."""
    from conftest import PACKAGE
    done = subprocess.run([sys.executable, "-B", "-c", HOST_PROGRAM], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_PRELOAD": os.environ.get("LD_PRELOAD", ""), "PYTHONPATH": PACKAGE,
                               "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=1"})
    grown, freed, summary = json.loads(done.stdout)
    assert list(grown) == ["name", "duration", "memory_diff", "peak_rss", "before", "after"]
    assert list(grown["before"]) == ["timestamp", "rss", "vms", "cpu_percent"]
    assert (grown["name"], freed["name"]) == ("<lambda>", "free") and grown["duration"] > 0
    assert 60 * MIB < grown["memory_diff"] < 80 * MIB and grown["peak_rss"] == grown["after"]["rss"]
    assert freed["memory_diff"] < 0 and freed["peak_rss"] == freed["before"]["rss"] < freed["before"]["vms"]
    assert list(summary) == ["mode", "snapshots_collected", "peak_memory_usage", "memory_change_from_baseline", "baseline_rss"]
    assert (summary["mode"], summary["snapshots_collected"], summary["memory_change_from_baseline"]) == ("cpu", 0, 0)


def test_calls_on_the_host_B60():
    profiler = CPUMemoryProfiler()
    assert profiler.profile_function(divmod, 7, 2).name == "divmod"
    with pytest.raises(ZeroDivisionError):
        profiler.profile_function(divmod, 7, 0)
    with pytest.raises(KeyError), profiler.profile_context():
        raise KeyError
    assert [result.name for result in profiler.results] == ["divmod", "context"]
    profiler.clear_results()
    assert (profiler.results, profiler.snapshots) == ([], [])
