"""The commands that an answer ends with run as they are printed, for every kind of file."""
import re
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from recordings import scripts

from conftest import ROOT, environment, run

EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"^(?:next|do|verify|)\s+vramscope ([a-z].*?)(?:\s+# .*)?$")
# What ends with commands; each is asked about every file.
QUESTIONS = (["report"], ["oom"], ["leaks"], ["fragments"], ["steps"], ["categories"], ["advise"],
             ["advise", "--waste"], ["check", "--max-peak", "1MiB", "--no-oom", "--no-retry"])
# Lines as wide as they need to be: a command is never broken, but its meaning is left out.
WIDE = environment(COLUMNS="4000")


def commands_of(text):
    return [m[1] for m in map(COMMAND.match, text.splitlines()) if m]


def asked(args, folder):
    """The commands under `next` of one answer, whose exit status may be a verdict."""
    result = run(*args, env=WIDE, cwd=folder)
    assert result.code in (0, 1, 4), (args, result.err)
    return commands_of(result.out)


def check_all(folder, questions, least, device=None):
    """Each command of each answer about files of a folder runs, and tells something."""
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda q: asked(q, folder), questions)
        found = {c: q for q, commands in zip(questions, answers) for c in commands}

        def problem(command):
            args = shlex.split(command)
            if device is not None and args[args.index("--device") + 1:][:1] != [device]:
                return "loses the device"
            result = run(*args, env=WIDE, cwd=folder)
            if result.code not in (0, 1) or not result.out:
                return "%d %s" % (result.code, result.err.strip())
            return None

        bad = {c: (found[c], why) for c, why in zip(found, pool.map(problem, found)) if why}
    assert bad == {}
    assert len(found) >= least, sorted(found)
    return found


def every_question(names, *options):
    """Names without their folder, as `check` shows no other."""
    return [[*q, *options, name] for name in names for q in QUESTIONS]


def test_commands_of_examples():
    names = sorted(p.name for p in EXAMPLES.glob("*.pickle"))
    check_all(EXAMPLES, every_question(names) + [["diff", a, b] for a, b in zip(names, names[1:])], 24)


def test_commands_of_scripts():
    paths = [scripts.make(name) for name in scripts.NAMES]
    check_all(paths[0].parent, every_question(p.name for p in paths), 24)


def test_commands_of_real_files(shared):
    folder = shared / "data" / "snapshots"
    names = sorted(p.name for p in folder.iterdir() if p.suffix in (".pickle", ".pkl", ".html"))
    found = check_all(folder, every_question(names), 100)
    assert any("embedded.html" in c for c in found)
    pairs = [("lm_forward_bf16_embedded.html", "fsdp_homework_embedded.html"),
             ("lm_forward_bf16.pickle", "lm_forward_bf16_embedded.html"),
             ("no_frames_no_trace.pickle", "lm_train_full.pickle")]
    check_all(folder, [["diff", a, b] for a, b in pairs], 2)


def check_device(folder, name, device):
    check_all(folder, every_question([name], "--device", device), 3, device)
    check_all(folder, [["diff", "--device", device, "--at", "start", "--to", "end", name]], 1, device)
    check_all(folder, [["diff", "--device", "0", "--to-device", device, name, name]], 1)


def test_commands_keep_to_the_device():
    path = scripts.make("two_devices")
    check_device(path.parent, path.name, "1")


def test_commands_keep_to_the_device_of_a_real_file(shared):
    check_device(shared / "data" / "snapshots", "three_gpu_expandable_oom.pickle", "1")


def test_commands_of_folders(tmp_path):
    scripts.eight_ranks(tmp_path)
    check_all(tmp_path.parent, [q + [tmp_path.name] for q in QUESTIONS], 6)


@pytest.mark.parametrize("name", ("with blank.pickle", "it's.pickle", "-dash.pickle", "a$(b).pickle"))
def test_commands_of_odd_names(tmp_path, name):
    """Names are quoted for a shell."""
    shutil.copy(EXAMPLES / "leak.pickle", tmp_path / name)
    typed = "./" + name
    check_all(tmp_path, [["report", typed], ["fragments", typed], ["diff", "--at", "start", typed, typed]], 2)
