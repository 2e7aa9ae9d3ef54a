"""What importing the package does: little, and nothing that was not asked for."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, environment

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
before, seen, threads = set(sys.modules), [], sys._current_frames
sys.addaudithook(lambda event, args: seen.append((event, str(args[0]) if args else "")))
%s
print(json.dumps({"modules": sorted(set(sys.modules) - before), "seen": seen, "threads": len(threads())}))
"""
HEAVY = {"torch", "numpy", "pandas", "IPython", "json", "re", "threading", "inspect", "typing", "dataclasses", "ctypes",
         "subprocess", "logging", "asyncio"}


def told(code):
    done = subprocess.run([sys.executable, "-I", "-B", "-S", "-c", SCRIPT % code, PACKAGE], capture_output=True, text=True,
                          timeout=120, env=environment(PYTHONDONTWRITEBYTECODE="1"))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("code, most", (("import vramscope", 12), ("from vramscope import load, Error", 12)))
def test_an_import_is_light(code, most):
    found = told(code)
    own = [m for m in found["modules"] if m.split(".")[0] == "vramscope"]
    assert own and len(own) <= most and set(found["modules"]) - set(own) <= {"os", "sys", "collections", "collections.abc", "_contextvars"}
    assert not HEAVY & set(found["modules"])
    assert found["threads"] == 1


def test_an_import_opens_its_own_files_alone():
    found = told("import vramscope; vramscope.load")
    opened = [name for event, name in found["seen"] if event == "open"]
    assert opened and all(Path(name).is_relative_to(Path(PACKAGE) / "vramscope") for name in opened), opened
    assert not [e for e, _ in found["seen"] if e.split(".")[0] in ("socket", "subprocess", "os") and e != "os.listdir"]


# They are made for a framework, and say which where there is none.
FOR_FRAMEWORKS = {"vramscope." + name for name in ("ipython", "lightning", "pytest_plugin", "transformers")}


def modules():
    """Every module of the package that a program may import; what runs by being imported is not one."""
    package = Path(PACKAGE) / "vramscope"
    names = [".".join(("vramscope", *path.relative_to(package).with_suffix("").parts)) for path in package.rglob("*.py")
             if "_children" not in path.parts]
    return sorted({name.removesuffix(".__init__") for name in names if not name.endswith("__main__")} - FOR_FRAMEWORKS)


# Modules that are of use inside another program, which they are imported by or import, and its extra.
INSIDE = {"vramscope.ipython": "ipython", "vramscope.lightning": "lightning", "vramscope.pytest_plugin": None,
          "vramscope.transformers": "transformers"}


@pytest.mark.parametrize("module", sorted(m for m in INSIDE if INSIDE[m]))
def test_without_its_framework_a_module_says_what_to_install(module):
    found = told("try:\n    import %s\nexcept ImportError as e:\n    assert 'vramscope[%s]' in str(e), e\n"
                 "else:\n    assert 0" % (module, INSIDE[module]))
    assert module not in found["modules"]


@pytest.mark.parametrize("module", [m for m in modules() if m not in INSIDE])
def test_an_import_opens_no_file_but_code(module):
    """Its own files and the standard library's; no torch, no thread, no connection, no process."""
    found = told("import %s" % module)
    homes = [Path(PACKAGE) / "vramscope", Path(json.__file__).parents[1]]
    opened = [name for event, name in found["seen"] if event == "open"]
    assert not [name for name in opened if not any(Path(name).is_relative_to(home) for home in homes)]
    quiet = {("ctypes.dlopen", "None")}  # the program itself, by the import of ctypes
    assert not [e for e, what in found["seen"] if e.split(".")[0] in ("socket", "subprocess", "os", "ctypes")
                and e not in ("os.listdir", "os.scandir") and (e, what) not in quiet]
    assert not {"torch", "numpy", "pandas", "IPython"} & set(found["modules"]) and found["threads"] == 1


def test_names_come_when_they_are_asked_for():
    import vramscope
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        vramscope.nothing
    assert set(vramscope.__all__) <= set(dir(vramscope)) and "__version__" in dir(vramscope)
    found = told("import vramscope\nassert 'vramscope._core' not in sys.modules\nvramscope.__version__")
    assert "vramscope._core" in found["modules"]
    space = {}
    exec("from vramscope import *", space)
    assert set(vramscope.__all__) <= set(space) and "open" not in space
    assert callable(vramscope.open) and "open" in dir(vramscope)
