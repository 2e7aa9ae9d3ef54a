"""What help() says: each name has a docstring, a signature, and an example that runs; stubs agree with the binary."""
import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import vramscope
from vramscope import _core
from conftest import PACKAGE, ROOT, environment
from vramscope import sim

OWNERS = (vramscope, vramscope.File, vramscope.Recording, vramscope.Trace, vramscope.Result)
NAMES = [(owner, name) for owner in OWNERS for name in ([*vramscope.__all__, "open"] if owner is vramscope else dir(owner))
         if not name.startswith("_") and callable(getattr(owner, name)) and not inspect.isclass(getattr(owner, name))]
# Classes that programs meet, and what they call of them.
CLASSES = [made for name in vramscope.__all__ if inspect.isclass(made := getattr(vramscope, name))
           and not issubclass(made, BaseException) and not issubclass(made, Warning)] + [sim.Device, sim.Handle]
METHODS = [(owner, name) for owner in CLASSES if owner not in OWNERS for name in dir(owner) if not name.startswith("_")
           and callable(getattr(owner, name)) and not inspect.isdatadescriptor(inspect.getattr_static(owner, name))
           and any(name in vars(c) and c.__module__.split(".")[0] == "vramscope" for c in owner.__mro__)]
# Rows and texts, in which nothing can fail.
QUIET = {"Event", "Expected", "Handle", "Measurement", "Names", "Record", "Sample", "ScopeResult"}
# What stands in sentences instead of among the arguments.
FEW_WORDS = {"set", "user_root", "library", "device", "path"}


@pytest.mark.parametrize("owner, name", NAMES, ids=["%s.%s" % (o.__name__, n) for o, n in NAMES])
def test_a_callable_says_how_it_is_called(owner, name, monkeypatch):
    thing = getattr(owner, name)
    words = inspect.getdoc(thing)
    signature = inspect.signature(thing)
    others = [getattr(vramscope.Recording, n.split(".")[-1], None) or getattr(vramscope, n)
              for n in re.findall(r"of ((?:Recording\.)?\w+)\(\)", words)]
    known = FEW_WORDS.union(*(inspect.signature(o).parameters for o in others), ["self"])
    for parameter in signature.parameters.values():
        if parameter.name not in known and name != "get":
            assert re.search(r"\b%s\b" % parameter.name, words), parameter.name
    if any(p.name.endswith("bytes") or p.name == "capacity" for p in signature.parameters.values()):
        assert "bytes" in words
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"vramscope": vramscope}, name, None, 0)
    assert test.examples, "no example"
    monkeypatch.chdir(ROOT)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


def examples_of(thing):
    here = vars(sys.modules.get(getattr(thing, "__module__", None), vramscope))
    return doctest.DocTestParser().get_doctest(thing.__doc__ or "", {**here, "vramscope": vramscope}, str(thing), None, 0)


def ran(test, flags=0):
    """The examples of a docstring, run; what they said where one failed."""
    said = []
    result = doctest.DocTestRunner(verbose=False, optionflags=flags).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


@pytest.mark.parametrize("owner", CLASSES, ids=lambda c: c.__name__)
def test_a_class_has_an_example(owner, monkeypatch):
    monkeypatch.chdir(ROOT)
    test = examples_of(owner)
    assert test.examples, "no example"
    ran(test, doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)


@pytest.mark.parametrize("owner, name", METHODS, ids=["%s.%s" % (o.__name__, n) for o, n in METHODS])
def test_a_method_says_how_it_is_called(owner, name, monkeypatch):
    """In its own docstring or its class's: each argument by its name, bytes where it is given some, an example."""
    monkeypatch.chdir(ROOT)
    thing = getattr(owner, name)
    # What a class is documented as having, its bases document too: Answer, of which Summary is one.
    words = "\n".join([thing.__doc__ or "", *(inspect.getdoc(c) or "" for c in owner.__mro__ if c is not object)])
    assert (thing.__doc__ or "").strip()
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name not in ("self", "args", "kwargs"):
            assert re.search(r"\b%s\b" % parameter.name, words), parameter.name
    if "bytes" in inspect.signature(thing).parameters:
        assert "bytes" in thing.__doc__
    test = examples_of(thing)
    if test.examples:
        ran(test, doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    else:
        shown = "".join(e.source for c in owner.__mro__ if c.__module__.split(".")[0] == "vramscope"
                        for e in examples_of(c).examples)
        assert re.search(r"\.%s\(" % name, shown), "no example"


def test_a_name_says_what_it_raises():
    """Also where it is told by the class, or that nothing is."""
    quiet = {"category_rules", "conditions", "disable", "is_own", "names", "step", "version"}  # nothing of their own can fail
    for owner, name in NAMES:
        words = inspect.getdoc(getattr(owner, name)) + (inspect.getdoc(owner) or "" if owner is not vramscope else "")
        assert re.search(r"[Rr]aise|Error", words) or name in quiet, name
    for owner in CLASSES:
        methods = [name for cls, name in METHODS if cls is owner]
        words = "".join(inspect.getdoc(c) or "" for c in owner.__mro__ if c.__module__.split(".")[0] == "vramscope")
        words += "".join(getattr(owner, name).__doc__ for name in methods)
        assert not methods or re.search(r"[Rr]aise|Error", words) or owner.__name__ in QUIET, owner


def test_all_names_are_walked():
    assert len(NAMES) > 40 and set(vramscope.__all__) <= set(dir(vramscope))
    for name in vramscope.__all__:
        assert inspect.getdoc(getattr(vramscope, name)), name
    for owner in OWNERS[1:] + (vramscope.Column,):
        for name, member in vars(owner).items():
            if inspect.isgetsetdescriptor(member):
                assert inspect.getdoc(member), name


def test_a_method_names_its_object_first():
    """Without it inspect takes the first argument for the object, and leaves it out."""
    seen = 0
    for owner in filter(inspect.isclass, vars(_core).values()):
        for name, method in vars(owner).items():
            if inspect.ismethoddescriptor(method) and getattr(method, "__text_signature__", None):
                first = next(iter(inspect.signature(method).parameters.values()), None)
                assert first is not None and first.name == "self", (owner.__name__, name)
                seen += 1
    assert seen > 80


def test_a_call_takes_what_its_signature_says():
    """Each keyword with its default is taken, so that what help() shows is true."""
    recording = vramscope.load(ROOT / "examples" / "leak.pickle")
    for owner, name in NAMES:
        if owner is not vramscope.Recording or name in ("what_if", "check", "export", "diff"):
            continue
        keywords = {p.name: p.default for p in inspect.signature(getattr(recording, name)).parameters.values()
                    if p.kind is p.KEYWORD_ONLY}
        if keywords:
            getattr(recording, name)(**keywords)
    for name, given in (("what_if", ("expandable_segments:True",)), ("export", ("csv",)), ("diff", (recording,)),
                        ("check", ({"no-oom": None},))):
        keywords = {p.name: p.default for p in inspect.signature(getattr(recording, name)).parameters.values()
                    if p.kind is p.KEYWORD_ONLY}
        getattr(recording, name)(*given, **keywords)


def test_the_stub_of_the_package_has_its_names():
    text = (Path(PACKAGE) / "vramscope" / "__init__.pyi").read_text()
    assert re.findall(r'^    "(\w+)",$', text, re.M) == vramscope.__all__ == sorted(vramscope.__all__)
    assert set(re.findall(r"import (\w+) as \1$", text, re.M)) == {*vramscope.__all__, "open"}


def checker(*words):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed: the stubs were not checked")
    done = subprocess.run([sys.executable, "-m", *words], cwd=PACKAGE, capture_output=True, text=True, timeout=300,
                          env=environment(MYPYPATH=PACKAGE, PYTHONPATH=PACKAGE, MYPY_CACHE_DIR=os.devnull))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_types_are_strict():
    checker("mypy", "--strict", "-p", "vramscope")


def test_the_stubs_are_those_of_the_binary():
    checker("mypy.stubtest", "vramscope", "--ignore-unused-allowlist", "--allowlist",
            str(ROOT / "tests" / "python" / "ext" / "stubtest.allow"))
