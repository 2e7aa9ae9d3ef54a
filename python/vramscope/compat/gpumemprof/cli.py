"""The command of gpumemprof: python -m vramscope.compat.gpumemprof (rows B61 to B66).

Statuses are those of EXITS.  What is not known is "unavailable", where the original prints 0.
"""
from __future__ import annotations

import sys

from vramscope.compat._printing import out

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["EXITS", "main"]

OK, ERROR, USAGE, FINDINGS, GATE, INVALID, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
EXITS = ((OK, "nothing was found"), (ERROR, "failed"), (USAGE, "wrong arguments"),
         (FINDINGS, "findings, or memory at risk"), (GATE, "a limit is exceeded"),
         (INVALID, "the input cannot be read, or is no such file"),
         (INTERRUPTED, "interrupted; files are whole"))

UNAVAILABLE = "unavailable"
_EPILOG = """examples:
  %(prog)s info --detailed
  %(prog)s monitor --duration 60 --output memory.csv
  %(prog)s track --watchdog --output events.json --format json
  %(prog)s analyze events.json --visualization
  %(prog)s diagnose --output diagnosis

exit status: """


class InvalidInput(Exception):
    """A file that was given cannot be read, or is none of those that are understood."""


def known(value: Any, text: Callable[[Any], str] = str) -> str:
    """A value as text; "unavailable" where nobody tells it."""
    return UNAVAILABLE if value is None else text(value)


def gigabytes(value: int | None) -> str:
    """Bytes as the original prints them: steps of 1024, two decimals."""
    return known(value, lambda size: f"{size / (1 << 30):.2f} GB")


def megabytes(value: int | None) -> str:
    """The same in a smaller unit, for memory of the host."""
    return known(value, lambda size: f"{size / (1 << 20):.2f} MB")


def complain(text: str) -> None:
    """One line about what went wrong, to stderr."""
    sys.stderr.write(f"Error: {text}\n")


def _seconds(least: float, text: str) -> float:
    import argparse
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from None
    if not least <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is less than {least:g} s, or too much")
    return value


def _duration(text: str) -> float:
    return _seconds(0.0, text)


def _interval(text: str) -> float:
    return _seconds(0.001, text)


def _whole(text: str) -> int:
    """A number that is 1 or more."""
    import argparse
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=int, metavar="N", help="the device (default: the current)")


def _written(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--output", metavar="FILE", help=f"where {what} go")
    parser.add_argument("--format", choices=("csv", "json"),
                        help="of that file (default: by its ending, else csv)")


def file_format(args: argparse.Namespace) -> str:
    """That of --output: as --format says, else as its ending does, else csv."""
    given: str | None = args.format
    return given or ("json" if args.output.lower().endswith(".json") else "csv")


def _add_info(add: Any) -> None:
    parser = add("info", help="the machine, its device, and memory on it")
    _device(parser)
    parser.add_argument("--detailed", action="store_true", help="also shares, hints, utilisation")
    parser.set_defaults(run=info)


def _add_monitor(add: Any) -> None:
    parser = add("monitor", help="memory sampled for a while")
    _device(parser)
    parser.add_argument("--duration", type=_duration, default=10.0, metavar="SECONDS",
                        help="default: 10")
    _interval_option(parser)
    _written(parser, "samples")
    parser.set_defaults(run=_late("cli_live", "monitor"))


def _add_track(add: Any) -> None:
    parser = add("track", help="events of memory as they come, with alerts")
    _device(parser)
    parser.add_argument("--duration", type=_duration, metavar="SECONDS",
                        help="default: until Ctrl-C")
    _interval_option(parser)
    _written(parser, "events")
    parser.add_argument("--watchdog", action="store_true", help="empty the cache at alerts")
    for name, percent in (("warning", 80.0), ("critical", 95.0)):
        parser.add_argument(f"--{name}-threshold", type=float, default=percent, metavar="PERCENT",
                            help=f"of the device (default: {percent:g})")
    parser.add_argument("--job-id", metavar="NAME", help="of the job (default: by the launcher)")
    for name in ("rank", "local-rank", "world-size"):
        parser.add_argument(f"--{name}", type=int, metavar="N", help="default: by the launcher")
    parser.add_argument("--oom-flight-recorder", action="store_true",
                        help="keep the last events where memory runs out")
    parser.add_argument("--oom-dump-dir", default="oom_dumps", metavar="DIR",
                        help="where (default: oom_dumps)")
    for name, default, what in (("buffer-size", None, "events (default: all)"),
                                ("max-dumps", 5, "folders that are kept (default: 5)"),
                                ("max-total-mb", 256, "MB of them together (default: 256)")):
        parser.add_argument(f"--oom-{name}", type=_whole, default=default, metavar="N", help=what)
    parser.set_defaults(run=_late("cli_live", "track"))


def _interval_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--interval", type=_interval, default=0.1, metavar="SECONDS",
                        help="between samples (default: 0.1)")


def _add_analyze(add: Any) -> None:
    parser = add("analyze", help="gaps and first causes in recorded telemetry")
    parser.add_argument("input", nargs="+", metavar="INPUT",
                        help="a .json or .jsonl file, of each rank its own, or a folder of them")
    parser.add_argument("--output", metavar="FILE", help="where the report goes")
    parser.add_argument("--format", choices=("json", "txt"), default="json",
                        help="of that file (default: json)")
    parser.add_argument("--visualization", action="store_true", help="also a chart of all ranks")
    parser.add_argument("--plot-dir", default="plots", metavar="DIR",
                        help="where it goes (default: plots)")
    _legacy(parser, OK)
    parser.set_defaults(run=_late("cli_analyze", "analyze"))


def _add_diagnose(add: Any) -> None:
    parser = add("diagnose", help="a folder of what is to be known of memory at risk")
    parser.add_argument("--output", metavar="DIR", help="the folder (default: one is made here)")
    _device(parser)
    parser.add_argument("--duration", type=_duration, default=5.0, metavar="SECONDS",
                        help="of the timeline (default: 5; 0: none)")
    parser.add_argument("--interval", type=_interval, default=0.5, metavar="SECONDS",
                        help="between its samples (default: 0.5)")
    _legacy(parser, USAGE)
    parser.set_defaults(run=_late("diagnose", "diagnose"))


def _legacy(parser: argparse.ArgumentParser, status: int) -> None:
    parser.add_argument("--legacy-exit", action="store_true",
                        help=f"exit with {status} in place of {FINDINGS}")


def _late(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """The function of a command, whose module is imported when it runs."""
    def run(args: argparse.Namespace) -> int:
        import importlib
        found = importlib.import_module(f"vramscope.compat.gpumemprof.{module}")
        status: int = getattr(found, name)(args)
        return status
    return run


def _parser() -> argparse.ArgumentParser:
    import argparse
    statuses = ", ".join(f"{status} {text}" for status, text in EXITS)
    parser = argparse.ArgumentParser(
        prog="gpumemprof", description="Watches and explains the memory of a GPU.",
        epilog=_EPILOG + statuses, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_subparsers(dest="command", metavar="COMMAND").add_parser
    for each in (_add_info, _add_monitor, _add_track, _add_analyze, _add_diagnose):
        each(add)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status.

    >>> main(["info", "--device", "zero"])
    2
    """
    parser = _parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else OK
    if args.command is None:
        parser.print_help()
        return OK
    try:
        status: int = args.run(args)
    except KeyboardInterrupt:
        out("\nOperation cancelled by user")
        return INTERRUPTED
    except InvalidInput as error:
        complain(str(error))
        return INVALID
    except BrokenPipeError:
        _quiet()
        return ERROR
    except Exception as error:
        complain(str(error) or type(error).__name__)
        return ERROR
    return status


def _quiet() -> None:
    """Nobody reads what is printed any more: the interpreter is not to fail over it at its end."""
    import os
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        pass


def info(args: argparse.Namespace) -> int:
    """The machine and its device, as row B61 says."""
    from vramscope.compat.gpumemprof.system import get_system_info
    system = get_system_info()
    out("GPU Memory Profiler - System Information")
    out("=" * 50)
    out(f"Platform: {system['platform']}")
    out(f"Python Version: {system['python_version']}")
    out(f"CUDA Available: {system['cuda_available']}")
    out(f"Detected Backend: {system['detected_backend']}")
    if system["cuda_available"]:
        _info_of_device(args, system)
    else:
        _info_of_host(system)
    return OK


def _info_of_host(system: dict[str, Any]) -> None:
    from vramscope.compat.gpumemprof import host
    from vramscope.compat.gpumemprof.cpu_profiler import CPUMemoryProfiler
    from vramscope.compat.gpumemprof.utils import format_bytes
    out(f"MPS Built: {system['mps_built']}")
    out(f"MPS Available: {system['mps_available']}")
    out("CUDA is not available: what follows is about the host.")
    process = CPUMemoryProfiler()._take_snapshot()
    out(f"Process RSS: {format_bytes(process.rss)}")
    out(f"Process VMS: {format_bytes(process.vms)}")
    out(f"CPU Count: {known(host.cores())} physical / {system['cpu_count_logical']} logical")


def _info_of_device(args: argparse.Namespace, system: dict[str, Any]) -> None:
    from vramscope.compat.gpumemprof.system import get_gpu_info, memory_summary
    out(f"CUDA Version: {known(system['cuda_version'])}")
    if system["detected_backend"] == "rocm":
        out(f"ROCm Version: {known(system['rocm_version'])}")
    out(f"GPU Device Count: {system['cuda_device_count']}")
    out(f"Current Device: {system['current_device']}")
    number = system["current_device"] if args.device is None else args.device
    told = get_gpu_info(number)
    out(f"\nGPU {number} Information:")
    out(f"  Name: {known(told['device_name'])}")
    out(f"  Total Memory: {gigabytes(told['total_memory'])}")
    out(f"  Allocated: {gigabytes(told['allocated_memory'])}")
    out(f"  Reserved: {gigabytes(told['reserved_memory'])}")
    out(f"  Multiprocessors: {known(told['multiprocessor_count'])}")
    if not args.detailed:
        return
    out("\nDetailed Information:")
    out("-" * 30)
    out(memory_summary(number))
    _info_of_load(told.get("nvidia_smi_info"), number)


def _info_of_load(smi: dict[str, Any] | None, number: int) -> None:
    """Utilisation, temperature and power; without nvidia-smi the first alone may be known."""
    out("\nNVIDIA-SMI Information:" if smi is not None else "\nDevice Load:")
    if smi is None:
        from vramscope.compat import _device
        backend, _ = _device.bind(number)
        smi = {"gpu_utilization_percent": backend.utilisation(number)}
    out(f"  GPU Utilization: {known(smi['gpu_utilization_percent'], lambda v: f'{v:g}%')}")
    out(f"  Temperature: {known(smi.get('temperature_c'), lambda v: f'{v}°C')}")
    out(f"  Power Draw: {known(smi.get('power_draw_w'), lambda v: f'{v:.1f} W')}")
