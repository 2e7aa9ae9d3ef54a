"""The names of gpumemprof over vramscope: change the import, the rest runs as it is.

>>> from vramscope.compat.gpumemprof import MemoryAnalyzer, format_bytes
>>> format_bytes(1536)
'1.50 KB'
>>> MemoryAnalyzer().analyze_memory_patterns([])
[]
"""
_HOMES = {
    "analyzer": ("MemoryAnalyzer",),
    "collectors": ("DeviceMemoryCollector", "build_device_memory_collector",
                   "detect_torch_runtime_backend"),
    "context_profiler": ("MemoryProfiler", "ProfiledModule", "clear_results", "get_global_profiler",
                         "get_profile_results", "get_summary", "profile_context",
                         "profile_function", "profile_model_training", "set_global_profiler",
                         "start_monitoring", "stop_monitoring"),
    "cpu_profiler": ("CPUMemoryProfiler",),
    "cpu_records": ("CPUMemorySnapshot", "CPUProfileResult"),
    "cpu_tracker": ("CPUMemoryTracker",),
    "oom_recorder": ("OOMExceptionClassification", "OOMFlightRecorder", "classify_oom_exception"),
    "profiler": ("GPUMemoryProfiler",),
    "records": ("DeviceMemorySample", "GapFinding", "MemoryPattern", "MemorySnapshot",
                "OOMFlightRecorderConfig", "PerformanceInsight", "ProfileResult",
                "TelemetryEventV2", "TrackingEvent"),
    "telemetry": ("load_telemetry_events", "resolve_distributed_identity",
                  "telemetry_event_from_record", "telemetry_event_to_dict",
                  "validate_telemetry_record"),
    "system": ("MemoryContext", "check_memory_fragmentation", "get_gpu_info", "get_system_info",
               "memory_summary"),
    "tracker": ("MemoryTracker",),
    "utils": ("convert_bytes", "format_bytes", "suggest_memory_optimization"),
    "visualizer": ("MemoryVisualizer",),
    "watchdog": ("MemoryWatchdog",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
