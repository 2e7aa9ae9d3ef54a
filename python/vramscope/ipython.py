"""The magics %vramscope and %%vramscope: what a statement or a cell does to device memory.

    %load_ext vramscope
    %vramscope report FILE             shows a recording
    %vramscope [options] STATEMENT     measures a statement, %%vramscope a cell

Options: -q shows nothing, -r returns the ScopeResult, -n NAME names it, --record FILE writes a
snapshot of what happened, --device N measures another device than the current one.
"""
from __future__ import annotations

import importlib
import re
import shlex
import sys
from typing import Any

from vramscope import _core, html
from vramscope._training import missing
from vramscope.profiler import Profiler

__all__ = ["load", "unload"]

try:
    _display: Any = importlib.import_module("IPython.display").display
    # The shell shows it as one line.
    _UsageError: Any = importlib.import_module("IPython.core.error").UsageError
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "IPython":
        raise
    raise missing("ipython", "IPython") from None

_FLAGS = {"-q": "quiet", "-r": "result"}
_WORD = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|(\S+))""")
# `report = f()` is a statement; no file has such a name.
_ASSIGNS = re.compile(r"report\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=|report\s*[:,]")
_VALUES = {"-n": "name", "--record": "record", "--device": "device"}


class _Shown:
    """A ScopeResult as it is displayed: a text in a terminal, a page in a notebook."""

    def __init__(self, result: _core.ScopeResult) -> None:
        self._result = result

    def __repr__(self) -> str:
        return html.scope_text(self._result).rstrip("\n")

    def _repr_html_(self) -> str:
        return html.scope_page(self._result)


class _Failed(Exception):
    """The failure of a cell whose traceback has been shown: it stops what would run next."""

    def _render_traceback_(self) -> list[str]:
        return []


def _failure(error: BaseException) -> _Failed:
    """One that has the name of the error's type."""
    named: type[_Failed] = type(type(error).__name__, (_Failed,), {})
    return named(*error.args)


def _options(line: str) -> tuple[dict[str, Any], str]:
    """(the options at the begin of a line, what stands behind them)."""
    found: dict[str, Any] = {"quiet": False, "result": False, "name": "cell", "record": None,
                             "device": None}
    rest = line.strip()
    while rest.startswith("-"):
        word, _, after = rest.partition(" ")
        word, equal, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if word in _FLAGS:
            found[_FLAGS[word]] = True
        elif word not in _VALUES:
            raise _core._usage("there is no option %s: %s" % (
                word, ", ".join([*_FLAGS, *_VALUES])))
        else:
            if not equal:
                given = _WORD.match(after)
                if given is None:
                    raise _core._usage("%s wants a value" % word)
                value, after = given[1] or given[2] or given[3], after[given.end():]
            found[_VALUES[word]] = value
        rest = after.strip()
    if found["device"] is not None and found["device"].isdecimal():
        found["device"] = int(found["device"])
    return found, rest


class _Magic:
    """The magics of one shell.  backend: as of Profiler."""

    def __init__(self, shell: Any, backend: Any = None) -> None:
        self._shell, self._backend = shell, backend

    def __call__(self, line: str, cell: str | None = None) -> _core.ScopeResult | None:
        try:
            return self._do(line, cell)
        except (OSError, _core.Error) as error:
            path = getattr(error, "path", None)
            raise _UsageError(str(error) if path is None else f"{path}: {error}") from None

    def _do(self, line: str, cell: str | None) -> _core.ScopeResult | None:
        options, rest = _options(line)
        if cell is None and rest.partition(" ")[0] == "report" and not _ASSIGNS.match(rest):
            self._report(rest.partition(" ")[2])
            return None
        if cell is not None and rest:
            raise _core._usage("behind the options nothing is wanted: %s" % rest)
        if cell is None and not rest:
            raise _core._usage("a statement is wanted, or report and a file; %vramscope? tells more")
        code = rest if cell is None else cell
        return self._measure(code, options)

    def _report(self, words: str) -> None:
        try:
            files = shlex.split(words)
        except ValueError as error:
            raise _core._usage("report: %s" % error) from None
        if len(files) != 1:
            raise _core._usage("report wants one file")
        with _core.load(files[0]) as recording:
            _display(recording.report())

    def _measure(self, code: str, options: dict[str, Any]) -> _core.ScopeResult | None:
        with Profiler(options["device"], backend=self._backend) as profiler:
            # It encloses no scope of the cell: paths are as without it.
            scope = profiler.scope(options["name"])
            error: BaseException | None = None
            entry: Any = scope._open()
            try:
                error = self._run(code, options["record"])
            finally:
                scope._close(entry, type(error) if error is not None else None)
        if error is not None:
            _tell(error)
        if not options["quiet"] and not options["result"]:
            _display(_Shown(scope.result))
        if error is not None:
            raise _failure(error) from None
        result: _core.ScopeResult | None = scope.result if options["result"] else None
        return result

    def _run(self, code: str, record: str | None) -> BaseException | None:
        """Runs code as a cell of its own, which shows its traceback; returns its error."""
        from contextlib import nullcontext

        from vramscope.history import recording
        with nullcontext() if record is None else recording.record(record):
            handle = self._listen()
            try:
                done = self._shell.run_cell(code, store_history=False)
            finally:
                handle.cancel()
        error: BaseException | None = done.error_before_exec or done.error_in_exec
        return error

    def _listen(self) -> Any:
        """Failures for lack of memory are kept, with a snapshot where memory is recorded anyway."""
        from vramscope.history import oom, recording
        source = recording.source()[0]
        snapshot = source is not None and source.enabled()
        limits = oom.Limits(5, "256MiB", 0, oom.remove_folder)
        return oom.Handle("oom_dumps", 100_000, limits, True, snapshot).start()


def _tell(error: BaseException) -> None:
    """The verdict, where memory ran out by this error, below the traceback."""
    from vramscope.history import oom, telling
    found, event = oom.event_of(error)
    if found is None:
        return
    told = place = None
    if event is not None:
        event.told = id(found)
        if event.path is not None:
            told, place = telling.verdict(event, str(found)), event.path
    if told is None:
        told = telling.figures(event) if event is not None else "there is no snapshot of it\n"
    # The stream of a notebook, which is no descriptor.
    print("vramscope: memory ran out\n" + told.rstrip("\n"), file=sys.stderr)
    if place is not None:
        print("vramscope oom " + place, file=sys.stderr)


def load(shell: Any, backend: Any = None) -> None:
    """Gives a shell the magics."""
    magic = _Magic(shell, backend)

    def vramscope(line: str, cell: str | None = None) -> _core.ScopeResult | None:
        return magic(line, cell)
    vramscope.__doc__ = __doc__  # what %vramscope? shows
    shell.register_magic_function(vramscope, magic_kind="line_cell", magic_name="vramscope")


def unload(shell: Any) -> None:
    """Takes them away."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("vramscope", None)
