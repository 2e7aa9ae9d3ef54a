"""python -m vramscope doctor: what Python has of what vramscope uses; then the command's doctor.

Rows are those of the command: what was looked at, what it is, why, and the cure where it is
missing.  CUDA is not initialised: torch is imported where it is installed, and no device asked.
"""
import argparse
import ctypes
import importlib
import importlib.machinery
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig

from vramscope import _command, _core

LIBRARIES = re.compile(rb"\0(lib(?:z|zstd|pcre2-8)\.so[.\d]*)(?=\0)")  # among the names it loads
NVML = "libnvidia-ml.so.1"
NVML_CALLS = ("nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2",
              "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMemoryInfo",
              "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetUtilizationRates")
RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID",
         "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
         "SLURM_JOB_ID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS")


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


def look_at_torch() -> list[Row]:
    """The row of torch and, where it can be imported, that of what it was built for."""
    if importlib.util.find_spec("torch") is None:
        return [row("torch", "none", "not installed; snapshots are read without it",
                    "pip install torch")]
    try:
        torch = importlib.import_module("torch")
        version, built = torch.__version__, torch.version
    except Exception as error:  # whatever a broken installation raises
        return [row("torch", "broken", f"import torch: {type(error).__name__}: {error}",
                    "install torch again")]
    rows = [row("torch", str(version), os.path.dirname(str(torch.__file__)))]
    if built.cuda is not None:
        return rows + [row("cuda", built.cuda, "torch was built with it")]
    if getattr(built, "hip", None) is not None:
        return rows + [row("cuda", "none", f"torch was built with ROCm {built.hip}")]
    return rows + [row("cuda", "none", "torch was built without it",
                       "install a build of torch with CUDA")]


def look_at_nvml() -> Row:
    try:
        library = ctypes.CDLL(NVML)
    except OSError as error:
        return row("nvml", "none", str(error), "install NVIDIA's driver")
    lacks = [name for name in NVML_CALLS if not hasattr(library, name)]
    if lacks:
        return row("nvml", "partial", f"{NVML} lacks {', '.join(lacks)}", "install a newer driver")
    return row("nvml", "found", f"{NVML} has the {len(NVML_CALLS)} functions looked for")


def look_at_ranks() -> Row:
    found = [f"{name}={os.environ[name]}" for name in RANKS if name in os.environ]
    return row("ranks", "found" if found else "none",
               ", ".join(found) or "no variable of torchrun, Open MPI or Slurm is set")


def look() -> list[Row]:
    return [look_at_python(), look_at_binary(), look_at_libraries(), look_at_command(),
            *look_at_torch(), look_at_nvml(), look_at_ranks()]


def put_text(rows: list[Row]) -> None:
    for r in rows:
        cure = "" if r["ok"] else f"; {r['cure']}"
        print(f"{'ok' if r['ok'] else 'missing':8} {r['name']:9} {r['value']}: {r['why']}{cure}")


def put_json(rows: list[Row]) -> int:
    """One document, into which the command writes its own: what it says of its output is true."""
    head = {"schema": "vramscope.python-doctor/1", "tool": _core.version(), "checks": rows}
    print(json.dumps(head, indent=2)[:-2] + ',\n  "command": ', end="", flush=True)
    path = _command.find()
    if path is None:
        print("null")
        status = _command.EXIT_FAILED
    else:
        status = subprocess.call([path, "doctor", "--json"])
    print("}", flush=True)
    return status


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m vramscope doctor", allow_abbrev=False,
                                     description="what is here of what vramscope uses")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    asked = parser.parse_args(words)
    rows = look()
    if asked.json:
        return put_json(rows)
    put_text(rows)
    return _command.execute(["doctor"])
