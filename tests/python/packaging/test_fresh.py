"""A fresh environment, without compiler and network: what a wheel brings there, and what it leaves."""
import glob
import json
import os
import re
import shutil
import sys

import pytest
from building import (PYENV, TOOLS, VERSION, Fresh, call, checkout, clean, fresh, git,  # noqa: F401
                      made, tools, wheel)
from conftest import ROOT, run, validate

OOM = ROOT / "examples" / "oom.pickle"
TELL = f"import vramscope; print(vramscope.load({str(OOM)!r}).oom().verdict, vramscope.__file__)"


def test_command_and_package_work(fresh):
    assert shutil.which("cc", path=str(fresh.folder / "bin")) is None
    told = fresh.run(fresh.command, "report", OOM).stdout
    assert told == run("report", OOM, expect=0).out
    verdict, where = fresh.run(fresh.python, "-c", TELL).stdout.split()
    assert verdict == "True" and where.startswith(str(fresh.folder))
    assert fresh.run(fresh.python, "-m", "pip", "check").stdout == "No broken requirements found.\n"


def test_the_versions_are_one(fresh):
    script = "import vramscope, importlib.metadata as m; " \
             "print(vramscope.__version__, vramscope.version(), m.version('vramscope'))"
    assert fresh.run(fresh.python, "-c", script).stdout.split() == [VERSION] * 3
    assert fresh.run(fresh.command, "--version").stdout.split()[-1] == VERSION
    script = f"import vramscope; print(vramscope.load({str(OOM)!r}).peak()['tool'])"
    assert fresh.run(fresh.python, "-c", script).stdout.strip() == VERSION
    assert json.loads(fresh.run(fresh.command, "peak", "--json", OOM).stdout)["tool"] == VERSION


def test_frameworks_find_what_is_for_them(fresh):
    script = "import importlib.metadata as m, json; of = m.distribution('vramscope'); " \
             "print(json.dumps([[e.group, e.name, e.value] for e in of.entry_points] + " \
             "[of.metadata.get_all('Provides-Extra')]))"
    *entries, extras = json.loads(fresh.run(fresh.python, "-c", script).stdout)
    assert entries == [["pytest11", "vramscope", "vramscope.pytest_plugin"]]
    assert set(extras) == {"torch", "numpy", "pandas", "lightning", "transformers", "ipython"}


def test_nothing_is_left(tools, wheel, tmp_path):
    made = Fresh(tmp_path / "environment", tools)
    before = made.paths()
    made.run(made.python, "-m", "pip", "install", "--no-index", wheel)
    # What an import leaves goes as well.
    made.run(made.python, "-c", TELL, more={"PYTHONDONTWRITEBYTECODE": ""})
    made.run(made.python, "-m", "vramscope", "doctor", more={"PYTHONDONTWRITEBYTECODE": ""})
    assert made.command in [made.folder / path for path in made.paths() - before]
    made.run(made.python, "-m", "pip", "uninstall", "-y", "vramscope")
    assert made.paths() == before


def interpreters():
    """Every CPython on PATH, and of pyenv, that the wheel should serve."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    folders = os.environ["PATH"].split(os.pathsep)
    found = {os.path.join(folder, name) for name in names for folder in folders}
    found.update(glob.glob(f"{PYENV}/versions/3.*/bin/python3.[0-9]*[0-9]"))
    ask = "import sys, sysconfig, venv; print(sys.implementation.name, *sys.version_info[:2], " \
          "sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    by_version = {}
    for path in sorted(found):
        if os.access(path, os.X_OK):
            said = call(path, "-c", ask, expect=None)
            version = said.stdout.split()
            if said.returncode == 0 and version[0] == "cpython" and version[3] == "0":
                by_version.setdefault(tuple(map(int, version[1:3])), path)
    return {version: path for version, path in by_version.items() if version >= (3, 11)}


@pytest.fixture(scope="module")
def served(wheel, tools, tmp_path_factory):
    """An environment with the wheel for each Python here that it serves, by version."""
    if "-abi3-" not in wheel.name:
        pytest.skip(f"{wheel.name} is for one Python")
    least = (3, int(re.search(r"-cp3(\d+)-", wheel.name)[1]))
    found = {version: path for version, path in interpreters().items() if version >= least}
    assert found, "not even the one that built it"
    folder, environments = tmp_path_factory.mktemp("served"), {}
    for version, path in found.items():
        made = Fresh(folder / "{}.{}".format(*version), path, "--without-pip")
        call(tools, "-m", "pip", "--python", made.python, "install", "--no-index", wheel)
        environments[version] = made
    return environments


def test_one_wheel_serves_every_python(served):
    for made in served.values():
        assert made.run(made.python, "-c", TELL).stdout.startswith("True ")
        assert made.run(made.python, "-m", "vramscope", "--version").stdout.split()[-1] == VERSION
    print("served:", *sorted(served))


INTERPRETERS = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
from vramscope import load
for isolated in (False, True):
    if sys.version_info >= (3, 13):
        made = interpreters.create("isolated" if isolated else "legacy")
    else:
        made = interpreters.create(isolated=isolated)
    try:
        failed = interpreters.run_string(made, {code!r})
    except interpreters.RunFailedError as error:
        failed = error
    print(getattr(failed, "formatted", failed))
    interpreters.destroy(made)
assert load({path!r}).oom().verdict
"""


def test_interpreters_share_the_lock_or_are_refused(served):
    """Since 3.12 an isolated one has a lock of its own, and CPython refuses it."""
    script = INTERPRETERS.format(code=f"import vramscope; assert vramscope.load({str(OOM)!r}).oom().verdict",
                                 path=str(OOM))
    for version, made in served.items():
        shared, isolated = made.run(made.python, "-c", script).stdout.splitlines()
        assert shared == "None", version
        refused = "does not support loading in subinterpreters" in isolated
        assert refused if version >= (3, 12) else isolated == "None", version


def test_an_older_python_is_refused(wheel, tools, tmp_path):
    """By pip, which reads the tag."""
    done = call(tools, "-m", "pip", "install", "--no-index", "--dry-run", "--only-binary=:all:",
                "--python-version=3.10", f"--target={tmp_path}", wheel, expect=1)
    assert "not a supported wheel" in done.stdout


def with_tools(folder, python):
    """A new environment that sees the build requirements of the tools, and what it runs in."""
    made = Fresh(folder / "environment", python)
    [site] = made.folder.glob("lib/python*/site-packages")
    [requirements] = TOOLS.parent.glob("lib/python*/site-packages")
    (site / "requirements.pth").write_text(f"{requirements}\n")
    return made, clean(path=f"{made.folder / 'bin'}:{TOOLS}:{os.environ['PATH']}")


@pytest.mark.long
def test_an_editable_package_is_that_of_the_checkout(tools, checkout, tmp_path):
    """Built without isolation, with the build requirements of the tools; it has no command in bin."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", checkout, clone)
    made, env = with_tools(tmp_path, tools)
    call(made.python, "-m", "pip", "install", "--no-index", "--no-build-isolation", "-e", clone,
         env=env)
    where = call(made.python, "-c", TELL, env=env, cwd=tmp_path).stdout.split()
    assert where == ["True", str(clone / "python/vramscope/__init__.py")]
    assert not made.command.exists()
    told = call(made.python, "-m", "vramscope", "report", OOM, env=env, cwd=tmp_path).stdout
    assert told == run("report", OOM, expect=0).out
    assert git(clone, "status", "--porcelain") == ""
    call(made.python, "-m", "pip", "uninstall", "-y", "vramscope", env=env)
    call(made.python, "-c", "import vramscope", expect=1, env=env, cwd=tmp_path)


ASK_STABLE = "import sys; print((3, 11) <= sys.version_info and 't' not in sys.abiflags)"
EVERY_MODULE = """
import importlib, pkgutil, vramscope
for module in pkgutil.walk_packages(vramscope.__path__, "vramscope."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # a framework's
            assert error.name == "pytest" or "pip install 'vramscope[" in str(error), error
"""


def install_checkout(checkout, tmp_path, python):
    """`pip install .` without a network: the value of doctor's row of the binary."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", checkout, clone)
    made, env = with_tools(tmp_path, python)
    [site] = made.folder.glob("lib/python*/site-packages")
    # What meson-python needs before CPython 3.11; pip has brought it.
    (site / "tomli.py").write_text("from pip._vendor.tomli import *\n")
    call(made.python, "-m", "pip", "install", "--no-index", "--no-build-isolation", clone, env=env)
    assert git(clone, "status", "--porcelain") == ""
    assert made.run(made.python, "-c", TELL).stdout.startswith("True ")
    made.run(made.python, "-c", EVERY_MODULE)
    said = made.run(made.python, "-m", "vramscope", "doctor", "--json").stdout
    checks = {check["name"]: check["value"] for check in json.loads(said)["checks"]}
    assert checks["command"] == "found"
    return checks["binary"]


@pytest.mark.long
def test_a_checkout_is_installed_without_a_network(tools, checkout, tmp_path):
    binary = install_checkout(checkout, tmp_path, tools)
    assert binary.startswith("abi3" if call(tools, "-c", ASK_STABLE).stdout == "True\n" else "cp")


@pytest.mark.long
def test_an_older_python_builds_a_binary_of_its_own(tools, checkout, tmp_path):
    found = [home for home in ("/usr", "/usr/local", *glob.glob(f"{PYENV}/versions/3.10.*"))
             if os.path.exists(f"{home}/include/python3.10/Python.h")]
    if not found:
        pytest.skip("no CPython 3.10 with headers here")
    binary = install_checkout(checkout, tmp_path, f"{found[0]}/bin/python3.10")
    assert binary.startswith("cpython-310-")


# python -m vramscope --------------------------------------------------------------------

@pytest.mark.parametrize("words", (
    ("report", OOM), ("oom", "--json", OOM), ("peak", "no such file"), ("peak", "--no-such-option"),
    ("repor", OOM), ("--version",), ("help", "leaks"), ("snapshot",), (),
), ids=lambda words: words[0] if words else "nothing")
def test_other_verbs_are_the_command(fresh, words):
    ours = fresh.run(fresh.python, "-m", "vramscope", *words, expect=None)
    command = fresh.run(fresh.command, *words, expect=None)
    assert (ours.returncode, ours.stdout) == (command.returncode, command.stdout)
    assert command.stdout


def test_a_command_that_is_nowhere(fresh, wheel, tools, tmp_path):
    """A folder has the package, and no script lies where they usually do; then one of the user's."""
    home, target = tmp_path / "home", tmp_path / "target"
    call(tools, "-m", "pip", "install", "--no-index", "--no-deps", "--target", target, wheel)
    script = "import sys; sys.executable = ''; sys.path.insert(0, sys.argv.pop(1)); " \
             "from vramscope.__main__ import main; sys.exit(main(sys.argv[1:]))"
    env = clean(HOME=str(home))
    done = call(tools, "-c", script, target, "report", OOM, expect=3, env=env)
    assert "vramscope: the command is not here" in done.stdout
    user = home / ".local/bin"
    assert str(user / "vramscope") in done.stdout
    assert str(TOOLS / "vramscope") in done.stdout
    said = call(tools, "-c", script, target, "doctor", "--json", expect=3, env=env).stdout
    document = json.loads(said)
    validate(document)
    assert document["command"] is None
    user.mkdir(parents=True)
    shutil.copy(target / "bin/vramscope", user)
    done = call(tools, "-c", script, target, "report", OOM, env=env)
    assert done.stdout == fresh.run(fresh.command, "report", OOM).stdout


def test_pages_by_their_older_words(fresh, tmp_path):
    want = tmp_path / "want.html"
    fresh.run(fresh.command, "view", OOM, "-o", want)
    for number, words in enumerate((("trace_plot", OOM, "-o"), ("snapshot", "html", OOM, "--output"))):
        page = tmp_path / f"{number}.html"
        fresh.run(fresh.python, "-m", "vramscope", *words, page)
        assert page.read_bytes() == want.read_bytes()
    page.unlink()
    fresh.run(fresh.python, "-m", "vramscope", "trace_plot", "-o", page, OOM)
    assert page.exists()
    folder = tmp_path / "of recordings"
    folder.mkdir()
    shutil.copy(OOM, folder / "-oom.pickle")
    for words in (("trace_plot", "--"), ("snapshot", "html", "--")):
        for name in (folder / "-oom.pickle", "-oom.pickle"):
            fresh.run(fresh.python, "-m", "vramscope", *words, name, cwd=folder)
            (folder / "-oom.html").unlink()
    # One that somebody else wrote stays.
    (folder / "-oom.html").write_text("mine")
    fresh.run(fresh.python, "-m", "vramscope", "trace_plot", folder / "-oom.pickle", expect=2)
    assert (folder / "-oom.html").read_text() == "mine"
    for wrong in ((), (OOM, OOM), (OOM, "--svg")):
        fresh.run(fresh.python, "-m", "vramscope", "trace_plot", *wrong, expect=2)
    failed = fresh.run(fresh.python, "-m", "vramscope", "trace_plot", "nothing.pickle", expect=None)
    command = fresh.run(fresh.command, "view", "nothing.pickle", expect=None)
    assert (failed.returncode, failed.stdout) == (command.returncode, command.stdout)
    assert failed.returncode != 0


# doctor ---------------------------------------------------------------------------------

def test_doctor_says_what_python_has(fresh):
    said = fresh.run(fresh.python, "-m", "vramscope", "doctor",
                     more={"RANK": "3", "WORLD_SIZE": "8", "COLUMNS": "1000"})
    lines = said.stdout.splitlines()
    told = fresh.run(fresh.command, "doctor", more={"COLUMNS": "1000"}).stdout
    assert said.stdout.endswith(told)
    rows = dict(line.split(None, 2)[1:] for line in lines[:len(lines) - len(told.splitlines())])
    assert rows["python"].startswith(".".join(map(str, sys.version_info[:1])) + ".")
    assert str(fresh.folder) in rows["binary"]
    assert rows["libraries"] == "static: zlib, zstd and PCRE2 are in the binary"
    assert rows["command"] == f"found: {fresh.command}"
    assert rows["torch"].startswith("none: ") and "cuda" not in rows
    assert rows["ranks"] == "found: RANK=3, WORLD_SIZE=8"


def test_doctor_as_json(fresh):
    said = fresh.run(fresh.python, "-m", "vramscope", "doctor", "--json").stdout
    document = json.loads(said)
    validate(document)
    checks = {check["name"]: check for check in document["checks"]}
    assert all(check["ok"] == (check["cure"] is None) for check in document["checks"])
    assert not checks["torch"]["ok"] and checks["ranks"]["value"] == "none"
    assert document["command"] == json.loads(fresh.run(fresh.command, "doctor", "--json").stdout)
    fresh.run(fresh.python, "-m", "vramscope", "doctor", "--no-such-option", expect=2)


def test_doctor_imports_nothing_without_torch(fresh):
    script = "import sys; before = set(sys.modules); from vramscope import _doctor; _doctor.look(); " \
             "print(sorted(n for n in set(sys.modules) - before if n.partition('.')[0] not in " \
             "sys.stdlib_module_names and not n.startswith(('vramscope', '_sysconfigdata_'))))"
    assert fresh.run(fresh.python, "-c", script).stdout == "[]\n"


TORCH = """
__version__ = "9.9.9"
class version:
    cuda, hip = {cuda!r}, None
class _C:
    pass
class cuda:
    is_initialized = staticmethod(lambda: False)
    class memory:
        def _record_memory_history(enabled="all", max_entries=1, new_one=0):
            raise AssertionError
        _snapshot = _record_memory_history
"""


@pytest.mark.parametrize("source, torch, cuda", (
    (TORCH.format(cuda="12.8"), "9.9.9", "12.8"),
    (TORCH.format(cuda=None), "9.9.9", "none"),
    ("raise OSError('libcudart.so.12: no such file')", "broken", None),
), ids=("cuda", "cpu", "broken"))
def test_doctor_looks_at_torch(fresh, tmp_path, source, torch, cuda):
    """A stand-in that has no more than doctor may use: any other use is an AttributeError."""
    (tmp_path / "torch.py").write_text(source)
    said = fresh.run(fresh.python, "-m", "vramscope", "doctor", "--json",
                     more={"PYTHONPATH": str(tmp_path)}).stdout
    checks = {check["name"]: check for check in json.loads(said)["checks"]}
    assert checks["torch"]["value"] == torch and checks["torch"]["ok"] == (torch != "broken")
    assert (checks["cuda"]["value"] if "cuda" in checks else None) == cuda
    if torch == "broken":
        assert "OSError: libcudart.so.12" in checks["torch"]["why"] and "recorder" not in checks
    elif cuda == "none":
        assert checks["recorder"]["why"] == "torch was built without CUDA or HIP"
        assert checks["backend"]["value"] == "none" and not checks["backend"]["ok"]
    else:
        assert checks["recorder"]["why"] == "it takes enabled, max_entries, new_one"
        assert "torch._C._cuda_memoryStats" in checks["functions"]["why"]
        assert checks["observer"]["value"] == "none"
        # Without a driver nothing is known of its devices.
        driver = any(map(os.path.exists, ("/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia/version", "/dev/nvgpu",
                                          "/dev/nvhost-gpu", "/dev/dxg")))
        assert (checks["backend"]["value"], checks["backend"]["ok"]) == ("torch", driver)
        assert ("readings of the backend torch" if driver else "torch tells nothing") in checks["reading"]["why"]


@pytest.mark.long
@pytest.mark.torch
def test_doctor_does_not_initialise_cuda(wheel, tools, tmp_path):
    python = ROOT / "build/torch-venv/bin/python"
    if not python.exists():
        pytest.skip("no build/torch-venv")
    call(tools, "-m", "pip", "install", "--no-index", "--no-deps", "--target", tmp_path, wheel)
    script = "from vramscope import _doctor; rows = {r['name']: r for r in _doctor.look()}; " \
             "import torch; assert rows['torch']['value'] == torch.__version__, rows; " \
             "assert 'cuda' in rows; print(torch.cuda.is_initialized())"
    assert call(python, "-c", script, env=clean(PYTHONPATH=str(tmp_path))).stdout == "False\n"


# Types ----------------------------------------------------------------------------------

def test_the_types_are_those_of_the_binary(wheel, tools, tmp_path):
    """mypy --strict over the package, as the oldest Python that it is for reads it and as this one;
    stubtest over its stubs beside what is installed."""
    target, settings = tmp_path / "target", tmp_path / "mypy.ini"
    settings.write_text("[mypy]\n")  # else one that lies in a folder above is read
    call(tools, "-m", "pip", "install", "--no-index", "--no-deps", "--target", target, wheel)
    for words in ((), ("--python-version=3.10",)):
        call(tools, "-m", "mypy", "--strict", f"--config-file={settings}",
             f"--cache-dir={tmp_path / 'cache'}", *words, "-p", "vramscope", cwd=target)
    call(tools, "-m", "mypy.stubtest", "vramscope", "--ignore-unused-allowlist", "--allowlist",
         ROOT / "tests/python/ext/stubtest.allow", "--mypy-config-file", settings, cwd=target,
         env=clean(PYTHONPATH=str(target)))
