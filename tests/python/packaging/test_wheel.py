"""The wheel and the sdist: what is in them, what they need, and that two builds of them are equal."""
import glob
import hashlib
import os
import re
import tarfile
import zipfile

import pytest
from building import (PYENV, VERSION, call, checkout, clean, git, made, sdist, tools, wheel)  # noqa: F401
from conftest import ROOT

MOST_BYTES = 6 << 20
OF_LIBC = {"libc.so.6", "libm.so.6"}  # of glibc 2.34 and later: threads and dlopen are in libc
PROGRAM = f"vramscope-{VERSION}.data/scripts/vramscope"


@pytest.fixture(scope="module")
def binaries(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    [core] = folder.glob("vramscope/_core*.so")
    return core, folder / PROGRAM


def test_size_and_tag_are_told(made, wheel, tools):
    said = (made / "said").read_text()
    size = wheel.stat().st_size
    assert 500_000 < size <= MOST_BYTES
    tag = wheel.stem.split("-", 2)[2]
    assert f"{size} bytes, tag {tag}" in said and str(wheel) in said
    [needed] = re.findall(r"^vramscope/_core\S* needs (.*), exports PyInit__core$", said, re.M)
    assert set(needed.split(", ")) == OF_LIBC
    assert re.fullmatch(r"cp3\d+-(abi3|cp3\d+t?)-manylinux_2_\d+_\w+", tag)
    builder = call(tools, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").stdout.strip()
    assert tag.startswith(builder)
    assert ("leaves out" in said) == (builder not in ("cp310", "cp311"))


def test_it_needs_the_c_library_alone(binaries):
    for path in binaries:
        dynamic = call("readelf", "--dynamic", path).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
        assert "libc.so.6" in needed and set(needed) <= OF_LIBC
        assert "(RPATH)" not in dynamic and "(RUNPATH)" not in dynamic


def test_it_exports_its_entry_alone(binaries):
    lines = call("nm", "--dynamic", "--defined-only", binaries[0]).stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["PyInit__core"]


def test_where_it_was_built_does_not_show(binaries, checkout):
    for path in binaries:
        held = path.read_bytes()
        assert str(checkout).encode() not in held and b"build-via-sdist" not in held


def test_the_whole_package_is_in_it(wheel, binaries, checkout):
    sources = git(checkout, "ls-files", "python/vramscope").split()
    wanted = {name.removeprefix("python/") for name in sources
              if not name.endswith("meson.build")}
    info = f"vramscope-{VERSION}.dist-info/"
    wanted |= {f"vramscope/{binaries[0].name}", PROGRAM, *(info + name for name in (
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"))}
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        held = {name for name in archive.namelist() if not name.endswith("/")}
        assert held == wanted
        assert archive.getinfo(PROGRAM).external_attr >> 16 & 0o111


def test_the_sdist_has_what_is_committed(sdist, checkout):
    with tarfile.open(sdist) as archive:
        held = {member.name for member in archive if not member.isdir()}
        info = archive.extractfile(f"vramscope-{VERSION}/PKG-INFO").read().decode()
    committed = set(git(checkout, "ls-files").splitlines()) | {"PKG-INFO"}
    assert held == {f"vramscope-{VERSION}/{name}" for name in committed}
    assert f"\nVersion: {VERSION}\n" in info and "\nRequires-Dist: torch; extra ==" in info
    assert re.findall(r"^Requires-Dist: (?!.*extra ==).*", info, re.M) == []


def test_what_is_not_committed_is_an_error(checkout, tools, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", checkout, clone)
    (clone / "src/forgotten.c").write_text("int forgotten;\n")
    (clone / "LICENSE").write_text("changed\n")
    done = call(clone / "tools/wheel", "-o", tmp_path / "out", "--python", tools, expect=1)
    assert "not committed" in done.stdout
    assert "src/forgotten.c" in done.stdout and "LICENSE" in done.stdout
    assert not (tmp_path / "out").exists()


def test_no_library_is_copied_into_it(checkout, tools, tmp_path):
    """Static archives that are missing are an error here, where pip falls back."""
    function = "import runpy, pathlib, sys; tool = runpy.run_path(sys.argv[1], run_name='tool'); " \
               "tool['say_binaries'](sys.argv[2], pathlib.Path(sys.argv[3]))"
    shared = ROOT / "build/debug/cli/vramscope"  # linked with the system's libraries
    if not shared.exists():
        pytest.skip("no build/debug")
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.write(shared, "scripts/vramscope")
    done = call(tools, "-c", function, checkout / "tools/wheel", tmp_path / "a.whl", tmp_path / "u",
                expect=1)
    assert "scripts/vramscope needs lib" in done.stdout and "libz.so.1" in done.stdout
    assert "static archives" in done.stdout


@pytest.mark.long
def test_two_builds_are_equal(made, checkout, tools, tmp_path):
    """In another folder, another time zone, by a user with another mask."""
    clone, out = tmp_path / "a folder" / "clone", tmp_path / "out"
    clone.parent.mkdir()
    previous = os.umask(0o077)
    try:
        git(tmp_path, "clone", "-q", checkout, clone)
        call(clone / "tools/wheel", "-o", out, "--python", tools,
             env=clean(TZ="Pacific/Auckland", CCACHE_DISABLE="1"))
    finally:
        os.umask(previous)

    def sums(folder):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in folder.iterdir() if path.suffix in (".whl", ".gz")}

    assert sums(out) == sums(made) and len(sums(out)) == 2


# Configuring ----------------------------------------------------------------------------

def configure(checkout, tools, folder, env):
    return call(tools.parent / "meson", "setup", folder, checkout, "-Dpython=enabled", expect=1,
                env=env).stdout


def test_all_that_is_missing_is_told_at_once(checkout, tools, tmp_path):
    env = clean(PKG_CONFIG_LIBDIR=str(tmp_path), CMAKE_PREFIX_PATH=str(tmp_path))
    said = configure(checkout, tools, tmp_path / "build", env)
    [error] = re.findall(r"ERROR: (?:Problem encountered: )?(.*?)\n\n?A full log", said, re.S)
    assert "zstd-headers" in error and "pcre2-headers" in error
    assert "A wheel that was built elsewhere needs none of it" in error
    installs = error.splitlines()[-2]
    assert re.search(r"install|-S --needed", installs) and "zstd" in installs and "pcre2" in installs


def test_a_missing_compiler_is_told_with_the_rest(checkout, tools, tmp_path):
    said = configure(checkout, tools, tmp_path / "build", clean(CC="no-such-compiler"))
    assert re.search(r"missing here: cc\b.*this line installs it:|install these, then try again: cc",
                     said)
    assert "A wheel that was built elsewhere needs none of it" in said


def test_the_extension_compiles_without_the_stable_interface(checkout):
    """For CPython 3.10, whose stable interface has no buffers."""
    places = [f"{base}/include/python3.10"
              for base in ("/usr", "/usr/local", *glob.glob(f"{PYENV}/versions/3.10.*"))]
    headers = [place for place in places if os.path.exists(f"{place}/Python.h")]
    if not headers:
        pytest.skip("no headers of CPython 3.10 here")
    sources = sorted((checkout / "python/core").rglob("*.c"))
    assert sources
    call("cc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-isystem", headers[0],
         "-I", checkout / "include", "-I", checkout / "python/core", *sources)


BACKEND = """
import sys, types
sys.path.insert(0, {tools!r})
mesonpy = types.ModuleType("mesonpy")
mesonpy.__version__ = {version!r}
mesonpy.build_wheel = lambda folder, settings, metadata: print(settings)
sys.modules["mesonpy"] = mesonpy
{before}
import build_backend
build_backend.build_wheel("out", {settings!r})
"""


@pytest.mark.parametrize("version, before, settings, status, said", (
    ("0.12.0", "", None, 1, "meson-python 0.12.0 is too old"),
    ("0.18.0", "sys.implementation.name = 'pypy'", None, 1, "built for CPython, not for pypy"),
    ("0.18.0", "sys.version_info = (3, 11)", {"setup-args": "-Da=b"}, 0, "{'setup-args': '-Da=b'}"),
    ("1.2.3", "sys.version_info = (3, 10)", {"setup-args": "-Da=b"}, 0,
     "{'setup-args': ['-Da=b', '-Dpython.allow_limited_api=false']}"),
    ("0.18.0", "sys.version_info = (3, 10)", None, 0,
     "{'setup-args': ['-Dpython.allow_limited_api=false']}"),
))
def test_the_back_end_knows_its_interpreter(tools, version, before, settings, status, said):
    """mesonpy is a stand-in here, so that one interpreter can pass for others."""
    script = BACKEND.format(tools=str(ROOT / "tools"), version=version, before=before,
                            settings=settings)
    done = call(tools, "-B", "-c", script, expect=status)
    assert said in done.stdout and "Traceback" not in done.stdout
