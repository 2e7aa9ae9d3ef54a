"""What __getattr__ of the package finds, for type checkers."""
from typing import Any

from vramscope._core import Backend as Backend
from vramscope._core import Column as Column
from vramscope._core import Error as Error
from vramscope._core import File as File
from vramscope._core import Record as Record
from vramscope._core import Recording as Recording
from vramscope._core import Result as Result
from vramscope._core import Sample as Sample
from vramscope._core import Samples as Samples
from vramscope._core import ScopeResult as ScopeResult
from vramscope._core import Trace as Trace
from vramscope._core import VramscopeNote as VramscopeNote
from vramscope._core import category_rules as category_rules
from vramscope._core import export_ready as export_ready
from vramscope._core import index as index
from vramscope._core import is_own as is_own
from vramscope._core import load as load
from vramscope._core import merge as merge
from vramscope._core import open as open
from vramscope._core import report_run as report_run
from vramscope._core import size as size
from vramscope._core import unread as unread
from vramscope._core import version as version
from vramscope._core import view as view
from vramscope.history.expect import Expected as Expected
from vramscope.history.expect import expect_recording as expect_recording
from vramscope.history.named import Names as Names
from vramscope.history.named import names as names
from vramscope.history.oom import on_oom as on_oom
from vramscope.history.recording import record as record
from vramscope.leaks import LeakDetector as LeakDetector
from vramscope.leaks import LeakError as LeakError
from vramscope.leaks import Leaks as Leaks
from vramscope.measuring.compare import compare as compare
from vramscope.measuring.diagnosis import Diagnosis as Diagnosis
from vramscope.measuring.diagnosis import diagnose as diagnose
from vramscope.measuring.measure import Measurement as Measurement
from vramscope.measuring.measure import conditions as conditions
from vramscope.measuring.measure import measure_latency as measure_latency
from vramscope.measuring.measure import measure_training as measure_training
from vramscope.measuring.measure import measure_utilisation as measure_utilisation
from vramscope.measuring.profiled import profile_call as profile_call
from vramscope.measuring.profiled import profile_training as profile_training
from vramscope.measuring.traffic import Traffic as Traffic
from vramscope.measuring.traffic import measure_traffic as measure_traffic
from vramscope.objects.cycles import watch_cycles as watch_cycles
from vramscope.objects.model import model_size as model_size
from vramscope.objects.model import summary as summary
from vramscope.objects.tensor_table import tensors as tensors
from vramscope.profiler import Profiler as Profiler
from vramscope.profiler import Scope as Scope
from vramscope.profiler import Summary as Summary
from vramscope.profiler import checkpoint as checkpoint
from vramscope.profiler import disable as disable
from vramscope.profiler import enable as enable
from vramscope.profiler import get as get
from vramscope.profiler import phase as phase
from vramscope.profiler import scope as scope
from vramscope.profiler import step as step
from vramscope.tracker import Thresholds as Thresholds
from vramscope.tracker import Tracker as Tracker

__all__ = [
    "Backend",
    "Column",
    "Diagnosis",
    "Error",
    "Expected",
    "File",
    "LeakDetector",
    "LeakError",
    "Leaks",
    "Measurement",
    "Names",
    "Profiler",
    "Record",
    "Recording",
    "Result",
    "Sample",
    "Samples",
    "Scope",
    "ScopeResult",
    "Summary",
    "Thresholds",
    "Trace",
    "Tracker",
    "Traffic",
    "VramscopeNote",
    "category_rules",
    "checkpoint",
    "compare",
    "conditions",
    "diagnose",
    "disable",
    "enable",
    "expect_recording",
    "export_ready",
    "get",
    "index",
    "is_own",
    "load",
    "measure_latency",
    "measure_traffic",
    "measure_training",
    "measure_utilisation",
    "merge",
    "model_size",
    "names",
    "on_oom",
    "phase",
    "profile_call",
    "profile_training",
    "record",
    "report_run",
    "scope",
    "size",
    "step",
    "summary",
    "tensors",
    "unread",
    "version",
    "view",
    "watch_cycles",
]
__version__: str

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
