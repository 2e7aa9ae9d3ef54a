"""What the tests of packages share: the wheel of this tree, built once, and interpreters without it.

The tree is copied into a checkout of its own and committed there, so that what is not committed
yet is tested, and nothing is written beside it.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from made_once import HANGS, made_once

TOOLS = ROOT / "build/wheel-venv/bin"
LIBRARIES = ("libz.a", "libzstd.a", "libpcre2-8.a")
PYENV = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
VERSION = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]


def clean(path=None, **more):
    """An environment without the sanitizers and folders that the tests themselves run with."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("LD_PRELOAD", "ASAN_OPTIONS", "PYTHONPATH", "VIRTUAL_ENV", "CC", "CFLAGS")
           and not name.startswith("VRAMSCOPE")}
    own = {"PATH": path or env["PATH"], "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**env, **own, **more}


def call(*command, expect=0, **options):
    """The finished process, its output as one text."""
    options.setdefault("env", clean())
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=HANGS, **options)
    assert expect is None or done.returncode == expect, (command, done.returncode, done.stdout[-4000:])
    return done


def git(folder, *words):
    fixed = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
             for what, value in (("NAME", "t"), ("EMAIL", "t@t"), ("DATE", "2026-01-02T03:04:05Z"))}
    return call("git", "-C", folder, *words, env=clean(GIT_CONFIG_GLOBAL=os.devnull, **fixed)).stdout


@pytest.fixture(scope="session")
def tools():
    """The interpreter that has what builds wheels."""
    if not (TOOLS / "python").exists():
        pytest.skip("no build/wheel-venv: `tools/setup wheel` could not get what builds wheels")
    return TOOLS / "python"


def copy_tree(folder):
    names = call("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z").stdout
    for name in filter(None, names.split("\0")):
        if not (ROOT / name).is_file():  # removed, and not committed yet
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "the tree as it is tested")


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """A clean checkout of the tree as it is."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout here, of which alone a package is made")
    return made_once(tmp_path_factory, "checkout", copy_tree)


@pytest.fixture(scope="session")
def made(tmp_path_factory, tools, checkout):
    """The folder with the sdist, the wheel, and what tools/wheel said in `said`."""
    for name in LIBRARIES:
        if call("cc", f"-print-file-name={name}").stdout.strip() == name:
            pytest.skip(f"no static archive {name} here, and so no wheel for other machines")

    def make(folder):
        # What is in it is tested, not how fast it is: the last level given is taken.
        done = call(checkout / "tools/wheel", "-o", folder, "--python", tools, cwd="/",
                    env=clean(CFLAGS="-O1"))
        (folder / "said").write_text(done.stdout)

    return made_once(tmp_path_factory, "made", make)


@pytest.fixture(scope="session")
def wheel(made):
    [path] = made.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def sdist(made):
    [path] = made.glob("*.tar.gz")
    return path


class Fresh:
    """A new environment: its interpreter, and nothing else on PATH."""

    def __init__(self, folder, python, *options):
        call(python, "-m", "venv", *options, folder)
        self.folder, self.python, self.command = folder, folder / "bin/python", folder / "bin/vramscope"

    def run(self, *command, **options):
        more = options.pop("more", {})
        options.setdefault("cwd", self.folder)
        return call(*command, env=clean(path=str(self.folder / "bin"), **more), **options)

    def paths(self):
        """All that lies in it, but for what an import leaves beside the sources of pip itself."""
        return {path.relative_to(self.folder) for path in self.folder.rglob("*")
                if "__pycache__" not in path.parts or "vramscope" in path.parts}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, tools, wheel):
    """A fresh environment that has the wheel, and what it was before."""
    made = Fresh(tmp_path_factory.mktemp("fresh") / "environment", tools)
    made.before = made.paths()
    made.run(made.python, "-m", "pip", "install", "--no-index", wheel)
    return made
