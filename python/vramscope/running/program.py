"""Runs a script, a module or a text as __main__, so that it cannot tell that it is not alone."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from types import CodeType, ModuleType, TracebackType
    from typing import Any

# The __main__ that was there: emptied, its functions would lose their globals.
_kept: list[ModuleType | None] = []


def new_main(**names: Any) -> ModuleType:
    """A new module __main__ in sys.modules, with the names that a plain start gives."""
    import builtins
    import importlib.machinery
    import types
    made = types.ModuleType("__main__")
    vars(made).update(__loader__=importlib.machinery.BuiltinImporter, __builtins__=builtins)
    if sys.version_info < (3, 14):
        made.__annotations__ = {}
    vars(made).update(names)
    _kept.append(sys.modules.get("__main__"))
    sys.modules["__main__"] = made
    return made


def set_first(folder: str) -> None:
    """The first folder that modules are looked for in; none is there where Python is to be safe."""
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path[0] = folder


def run_code(text: str, words: list[str]) -> None:
    """python -c TEXT WORDS"""
    sys.argv[:] = ["-c", *words]
    set_first("")
    main = new_main()
    code = compile(text, "<string>", "exec", dont_inherit=True)
    if sys.version_info >= (3, 13):
        show_lines(code, text)
    exec(code, vars(main))


def run_stdin(words: list[str]) -> None:
    """python - WORDS: the text comes by the standard input"""
    sys.argv[:] = ["-", *words]
    set_first("")
    main = new_main(__file__="<stdin>", __cached__=None)
    text = sys.stdin.buffer.read()
    code = compile(text, "<stdin>", "exec", dont_inherit=True)
    if sys.version_info >= (3, 13):
        show_lines(code, text.decode("utf-8", "replace"), "<stdin>")
    try:
        exec(code, vars(main))
    finally:
        for name in ("__file__", "__cached__"):
            vars(main).pop(name, None)


def show_lines(code: CodeType, text: str, name: str = "<string>") -> None:
    """From 3.13 on tracebacks show the lines of such a text."""
    import linecache
    register = getattr(linecache, "_register_code", None)
    if register is not None:
        by_code = hasattr(linecache, "_interactive_cache")
        register(code if by_code else name, text, name)


def run_as_main(name: str, *, alter_argv: bool) -> None:
    """What python -m does, in a __main__ that stays."""
    import runpy
    new_main()
    runpy._run_module_as_main(name, alter_argv=alter_argv)  # type: ignore[attr-defined]


def run_module(name: str, words: list[str]) -> None:
    """python -m NAME WORDS"""
    sys.argv[:] = ["-m", *words]
    run_as_main(name, alter_argv=True)


def run_script(path: str, words: list[str]) -> None:
    """python PATH WORDS: a file, or a folder or zip file with __main__.py"""
    import importlib.machinery
    import pkgutil
    if path == "-":
        run_stdin(words)
        return
    sys.argv[:] = [path, *words]
    whole = os.path.abspath(path)
    if pkgutil.get_importer(whole) is not None and (os.path.isdir(whole) or not is_source(whole)):
        # Unlike a script's own folder, what is run itself is on the path even where that is safe.
        if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
            sys.path.insert(0, whole)
        else:
            sys.path[0] = whole
        run_as_main("__main__", alter_argv=False)
        return
    set_first(os.path.dirname(os.path.realpath(whole)))
    loader = importlib.machinery.SourceFileLoader("__main__", whole)
    main = new_main(__file__=whole, __cached__=None, __loader__=loader)
    with open(whole, "rb") as file:
        source = file.read()
    exec(compile(source, whole, "exec", dont_inherit=True), vars(main))


def is_source(path: str) -> bool:
    import zipfile
    return not zipfile.is_zipfile(path)


def cut(error: BaseException | None, trace: TracebackType | None) -> TracebackType | None:
    """What is left of a traceback without the frames that lead to the program; those of this
    package that the program itself calls stay."""
    ours = os.path.dirname(os.path.dirname(__file__)) + os.sep

    def is_ours(frame: TracebackType) -> bool:
        return frame.tb_frame.f_code.co_filename.startswith(ours)
    rest = trace
    while rest is not None and not is_ours(rest):
        rest = rest.tb_next
    if rest is None:
        return trace
    while rest is not None and is_ours(rest):
        rest = rest.tb_next
    if error is not None:
        error.__traceback__ = rest
    return rest
