"""Names, signatures, fields and keys of compat.gpumemprof by a table; what its import costs; rows B04, B06, B07, B54, B59."""
import dataclasses
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import PACKAGE
from gpumemprof_made import MIB, call, snapshot
from vramscope.compat import gpumemprof
from vramscope.compat.gpumemprof import convert_bytes, format_bytes, suggest_memory_optimization

TABLE = tomllib.loads((Path(__file__).parent / "surface.toml").read_text())


@pytest.mark.parametrize("name", TABLE["signatures"])
def test_signatures(name):
    found = gpumemprof
    for part in name.split("."):
        found = getattr(found, part)
    signature = inspect.signature(found)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)) == TABLE["signatures"][name]


@pytest.mark.parametrize("name", TABLE["fields"])
def test_fields(name):
    plain, _, defaults = TABLE["fields"][name].partition("|")
    found = dataclasses.fields(getattr(gpumemprof, name))
    missing = dataclasses.MISSING
    told = [f.name if f.default is missing and f.default_factory is missing else
            f"{f.name}={f.default_factory.__name__ if f.default is missing else repr(f.default)}" for f in found]
    assert told == plain.split() + defaults.split()


def test_submodules_have_the_names_that_they_had():
    from vramscope.compat.gpumemprof.analyzer import GapFinding, MemoryPattern, PerformanceInsight
    from vramscope.compat.gpumemprof.telemetry import TelemetryEventV2
    assert (GapFinding, MemoryPattern, PerformanceInsight, TelemetryEventV2) == tuple(
        getattr(gpumemprof, name) for name in ("GapFinding", "MemoryPattern", "PerformanceInsight", "TelemetryEventV2"))
    for module in ("analyzer", "telemetry"):
        with pytest.raises(AttributeError, match="nothing"):
            importlib.import_module(f"vramscope.compat.gpumemprof.{module}").nothing


def test_submodules_have_the_names_that_the_original_s_have():
    from vramscope.compat.gpumemprof.cpu_profiler import CPUMemorySnapshot, CPUProfileResult
    from vramscope.compat.gpumemprof.profiler import MemorySnapshot, ProfileResult
    assert (CPUMemorySnapshot, CPUProfileResult, MemorySnapshot, ProfileResult) == tuple(
        getattr(gpumemprof, name) for name in ("CPUMemorySnapshot", "CPUProfileResult", "MemorySnapshot", "ProfileResult"))


def test_every_name_is_there_and_listed():
    assert set(gpumemprof.__all__) <= set(dir(gpumemprof))
    assert all(getattr(gpumemprof, name) is not None for name in gpumemprof.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        gpumemprof.nothing
    stub = Path(gpumemprof.__file__).with_suffix(".pyi").read_text()
    assert re.findall(r'^    "(\w+)",$', stub, re.M) == gpumemprof.__all__ == sorted(set(re.findall(r" as (\w+)", stub)))
    assert {name.split(".")[0] for section in ("signatures", "fields") for name in TABLE[section]} == set(gpumemprof.__all__)


def test_records_as_dicts_B04_B06_B07():
    result = call(before=10, after=4, peak=25)
    assert " ".join(snapshot(1).to_dict()) == TABLE["keys"]["MemorySnapshot"]
    assert " ".join(result.to_dict()) == TABLE["keys"]["ProfileResult"]
    assert (result.memory_diff(), result.peak_memory_usage(), result.memory_freed, result.memory_allocated) == (-6, 25, 6, 0)
    told = result.to_dict()
    assert told["memory_diff"] == -6 and told["peak_memory_usage"] == 25 and told["memory_before"] == result.memory_before.to_dict()
    assert result == call(before=10, after=4, peak=25) != call(before=10, after=4, peak=26)
    assert dataclasses.asdict(result)["memory_after"]["allocated_memory"] == 4


def test_a_collector_of_another_kind_B54():
    with pytest.raises(TypeError):
        gpumemprof.DeviceMemoryCollector()
    sample = gpumemprof.DeviceMemorySample(1, 2, None, None, None, None, None, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.used_bytes = 3


@pytest.mark.parametrize("bytes, precision, text", [
    (0, 2, "0 B"), (1, 2, "1.00 B"), (1023, 2, "1023.00 B"), (1024, 2, "1.00 KB"), (1536, 0, "2 KB"), (MIB - 1, 2, "1024.00 KB"),
    (MIB, 1, "1.0 MB"), (3 << 30, 2, "3.00 GB"), (1 << 40, 2, "1.00 TB"), (1 << 50, 2, "1.00 PB"), (1 << 60, 2, "1024.00 PB"),
    (-2048, 2, "-2048.00 B"),
])
def test_format_bytes_B59(bytes, precision, text):
    assert format_bytes(bytes, precision) == text


@pytest.mark.parametrize("value, units, wanted", [(1, "GB MB", 1024), (1536, "MB GB", 1.5), (7, "B B", 7), (1, "TB B", 1 << 40), (0.5, "KB B", 512)])
def test_convert_bytes_B59(value, units, wanted):
    assert convert_bytes(value, *units.split()) == wanted


@pytest.mark.parametrize("units", ["PB B", "B gb", "B ", " KB"])
def test_units_that_do_not_exist_B59(units):
    with pytest.raises(ValueError, match="unit"):
        convert_bytes(1, *units.split(" "))


HEALTHY = {"fragmentation_ratio": 0.3, "utilization_ratio": 0.3, "waste_ratio": 0.2}


@pytest.mark.parametrize("change, more", [
    ({}, 0), ({"fragmentation_ratio": 0.31}, 1), ({"utilization_ratio": 0.9}, 0), ({"utilization_ratio": 0.91}, 1), ({"waste_ratio": 0.21}, 1),
    ({"utilization_ratio": 0.29}, 1), ({"fragmentation_ratio": 1, "utilization_ratio": 1, "waste_ratio": 1}, 3), ({"waste_ratio": None}, 0),
])
def test_suggestions_B59(change, more):
    general = suggest_memory_optimization(HEALTHY)
    assert len(general) == 4 and all(isinstance(text, str) for text in general)
    told = suggest_memory_optimization({**HEALTHY, **change})
    assert len(told) == 4 + more and told[more:] == general
    general.append("mine")
    assert len(suggest_memory_optimization(HEALTHY)) == 4
    assert len(suggest_memory_optimization({})) == 5  # what is missing counts as 0: the device is not used


@pytest.mark.parametrize("name", ["ranks", "compat.gpumemprof", "compat.gpumemprof.utils"])
def test_examples_run(name):
    done = doctest.testmod(importlib.import_module(f"vramscope.{name}"))
    assert done.attempted and not done.failed


SUBMODULES = ["", ".analyzer", ".cli", ".cli_analyze", ".cli_live", ".collectors", ".context_profiler", ".cpu_profiler", ".cpu_tracker", ".diagnose",
              ".figure", ".host", ".monitoring", ".oom_recorder", ".profiler", ".records", ".system", ".telemetry", ".texts", ".tracker",
              ".tracking", ".utils", ".visualizer", ".watchdog"]


@pytest.mark.parametrize("submodule", SUBMODULES)
def test_an_import_is_light(submodule):
    """At most 30 modules beyond vramscope; neither torch nor numpy; no thread, no output.

    The exception is what others import with the first record, for the dataclasses.
    """
    code = ("import sys, vramscope; before = set(sys.modules)\n"
            f"import vramscope.compat.gpumemprof{submodule}\n"
            "more = {m for m in sys.modules if m not in before and not m.startswith('vramscope')}\n"
            "assert not {'torch', 'numpy', 'pandas', 'IPython', 'threading'} & more, more\n"
            "assert len(sys._current_frames()) == 1\n"
            + ("" if submodule == ".records" else "assert len(more) <= 30, sorted(more)\n"
               "assert not {'dataclasses', 'inspect', 'typing', 'json', 'csv'} & more, more\n"))
    done = subprocess.run([sys.executable, "-B", "-S", "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": PACKAGE})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
