"""`vramscope run --children`: what the program begins is recorded into its folder, and can hardly tell."""
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, validate
from run_programs import CATCHES, DIES, ENDS, python, script

BEGINS = """
import subprocess, sys
done = subprocess.run([sys.executable, *sys.argv[1:]], stderr=subprocess.PIPE, text=True)
print(done.returncode)
print(done.stderr)
"""


def processes(folder):
    """What is said of each process, the outermost last."""
    found = [json.loads(f.read_text()) for f in folder.glob("*.json") if f.name.split(".")[0].isdecimal()]
    return sorted((d for d in found if d["part"] == "process"), key=lambda d: not d["child"])


def test_a_child_that_dies_of_memory_says_why_into_the_same_folder(tmp_path):
    script(tmp_path, DIES, "dies.py")
    begins = script(tmp_path, BEGINS)
    _, plain, _ = python(begins, "dies.py", cwd=tmp_path, under=None)
    status, out, err = python(begins, "dies.py", cwd=tmp_path, under=["-o", "out", "--children"])
    assert (status, err) == (0, "") and out.startswith(plain[:-1])
    told = out[len(plain) - 1:]
    snapshot, = (tmp_path / "out").glob("*.1.pickle")
    assert told.startswith("vramscope: memory ran out on cuda:0\n") and f"{snapshot}   more: vramscope oom " in told
    child, = processes(tmp_path / "out")
    assert child["child"] is True and child["failures"] == {"seen": 1, "caught": 0}
    assert json.loads((tmp_path / "out" / "run.json").read_text())["processes"] == [child["who"]]


def test_without_the_option_a_child_is_not_recorded(tmp_path):
    script(tmp_path, DIES, "dies.py")
    begins = script(tmp_path, BEGINS)
    words = (begins, "dies.py")
    assert python(*words, cwd=tmp_path, under=["-o", "out"]) == python(*words, cwd=tmp_path, under=None)
    assert not (tmp_path / "out").exists()


def test_the_outermost_reports_on_all(tmp_path):
    script(tmp_path, ENDS, "ends.py")
    begins = script(tmp_path, BEGINS + ENDS)
    status, out, err = python(begins, "ends.py", cwd=tmp_path, under=["-o", "out", "--children", "--report", "--view"])
    assert (status, out) == (0, "done\n0\n\ndone\n")
    child, outermost = processes(tmp_path / "out")
    assert [child["child"], outermost["child"]] == [True, False] and outermost["status"] == 0
    assert all(f"{d['who']}.end.p" in err for d in (child, outermost)) and err.endswith("index.html\n")
    assert len(list((tmp_path / "out").glob("*.end.pickle"))) == 2
    page = (tmp_path / "out" / "index.html").read_text()
    assert f'{child["who"]}.html' in page and (tmp_path / "out" / f'{child["who"]}.html').exists()


def test_children_of_spawn_are_recorded_and_those_of_fork_are_not(tmp_path):
    work = "def work(n):\n" + "".join("    " + line + "\n" for line in DIES.splitlines())
    path = script(tmp_path, "import multiprocessing as m, sys\n" + work + "if __name__ == '__main__':\n"
                  "    p = m.get_context(sys.argv[1]).Process(target=work, args=(1,))\n    p.start(); p.join()\n    print(p.exitcode)\n")
    for how, many in (("spawn", 1), ("fork", 0)):
        status, out, err = python(path, how, cwd=tmp_path, under=["-o", how, "--children"])
        assert (status, out) == (0, "1\n") and err.count("Traceback") == 1
        assert err.count("vramscope: memory ran out once") == many
        assert len(list((tmp_path / how).glob("*.1.pickle"))) == many


TELLS = "import sys\nprint('vramscope' in sys.modules, sys.path)\nimport sitecustomize\nprint(vars(sitecustomize).keys(), sitecustomize.__spec__.origin)\n"


@pytest.mark.parametrize("own", (True, False))
def test_the_sitecustomize_that_was_there_runs_and_is_the_one(tmp_path, own):
    """Some systems bring one, so that without our own there may be one or none."""
    (tmp_path / "site").mkdir()
    if own:
        script(tmp_path / "site", "import sys; print('mine', sys.path[0])", "sitecustomize.py")
    script(tmp_path, TELLS, "tells.py")
    begins = script(tmp_path, BEGINS)
    env = {"PYTHONPATH": f"{tmp_path / 'site'}:{PACKAGE}"}
    plain = python(begins, "tells.py", cwd=tmp_path, under=None, env=env)
    under = python(begins, "tells.py", cwd=tmp_path, under=["--children"], env=env)
    assert "\nTrue [" in "\n" + under[1] and under[1].replace("True [", "False [") == plain[1]
    assert under[1].count("mine") == plain[1].count("mine") == 2 * own


@pytest.mark.parametrize("flag", ("-I", "-E", "-S"))
def test_a_child_that_does_not_hear_of_it_runs_as_without_us(tmp_path, flag):
    begins = script(tmp_path, BEGINS)
    words = (begins, flag, "-c", "import sys; print(sorted(sys.modules)); sys.exit(4)")
    assert python(*words, cwd=tmp_path, under=["--children"]) == python(*words, cwd=tmp_path, under=None)


@pytest.mark.parametrize("times", (1, 2))
def test_a_child_without_the_package_runs_as_without_us_and_the_end_says_so(tmp_path, times):
    """As another Python does, for which the extension was not built: here it goes when the program runs."""
    shutil.copytree(os.path.join(PACKAGE, "vramscope"), tmp_path / "site" / "vramscope", symlinks=True,
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    core, = Path(PACKAGE, "vramscope").glob("_core*.so")
    (tmp_path / "site" / "vramscope" / core.name).symlink_to(core)
    begins = script(tmp_path, f"import os\nos.unlink('site/vramscope/{core.name}')\n" + BEGINS * times + "print(os.listdir('tmp'))")
    (tmp_path / "tmp").mkdir()
    code = "import os; print(os.environ['VRAMSCOPE_RUN'][:1])"
    status, out, err = python(begins, "-c", code, cwd=tmp_path, under=["-o", "out", "--children"],
                              env={"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(tmp_path / "site")})
    assert status == 0 and out.startswith("{\n0\n\n" * times + "['vramscope-") and out.count(".txt") == 1, "one note of all"
    own, = processes(tmp_path / "out")
    kept = (tmp_path / "out" / f"{own['who']}.unrecorded.txt").read_text().splitlines()
    assert len(kept) == times and all(re.fullmatch(r"\d+: ImportError: .*_core.*", line) for line in kept)
    pid, why = kept[0].split(": ", 1)
    assert err == "vramscope: %s\n" % (
        f"2 processes that the program began are not recorded; the first is {kept[0]}" if times > 1 else
        f"process {pid}, which the program began, is not recorded: {why}")
    assert own["losses"]["children_unrecorded"] == times and own["files"] == [f"{own['who']}.unrecorded.txt"]
    assert not list((tmp_path / "tmp").iterdir()), "what was noted has been read"
    validate(own)


def test_a_child_in_another_folder_can_say_that_it_is_not_recorded(tmp_path):
    """The note lies in TMPDIR as the outermost process has it, also where that is relative."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "elsewhere").mkdir()
    begins = script(tmp_path, "import os\nos.environ['VRAMSCOPE_RUN'] = 'x'\nos.chdir('elsewhere')\n" + BEGINS)
    status, _, err = python(begins, "-c", "1", cwd=tmp_path, under=["-o", "out", "--children"], env={"TMPDIR": "tmp"})
    assert status == 0 and err.count("\n") == err.count("is not recorded: ") == 1
    assert not list((tmp_path / "tmp").iterdir()) and not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("harm", ("VRAMSCOPE_DIR", "VRAMSCOPE_RUN", "VRAMSCOPE_UNRECORDED"))
def test_a_child_whose_recording_can_not_begin_is_not_harmed(tmp_path, harm):
    """Not even where nobody can be told."""
    begins = script(tmp_path, f"import os\nos.environ['VRAMSCOPE_RUN'] = 'x\\u202e\\n'\ndel os.environ['{harm}']\n" + BEGINS)
    status, out, err = python(begins, "-c", "import sys; print('ran'); sys.exit(4)", cwd=tmp_path, under=["-o", "out", "--children"])
    assert (status, out) == (0, "ran\n4\n\n")
    assert err.count("\n") == err.count("is not recorded:") == (harm != "VRAMSCOPE_UNRECORDED")


def test_run_in_a_child_only_runs(tmp_path):
    script(tmp_path, DIES, "dies.py")
    begins = script(tmp_path, BEGINS)
    _, out, _ = python(begins, "-m", "vramscope", "run", "dies.py", cwd=tmp_path, under=["-o", "out", "--children"])
    assert out.count("vramscope: memory ran out") == 1 and len(list((tmp_path / "out").glob("*.pickle"))) == 1
    assert not re.search("run(_end|_process)?.py", out), "frames of ours"


def test_ranks_that_the_program_begins_share_the_folder(tmp_path):
    script(tmp_path, ENDS, "ends.py")
    launcher = script(tmp_path, "import os, subprocess, sys\nfor rank in range(3):\n"
                      "    subprocess.run([sys.executable, 'ends.py'], check=True, env={**os.environ, 'RANK': str(rank),"
                      " 'WORLD_SIZE': '4'})\n")
    status, _, err = python(launcher, cwd=tmp_path, under=["-o", "out", "--children", "--report"])
    assert status == 0 and [f.name[:5] for f in sorted((tmp_path / "out").glob("rank*.end.pickle"))] == ["rank0", "rank1", "rank2"]
    assert "vramscope: rank 3 is missing" in err and err.count("skew") == 1
    assert sys.executable not in err


@pytest.mark.parametrize("end, code, told", (("os.kill(os.getpid(), 9)", -9, "unknown"), ("sys.exit(0)", 0, "completed")))
def test_a_child_that_was_killed_leaves_the_end_unknown(tmp_path, end, code, told):
    """The failures that it caught have left files, and nobody says how it ended."""
    script(tmp_path, CATCHES.replace("sys.exit(STATUS)", "import os; " + end), "child.py")
    begins = script(tmp_path, BEGINS)
    status, out, _ = python(begins, "child.py", cwd=tmp_path, under=["-o", "out", "--children"])
    assert status == 0 and out.startswith(f"{code}\n") and list((tmp_path / "out").glob("*.2.pickle"))
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == told
