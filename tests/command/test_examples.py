"""The bundled recordings are what they are said to be, and so is the output that the docs show.

And the commands that answers end with run as they are printed, for every kind of file."""
import json
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from recordings import scripts

from conftest import ROOT, environment, program, run, some

CARD = 25295847424
NAMES = "fragmentation", "leak", "oom", "train"


def result(name):
    done = run("replay", "--json", "--capacity", str(CARD), ROOT / "examples" / (name + ".pickle"), expect=0)
    return json.loads(done.out)["devices"][0]["result"]


def test_they_are_what_the_program_makes(tmp_path):
    maker = [sys.executable, "-B", ROOT / "examples" / "simulate.py", "--vramscope", program()]
    done = subprocess.run([*maker, "--check"], stdout=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stdout.decode()
    again = tmp_path / "leak.pickle"
    again.write_bytes(b"other")
    done = subprocess.run([*maker, "--output", tmp_path, "--check"], stdout=subprocess.PIPE, timeout=300)
    assert done.returncode == 1 and b"leak.pickle differs" in done.stdout
    assert again.read_bytes() == b"other"


@pytest.mark.parametrize("name", NAMES)
def test_each_is_reproduced_with_both_identities(name):
    found = result(name)
    assert found["agreement"]["grade"] == "exact" and found["certain"]
    identities = found["identities"]
    assert identities["reproduces"] and identities["reproduces_at_capacity"]
    if found["what_if"][-1]["first_oom"]:
        assert identities["recorded_capacity_bytes"] == CARD


def test_oom_is_more_than_the_card_has():
    oom = result("oom")["what_if"][-1]
    assert oom["peak_requested_bytes"] + oom["first_oom"]["want_bytes"] > CARD


def test_fragmentation_has_the_memory_in_pieces():
    oom = result("fragmentation")["what_if"][-1]["first_oom"]
    assert oom["active_bytes"] + oom["want_bytes"] < CARD
    assert oom["returnable_bytes"] + oom["stranded_bytes"] >= oom["want_bytes"] > oom["largest_free_bytes"]


@pytest.mark.parametrize("name", ("leak", "train"))
def test_these_complete(name):
    assert result(name)["what_if"][-1]["first_oom"] is None


def shown(page):
    """Each block of a page that begins with a command, as (command, lines)."""
    blocks = (ROOT / page).read_text(encoding="utf-8").split("\n```\n")
    for block in blocks:
        if block.startswith("$ vramscope "):
            command, *lines = block.splitlines()
            yield shlex.split(command)[2:], lines


def stands_in(lines, output):
    """Whether the lines are the output, where "…" stands for any number of its lines."""
    at, gap = 0, False
    for line in lines:
        if line == "…":
            gap = True
        elif line not in output[at:] or (not gap and output[at] != line):
            return False
        else:
            at, gap = output.index(line, at) + 1, False
    return gap or at == len(output)


def test_the_docs_show_real_output(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = environment(COLUMNS="80")
    change = ["replay", "examples/fragmentation.pickle", "--capacity", str(CARD)]
    run(*change, "--set", "expandable_segments:True", "--write", "after.pickle", cwd=tmp_path, expect=0)
    blocks = list(shown("docs/what-if.md"))
    assert len(blocks) == 4
    for command, lines in blocks:
        output = run(*command, cwd=tmp_path, env=env, expect=0).out.splitlines()
        assert stands_in(lines, output), command
    report = run("report", "-n", "4", "examples/oom.pickle", cwd=tmp_path, env=env, expect=0).out
    assert "```\n%s```\n" % report in (ROOT / "README.md").read_text(encoding="utf-8")


# Commands to type next --------------------------------------------------------------------------

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


@pytest.mark.long
def test_commands_of_examples():
    names = sorted(p.name for p in EXAMPLES.glob("*.pickle"))
    check_all(EXAMPLES, every_question(names) + [["diff", a, b] for a, b in zip(names, names[1:])], 24)


def test_commands_of_scripts():
    paths = [scripts.make(name) for name in scripts.NAMES[::some(2, 1)]]
    check_all(paths[0].parent, every_question(p.name for p in paths), 24)


@pytest.fixture
def real_files(shared, tmp_path):
    """A folder of links to them: some commands write beside the file that they are about."""
    for path in (shared / "data" / "snapshots").iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def test_commands_of_real_files(real_files):
    folder = real_files
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


def test_commands_keep_to_the_device_of_a_real_file(real_files):
    check_device(real_files, "three_gpu_expandable_oom.pickle", "1")


def test_commands_of_folders(tmp_path):
    scripts.eight_ranks(tmp_path)
    check_all(tmp_path.parent, [q + [tmp_path.name] for q in QUESTIONS], 6)


@pytest.mark.parametrize("name", ("with blank.pickle", "it's.pickle", "-dash.pickle", "a$(b).pickle"))
def test_commands_of_odd_names(tmp_path, name):
    """Names are quoted for a shell."""
    shutil.copy(EXAMPLES / "leak.pickle", tmp_path / name)
    typed = "./" + name
    check_all(tmp_path, [["report", typed], ["fragments", typed], ["diff", "--at", "start", typed, typed]], 2)
