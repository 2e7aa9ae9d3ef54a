"""Stacks of Python and C++ frames as PyTorch's history keeps them: innermost first, shared where equal.

Frames of the recorder itself are left out.  Paths of the machine are replaced: programs lie in
/home/user/project/, libraries in /usr/lib/python3.12/site-packages/.
"""
import sys
from pathlib import Path

from . import native

HERE = str(Path(__file__).resolve().parent) + "/"
PROJECT = str(Path(__file__).resolve().parent.parent) + "/"
USER = "/home/user/project/"
LIBRARY = "/usr/lib/python3.12/site-packages/"
# What stands between a dispatch mode and the line that called the operator.
BRIDGES = ("torch/_compile.py", "torch/_dynamo/eval_frame.py", "torch/utils/_python_dispatch.py",
           "torch/overrides.py")


def shown_path(path):
    """A file's path as it would be on the machine of a user."""
    if path.startswith(PROJECT):
        return USER + path[len(PROJECT):]
    for root in ("/site-packages/", "/dist-packages/"):
        if root in path:
            return LIBRARY + path.split(root, 1)[1]
    return path


class Stacks:
    """Makes stacks; equal ones are one list, and equal frames one dict."""

    def __init__(self):
        self.frames, self.lists, self.paths = {}, {}, {}
        self.module = ()  # the outermost frame, where the program is started

    def started_at(self, file, line):
        self.module = (("<module>", self.path(file), line),)

    def path(self, raw):
        if raw not in self.paths:
            self.paths[raw] = shown_path(raw)
        return self.paths[raw]

    def frame(self, name, file, line):
        key = (name, file, line)
        if key not in self.frames:
            self.frames[key] = {"name": name, "filename": file, "line": line}
        return self.frames[key]

    def of(self, keys):
        """The shared list of frames of (function, file, line) keys."""
        if keys not in self.lists:
            self.lists[keys] = [self.frame(*key) for key in keys]
        return self.lists[keys]

    def python(self, in_engine):
        """(function, file, line) of the running Python calls.

        Work of the autograd engine has the calls alone that the engine made: on a GPU it runs on
        a thread of its own, while the caller of backward waits.
        """
        keys, inner, cut = [], True, 0
        frame = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            frame_key = (code.co_name, self.path(file), frame.f_lineno)
            frame = frame.f_back
            if file.startswith(HERE) or inner and file.endswith(BRIDGES):
                continue
            inner = False
            if in_engine and code.co_name == "_engine_run_backward":
                cut = len(keys)
            keys.append(frame_key)
        if in_engine:
            return tuple(keys[:cut])
        user = [i for i, key in enumerate(keys) if key[1].startswith(USER)]
        return tuple(keys[:user[-1] + 1]) + self.module if user else ()

    def mixed(self, cpp, python, in_engine):
        """C++ frames, then the Python calls, then what lies below both."""
        below = native.ENGINE if in_engine else native.MAIN_THREAD
        if in_engine and python:
            below = native.OPERATOR + below
        return self.of(tuple((n, f, 0) for n, f in cpp) + python + tuple((n, f, 0) for n, f in below))


class NoStacks:
    """For a run of which the peak alone is wanted."""

    def started_at(self, file, line):
        pass

    def python(self, in_engine):
        return ()

    def mixed(self, cpp, python, in_engine):
        return []
