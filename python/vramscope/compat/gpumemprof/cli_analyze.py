"""The command `analyze`: gaps, collectives and first causes in telemetry (row B64)."""
from __future__ import annotations

import os

from vramscope.compat._printing import out
from vramscope.compat.gpumemprof.cli import FINDINGS, OK, InvalidInput

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from vramscope.compat.gpumemprof.records import TelemetryEventV2

__all__ = ["analyze"]

_NO_EVENTS = "JSON payload does not contain telemetry events"
_EVENT_KEYS = {"schema_version", "timestamp", "timestamp_ns", "event_type", "memory_allocated",
               "memory_mb", "allocator_allocated_bytes", "device_used_bytes"}


def analyze(args: argparse.Namespace) -> int:
    """Reads telemetry, prints what was found in it, and writes what was asked for."""
    paths = [path for given in args.input for path in _files(given)]
    events, others = _read(paths)
    report = _report(events, others)
    text = _summary(", ".join(args.input), sum(map(os.path.getsize, paths)), report)
    out(text)
    if args.output:
        _save(args.output, args.format, report, text)
    if args.visualization:
        _draw(args.plot_dir, events, report)
    found = report.get("gap_analysis") or report.get("collective_attribution") or _suspects(report)
    return FINDINGS if found and not args.legacy_exit else OK


def _files(given: str) -> list[str]:
    """The file, or those of a folder that end in .jsonl, which a tracker's sink leaves."""
    if not os.path.isdir(given):
        return [given]
    names = sorted(name for name in os.listdir(given) if name.endswith(".jsonl"))
    if not names:
        raise InvalidInput(f"{given}: there is no .jsonl file in this folder")
    return [os.path.join(given, name) for name in names]


def _read(paths: Sequence[str]) -> tuple[list[TelemetryEventV2] | None, list[Any]]:
    """The events of all files, None where none has any; and what the others hold."""
    from vramscope.compat.gpumemprof.telemetry import load_telemetry_events
    events: list[TelemetryEventV2] | None = None
    others = []
    for path in paths:
        try:
            found = load_telemetry_events(path)
        except OSError as error:
            raise InvalidInput(f"{path}: {error.strerror}") from None
        except ValueError as error:
            others.append(_other(path, error))
        else:
            events = [*(events or ()), *found]
    return events, others


def _other(path: str, error: ValueError) -> Any:
    """What a file without telemetry holds; no JSON, and broken events, are invalid."""
    import json
    try:
        with open(path, encoding="utf-8") as file:
            payload = json.load(file)
    except (RecursionError, ValueError):
        if _is_table(path):
            raise InvalidInput(
                f"{path}: this is a table (CSV), and telemetry is read of JSON alone: write it "
                "with gpumemprof track --format json --output events.json") from None
        raise InvalidInput(f"{path}: {error}") from None
    rows = payload if isinstance(payload, list) else [payload]
    if isinstance(payload, dict) and isinstance(payload.get("events"), list):
        rows = payload["events"]
    if any(isinstance(row, dict) and _EVENT_KEYS & row.keys() for row in rows):
        raise InvalidInput(f"{path}: {error}")
    return payload


def _is_table(path: str) -> bool:
    """Whether its first line names columns, as those that monitor and track write do."""
    with open(path, encoding="utf-8", errors="replace") as file:
        names = file.readline(1000).strip().split(",")
    return len(names) > 1 and all(name.isidentifier() for name in names)


def _report(events: list[TelemetryEventV2] | None, others: Sequence[Any]) -> dict[str, Any]:
    if events is not None:
        from vramscope.compat.gpumemprof.analyzer import MemoryAnalyzer
        return MemoryAnalyzer().generate_optimization_report(events=events)
    keys = sorted({str(key) for other in others if isinstance(other, dict) for key in other})
    return {"summary": {"analysis_timestamp": None, "total_functions_analyzed": 0,
                        "total_function_calls": 0, "total_memory_allocated": 0,
                        "total_execution_time": 0},
            "top_level_keys": keys, "notes": [_NO_EVENTS]}


def _suspects(report: dict[str, Any]) -> list[Any]:
    ranks = report.get("cross_rank_analysis")
    return ranks["first_cause_suspects"] if ranks else []


def _summary(given: str, size: int, report: dict[str, Any]) -> str:
    """The report in a few lines."""
    lines = [f"Analyzing profiling results from: {given}", "", "Basic Analysis:",
             f"Input file: {given}", f"File size: {size} bytes"]
    if "gap_analysis" in report:
        lines.append(f"Gap findings: {len(report['gap_analysis'])}")
    ranks = report.get("cross_rank_analysis")
    notes = report.get("notes", [])
    if ranks is not None:
        notes = ranks["notes"]
        lines += ["", "Distributed Analysis:", *_rank_lines(ranks)]
    if notes:
        lines.append("Notes: " + " ".join(notes))
    return "\n".join(lines)


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks)) or "none"


def _rank_lines(ranks: dict[str, Any]) -> list[str]:
    lines = [f"Participating ranks: {_listed(ranks['participating_ranks'])}",
             f"Missing ranks: {_listed(ranks['missing_ranks'])}"]
    if ranks["cluster_onset_timestamp_ns"] is not None:
        lines.append(f"Cluster onset (aligned ns): {ranks['cluster_onset_timestamp_ns']}")
    if not ranks["first_cause_suspects"]:
        return [*lines, "No qualifying first-cause suspect identified."]
    from vramscope.compat.gpumemprof.utils import format_bytes
    top = ranks["first_cause_suspects"][0]
    return [*lines,
            f"Top first-cause suspect: rank {top['rank']} ({top['confidence']})",
            f"Evidence: timestamp_ns={top['first_spike_timestamp_ns']}, "
            f"aligned_timestamp_ns={top['aligned_first_spike_timestamp_ns']}, "
            f"lead_ns={top['lead_over_cluster_onset_ns']}, "
            f"delta={format_bytes(top['peak_delta_bytes'])}"]


def _save(path: str, format: str, report: dict[str, Any], text: str) -> None:
    import json
    from vramscope import files
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    written = json.dumps(report, indent=2, default=str) if format == "json" else text
    files.write_whole(path, written + "\n")
    out(f"Analysis report saved to: {path}")


def _draw(folder: str, events: list[TelemetryEventV2] | None, report: dict[str, Any]) -> None:
    if events is None or "cross_rank_analysis" not in report:
        out("Visualization skipped: cross-rank plots require multi-rank telemetry input.")
        return
    from vramscope.compat.gpumemprof.visualizer import MemoryVisualizer
    try:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "cross_rank_timeline.html")
        MemoryVisualizer().plot_cross_rank_timeline(events, path)
    except (OSError, ValueError) as error:
        out(f"Visualization skipped: {error}")
        return
    out(f"Visualization saved to: {path}")
