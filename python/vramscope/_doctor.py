"""python -m vramscope doctor: what Python has of what vramscope uses; then the command's doctor.

Rows are those of the command: what was looked at, what it is, why, and the cure where it is
missing.  CUDA is not initialised: torch is imported where it is installed, and no device asked.
"""
from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time

from vramscope import _command, _core, backends, files, ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIBRARIES = re.compile(rb"\0(lib(?:z|zstd|pcre2-8)\.so[.\d]*)(?=\0)")  # among the names it loads
NVML = "libnvidia-ml.so.1"
NVML_CALLS = ("nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2",
              "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMemoryInfo",
              "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetUtilizationRates")
RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID",
         "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
         "SLURM_JOB_ID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS")
READINGS = 1000
SAMPLED_SECONDS, INTERVAL_SECONDS = 0.5, 0.01

Row = dict[str, str | bool | None]


def row(name: str, value: str, why: str, cure: str | None = None, needed: bool = False) -> Row:
    return {"name": name, "ok": cure is None, "needed": needed, "value": value, "why": why,
            "cure": cure}


def look_at_python() -> Row:
    free = ", without a lock of its own" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return row("python", platform.python_version(),
               f"{platform.python_implementation()} at {sys.executable}{free}", needed=True)


def look_at_binary() -> Row:
    path = _core.__file__
    suffix = next(s for s in importlib.machinery.EXTENSION_SUFFIXES if path.endswith(s))
    abi = suffix.strip(".").partition(".")[0]
    return row("binary", abi, f"{path}, version {_core.version()}", needed=True)


def look_at_libraries() -> Row:
    with open(_core.__file__, "rb") as file:
        loaded = sorted({name.decode() for name in LIBRARIES.findall(file.read())})
    if loaded:
        return row("libraries", "shared", f"{', '.join(loaded)} of the system")
    return row("libraries", "static", "zlib, zstd and PCRE2 are in the binary")


def look_at_command() -> Row:
    path = _command.find()
    if path is None:
        return row("command", "none", "neither in a build tree nor among the scripts",
                   "pip install vramscope")
    return row("command", "found", path)


def raised(name: str, call: str, error: Exception, cure: str) -> Row:
    return row(name, "broken", f"{call}: {type(error).__name__}: {error}", cure)


def look_at_torch() -> list[Row]:
    """The row of torch and, where it can be imported, those of what it has."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        return [row("torch", "none", "not installed; snapshots are read without it",
                    "pip install torch")]
    try:
        torch = importlib.import_module("torch")
        version, built = torch.__version__, torch.version
    except Exception as error:  # whatever a broken installation raises
        return [raised("torch", "import torch", error, "install torch again")]
    rows = [row("torch", str(version), os.path.dirname(str(getattr(torch, "__file__", ""))))]
    if built.cuda is not None:
        rows.append(row("cuda", built.cuda, "torch was built with it"))
    elif getattr(built, "hip", None) is not None:
        rows.append(row("cuda", "none", f"torch was built with ROCm {built.hip}"))
    else:
        rows.append(row("cuda", "none", "torch was built without it",
                        "install a build of torch with CUDA"))
    try:
        return rows + look_at_recorder(torch)
    except Exception as error:  # whatever a torch that is not known raises
        return rows + [raised("recorder", "asking for it", error, "install a newer vramscope")]


def look_at_recorder(torch: Any) -> list[Row]:
    """The rows of private functions, of the recorder, of what can observe failures."""
    from vramscope import _torch
    recorder = _torch.Recorder(torch)
    refused = recorder.refused()
    words = ", ".join(recorder.keywords())
    if refused is not None:
        return [row("recorder", "none", refused, "install torch 2.1 or newer with CUDA")]
    lacks = _torch.gone(torch)
    rows = [row("functions", "partial", f"torch lacks {', '.join(lacks)}; what is public serves",
                "install a newer vramscope") if lacks
            else row("functions", "found", "torch has the private functions that are used"),
            row("recorder", "found", f"it takes {words}")]
    if recorder.observes():
        return rows + [row("observer", "found", "told of each request that fails")]
    return rows + [row("observer", "none", "torch tells nobody of requests that fail",
                       "install a newer torch")]


def look_at_backend() -> tuple[Row, _core.Backend | None]:
    """The row of the backend that is taken where nobody says which, and that backend."""
    wanted = os.environ.get("VRAMSCOPE_BACKEND") or "auto"
    try:
        backend = backends.auto()
    except Exception as error:  # a name that there is not, a torch that is not known
        return raised("backend", f"VRAMSCOPE_BACKEND={wanted}", error,
                      "set VRAMSCOPE_BACKEND to auto, torch, sim or none"), None
    if wanted in ("auto", "torch") and backend.name == "torch" and without_driver():
        return row("backend", "torch", "torch was built for a GPU whose driver is not here; "
                   "figures of a running program are unknown", "install the GPU's driver"), backend
    if wanted == "auto" and backend.name == "torch":
        return row("backend", "torch", "torch is imported and was built for a GPU"), backend
    if wanted == "auto" and backend.name == "sim":
        return row("backend", "sim", "a simulated device is active"), backend
    if wanted in ("none", backend.name):
        return row("backend", backend.name, f"VRAMSCOPE_BACKEND={wanted} asks for it"), backend
    return row("backend", backend.name, "no torch for a GPU is here; figures of a running program "
               "are unknown", "install a build of torch with CUDA"), backend


def without_driver() -> bool:
    """Whether the torch that is imported finds no driver, and has used none."""
    from vramscope import _torch
    torch = sys.modules["torch"]
    return not torch.cuda.is_initialized() and not _torch.has_driver(torch)


def look_at_reading(backend: _core.Backend) -> Row:
    """What it costs to ask the backend for its counters."""
    if backend.name != "none" and backend.stats()["state"] == "unknown":
        return row("reading", "unknown", f"the backend {backend.name} tells nothing",
                   "look at the rows of torch and of the backend")
    costs = []
    for _ in range(READINGS):
        begun = time.perf_counter_ns()
        backend.stats()
        costs.append(time.perf_counter_ns() - begun)
    median, late = _core._percentile(costs, 0.5), _core._percentile(costs, 0.99)
    assert median is not None and late is not None  # they are numbers, and there are some
    return row("reading", f"{median / 1000:.2f} us", f"median of {READINGS} readings of the backend "
               f"{backend.name}; 99 of 100 within {late / 1000:.2f} us")


def look_at_sampler() -> list[Row]:
    """How far from its times the sampling thread samples here; no row where the core has none."""
    sampling: Any = getattr(_core, "Sampler", None)
    if sampling is None:
        return []
    sampler = sampling(backend=backends.none(), interval=INTERVAL_SECONDS)
    sampler.start()
    time.sleep(SAMPLED_SECONDS)
    sampler.stop()
    samples, skipped = sampler.samples(), sampler.counts()["skipped"]
    gaps = [(after.t_ns - before.t_ns) / 1e6 for before, after in zip(samples, samples[1:])]
    deviation, longest = _core._mad(gaps), _core._percentile(gaps, 1.0)
    if deviation is None or longest is None:
        return [row("sampler", "unknown", f"{len(samples)} samples in {SAMPLED_SECONDS} s",
                    "try again on a machine that is less busy")]
    return [row("sampler", f"{deviation:.3f} ms", f"median deviation of {len(gaps)} gaps of "
                f"{INTERVAL_SECONDS * 1000:g} ms; longest {longest:.3f} ms, {skipped} skipped")]


def look_at_nvml() -> Row:
    try:
        library = ctypes.CDLL(NVML)
    except OSError as error:
        return row("nvml", "none", str(error), "install NVIDIA's driver")
    lacks = [name for name in NVML_CALLS if not hasattr(library, name)]
    if lacks:
        return row("nvml", "partial", f"{NVML} lacks {', '.join(lacks)}", "install a newer driver")
    return row("nvml", "found", f"{NVML} has the {len(NVML_CALLS)} functions looked for")


def wrong_rank(names: tuple[str, str, str]) -> str | None:
    """What is wrong with the variables of one launcher, or None."""
    numbers: list[int | None] = [None, None, None]
    for i, name in enumerate(names):
        text = os.environ.get(name, "").strip()
        if text and not text.isdecimal():
            return f"{name} is no whole number: {text!r}"
        numbers[i] = int(text) if text else None
    for name, number in zip(names[:2], numbers):
        if number is not None and numbers[2] is not None and number >= numbers[2]:
            return f"{name}={number} is not below {names[2]}={numbers[2]}"
    return None


def look_at_ranks() -> Row:
    wrong = [text for text in map(wrong_rank, ranks.LAUNCHERS) if text is not None]
    if wrong:
        return row("ranks", "bad", ", ".join(wrong),
                   "set them as torchrun does, or none: ranks count from 0")
    found = [f"{name}={os.environ[name]}" for name in RANKS if name in os.environ]
    return row("ranks", "found" if found else "none",
               ", ".join(found) or "no variable of torchrun, Open MPI or Slurm is set")


def look() -> list[Row]:
    rows = [look_at_python(), look_at_binary(), look_at_libraries(), look_at_command(),
            *look_at_torch()]
    row_of_backend, backend = look_at_backend()
    rows.append(row_of_backend)
    if backend is not None:
        rows.append(look_at_reading(backend))
    return [*rows, *look_at_sampler(), look_at_nvml(), look_at_ranks()]


def text_of(rows: list[Row], width: int) -> str:
    """A line for each, broken at the width where a word ends; what follows stands under its value.
    """
    lines = []
    for r in rows:
        cure = "" if r["ok"] else f"; {r['cure']}"
        head = f"{'ok' if r['ok'] else 'missing':8} {r['name']:9} "
        lines += textwrap.wrap(f"{r['value']}: {r['why']}{cure}", max(width, 2 * len(head)),
                               initial_indent=head, subsequent_indent=" " * len(head),
                               break_long_words=False, break_on_hyphens=False)
    return "".join(line + "\n" for line in lines)


def head_of(rows: list[Row]) -> str:
    """One document, into which the command writes its own: what it says of its output is true."""
    head = {"schema": "vramscope.python-doctor/1", "tool": _core.version(), "checks": rows}
    return json.dumps(head, indent=2)[:-2] + ',\n  "command": '


def say(text: str) -> None:
    """Writes to the output what its encoding has; characters that it lacks are escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def put_json(rows: list[Row], options: list[str]) -> int:
    say(head_of(rows))
    path = _command.find()
    if path is None:
        say("null")
        status = _command.EXIT_FAILED
    else:
        status = subprocess.call([path, "doctor", "--json", *options])
    say("}\n")
    return status


def write(rows: list[Row], as_json: bool, options: list[str], file: str) -> int:
    """The same into a file, which appears only when it is whole."""
    path = _command.find()
    if path is None:
        return _command.execute([])
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "doctor")
        status = subprocess.call([path, "doctor", *["--json"] * as_json, *options, "-o", own])
        with open(own, encoding="utf-8") as told:
            text = told.read()
    files.write_whole(file, head_of(rows) + text + "}\n" if as_json
                      else text_of(rows, shutil.get_terminal_size().columns) + text)
    return status


def options_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m vramscope doctor", allow_abbrev=False,
                                     description="what is here of what vramscope uses")
    parser.add_argument("-j", "--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="write to FILE, which appears only when it is whole")
    parser.add_argument("--color", choices=("auto", "always", "never"), metavar="WHEN",
                        help="auto (default), always or never")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    asked = options_of(words)
    options = ["--ascii"] * asked.ascii
    if asked.color is not None:
        options.append("--color=" + asked.color)
    rows = look()
    try:
        if asked.output is not None:
            return write(rows, asked.json, options, asked.output)
        if asked.json:
            return put_json(rows, options)
        say(text_of(rows, shutil.get_terminal_size().columns))
    except BrokenPipeError:  # who reads has enough
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        print(f"vramscope: {asked.output or 'standard output'}: {error.strerror}", file=sys.stderr)
        return _command.EXIT_FAILED
    return _command.execute(["doctor", *options])


def _forget_output() -> None:
    """What it still holds would be written once more at the exit, and fail once more."""
    sys.stdout = io.StringIO()
