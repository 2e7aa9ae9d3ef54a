"""Names by their homes: the package imports each when it is asked for."""
from vramscope.compat.gpumemprof.analyzer import MemoryAnalyzer as MemoryAnalyzer
from vramscope.compat.gpumemprof.collectors import DeviceMemoryCollector as DeviceMemoryCollector
from vramscope.compat.gpumemprof.records import (
    DeviceMemorySample as DeviceMemorySample,
    GapFinding as GapFinding,
    MemoryPattern as MemoryPattern,
    MemorySnapshot as MemorySnapshot,
    PerformanceInsight as PerformanceInsight,
    ProfileResult as ProfileResult,
    TelemetryEventV2 as TelemetryEventV2,
    TrackingEvent as TrackingEvent,
)
from vramscope.compat.gpumemprof.telemetry import (
    load_telemetry_events as load_telemetry_events,
    resolve_distributed_identity as resolve_distributed_identity,
    telemetry_event_from_record as telemetry_event_from_record,
    telemetry_event_to_dict as telemetry_event_to_dict,
    validate_telemetry_record as validate_telemetry_record,
)
from vramscope.compat.gpumemprof.utils import (
    convert_bytes as convert_bytes,
    format_bytes as format_bytes,
    suggest_memory_optimization as suggest_memory_optimization,
)

__all__ = [
    "DeviceMemoryCollector",
    "DeviceMemorySample",
    "GapFinding",
    "MemoryAnalyzer",
    "MemoryPattern",
    "MemorySnapshot",
    "PerformanceInsight",
    "ProfileResult",
    "TelemetryEventV2",
    "TrackingEvent",
    "convert_bytes",
    "format_bytes",
    "load_telemetry_events",
    "resolve_distributed_identity",
    "suggest_memory_optimization",
    "telemetry_event_from_record",
    "telemetry_event_to_dict",
    "validate_telemetry_record",
]
