"""vramscope: open snapshots of GPU memory and traces, ask them, read their columns.

>>> import vramscope
>>> with vramscope.load("examples/oom.pickle") as recording:
...     recording.oom().verdict
True
"""
# Where each name is from; it is imported when somebody first asks for it.
_HOMES = {
    "Backend": "_core",
    "Column": "_core",
    "Diagnosis": "measuring.diagnosis",
    "Error": "_core",
    "Expected": "history.expect",
    "File": "_core",
    "LeakDetector": "leaks",
    "LeakError": "leaks",
    "Leaks": "leaks",
    "Measurement": "measuring.measure",
    "Names": "history.named",
    "Profiler": "profiler",
    "Record": "_core",
    "Recording": "_core",
    "Result": "_core",
    "Sample": "_core",
    "Samples": "_core",
    "Scope": "profiler",
    "ScopeResult": "_core",
    "Summary": "profiler",
    "Thresholds": "tracker",
    "Trace": "_core",
    "Tracker": "tracker",
    "Traffic": "measuring.traffic",
    "VramscopeNote": "_core",
    "category_rules": "_core",
    "checkpoint": "profiler",
    "compare": "measuring.compare",
    "conditions": "measuring.measure",
    "diagnose": "measuring.diagnosis",
    "disable": "profiler",
    "enable": "profiler",
    "expect_recording": "history.expect",
    "export_ready": "_core",
    "get": "profiler",
    "index": "_core",
    "is_own": "_core",
    "load": "_core",
    "measure_latency": "measuring.measure",
    "measure_traffic": "measuring.traffic",
    "measure_training": "measuring.measure",
    "measure_utilisation": "measuring.measure",
    "merge": "_core",
    "model_size": "objects.model",
    "names": "history.named",
    "on_oom": "history.oom",
    "open": "_core",
    "phase": "profiler",
    "profile_call": "measuring.profiled",
    "profile_training": "measuring.profiled",
    "record": "history.recording",
    "report_run": "_core",
    "scope": "profiler",
    "size": "_core",
    "step": "profiler",
    "summary": "objects.model",
    "tensors": "objects.tensor_table",
    "unread": "_core",
    "version": "_core",
    "view": "_core",
    "watch_cycles": "objects.cycles",
}
# `from vramscope import *` leaves the program its own open().
__all__ = sorted(_HOMES.keys() - {"open"})


def __getattr__(name):
    import sys
    if name == "__version__":
        value = __getattr__("version")()
    elif name in _HOMES:
        home = __name__ + "." + _HOMES[name]
        __import__(home)
        value = getattr(sys.modules[home], name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), "__version__", *_HOMES})


def load_ipython_extension(shell):
    """%load_ext vramscope: the magics %vramscope and %%vramscope."""
    from vramscope import ipython
    ipython.load(shell)


def unload_ipython_extension(shell):
    """%unload_ext vramscope."""
    from vramscope import ipython
    ipython.unload(shell)
