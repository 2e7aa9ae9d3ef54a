"""Hooks of ours in a program that is not ours: nothing that happens in one is seen by the program."""
from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import ExceptHookArgs
    from types import TracebackType

    _Cut = Callable[[BaseException | None, TracebackType | None], TracebackType | None]

failures = 0  # what hooks of ours raised and nobody was to see


def swallow(error: BaseException) -> None:
    """Counts what a hook of ours raised; an interrupt is given back to the program afterwards."""
    global failures
    failures += 1
    if isinstance(error, KeyboardInterrupt):
        import _thread

        def interrupt() -> None:
            time.sleep(0.01)  # when the hook has returned: inside it this would replace the error
            _thread.interrupt_main()
        _thread.start_new_thread(interrupt, ())


def say(text: str) -> None:
    """Writes a text to stderr, by one write and whether or not that can be."""
    try:
        stream = sys.stderr
        if stream is None:
            return
        stream.flush()
        try:
            number = stream.fileno()
        except (AttributeError, OSError, ValueError):
            stream.write(text)
            return
        os.write(number, text.encode("utf-8", "backslashreplace"))
    except Exception as error:
        swallow(error)


class Hooks:
    """sys.excepthook and threading.excepthook, each with the one that was there called first."""

    def __init__(self, after: Callable[[BaseException | None], object],
                 cut: _Cut | None = None) -> None:
        self._after, self._cut, self._pid = after, cut, os.getpid()
        self._before: Callable[..., object] = sys.__excepthook__
        self._threads_before: Callable[..., object] | None = None

    def install(self) -> None:
        """Wraps the hook that is there now."""
        self.wrap_uncaught()
        self.install_threads()

    def wrap_uncaught(self) -> None:
        self._before = sys.excepthook
        sys.excepthook = self.uncaught

    def install_threads(self) -> None:
        import threading
        self._threads_before = threading.excepthook
        threading.excepthook = self.uncaught_in_thread

    def remove(self) -> None:
        if sys.excepthook == self.uncaught:
            sys.excepthook = self._before
        import threading
        if threading.excepthook == self.uncaught_in_thread:
            threading.excepthook = self._threads_before or threading.__excepthook__

    def uncaught(self, kind: type[BaseException], error: BaseException,
                 trace: TracebackType | None) -> None:
        try:
            if self._cut is not None:
                trace = self._cut(error, trace)
        except BaseException as failure:
            swallow(failure)
        try:
            self._before(kind, error, trace)
        finally:
            self._tell(error)

    def uncaught_in_thread(self, args: ExceptHookArgs) -> None:
        error = args.exc_value
        try:
            if self._threads_before is not None:
                self._threads_before(args)
        finally:
            self._tell(error)

    def _tell(self, error: BaseException | None) -> None:
        try:
            if os.getpid() == self._pid:
                self._after(error)
        except BaseException as failure:
            swallow(failure)
