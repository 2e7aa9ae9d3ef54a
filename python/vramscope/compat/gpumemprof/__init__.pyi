"""Names by their homes: the package imports each when it is asked for."""
from vramscope.compat.gpumemprof.analyzer import MemoryAnalyzer as MemoryAnalyzer
from vramscope.compat.gpumemprof.collectors import (
    DeviceMemoryCollector as DeviceMemoryCollector,
    build_device_memory_collector as build_device_memory_collector,
    detect_torch_runtime_backend as detect_torch_runtime_backend,
)
from vramscope.compat.gpumemprof.context_profiler import (
    MemoryProfiler as MemoryProfiler,
    ProfiledModule as ProfiledModule,
    clear_results as clear_results,
    get_global_profiler as get_global_profiler,
    get_profile_results as get_profile_results,
    get_summary as get_summary,
    profile_context as profile_context,
    profile_function as profile_function,
    profile_model_training as profile_model_training,
    set_global_profiler as set_global_profiler,
    start_monitoring as start_monitoring,
    stop_monitoring as stop_monitoring,
)
from vramscope.compat.gpumemprof.cpu_profiler import CPUMemoryProfiler as CPUMemoryProfiler
from vramscope.compat.gpumemprof.cpu_records import (
    CPUMemorySnapshot as CPUMemorySnapshot,
    CPUProfileResult as CPUProfileResult,
)
from vramscope.compat.gpumemprof.cpu_tracker import CPUMemoryTracker as CPUMemoryTracker
from vramscope.compat.gpumemprof.oom_recorder import (
    OOMExceptionClassification as OOMExceptionClassification,
    OOMFlightRecorder as OOMFlightRecorder,
    classify_oom_exception as classify_oom_exception,
)
from vramscope.compat.gpumemprof.profiler import GPUMemoryProfiler as GPUMemoryProfiler
from vramscope.compat.gpumemprof.records import (
    DeviceMemorySample as DeviceMemorySample,
    GapFinding as GapFinding,
    MemoryPattern as MemoryPattern,
    MemorySnapshot as MemorySnapshot,
    OOMFlightRecorderConfig as OOMFlightRecorderConfig,
    PerformanceInsight as PerformanceInsight,
    ProfileResult as ProfileResult,
    TelemetryEventV2 as TelemetryEventV2,
    TrackingEvent as TrackingEvent,
)
from vramscope.compat.gpumemprof.system import (
    MemoryContext as MemoryContext,
    check_memory_fragmentation as check_memory_fragmentation,
    get_gpu_info as get_gpu_info,
    get_system_info as get_system_info,
    memory_summary as memory_summary,
)
from vramscope.compat.gpumemprof.telemetry import (
    load_telemetry_events as load_telemetry_events,
    resolve_distributed_identity as resolve_distributed_identity,
    telemetry_event_from_record as telemetry_event_from_record,
    telemetry_event_to_dict as telemetry_event_to_dict,
    validate_telemetry_record as validate_telemetry_record,
)
from vramscope.compat.gpumemprof.tracker import MemoryTracker as MemoryTracker
from vramscope.compat.gpumemprof.utils import (
    convert_bytes as convert_bytes,
    format_bytes as format_bytes,
    suggest_memory_optimization as suggest_memory_optimization,
)
from vramscope.compat.gpumemprof.visualizer import MemoryVisualizer as MemoryVisualizer
from vramscope.compat.gpumemprof.watchdog import MemoryWatchdog as MemoryWatchdog

__all__ = [
    "CPUMemoryProfiler",
    "CPUMemorySnapshot",
    "CPUMemoryTracker",
    "CPUProfileResult",
    "DeviceMemoryCollector",
    "DeviceMemorySample",
    "GPUMemoryProfiler",
    "GapFinding",
    "MemoryAnalyzer",
    "MemoryContext",
    "MemoryPattern",
    "MemoryProfiler",
    "MemorySnapshot",
    "MemoryTracker",
    "MemoryVisualizer",
    "MemoryWatchdog",
    "OOMExceptionClassification",
    "OOMFlightRecorder",
    "OOMFlightRecorderConfig",
    "PerformanceInsight",
    "ProfileResult",
    "ProfiledModule",
    "TelemetryEventV2",
    "TrackingEvent",
    "build_device_memory_collector",
    "check_memory_fragmentation",
    "classify_oom_exception",
    "clear_results",
    "convert_bytes",
    "detect_torch_runtime_backend",
    "format_bytes",
    "get_global_profiler",
    "get_gpu_info",
    "get_profile_results",
    "get_summary",
    "get_system_info",
    "load_telemetry_events",
    "memory_summary",
    "profile_context",
    "profile_function",
    "profile_model_training",
    "resolve_distributed_identity",
    "set_global_profiler",
    "start_monitoring",
    "stop_monitoring",
    "suggest_memory_optimization",
    "telemetry_event_from_record",
    "telemetry_event_to_dict",
    "validate_telemetry_record",
]
