"""python -m vramscope run: the program is as it was without us, and tells why its memory ran out."""
import json
import pickle
import re
import shlex
import subprocess
import sys

import pytest
import vramscope
from conftest import PACKAGE, environment, run
from run_programs import CATCHES, DIES, FAILS_AGAIN, python, script, without_addresses

def test_a_program_that_dies_of_memory_says_why(tmp_path):
    path = script(tmp_path, DIES)
    plain = python(path, cwd=tmp_path, under=None)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert (status, out) == plain[:2] == (1, "")
    assert err.startswith(plain[2])
    ours = err[len(plain[2]):]
    file, = (tmp_path / "out").glob("*.pickle")
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    message = plain[2].strip().splitlines()[-1].partition(": ")[2]
    said = run("oom", "--message", message, file, expect=0).out
    assert ours.startswith("vramscope: memory ran out on cuda:0\n" + said)
    assert "holds too much" in said
    # The three largest, by bytes: a tag, a local variable, the first of a list.
    assert [ours.find(name) > 0 for name in ("weights", "train.batch", "train.acts[")] == [True] * 3
    before, _, more = ours.rpartition(f"vramscope: {file}   more: ")
    words = shlex.split(more)
    assert words[:2] == ["vramscope", "oom"] and run(*words[1:], expect=0).out in before
    with vramscope.load(file) as recording:
        assert recording.oom(message=message).text(width=80) == said
        replayed = recording.replay().to_dict()["devices"][0]
    assert replayed["trust"]["grade"] == "A"
    extra = pickle.loads(file.read_bytes())["vramscope"]
    assert extra["schema"] == "vramscope.extra/1" and extra["names"]["dropped"] == 0
    largest = [(t["name"], t["bytes"], t["kind"]) for t in extra["names"]["tensors"][:2]]
    assert largest == [("weights", 400 << 20, "tensor"), ("train.batch", 200 << 20, "tensor")]


def test_what_the_program_caught_is_one_line_at_the_end(tmp_path):
    path = script(tmp_path, CATCHES.replace("STATUS", "0"))
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out"])
    files = sorted((tmp_path / "out").glob("*.pickle"))
    assert (status, out, len(files)) == (0, "", 2)
    assert err == ("vramscope: memory ran out 2 times, which the program caught; %s %s\n" % tuple(files))


def test_a_status_that_is_not_0_after_a_caught_failure_tells_its_verdict(tmp_path):
    path = script(tmp_path, CATCHES.replace("STATUS", "7"))
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 7 and err.startswith("vramscope: memory ran out on cuda:0\n") and "verdict" in err


def test_the_device_that_was_full_is_named(tmp_path):
    path = script(tmp_path, "from vramscope import sim\nwith sim.Device('1GiB', count=3) as device:\n"
                            "    kept = device.alloc('600MiB', device=0)\n    other = device.alloc('700MiB', device=2)\n"
                            "    device.alloc('800MiB', device=2)\n")
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 1 and "\nvramscope: memory ran out on cuda:2\n" in err
    oom, = (tmp_path / "out").glob("*.oom.json")
    assert json.loads(oom.read_text())["device"] == 2 and json.loads(oom.read_text())["verdict"] is not None


def test_a_failure_in_a_thread_is_told_and_the_program_goes_on(tmp_path):
    path = script(tmp_path, "import threading\n" + DIES.replace("    train(device)", "    t = threading.Thread("
                            "target=train, args=(device,)); t.start(); t.join(); print('on')"))
    plain = python(path, cwd=tmp_path, under=None)
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert (status, out) == plain[:2] == (0, "on\n")
    numbers = re.compile(r"Thread-\d+ ")
    assert numbers.sub("", err).startswith(numbers.sub("", plain[2])) and err.count("memory ran out on cuda:0") == 1


def test_another_error_after_a_caught_failure_has_no_verdict(tmp_path):
    path = script(tmp_path, CATCHES.replace("sys.exit(STATUS)", "1 / 0"))
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    plain = python(path, cwd=tmp_path, under=None)
    assert status == 1 and err.startswith(plain[2])
    assert err[len(plain[2]):].startswith("vramscope: memory ran out 2 times, which the program caught; ")


def test_limits_remove_the_oldest_files(tmp_path):
    path = script(tmp_path, CATCHES.replace("STATUS", "0"))
    python(path, cwd=tmp_path, under=["-o", "out", "--max-dumps", "1"])
    assert [f.name.split(".")[1] for f in (tmp_path / "out").glob("*.pickle")] == ["2"]


# Files that cost too much are paced; here none may be written again at all.
NONE_AGAIN = "oom.UNPACED_SECONDS, oom.PACE_SECONDS = 0, 1e9"


def test_of_a_line_that_fails_often_the_newest_snapshots_are_kept(tmp_path):
    path = script(tmp_path, FAILS_AGAIN.replace("PACE", "").replace("CAUGHT", "True"))
    python(path, cwd=tmp_path, under=["-o", "out"])
    assert sorted(f.name.split(".")[1] for f in (tmp_path / "out").glob("*.pickle")) == list("45678")


@pytest.mark.parametrize("pace", ("pass", NONE_AGAIN))
def test_the_failure_that_ends_the_program_has_a_verdict(tmp_path, pace):
    path = script(tmp_path, FAILS_AGAIN.replace("PACE", pace).replace("CAUGHT", "False"))
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 1 and "\nverdict " in err and "620.00 MiB in use plus 900.00 MiB requested" in err
    files = sorted((tmp_path / "out").glob("*.pickle"))
    assert len(files) == 5 and str(files[-1]) in err and ("the snapshot is of now" in err) == (pace != "pass")
    own, = (json.loads(f.read_text()) for f in (tmp_path / "out").glob("[0-9]*.json") if "oom" not in f.name)
    assert own["losses"]["snapshots_limited"] == (0 if pace == "pass" else 2) and own["failures"] == {"seen": 8, "caught": 7}


def test_where_the_last_failure_has_no_snapshot_it_says_why_and_names_the_last(tmp_path):
    text = FAILS_AGAIN.replace("PACE", "").replace("CAUGHT", "False").replace("    after =", "    import os\n    "
        "last = sorted(os.listdir('out'))[-3]\n    os.rename('out', 'gone')\n    open('out', 'w').close()\n    after =")
    path = script(tmp_path, text)
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    said, = re.findall("^vramscope: there is no snapshot of it: it could not be written; the last one is (.*)$", err, re.M)
    assert status == 1 and said.startswith(str(tmp_path / "out")) and said.endswith(".7.pickle") and "in use " in err


def test_a_note_has_no_file(tmp_path):
    path = script(tmp_path, DIES)
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out", "--on-oom=note"])
    assert status == 1 and not (tmp_path / "out").exists() and "838,860,800 B" in err
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out", "--on-oom=off"])
    assert status == 1 and "vramscope: memory" not in err


@pytest.mark.parametrize("folder", ("/proc/nowhere", "prog.py/out", "x" * 300))
def test_a_place_that_can_not_be_written_is_one_line(tmp_path, folder):
    path = script(tmp_path, DIES + "    device.alloc('1MiB')\n")
    plain = python(path, cwd=tmp_path, under=None)
    for more in ([], ["--report"], ["--view"]):
        status, out, err = python(path, cwd=tmp_path, under=["-o", folder, *more])
        before, traceback, ours = err.partition(plain[2])
        assert (status, out, traceback) == (*plain[:2], plain[2])
        assert len(re.findall(r"^vramscope: .*: [A-Z][a-z ]+$", before + ours, re.M)) == 1 and "Error" not in ours
        assert ours.startswith("vramscope: memory ran out on cuda:0\n") and "asked     838,860,800 B" in ours
        assert (before == "") == folder.startswith("/proc"), "what shows at the beginning is said then"
    assert [f.name for f in tmp_path.iterdir()] == ["prog.py"]


def test_parents_of_a_folder_are_made_with_its_first_file(tmp_path):
    path = script(tmp_path, DIES)
    assert python("-c", "print(1)", cwd=tmp_path, under=["-o", "a/b/c", "--report"])[0] == 0 and not (tmp_path / "a").exists()
    status, _, err = python(path, cwd=tmp_path, under=["-o", "a/b/c"])
    assert status == 1 and "verdict" in err and len(list((tmp_path / "a/b/c").glob("*.pickle"))) == 1
    python(path, cwd=tmp_path, under=["-o", "d/e/f"], preexec=limited)
    python(path, cwd=tmp_path, under=["-o", "d/e/" + "f" * 300])
    assert not (tmp_path / "d").exists()


def test_a_folder_with_any_characters(tmp_path):
    path = script(tmp_path, DIES)
    name = "a 'b' \u2603 $(c)\n;d"
    status, _, err = python(path, cwd=tmp_path, under=["-o", name])
    file, = (tmp_path / name).glob("*.pickle")
    assert status == 1 and "verdict" in err and shlex.quote(str(file)) in err


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.parametrize("how", ("full", "removed"))
def test_where_no_file_can_be_written_the_program_ends_as_it_would(tmp_path, how):
    text = DIES if how == "full" else DIES.replace("    train(device)", "    import os; os.rmdir(os.getcwd())\n    train(device)")
    path, work = script(tmp_path, text), tmp_path / "work"
    work.mkdir()
    plain = python(path, cwd=work, under=None)
    work.mkdir(exist_ok=True)
    status, _, err = python(path, cwd=work, under=[], preexec=limited if how == "full" else None)
    assert status == plain[0] == 1 and ("File too large" if how == "full" else "No such file") in err
    assert plain[2] in err
    assert {f.name for f in tmp_path.rglob("*")} <= {"prog.py", "work"}


def test_wrong_words(tmp_path):
    for words, said in ((["--histroy", "5", "x.py"], "the nearest is --history"), ([], "a script is wanted"),
                        (["--history"], "needs a value"), (["--stacks=some", "x.py"], "python, all, none")):
        status, _, err = python(cwd=tmp_path, under=words)
        assert status == 2 and said in err
    status, _, err = python("missing.py", cwd=tmp_path, under=[])
    assert status == 2 and err == python("missing.py", cwd=tmp_path, under=None)[2]


def test_closed_stderr(tmp_path):
    path = script(tmp_path, DIES)
    status = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-B", "-m", "vramscope", "run",
                             "-o", "out", path], cwd=tmp_path, env=environment(PYTHONPATH=PACKAGE)).returncode
    assert status == 1 and len(list((tmp_path / "out").glob("*.pickle"))) == 1


def test_forked_children_write_nothing(tmp_path):
    path = script(tmp_path, "import os\nif os.fork() == 0:\n" + "".join(
        "    " + line + "\n" for line in DIES.splitlines()) + "else:\n    os.wait()\n")
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"])
    assert status == 0 and "vramscope: memory" not in err and not (tmp_path / "out").exists()


def test_run_in_run_only_runs(tmp_path):
    path = script(tmp_path, DIES)
    status, _, err = python(path, cwd=tmp_path, under=["-o", "out"], env={"VRAMSCOPE_RUN": "1"})
    assert status == 1 and err == python(path, cwd=tmp_path, under=None)[2]


def test_torch_is_noticed_when_it_is_imported_and_not_changed(tmp_path):
    (tmp_path / "torch.py").write_text("version = None\n")
    path = script(tmp_path, "import sys, torch\nprint(torch.__spec__, torch.__loader__.exec_module.__qualname__,\n"
                            "      vars(torch.__loader__), [type(f).__module__ for f in sys.meta_path])\n")
    plain, under = (python(path, cwd=tmp_path, under=how) for how in (None, []))
    assert without_addresses(plain) == without_addresses(under)


def test_the_command_finds_a_python_that_has_the_package(tmp_path):
    path = script(tmp_path, "import sys; print(sys.argv, sys.executable); sys.exit(9)")
    env = environment(PYTHONPATH=PACKAGE, VIRTUAL_ENV=sys.prefix)
    found = run("run", "--", path, "a", cwd=tmp_path, env=env)
    assert (found.code, found.err) == (9, "") and repr([str(path), "a"]) in found.out
    found = run("run", "--histroy=5", path, cwd=tmp_path, env=env)
    assert found.code == 2 and "the nearest is --history" in found.err
    bare = environment(VIRTUAL_ENV=str(tmp_path))
    bare.pop("PYTHONPATH", None)
    found = run("run", path, cwd=tmp_path, env={**bare, "PATH": str(tmp_path)})
    assert found.code == 3 and found.out == "" and "pip install vramscope" in found.err
    help_text = python(cwd=tmp_path, under=["--help"])
    assert help_text[:2] == (0, run("run", "--help", cwd=tmp_path).out)


@pytest.mark.parametrize("more", ({"TORCHELASTIC_RUN_ID": "night"}, {"TORCHELASTIC_RUN_ID": "none"},
                                  {"SLURM_JOB_ID": "77"}))
def test_ranks_of_a_job_share_a_folder_and_who_dies_speaks(tmp_path, more):
    path = script(tmp_path, "import os\nif os.environ['RANK'] in '35':\n" + "".join(
        "    " + line + "\n" for line in DIES.splitlines()))
    started = [subprocess.Popen([sys.executable, "-B", "-m", "vramscope", "run", path], cwd=tmp_path, text=True,
                                stderr=subprocess.PIPE, env=environment(
                                    PYTHONPATH=PACKAGE, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="8", **more))
               for rank in range(8)]
    said = [one.communicate(timeout=300)[1] for one in started]
    assert [one.returncode for one in started] == [0, 0, 0, 1, 0, 1, 0, 0]
    assert [text == "" for text in said] == [rank not in (3, 5) for rank in range(8)]
    assert "on cuda:0 (rank 3)" in said[3] and "on cuda:0 (rank 5)" in said[5]
    folder, = (f for f in tmp_path.iterdir() if f.is_dir())
    assert {f.name.split(".")[0] for f in folder.iterdir()} == {"rank3", "rank5", "run"}
    name = {"night": "night", "none": folder.name[10:], None: "slurm-77.0"}[more.get("TORCHELASTIC_RUN_ID")]
    assert folder.name == "vramscope-" + name


@pytest.mark.long
def test_a_folder_of_another_run_is_refused_and_a_name_that_is_taken_gets_a_number(tmp_path):
    path = script(tmp_path, DIES)
    (tmp_path / "out").mkdir()
    assert python(path, cwd=tmp_path, under=["-o", "out"], preexec=limited)[0] == 1 and not list((tmp_path / "out").iterdir())
    assert python(path, cwd=tmp_path, under=["-o", "out"])[0] == 1 and len(list((tmp_path / "out").glob("*.pickle"))) == 1
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    for folder, why in (("out", "it is of another run"), ("full", "it is not empty"), ("prog.py", "it is no folder")):
        status, out, err = python(path, cwd=tmp_path, under=["-o", folder])
        assert (status, out) == (2, "") and f"-o {folder}: {why}; give a new or an empty" in err and "Traceback" not in err
    ranks = {"RANK": "0", "WORLD_SIZE": "1", "TORCHELASTIC_RUN_ID": "night"}
    (tmp_path / "out" / "run.json").write_text('{"job": "night"}')
    assert python(path, cwd=tmp_path, under=["-o", "out"], env=ranks)[0] == 1
    assert len(list((tmp_path / "out").glob("rank0.*.pickle"))) == 1
    (tmp_path / "vramscope-night").mkdir()
    (tmp_path / "vramscope-night" / "run.json").write_text('{"job": "day"}')
    python(path, cwd=tmp_path, under=[], env={**ranks, "TORCHELASTIC_RESTART_COUNT": "2"})
    names = sorted(f.name for f in (tmp_path / "vramscope-night_1").iterdir())
    assert all(n.startswith("rank0.restart2.") for n in names[:-1]) and names[-1] == "run.json" and len(names) == 4
