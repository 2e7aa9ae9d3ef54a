"""Hooks in a program that is not ours, which sees nothing of what happens in them."""
from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import ExceptHookArgs
    from types import TracebackType
    from typing import Any, TextIO

    _Cut = Callable[[BaseException | None, TracebackType | None], TracebackType | None]

STDERR = 2
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
        try:
            _thread.start_new_thread(interrupt, ())
        except RuntimeError:  # the interpreter ends, or the system has no thread
            _thread.interrupt_main()


def descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def say(text: str) -> None:
    """Writes a text to stderr, by one write and whether or not that can be."""
    try:
        stream = sys.stderr
        if stream is None:
            return
        stream.flush()
        if descriptor(stream) == STDERR:
            os.write(STDERR, text.encode("utf-8", "backslashreplace"))
        else:  # of a notebook or a log; the descriptor that it may have is that of another stream
            stream.write(text)
            stream.flush()
    except Exception as error:
        swallow(error)


class Hooks:
    """What hears of exceptions that leave a program; what heard of them before is called first.

    These are sys.excepthook, threading.excepthook, and in IPython its handler of exceptions.
    """

    def __init__(self, after: Callable[[BaseException | None], object],
                 cut: _Cut | None = None) -> None:
        self._after, self._cut, self._pid = after, cut, os.getpid()
        self._before: Callable[..., object] = sys.__excepthook__
        self._threads_before: Callable[..., object] | None = None
        self._shell: Any = None
        self._shell_before: tuple[tuple[type[BaseException], ...], Any] = ((), None)
        self._shell_now: Any = None

    def install(self) -> None:
        """Wraps the hook that is there now."""
        self.wrap_uncaught()
        self.install_threads()
        self.install_shell()

    def wrap_uncaught(self) -> None:
        self._before = sys.excepthook
        sys.excepthook = self.uncaught

    def install_threads(self) -> None:
        import threading
        self._threads_before = threading.excepthook
        threading.excepthook = self.uncaught_in_thread

    def install_shell(self) -> None:
        """IPython shows exceptions of a cell by itself, so that no excepthook hears of them."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        if shell is None:
            return
        self._shell, self._shell_before = shell, (shell.custom_exceptions, shell.CustomTB)
        shell.set_custom_exc((Exception, *shell.custom_exceptions), self.uncaught_in_shell)
        self._shell_now = shell.CustomTB

    def uncaught_in_shell(self, shell: Any, kind: type[BaseException], error: BaseException,
                          trace: TracebackType | None, tb_offset: int | None = None) -> Any:
        classes, before = self._shell_before
        try:
            if isinstance(error, classes):
                return before(kind, error, trace, tb_offset=tb_offset)
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset,
                                running_compiled_code=True)
            return None
        finally:
            self._tell(error)

    def remove(self) -> None:
        if sys.excepthook == self.uncaught:
            sys.excepthook = self._before
        import threading
        if threading.excepthook == self.uncaught_in_thread:
            threading.excepthook = self._threads_before or threading.__excepthook__
        # A method is made anew at each look, so that it is equal and not the same.
        if self._shell is not None and self._shell.CustomTB == self._shell_now:
            self._shell.custom_exceptions, self._shell.CustomTB = self._shell_before

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
