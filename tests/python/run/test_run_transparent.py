"""Programs that must not be able to tell that they run under `vramscope run`."""
import fcntl
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import PACKAGE, environment, some
from run_programs import python, script, without_addresses

# A file prog.py, and what it is to show: its output, its exit status, its traceback.
SCRIPTS = {
    "prints": "print('hello')",
    "names": "print(sorted(globals()), __name__, __file__, __spec__, __package__, __doc__, __builtins__)",
    "loader": "print(type(__loader__), __loader__.get_filename('__main__'), __cached__)",
    "argv": "import sys; print(sys.argv, sys.path[0], sys.modules['__main__'].__dict__ is globals())",
    "raises": "def f():\n    return 1 / 0\nf()",
    "chained": "try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('x') from e",
    "exit none": "import sys; sys.exit()",
    "exit 3": "import sys; sys.exit(3)",
    "exit text": "import sys; sys.exit('words')",
    "exit object": "import sys; sys.exit([1, 2])",
    "interrupt": "raise KeyboardInterrupt",
    "sigint": "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(5)",
    "sigterm": "import os, signal; os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(5)",
    "sigkill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "os._exit": "import os; os._exit(5)",
    "atexit": "import atexit\nx = 4\n@atexit.register\ndef f():\n    print('late', x)\n    1 / 0",
    "thread": "import threading\ndef f():\n    1 / 0\nt = threading.Thread(target=f); t.start(); t.join(); print(1)",
    "late thread": "import threading, time\nx = 2\ndef f():\n    time.sleep(.3); print(x)\nthreading.Thread(target=f).start()",
    "del": "class A:\n    def __del__(self):\n        1 / 0\nx = A()\ndel x\nprint(2)",
    "hook": "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\n1 / 0",
    "future": "from __future__ import annotations\ndef f(x: nothing): pass\nprint(f.__annotations__)",
    "no future": "def f(x: int): pass\nprint(f.__annotations__)",
    "syntax": "x = = 1",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "spawn": "import multiprocessing as m\ndef f(x):\n    return x + 1\nif __name__ == '__main__':\n"
             "    with m.get_context('spawn').Pool(1) as p:\n        print(p.map(f, [1]))",
    "stdin": "import sys; print(sys.stdin.read())",
    "deep": "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(5)",
    "group": "raise ExceptionGroup('g', [ValueError(1)])" if sys.version_info >= (3, 11) else "1 / 0",
    "exit in a thread": "import sys, threading\nt = threading.Thread(target=sys.exit, args=(3,)); t.start(); t.join(); print(4)",
    "daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start(); print(5)",
    "fork": "import os, sys\nif os.fork() == 0:\n    sys.exit('child')\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "exit of a hook": "import sys\ndef hook(*a):\n    print('mine'); sys.stdout.flush(); sys.exit(6)\nsys.excepthook = hook\n1 / 0",
    "thread hook": "import threading\nthreading.excepthook = lambda args: print('mine', args.exc_type)\n"
                   "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "subclass of exit": "class E(SystemExit): pass\nraise E(7)",
    "context": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    import sys; sys.exit('later')",
    "host memory": "raise MemoryError('out of memory')",
    "path": "import sys; print(sys.path, sys.flags, sys.executable, sys.meta_path[-1], sys.path_hooks)",
    "environment": "import os; print(sorted(os.environ.items()))",
    "import itself": "import prog\nif __name__ == '__main__': print(prog.__name__, prog.__file__)",
    "signals": "import signal; print([str(signal.getsignal(s)) for s in sorted(signal.valid_signals())])",
    "warnings": "import warnings; print(warnings.filters); warnings.warn('once')",
    "trace": "import sys; print(sys.gettrace(), sys.getprofile())",
    "logging": "import logging; print(logging.root.handlers); logging.error('words')",
    "asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0); 1 / 0\nasyncio.run(f())",
    "frames of ours that it calls": "import vramscope\n@vramscope.record()\ndef f():\n    1 / 0\ndef g():\n    f()\ng()",
    "exec": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(8)'])",
}
TELL = ("import sys\nprint(sys.argv, sys.path[0], __name__, __package__, __spec__ and __spec__.name, sorted(globals()))\n"
        "print(sys.modules['__main__'].__dict__ is globals(), globals().get('__file__'))\n")
SPAWN = ("import multiprocessing as m\nfrom pack.work import work\nif __name__ == '__main__':\n"
         "    with m.get_context('spawn').Pool(1) as p:\n        print(p.map(work, [1]))\n")
# Files, and the words after python.
FORMS = {
    **{name: ({"prog.py": text}, ["prog.py", "a", "-b", "--", "--help"]) for name, text in SCRIPTS.items()},
    "coding line": ({"prog.py": b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n"}, ["prog.py"]),
    "byte order mark": ({"prog.py": b"\xef\xbb\xbfprint(1)\n1 / 0\n"}, ["prog.py"]),
    "empty": ({"prog.py": ""}, ["prog.py"]),
    "no newline at the end": ({"prog.py": "1 / 0"}, ["prog.py"]),
    "package": ({"pack/__init__.py": "", "pack/__main__.py": TELL}, ["-m", "pack", "x"]),
    "package in a package": ({"pack/__init__.py": "", "pack/sub/__init__.py": "", "pack/sub/__main__.py": TELL},
                             ["-m", "pack.sub", "-m"]),
    "module": ({"single.py": TELL + "1 / 0\n"}, ["-m", "single"]),
    "module of a package": ({"pack/__init__.py": "", "pack/part.py": TELL + "from . import __name__ as n; print(n)"},
                            ["-m", "pack.part"]),
    "no module": ({}, ["-m", "nothing.here"]),
    "spawn of a module": ({"pack/__init__.py": "", "pack/work.py": "def work(n): return n + 1", "pack/__main__.py": SPAWN},
                          ["-m", "pack"]),
    "module of the library": ({}, ["-m", "platform"]),
    "folder": ({"pack/__main__.py": TELL + "1 / 0"}, ["pack", "y"]),
    "folder without a program": ({"pack/a.py": ""}, ["pack"]),
    "script in a folder": ({"pack/prog.py": TELL + "import beside", "pack/beside.py": "print('beside')"}, ["pack/prog.py"]),
    "zip": ({"all.zip": {"__main__.py": TELL + "import beside", "beside.py": "print(__file__)"}}, ["all.zip", "z"]),
    "zip without a program": ({"all.zip": {"a.py": ""}}, ["all.zip"]),
    "text": ({}, ["-c", TELL, "w"]),
    "text that exits": ({}, ["-c", "import sys; sys.exit('no')"]),
    "text that raises": ({}, ["-c", "def f():\n    1 / 0\nf()"]),
    "standard input": ({"beside.py": "print('beside')"}, ["-", "y", "-z"]),
    "no script": ({}, ["missing.py"]),
}


STDIN = (TELL + "import beside, atexit\nprint(sorted(globals()), __file__, __loader__, sys.argv, sys.path[0], input)\n"
         "atexit.register(lambda: print(sorted(globals())))\nprint(sys.stdin.read())\ndef f():\n    1 / 0\nf()\n").encode()


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            with zipfile.ZipFile(path, "w") as packed:
                for inner, text in content.items():
                    packed.writestr(inner, text)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("name", FORMS)
def test_a_program_is_as_without_us(tmp_path, name):
    files, words = FORMS[name]
    write(tmp_path, files)
    given = STDIN if words[0] == "-" else b"given"
    plain, under = (python(*words, cwd=tmp_path, under=how, stdin=given) for how in (None, []))
    assert without_addresses(under) == without_addresses(plain)
    assert "vramscope" not in under[1] + under[2] or "vramscope" in plain[1] + plain[2]


OTHERS = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.1[1-9]*/bin/python3"))


@pytest.mark.long
@pytest.mark.parametrize("other", OTHERS, ids=lambda path: path.parts[-3])
@pytest.mark.parametrize("name", FORMS)
def test_it_is_so_in_every_python(tmp_path, name, other):
    files, words = FORMS[name]
    write(tmp_path, files)
    plain, under = (python(*words, cwd=tmp_path, under=how, stdin=b"given", executable=other) for how in (None, []))
    assert without_addresses(under) == without_addresses(plain)


@pytest.mark.parametrize("name", ("raises", "atexit", "del", "stdin", *some((), ("exit text", "interrupt", "thread", "sigterm", "zip"))))
@pytest.mark.parametrize("closed", ("2>&-", ">&-", "<&-", "<&- >&- 2>&-"))
def test_a_stream_that_is_closed(tmp_path, name, closed):
    files, words = FORMS[name]
    write(tmp_path, files)
    found = []
    for before in ([], ["-m", "vramscope", "run"]):
        done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-B", *before, *words], cwd=tmp_path,
                              input=b"given", capture_output=True, env=environment(PYTHONPATH=PACKAGE), timeout=300)
        found.append(without_addresses((done.returncode, done.stdout.decode(), done.stderr.decode())))
    assert found[0] == found[1]


def test_a_pipe_that_nobody_reads(tmp_path):
    """stderr is full: the program's own texts would wait, ours are dropped."""
    path = script(tmp_path, "from vramscope import sim\nimport os\nwith sim.Device('1GiB') as device:\n    device.alloc('2GiB')\n")
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    assert fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK
    done = subprocess.run([sys.executable, "-B", "-m", "vramscope", "run", "-o", "out", path], cwd=tmp_path, stderr=writer,
                          env=environment(PYTHONPATH=PACKAGE), timeout=60)
    os.close(reader)
    os.close(writer)
    assert done.returncode == 1 and len(list((tmp_path / "out").glob("*.pickle"))) == 1
