"""The binary: only names of the stable interface, one entry, no library beside libc's, and it loads in every CPython."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment

BINARY = Path(PACKAGE) / "vramscope" / "_core.abi3.so"
LIST = Path(__file__).with_name("stable_abi.txt")


def listed():
    return {line for line in LIST.read_text().split("\n") if line and not line.startswith("#")}


def symbols(*options):
    if shutil.which("nm") is None:
        pytest.skip("there is no nm: the names were not looked at")
    done = subprocess.run(["nm", "-D", *options, str(BINARY)], capture_output=True, text=True, check=True,
                          env=environment(LD_PRELOAD=""))
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_names_are_of_the_stable_interface():
    used = {n for n in symbols("--undefined-only") if re.match(r"_?Py", n)}
    assert len(used) > 50
    assert used - listed() == set(), "look them up in the manifest of 3.11, Misc/stable_abi.toml, and add them to the list"
    assert listed() - used == set(), "these are not used any more"


def test_the_list_is_part_of_the_manifest():
    """By a CPython 3.11 that has its own tests."""
    found = [p for p in interpreters((3, 11)) for p in p.parents[1].glob("lib/python3.11/test/test_stable_abi_ctypes.py")]
    if not found:
        pytest.skip("no CPython 3.11 with its tests is here: the list was not compared")
    names = set(re.findall(r'^    "(\w+)",$', found[0].read_text(), re.M))
    assert len(names) > 500 and listed() <= names


def test_one_name_is_exported():
    assert {n for n in symbols("--defined-only") if not n.startswith(("__asan", "__ubsan", "__odr"))} == {"PyInit__core"}


def interpreters(*versions):
    """Programs of CPython here, whoever installed them."""
    folders = [Path(p) for p in os.environ.get("PATH", "").split(":")]
    folders += sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin"))
    found = {}
    for version in versions or [(3, minor) for minor in range(11, 16)]:
        for folder in folders:
            path = folder / ("python%d.%d" % version)
            if path.is_file() and "shims" not in path.parts:
                found.setdefault(version, path)
    return list(found.values())


@pytest.mark.parametrize("python", interpreters(), ids=lambda p: p.name)
def test_one_file_serves_every_python(python):
    code = "import sys; sys.path.insert(0, %r); import vramscope; r = vramscope.load(%r); " \
           "print(r.oom().verdict, sum(memoryview(r['events.size'])), vramscope.__version__)" % (
               PACKAGE, str(ROOT / "examples" / "oom.pickle"))
    done = subprocess.run([str(python), "-B", "-c", code], capture_output=True, text=True, timeout=120)
    recording = vramscope.load(ROOT / "examples" / "oom.pickle")
    assert done.stdout == "True %d %s\n" % (sum(recording["events.size"]), vramscope.__version__), done.stderr[-2000:]


def test_this_python_is_one_of_them():
    assert sys.version_info >= (3, 11) and interpreters()
