"""pytest plugin: limits on the device memory of a test.

pytest loads it in every run; nothing else of vramscope is imported before a test asks for memory.
Peaks are those of the device: tests of one process that run at once share them.
"""
from __future__ import annotations

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any, TypeVar

    from vramscope import _core
    from vramscope.profiler import Profiler
    from vramscope.sim import Device

    _Hook = TypeVar("_Hook", bound=Callable[..., Any])
    pytest: Any

    def hookimpl(**options: bool) -> Callable[[_Hook], _Hook]: ...

    def fixture(function: _Hook) -> _Hook: ...
else:
    import pytest
    from pytest import fixture, hookimpl

_LIMITS = ("max_peak", "max_total", "max_growth")
_MARKER = """vram(max_peak=None, max_total=None, max_growth=None, device=None): fails the test where \
the peak of device memory above its start, the peak in all, or what is left at its end is larger \
(bytes, or a text such as "1GiB")."""
_SCHEMA = "vramscope.pytest/1"
_LARGEST = 10
_SCOPES = 3


class _Limit:
    """One limit of a test, and what became of it: "passed", "failed", "not decided" or "not
    checked"."""

    def __init__(self, name: str, most: int) -> None:
        self.name, self.most = name, most
        self.value: int | None = None
        self.verdict = "not checked"

    def judge(self, value: int | None, at_most: int | None) -> None:
        """value: a lower bound where it is not at_most."""
        self.value = value
        if value is None:
            return
        if value > self.most:
            self.verdict = "failed"
        elif at_most is not None and at_most <= self.most:
            self.verdict = "passed"
        else:
            self.verdict = "not decided"


class _Options:
    """What was asked on the command line, or by ini keys of the same names."""

    def __init__(self, config: Any) -> None:
        def option(name: str) -> Any:
            given = config.getoption(name)
            return given if given else config.getini(name)
        self.report = bool(option("vram"))
        self.required = bool(option("vram_required"))
        self.json: str | None = option("vram_json") or None
        self.failed = False  # what was measured could not be written
        if self.json is not None:
            _check_place(self.json)
        self.leaks: int | None = None
        size = option("vram_leaks")
        if size:
            try:
                self.leaks = _bytes(size, "--vram-leaks")
            except ValueError as error:
                raise pytest.UsageError(str(error)) from None
        self.every_test = self.report or self.json is not None
        self.rows: list[dict[str, Any]] = []


def _check_place(path: str) -> None:
    """Refuses a file that can not be written before hours of tests."""
    import errno
    import os
    folder = os.path.dirname(path) or "."
    wrong = (errno.ENOENT if not os.path.exists(folder) else
             errno.ENOTDIR if not os.path.isdir(folder) else
             errno.EISDIR if os.path.isdir(path) else
             errno.EACCES if not os.access(folder, os.W_OK | os.X_OK) else 0)
    if wrong:
        raise pytest.UsageError("--vram-json: %s: %s" % (path, os.strerror(wrong)))


def _bytes(size: Any, name: str) -> int:
    """ValueError for what is no size."""
    from vramscope import _core
    try:
        found = _core.size(size) if isinstance(size, str) else int(size)
    except (_core.Error, OverflowError, TypeError, ValueError) as error:
        raise ValueError("%s: %r: %s" % (name, size, error)) from None
    if found < 0 or found != size and not isinstance(size, str):
        raise ValueError("%s: %r: it is no number of bytes" % (name, size))
    return found


class _Meter:
    """Measures one test."""

    def __init__(self, options: _Options, limits: list[_Limit], device: Any, wants: bool) -> None:
        self.options, self.limits, self.device, self.wants_device = options, limits, device, wants
        self.made: Profiler | None = None
        self.start: int | None = None
        self.result: _core.ScopeResult | None = None
        self.before: tuple[_core.Backend, int | None, dict[str, Any]] | None = None
        self.passed = False
        self._whole: Any = None
        self._entry: Any = None

    def begin(self) -> Profiler:
        """From now on; what was measured before is left."""
        from vramscope.profiler import Profiler
        self.close()
        self.made = Profiler(self.device, capacity=1024)
        record = self.made.checkpoint("start")
        self.start = record.allocated_bytes if record is not None else None
        # It encloses no scope of the program: paths are as without it.
        self._whole = self.made.scope("call")
        self._entry = self._whole._open()
        return self.made

    def end(self, raised: type[BaseException] | None) -> None:
        """The end of the test, or of what came before `begin`."""
        if self.made is not None and self._entry is not None:
            self._whole._close(self._entry, raised)
            self.result, self._entry = self._whole.result, None

    def close(self) -> None:
        self.end(None)
        if self.made is not None:
            self.made.close()
            self.made = None

    def complaint(self) -> str:
        """Why the test fails; "" where it does not."""
        from vramscope import _core, backends
        self._judge()
        size = _core._size_text
        why = ["%s is %s, more than %s" % (limit.name.replace("max_", ""), size(limit.value),
                                           size(limit.most))
               for limit in self.limits if limit.verdict == "failed"]
        if self.options.required and self.wants_device and (
                self.made is None or not backends.available(self.made.backend)):
            why.append("there is no device, and --vram-required asks for one")
        return "; ".join(why)

    def _judge(self) -> None:
        found = self.result
        if found is None or not _has_device(found, self.made):
            return
        known = {"max_peak": (found.peak_delta_bytes, found.peak_delta_at_most_bytes),
                 "max_total": (found.peak_bytes, found.peak_at_most_bytes),
                 "max_growth": (found.delta_bytes, found.delta_bytes)}
        for limit in self.limits:
            limit.judge(*known[limit.name])

    def text(self) -> str:
        """The section of a failure."""
        from vramscope import _core
        size, found = _core._size_text, self.result
        if found is None:
            return "nothing was measured\n"
        mark = "" if found.state == "exact" else ">= "
        lines = ["%-11s %s: %s, %s (limit %s)" % (limit.name, limit.verdict, mark * (limit.name !=
                                                 "max_growth") + size(limit.value), found.state,
                                                 size(limit.most)) for limit in self.limits]
        lines.append("%-11s %s" % ("start", size(found.start_bytes)))
        lines.append("%-11s %s%s" % ("peak", mark, size(found.peak_bytes)))
        lines.append("%-11s %s" % ("end", size(found.end_bytes)))
        for scope in self.largest_scopes():
            lines.append("scope %s: peak %s above its start of %s" % (
                ascii(" > ".join(scope.path))[1:-1], size(scope.peak_delta_bytes),
                size(scope.start_bytes)))
        return "\n".join(lines) + "\n"

    def largest_scopes(self) -> list[_core.ScopeResult]:
        """Those of the test, but not the whole of it."""
        kept = self.made.scopes() if self.made is not None else []
        known = [scope for scope in kept if scope != self.result
                 and scope.peak_delta_bytes is not None]
        return sorted(known, key=lambda scope: (-(scope.peak_delta_bytes or 0),
                                                    len(scope.path)))[:_SCOPES]

    def row(self, name: str) -> dict[str, Any]:
        """What is reported of the test, in plain values: it may come from another process."""
        found = self.result
        row: dict[str, Any] = {"test": name}
        for key in ("device", "start_bytes", "end_bytes", "delta_bytes", "peak_bytes",
                    "peak_delta_bytes", "state"):
            row[key] = getattr(found, key) if found is not None else None
        row["limits"] = [{"name": limit.name, "limit_bytes": limit.most, "bytes": limit.value,
                          "verdict": limit.verdict} for limit in self.limits]
        return row


def _has_device(found: _core.ScopeResult, made: Profiler | None) -> bool:
    """Whether a device was there: torch knows how many only when it has used one."""
    return found.state != "unknown" and made is not None and bool(made.backend.count())


def _limits_of(item: Any) -> tuple[list[_Limit], Any]:
    """The limits of the markers, the nearest first, and the device; ValueError for what no marker
    takes."""
    most: dict[str, Any] = {}
    for marker in item.iter_markers("vram"):
        unknown = set(marker.kwargs) - {*_LIMITS, "device"}
        if marker.args or unknown:
            wrong = ", ".join(sorted(unknown)) if unknown else "positional arguments"
            raise ValueError("the marker vram takes %s and device, not %s" % (
                ", ".join(_LIMITS), wrong))
        most = {**marker.kwargs, **most}
    device = most.pop("device", None)
    if device is not None:
        from vramscope import _core, backends
        try:
            backends.device_number(device)
        except (_core.Error, TypeError, ValueError) as error:
            raise ValueError("device: %s" % error) from None
    return [_Limit(name, _bytes(size, name))
            for name, size in most.items() if size is not None], device


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("vramscope", "device memory")
    group.addoption("--vram", action="store_true", help="report the tests with the largest peaks")
    group.addoption("--vram-leaks", metavar="SIZE", default=None,
                    help="fail tests that leave more device memory than this behind")
    group.addoption("--vram-required", action="store_true",
                    help="fail tests that ask for device memory where there is no device")
    group.addoption("--vram-json", metavar="FILE", default=None,
                    help="write what was measured of each test")
    parser.addini("vram", "as --vram", type="bool", default=False)
    parser.addini("vram_leaks", "as --vram-leaks", default="")
    parser.addini("vram_required", "as --vram-required", type="bool", default=False)
    parser.addini("vram_json", "as --vram-json", default="")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", _MARKER)
    config._vram = _Options(config)
    config.pluginmanager.register(_Gathering(config._vram))
    config.pluginmanager.register(_Refusing())


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    options = config._vram
    for item in items:
        fixtures = {"vram", "vram_sim"} & set(getattr(item, "fixturenames", ()))
        try:
            limits, device = _limits_of(item)
        except ValueError as error:
            item._vram_refused = str(error)
            continue
        asked = bool(limits) or "vram" in fixtures
        if asked or fixtures or options.every_test or options.leaks is not None:
            item._vram = _Meter(options, limits, device, asked)


@hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item: Any) -> Generator[None, Any, None]:
    meter = getattr(item, "_vram", None)
    if meter is not None and meter.options.leaks is not None:
        from vramscope import backends
        backend, number = backends.auto(), backends.device_number(meter.device)
        meter.before = backend, number, backend.stats(number)
    yield


@hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    meter = getattr(item, "_vram", None)
    if meter is None:
        yield
        return
    meter.begin()
    outcome = yield
    raised = outcome.excinfo
    meter.end(raised[0] if raised is not None else None)
    meter.passed = raised is None
    why = meter.complaint()
    if why and raised is None:
        _fail(outcome, why)


@hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: Any) -> Generator[None, Any, None]:
    outcome = yield
    meter = getattr(item, "_vram", None)
    if meter is None:
        return
    meter.close()
    # Of a test that failed the frames are alive.
    if meter.options.leaks is not None and meter.before is not None and meter.passed:
        left = _left_behind(item, meter)
        if left is not None and left > meter.options.leaks and outcome.excinfo is None:
            from vramscope import _core
            _fail(outcome, "the test leaves %s of device memory behind, more than %s" % (
                _core._size_text(left), _core._size_text(meter.options.leaks)))


@hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    outcome = yield
    meter = getattr(item, "_vram", None)
    if meter is None or call.when != "call" or meter.result is None:
        return
    report = outcome.get_result()
    report.user_properties.append(("vram", meter.row(item.nodeid)))
    if report.failed:
        report.sections.append(("vramscope", meter.text()))


class _Refusing:
    """Fails tests whose marker makes no sense, before their fixtures are made."""

    @hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        why = getattr(item, "_vram_refused", None)
        if why is not None:
            raise pytest.fail.Exception("vram: " + why, pytrace=False)


class _Gathering:
    """Takes rows out of reports, those of other processes too."""

    def __init__(self, options: _Options) -> None:
        self._options = options

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            self._options.rows += [row for name, row in report.user_properties if name == "vram"]


@hookimpl(hookwrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: Any) -> Generator[None, Any, None]:
    options = config._vram
    if options.report:
        _report_largest(terminalreporter, options.rows)
    if options.json is not None:
        try:
            _write_json(options)
        except OSError as error:
            options.failed = True
            terminalreporter.write_line("vram: %s was not written: %s" % (
                options.json, error.strerror), red=True)
    yield
    counts = _counts(options.rows)
    told = ["%d %s %s" % (count, "limit" if count == 1 else "limits", verdict)
            for verdict, count in counts.items() if count and verdict.startswith("not")]
    if told:
        terminalreporter.write_line("vram: %s" % ", ".join(told))


@hookimpl(hookwrapper=True, tryfirst=True)
def pytest_sessionfinish(session: Any) -> Generator[None, Any, None]:
    yield
    if session.config._vram.failed and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    counts = dict.fromkeys(("passed", "failed", "not decided", "not checked"), 0)
    for row in rows:
        for limit in row["limits"]:
            counts[limit["verdict"]] += 1
    return counts


def _report_largest(reporter: Any, rows: list[dict[str, Any]]) -> None:
    from vramscope import _core
    size = _core._size_text
    known = [row for row in rows if row["peak_delta_bytes"] is not None]
    known.sort(key=lambda row: -row["peak_delta_bytes"])
    reporter.section("largest peaks of device memory")
    if not known:
        reporter.write_line("no test had a device")
        return
    reporter.write_line("%12s %12s %12s  %s" % ("above start", "in all", "left", "test"))
    for row in known[:_LARGEST]:
        mark = "" if row["state"] == "exact" else " (at least)"
        reporter.write_line("%12s %12s %12s  %s%s" % (
            size(row["peak_delta_bytes"]), size(row["peak_bytes"]), size(row["delta_bytes"]),
            row["test"], mark))


def _write_json(options: _Options) -> None:
    import json

    from vramscope import files
    counts = {name.replace(" ", "_"): count for name, count in _counts(options.rows).items()}
    document = {"schema": _SCHEMA, "limits": counts, "tests": options.rows}
    files.write_whole(options.json or "", json.dumps(document, indent=2) + "\n")


def _fail(outcome: Any, why: str) -> None:
    """Fails the test, or its teardown, which has ended well."""
    error = pytest.fail.Exception("vram: " + why, pytrace=False)
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(error)
    else:  # pluggy before 1.1
        outcome._result, outcome._excinfo = None, (type(error), error, None)


def _left_behind(item: Any, meter: _Meter) -> int | None:
    """Bytes allocated now that were not before the setup; None where that is not known."""
    assert meter.before is not None
    backend, number, before = meter.before
    left: int | None = backend._changes(before, number)["allocated_bytes"]
    if left is None or left <= (meter.options.leaks or 0):
        return left
    import gc

    # pytest keeps values of fixtures a little longer than the fixtures.
    values = getattr(item, "funcargs", None)
    if values:
        values.clear()
    gc.collect()
    left = backend._changes(before, number)["allocated_bytes"]
    return left


class Vram:
    """The fixture `vram`: device memory of the running test, from the begin of its call."""

    def __init__(self, meter: _Meter) -> None:
        self._meter = meter

    @property
    def _profiler(self) -> Profiler:
        return self._meter.made or self._meter.begin()

    def _now(self) -> _core.Record:
        record: Any = self._profiler.checkpoint("now")
        return record  # type: ignore[no-any-return]

    @property
    def start_bytes(self) -> int | None:
        """What was allocated when the test began; None where there is no device."""
        self._profiler
        return self._meter.start

    @property
    def peak_bytes(self) -> int | None:
        """The highest value since then, in all."""
        return self._now().peak_bytes

    @property
    def growth_bytes(self) -> int | None:
        """What is allocated now minus what was at the start."""
        start, now = self._meter.start, self._now().allocated_bytes
        return None if start is None or now is None else now - start

    def scope(self, name: str) -> Any:
        """A Scope of the test, as of Profiler.scope; a failure tells the largest."""
        return self._profiler.scope(name)

    @property
    def device(self) -> int:
        """The number of the device that is measured."""
        return self._profiler.device

    @property
    def backend(self) -> _core.Backend:
        """Which devices are asked."""
        return self._profiler.backend


def _meter_of(request: Any) -> _Meter:
    node = request.node
    if getattr(node, "_vram", None) is None:  # asked for by getfixturevalue
        node._vram = _Meter(request.config._vram, *_limits_of(node), False)
    meter: _Meter = node._vram
    return meter


@fixture
def vram(request: Any) -> Vram:
    """Device memory of the test: start_bytes, peak_bytes, growth_bytes, scope(name), device,
    backend."""
    return Vram(_meter_of(request))


@fixture
def vram_sim(request: Any) -> Iterator[Callable[..., Device]]:
    """vram_sim(total="80GiB", **options) makes a simulated device, which the test's memory is then
    that of."""
    from contextlib import ExitStack
    meter = _meter_of(request)
    with ExitStack() as stack:
        def make(total: int | str = "80GiB", **options: Any) -> Device:
            from vramscope import sim
            device = stack.enter_context(sim.Device(total, **options))
            if meter.made is not None:
                meter.begin()
            return device
        yield make
