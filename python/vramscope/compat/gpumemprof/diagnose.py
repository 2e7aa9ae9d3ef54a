"""The command `diagnose`: a folder of what is to be known of memory at risk (row B65).

Each file appears whole, manifest.json last.  What nobody knows is null, and no risk.
"""
from __future__ import annotations

import os
import sys
import time

from vramscope.compat._printing import out
from vramscope.compat.gpumemprof.cli import (ERROR, FINDINGS, INTERRUPTED, OK, USAGE, complain)

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import argparse
    from typing import Any

__all__ = ["build_diagnostic_summary", "collect_environment", "diagnose", "run_timeline_capture"]

HIGH_UTILIZATION_RATIO = 0.85
FRAGMENTATION_WARNING_RATIO = 0.3
MANIFEST_VERSION = 1
_PREFIX = "gpumemprof-diagnose"
_STATUS = {OK: "OK", FINDINGS: "MEMORY_RISK", USAGE: "MEMORY_RISK", ERROR: "FAILED",
           INTERRUPTED: "INTERRUPTED"}


def diagnose(args: argparse.Namespace) -> int:
    """Writes the folder and prints what it says in three lines."""
    try:
        folder = _make_folder(args.output)
    except OSError as error:
        complain(f"cannot create {args.output or os.getcwd()}: {error.strerror}")
        return ERROR
    status, risks = OK, list[str]()
    written: list[str] = []
    failure = None
    try:
        interrupted, summary = _write_documents(folder, args, written)
        risks = [name for name, is_set in summary["risk_flags"].items() if is_set]
        if risks:
            status = USAGE if args.legacy_exit else FINDINGS
        if interrupted:
            status = INTERRUPTED
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        complain(f"failed to write into {folder}: {error.strerror}")
        status, failure = ERROR, str(error)
    _write_manifest(folder, written, status, bool(risks), failure)
    out(f"Artifact: {folder}")
    out(f"Status: {_STATUS[status]} (exit_code={status})")
    if risks:
        out(f"Findings: {', '.join(risks)}")
    elif status == OK:
        out("Findings: no memory risk detected")
    return status


def _make_folder(given: str | None) -> str:
    """The folder that was named, or a new one in it where it is there already."""
    if given is not None and not os.path.isdir(given):
        os.makedirs(given)
        return os.path.abspath(given)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    name = os.path.join(os.path.abspath(given or os.getcwd()), f"{_PREFIX}-{stamp}")
    path, number = name, 0
    while True:
        try:
            os.mkdir(path)
            return path
        except FileExistsError:
            number += 1
            path = f"{name}-{number}"


def _write_documents(folder: str, args: argparse.Namespace,
                     written: list[str]) -> tuple[bool, dict[str, Any]]:
    """(whether it was interrupted, the summary); an interrupt ends the timeline alone."""
    interrupted = False
    _write(folder, "environment.json", collect_environment(args.device), written)
    timeline: dict[str, list[Any]] = {"timestamps": [], "allocated": [], "reserved": []}
    try:
        run_timeline_capture(args.device, args.duration, args.interval, timeline)
    except KeyboardInterrupt:
        interrupted = True
    _write(folder, "telemetry_timeline.json", timeline, written)
    summary = build_diagnostic_summary(args.device)
    _write(folder, "diagnostic_summary.json", summary, written)
    return interrupted, summary


def _write(folder: str, name: str, document: Any, written: list[str]) -> None:
    import json
    from vramscope import files
    text = json.dumps(document, indent=2, default=str)
    files.write_whole(os.path.join(folder, name), text + "\n")
    written.append(name)


def _write_manifest(folder: str, written: list[str], status: int, risk: bool,
                    failure: str | None) -> None:
    manifest = {"version": MANIFEST_VERSION,
                "created_iso": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "command_line": " ".join(sys.argv), "files": [*written, "manifest.json"],
                "exit_code": status, "risk_detected": risk}
    if failure is not None:
        manifest["error"] = failure
    try:
        _write(folder, "manifest.json", manifest, [])
    except OSError as error:
        complain(f"failed to write into {folder}: {error.strerror}")


def collect_environment(device: Any = None) -> dict[str, Any]:
    """The machine, the device, and the shares of its memory."""
    from vramscope.compat.gpumemprof.system import (check_memory_fragmentation, get_gpu_info,
                                                    get_system_info)
    return {"system": get_system_info(), "gpu": get_gpu_info(device),
            "fragmentation": check_memory_fragmentation(device)}


def run_timeline_capture(device: Any, duration: float, interval: float,
                         timeline: dict[str, list[Any]]) -> None:
    """Fills lists of times and bytes for so many seconds, of the host where there is no device."""
    if duration <= 0:
        return
    sample = _sampler(device)
    begin = time.monotonic()
    number = 0
    while number * interval < duration:
        time.sleep(max(0.0, begin + number * interval - time.monotonic()))
        allocated, reserved = sample()
        timeline["timestamps"].append(time.time())
        timeline["allocated"].append(allocated)
        timeline["reserved"].append(reserved)
        # A sample that came late is not followed by a burst.
        number = max(number, int((time.monotonic() - begin) / interval)) + 1


def _sampler(device: Any) -> Any:
    from vramscope.compat.gpumemprof.collectors import (build_device_memory_collector,
                                                        detect_torch_runtime_backend)
    if detect_torch_runtime_backend() in ("cuda", "rocm"):
        collector = build_device_memory_collector(device)

        def of_device() -> tuple[Any, Any]:
            try:
                sample = collector.sample()
            except RuntimeError:  # unavailable
                return None, None
            return sample.allocated_bytes, sample.reserved_bytes
        return of_device
    from vramscope.compat.gpumemprof.cpu_profiler import CPUMemoryProfiler
    profiler = CPUMemoryProfiler()

    def of_host() -> tuple[int, int]:
        snapshot = profiler._take_snapshot()
        return snapshot.rss, snapshot.vms
    return of_host


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit


def build_diagnostic_summary(device: Any = None) -> dict[str, Any]:
    """Memory of the device now, its shares, which of three risks there are, and advice."""
    from vramscope.compat.gpumemprof.system import (check_memory_fragmentation, get_gpu_info,
                                                    get_system_info)
    from vramscope.compat.gpumemprof.utils import suggest_memory_optimization
    gpu, memory = get_gpu_info(device), check_memory_fragmentation(device)
    there = "error" not in gpu
    ooms = gpu["memory_stats"]["num_ooms"] if there else None
    utilization, fragmentation = memory.get("utilization_ratio"), memory.get("fragmentation_ratio")
    return {
        "backend": get_system_info()["detected_backend"],
        "allocated_bytes": gpu.get("allocated_memory"),
        "reserved_bytes": gpu.get("reserved_memory"),
        "peak_bytes": gpu.get("max_memory_allocated"),
        "total_bytes": gpu.get("total_memory"),
        "utilization_ratio": utilization,
        "fragmentation_ratio": fragmentation,
        "num_ooms": ooms,
        "risk_flags": {
            "oom_occurred": bool(ooms),
            "high_utilization": _at_least(utilization, HIGH_UTILIZATION_RATIO),
            "fragmentation_warning": _at_least(fragmentation, FRAGMENTATION_WARNING_RATIO)},
        "suggestions": suggest_memory_optimization(memory) if there else [],
    }
