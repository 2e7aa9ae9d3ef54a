"""Records of gpumemprof: what is measured, and what is found in it (rows B04, B06, B22, B41).

The one file of this package that imports dataclasses; others import it where they make a record.
"""
from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CollectiveAttributionConfig", "CollectiveAttributionEvidence",
           "CollectiveAttributionResult", "DeviceMemorySample", "GapFinding", "MemoryPattern",
           "MemorySnapshot", "OOMFlightRecorderConfig", "PerformanceInsight", "ProfileResult",
           "TelemetryEventV2", "TrackingEvent"]


@dataclass
class MemorySnapshot:
    """The memory of one device at one moment, in bytes; None is what nobody knows."""

    timestamp: float
    allocated_memory: int
    reserved_memory: int
    max_memory_allocated: int
    max_memory_reserved: int
    active_memory: int
    inactive_memory: int
    cpu_memory: int
    device_id: int = 0
    operation: str | None = None
    stack_trace: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, in their order."""
        return dict(vars(self))


@dataclass
class ProfileResult:
    """One measured call of a function: seconds, snapshots, bytes net of what was given back."""

    function_name: str
    execution_time: float
    memory_before: MemorySnapshot
    memory_after: MemorySnapshot
    memory_peak: MemorySnapshot
    memory_allocated: int
    memory_freed: int
    tensors_created: int
    tensors_deleted: int
    call_count: int = 1

    def memory_diff(self) -> int:
        """Bytes allocated after the call less those before it: negative where it shrank."""
        return self.memory_after.allocated_memory - self.memory_before.allocated_memory

    def peak_memory_usage(self) -> int:
        """The most bytes allocated during the call, with what was there before."""
        return self.memory_peak.allocated_memory

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, snapshots as dicts, and both figures that are computed."""
        made = {name: value.to_dict() if isinstance(value, MemorySnapshot) else value
                for name, value in vars(self).items()}
        created, deleted, count = (made.pop(name) for name in
                                   ("tensors_created", "tensors_deleted", "call_count"))
        return {**made, "memory_diff": self.memory_diff(),
                "peak_memory_usage": self.peak_memory_usage(), "tensors_created": created,
                "tensors_deleted": deleted, "call_count": count}


@dataclass
class TrackingEvent:
    """One event of a tracker; device figures are None where neither driver nor NVML tells them."""

    timestamp: float
    event_type: str
    memory_allocated: int
    memory_reserved: int
    memory_change: int
    device_id: int
    context: str | None = None
    job_id: str | None = None
    rank: int = 0
    local_rank: int = 0
    world_size: int = 1
    metadata: dict[str, Any] | None = None
    active_memory: int | None = None
    inactive_memory: int | None = None
    device_used: int | None = None
    device_free: int | None = None
    device_total: int | None = None
    backend: str = "cuda"


@dataclass
class TelemetryEventV2:
    """One event of a tracker, checked when it is made."""

    schema_version: int
    timestamp_ns: int
    event_type: str
    collector: str
    sampling_interval_ms: int
    pid: int
    host: str
    device_id: int
    allocator_allocated_bytes: int
    allocator_reserved_bytes: int
    allocator_active_bytes: int | None
    allocator_inactive_bytes: int | None
    allocator_change_bytes: int
    device_used_bytes: int | None
    device_free_bytes: int | None
    device_total_bytes: int | None
    context: str | None
    job_id: str | None = None
    rank: int = 0
    local_rank: int = 0
    world_size: int = 1
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from vramscope.compat.gpumemprof.telemetry import validate_event
        validate_event(self)


@dataclass(frozen=True)
class DeviceMemorySample:
    """One reading, in bytes; None is what the backend does not know."""

    allocated_bytes: int
    reserved_bytes: int
    used_bytes: int | None
    free_bytes: int | None
    total_bytes: int | None
    active_bytes: int | None
    inactive_bytes: int | None
    device_id: int


@dataclass(frozen=True)
class OOMFlightRecorderConfig:
    """Whether bundles are written, where, of how many events; how many, and how large together."""

    enabled: bool = False
    dump_dir: str = "oom_dumps"
    buffer_size: int = 10_000
    max_dumps: int = 5
    max_total_mb: int = 256


@dataclass
class MemoryPattern:
    """A pattern in the memory of measured calls; severity is info, warning or critical."""

    pattern_type: str
    description: str
    severity: str
    affected_functions: list[str]
    metrics: dict[str, Any]
    suggestions: list[str]


@dataclass
class PerformanceInsight:
    """What times and memory say together; impact is low, medium or high, confidence 0 to 1."""

    category: str
    title: str
    description: str
    impact: str
    confidence: float
    data: dict[str, Any]
    recommendations: list[str]


@dataclass
class GapFinding:
    """A class of gaps between what a device uses and what its allocator has reserved."""

    classification: str
    severity: str
    confidence: float
    evidence: dict[str, Any]
    description: str
    remediation: list[str]


@dataclass
class CollectiveAttributionConfig:
    """When a gap counts as a collective's; the defaults are the preset "medium"."""

    preset: str = "medium"
    min_samples_per_rank: int = 6
    min_gap_bytes: int = 128 << 20
    min_gap_ratio: float = 0.04
    robust_zscore_threshold: float = 2.5
    marker_window_ns: int = 150_000_000
    interval_padding_ns: int = 120_000_000
    synchrony_window_ns: int = 120_000_000
    min_synchrony_ratio: float = 0.5
    min_confidence: float = 0.5


@dataclass
class CollectiveAttributionEvidence:
    """What stands behind one attribution; the ratio is None where the device's size is unknown."""

    marker_hits: int
    synchronized_ranks: int
    expected_world_size: int
    synchrony_ratio: float
    peak_gap_bytes: int
    peak_gap_ratio: float | None
    robust_zscore: float


@dataclass
class CollectiveAttributionResult:
    """An interval of one rank whose gap comes with collective communication."""

    rank: int
    interval_start_ns: int
    interval_end_ns: int
    classification: str
    confidence: float
    reason_codes: list[str] = field(default_factory=list)
    evidence: CollectiveAttributionEvidence | None = None
