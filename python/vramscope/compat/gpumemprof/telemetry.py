"""Telemetry of gpumemprof, version 2: records, their rules, older records, files (row B53)."""
from __future__ import annotations


from vramscope import ranks

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from typing import Any

    from vramscope.compat.gpumemprof.records import TelemetryEventV2

__all__ = ["SCHEMA_VERSION_V2", "TelemetryEventV2", "load_telemetry_events",
           "resolve_distributed_identity", "telemetry_event_from_record",
           "telemetry_event_to_dict", "validate_telemetry_record"]

SCHEMA_VERSION_V2 = 2
UNKNOWN_PID = -1
UNKNOWN_HOST = "unknown"

# Key, type, whether it may be None, the least a number may be.  In the order of a written record.
# What a device uses is None where neither the driver nor NVML tells it (fixed in row B22).
_IDENTITY = (
    ("job_id", "text", True, None),
    ("rank", "whole", False, 0),
    ("local_rank", "whole", False, 0),
    ("world_size", "whole", False, 1),
)
_REQUIRED = (
    ("schema_version", "whole", False, None),
    ("timestamp_ns", "whole", False, 0),
    ("event_type", "text", False, None),
    ("collector", "text", False, None),
    ("sampling_interval_ms", "whole", False, 0),
    ("pid", "whole", False, UNKNOWN_PID),
    ("host", "text", False, None),
    ("device_id", "whole", False, None),
    ("allocator_allocated_bytes", "whole", False, 0),
    ("allocator_reserved_bytes", "whole", False, 0),
    ("allocator_active_bytes", "whole", True, 0),
    ("allocator_inactive_bytes", "whole", True, 0),
    ("allocator_change_bytes", "whole", False, None),
    ("device_used_bytes", "whole", True, 0),
    ("device_free_bytes", "whole", True, 0),
    ("device_total_bytes", "whole", True, 0),
    ("context", "any text", True, None),
    ("metadata", "object", False, None),
)
_WRITTEN = _REQUIRED[:7] + _IDENTITY + _REQUIRED[7:]
_KNOWN = frozenset(row[0] for row in _WRITTEN)


def _check(value: Any, key: str, kind: str, nullable: bool, least: int | None) -> None:
    if value is None and nullable:
        return
    if kind == "whole":
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{key} must be an integer")
        if least is not None and value < least:
            raise ValueError(f"{key} must be >= {least}")
    elif kind == "object":
        if not isinstance(value, dict):
            raise ValueError(f"{key} must be an object")
    elif not isinstance(value, str):
        raise ValueError(f"{key} must be a string")
    elif kind == "text" and not value.strip():
        raise ValueError(f"{key} must be a non-empty string")


def validate_telemetry_record(record: Mapping[str, Any]) -> None:
    """Raises ValueError with the reason where a record is none of version 2."""
    missing = [key for key, *_ in _REQUIRED if key not in record]
    if missing:
        raise ValueError(f"Missing required telemetry fields: {', '.join(missing)}")
    unknown = sorted(str(key) for key in record if key not in _KNOWN)
    if unknown:
        raise ValueError(f"Unknown telemetry fields: {', '.join(unknown)}")
    for key, kind, nullable, least in _WRITTEN:
        if key in record:
            _check(record[key], key, kind, nullable, least)
    if record["schema_version"] != SCHEMA_VERSION_V2:
        raise ValueError(f"schema_version must be {SCHEMA_VERSION_V2}")
    total = record["device_total_bytes"]
    for key in ("device_used_bytes", "device_free_bytes"):
        if total is not None and record[key] is not None and record[key] > total:
            raise ValueError(f"{key} cannot exceed device_total_bytes")
    resolve_distributed_identity(**{key: record.get(key) for key in ranks.FIELDS})


def validate_event(event: TelemetryEventV2) -> None:
    """Raises ValueError where the record of an event would be refused."""
    validate_telemetry_record({key: getattr(event, key) for key, *_ in _WRITTEN})


def resolve_distributed_identity(*, job_id: Any = None, rank: Any = None, local_rank: Any = None,
                                 world_size: Any = None, metadata: Mapping[str, Any] | None = None,
                                 env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Job and rank as a dict of four: what is given, else the metadata's, else the variables `env`.

    What nobody says is rank 0 of 1, and the local rank is the rank.  Raises ValueError where ranks
    do not fit together.
    """
    given = {"job_id": job_id, "rank": rank, "local_rank": local_rank, "world_size": world_size}
    metadata = metadata or {}
    found: dict[str, Any] = {key: metadata.get(key) if value is None else value
                             for key, value in given.items()}
    if env is not None:
        if any(found[key] is None for key in ranks.FIELDS[1:]):
            launched = ranks.identity(env)
            found = {key: launched[key] if value is None else value
                     for key, value in found.items()}
        elif found["job_id"] is None:
            found["job_id"] = ranks.job(env)
    for key, default in (("world_size", 1), ("rank", 0)):
        if found[key] is None:
            found[key] = default
    if found["local_rank"] is None:
        found["local_rank"] = found["rank"]
    for row in _IDENTITY:
        _check(found[row[0]], *row)
    for key in ("rank", "local_rank"):
        if found[key] >= found["world_size"]:
            raise ValueError(f"{key} must be 0 when world_size is 1" if found["world_size"] == 1
                             else f"{key} must be < world_size")
    return found


def _event(**fields: Any) -> TelemetryEventV2:
    from vramscope.compat.gpumemprof.records import TelemetryEventV2
    return TelemetryEventV2(**fields)


def __getattr__(name: str) -> object:
    """TelemetryEventV2, which has its class in records.py: dataclasses are not imported before."""
    if name != "TelemetryEventV2":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof.records import TelemetryEventV2
    return TelemetryEventV2


def telemetry_event_to_dict(event: TelemetryEventV2) -> dict[str, Any]:
    """A record of the event, its keys in the order they are written in."""
    record = {key: getattr(event, key) for key, *_ in _WRITTEN}
    record["metadata"] = dict(record["metadata"])
    return record


# What records of before version 2 call the figures: the first key that is there counts.
_OLDER = {
    "allocator_allocated_bytes": ("allocator_allocated_bytes", "memory_allocated"),
    "allocator_reserved_bytes": ("allocator_reserved_bytes", "memory_reserved"),
    "allocator_active_bytes": ("allocator_active_bytes", "active_memory"),
    "allocator_inactive_bytes": ("allocator_inactive_bytes", "inactive_memory"),
    "allocator_change_bytes": ("allocator_change_bytes", "memory_change"),
    "device_used_bytes": ("device_used_bytes", "device_used"),
    "device_free_bytes": ("device_free_bytes", "device_free"),
    "device_total_bytes": ("device_total_bytes", "total_memory", "device_total", "total_bytes"),
    "event_type": ("event_type", "type"),
    "context": ("context", "message"),
}
_TRACKERS = {"mps": "gpumemprof.mps_tracker", "rocm": "gpumemprof.rocm_tracker",
             "cuda": "gpumemprof.cuda_tracker", "cpu": "gpumemprof.cpu_tracker"}


def _older(record: Mapping[str, Any], key: str, default: Any = None) -> Any:
    return next((record[name] for name in _OLDER[key] if name in record), default)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _older_metadata(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError("metadata must be an object when provided")
    flat = {key.removeprefix("metadata_"): value for key, value in record.items()
            if isinstance(key, str) and key.startswith("metadata_")}
    return {**(metadata or {}), **flat}


def _older_time_ns(record: Mapping[str, Any]) -> Any:
    if "timestamp_ns" in record:
        return record["timestamp_ns"]
    if not _is_number(record.get("timestamp")):
        raise ValueError("Legacy record is missing a valid timestamp")
    try:
        return int(float(record["timestamp"]) * 1_000_000_000)
    except (OverflowError, ValueError):
        raise ValueError("Legacy record is missing a valid timestamp") from None


def _older_device(record: Mapping[str, Any]) -> Any:
    """The number of "cuda:1"; -1: the host, or nobody says."""
    if "device_id" in record:
        return record["device_id"]
    device = record.get("device")
    if isinstance(device, str):
        tail = device.rpartition(":")[2]
        if "cpu" in device.lower():
            return -1
        if tail != device and tail.isdecimal():
            return int(tail)
        if device.lower().startswith("/gpu"):
            return 0
    return 0 if "memory_mb" in record else -1


def _older_allocated(record: Mapping[str, Any]) -> Any:
    """0 where nothing is said, as the field cannot be None."""
    allocated = _older(record, "allocator_allocated_bytes")
    if allocated is None and _is_number(record.get("memory_mb")):
        try:
            return int(float(record["memory_mb"]) * (1 << 20))
        except (OverflowError, ValueError):
            raise ValueError("memory_mb must be a finite number") from None
    if allocated is None:
        allocated = record.get("device_used_bytes")
    return 0 if allocated is None else allocated


def _older_free(record: Mapping[str, Any], used: Any, total: Any) -> Any:
    if any(name in record for name in _OLDER["device_free_bytes"]):
        return _older(record, "device_free_bytes")
    whole = all(isinstance(value, int) for value in (used, total))
    return max(total - used, 0) if whole else None


def _older_collector(record: Mapping[str, Any], metadata: Mapping[str, Any], device: Any,
                     default: str) -> str:
    collector = record.get("collector")
    if isinstance(collector, str) and collector.strip():
        return collector
    backend = record.get("backend", metadata.get("backend"))
    if isinstance(backend, str) and backend.strip().lower() in _TRACKERS:
        return _TRACKERS[backend.strip().lower()]
    if "memory_allocated" in record:
        return _TRACKERS["cpu" if device == -1 else "cuda"]
    return default


def _from_older(record: Mapping[str, Any], default_collector: str,
                default_interval: int) -> TelemetryEventV2:
    metadata = _older_metadata(record)
    device, allocated = _older_device(record), _older_allocated(record)
    used = _older(record, "device_used_bytes")
    total = _older(record, "device_total_bytes", _older(metadata, "device_total_bytes"))
    identity = resolve_distributed_identity(**{key: record.get(key) for key in ranks.FIELDS},
                                            metadata=metadata)
    return _event(
        schema_version=SCHEMA_VERSION_V2,
        timestamp_ns=_older_time_ns(record),
        event_type=_older(record, "event_type", "sample"),
        collector=_older_collector(record, metadata, device, default_collector),
        sampling_interval_ms=record.get("sampling_interval_ms", default_interval),
        pid=record.get("pid", metadata.get("pid", UNKNOWN_PID)),
        host=record.get("host", metadata.get("host", UNKNOWN_HOST)),
        device_id=device,
        allocator_allocated_bytes=allocated,
        allocator_reserved_bytes=_older(record, "allocator_reserved_bytes", allocated),
        allocator_active_bytes=_older(record, "allocator_active_bytes"),
        allocator_inactive_bytes=_older(record, "allocator_inactive_bytes"),
        allocator_change_bytes=_older(record, "allocator_change_bytes", 0),
        device_used_bytes=used,
        device_free_bytes=_older_free(record, used, total),
        device_total_bytes=total,
        context=_older(record, "context"),
        metadata={key: value for key, value in metadata.items() if key not in ranks.FIELDS},
        **identity)


def telemetry_event_from_record(record: Mapping[str, Any], permissive_legacy: bool = True,
                                default_collector: str = "legacy.unknown",
                                default_sampling_interval_ms: int = 0) -> TelemetryEventV2:
    """The event of a record of version 2 or, if permitted, of an older one."""
    from collections.abc import Mapping
    if not isinstance(record, Mapping):
        raise ValueError("record must be a mapping")
    if "schema_version" not in record:
        if not permissive_legacy:
            raise ValueError("Legacy record conversion is disabled")
        return _from_older(record, default_collector, default_sampling_interval_ms)
    version = record["schema_version"]
    _check(version, "schema_version", "whole", False, None)
    if version != SCHEMA_VERSION_V2:
        raise ValueError(f"Unsupported schema_version: {version}")
    validate_telemetry_record(record)
    identity = resolve_distributed_identity(**{key: record.get(key) for key in ranks.FIELDS})
    figures = {key: record[key] for key, *_ in _REQUIRED}
    return _event(**{**figures, **identity, "metadata": dict(record["metadata"])})


def _lines(text: str) -> list[Any]:
    """Records of a file with one a line; the last one may be cut, as a killed program leaves it."""
    import json
    lines = text.splitlines()
    records = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except ValueError:
            if number < len(lines) or text.endswith("\n"):
                raise
    return records


_EVENT_KEYS = {"schema_version", "event_type", "type", "memory_allocated", "memory_mb",
               "timestamp", "timestamp_ns"}


def _records(payload: Any, events_key: str | None) -> list[Any]:
    if isinstance(payload, list):
        return payload
    if not isinstance(payload, dict):
        raise ValueError("Telemetry payload must be a JSON object or array")
    events = payload.get("events" if events_key is None else events_key)
    if isinstance(events, list):
        return events
    if events_key is not None:
        raise ValueError(f"Top-level key '{events_key}' must contain a list of events")
    if _EVENT_KEYS & payload.keys():
        return [payload]
    raise ValueError("JSON payload does not contain telemetry events")


def load_telemetry_events(path: str | PathLike[str], permissive_legacy: bool = True,
                          events_key: str | None = None) -> list[TelemetryEventV2]:
    """The events of a JSON file: a list, an object with `events`, one event; or of a .jsonl file.

    Raises ValueError where a record is none, OSError where the file cannot be read.
    """
    import json
    import os
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = os.fspath(path).endswith(".jsonl")
    try:
        records = _lines(text) if lines else _records(json.loads(text), events_key)
    except RecursionError:
        raise ValueError("Telemetry payload is nested too deep") from None
    events = []
    for index, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"Event at index {index} must be an object")
        events.append(telemetry_event_from_record(record, permissive_legacy=permissive_legacy))
    return events
