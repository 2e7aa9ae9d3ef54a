"""The page of `vramscope report` says one thing: its lines agree with one another and with the other verbs."""
import re

import pytest
from conftest import ROOT, program, run
from recordings import scripts

EXAMPLES = ROOT / "examples"
GIB = 1 << 30


def page(*paths):
    """The page as one line, blanks single."""
    return " ".join(run("report", *paths, expect=0).out.split())


def findings(name):
    return run("report", "--json", EXAMPLES / name, expect=0).json()["findings"]


def answer(verb, *args):
    device, = run(verb, "--json", *args, expect=0).json()["devices"]
    return device["result"]


def test_a_leak_is_among_the_fixes():
    """What holds most of the peak is the first thing to change, in `report` as in `advise`."""
    text = page(EXAMPLES / "leak.pickle")
    first = text[text.index("What to do frees 1 "):text.index(" 2 ", text.index("What to do"))]
    assert first.endswith(" 1000.00 MiB") and "train.py:45 main" in first
    assert text.index("Memory grows: 250.00 MiB more stay after each step at train.py:45 main.") < text.index("What to do")
    leak, = [f for f in findings("leak.pickle") if f["id"] == "kept-each-step"]
    assert [f["saving_bytes"] for f in findings("leak.pickle") if f["id"] == "leak"] == [None]
    rows = {r["culprit"]: r["bytes"] for r in answer("peak", EXAMPLES / "leak.pickle")["rows"]}
    assert leak["saving_bytes"] == rows["train.py:45 main"] == 1000 << 20
    sizes = [float(n) * (1024 if u == "GiB" else 1) for n, u in re.findall(r"\S (?:up to )?~?([0-9.]+) ([MG]iB) (?=\d [a-z0-9]|In use)", text)]
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True)


def test_a_fix_frees_what_the_replay_finds():
    text = page(EXAMPLES / "fragmentation.pickle")
    item = text[text.index("What to do"):text.index(" 2 ", text.index("What to do"))]
    what_if = answer("replay", EXAMPLES / "fragmentation.pickle", "--set", "expandable_segments:True", "--smallest")["what_if"]
    same, changed = (row["capacity_needed_bytes"] for row in what_if)
    assert " %.2f GiB of a card" % ((same - changed) / GIB) in item and "expandable_segments:True" in item


def test_overlapping_savings_come_with_what_they_save_together():
    text, advised = page(EXAMPLES / "train.pickle"), run("advise", EXAMPLES / "train.pickle", expect=0).out
    line, = re.findall(r"together (the peak would be \S+ GiB at event \d+, \S+ [GM]iB less)", " ".join(advised.split()))
    assert "Together: " + line in text
    # Of one fix nothing overlaps.
    alone = page(scripts.make("train"))
    assert "What to do frees 1 " in alone and "Together:" not in alone


@pytest.mark.parametrize("name", ("opt1.3b_offload_torch20_history", "llama_kv_quant_state_only"))
def test_with_one_event_the_page_is_of_the_final_state(shared, name):
    path = shared / "data" / "snapshots" / (name + ".pickle")
    text = page(path)
    doc = run("report", "--json", path, expect=0).json()
    device, = [d for d in doc["devices"] if d["made_of"]]
    end = device["requested"]["end_bytes"]
    assert sum(r["bytes"] for r in device["made_of"]) == end
    size = "%.2f GiB" % (end / GIB) if end >= GIB else "%.2f MiB" % (end / (1 << 20))
    assert " %s in use, " % size in text and " peak " not in text.split(" Next ")[0]
    assert "The trace has one event: only the final state is known." in text


def test_a_cut_file_tells_its_part_from_its_end(tmp_path):
    path = tmp_path / "cut.pickle"
    path.write_bytes((EXAMPLES / "oom.pickle").read_bytes()[:100000])
    text = page(path)
    assert " The peak of the part read is at least 4.55 GiB at event 426" in text
    assert (" The file is cut: what was in use before the part read is not known, and what came after it is missing; "
            "the last state has 22.20 GiB in use, 23.35 GiB reserved.") in text
    assert "begins in the middle" not in run("advise", path, expect=0).out
    assert "the file is cut, and the part read holds" in " ".join(run("advise", path, expect=0).out.split())
    assert run("oom", path, expect=0).out.count("may be missing") == 1


def test_a_folder_says_what_is_compared_with_what():
    text = page(EXAMPLES)
    assert "oom.pickle beside train.pickle, the median of all: " in text and "are at lines that only it has" in text
    groups = text[text.index(" groups "):]
    assert "oom.pickle is alone in its group, so it is compared with train.pickle, the median of all" in groups
    assert "compared only with others of the same size" not in groups


@pytest.mark.parametrize("verb, name", (("advise", "train"), ("advise", "leak"), ("categories", "train")))
def test_the_next_command_is_one_line_to_copy(verb, name, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "a folder with a long name" / "of a long run.pickle"
    path.parent.mkdir()
    path.write_bytes((EXAMPLES / (name + ".pickle")).read_bytes())
    lines = run(verb, path, expect=0).out.splitlines()
    following, = [line for line in lines if line.startswith("next")]
    assert "'%s'" % path in following and lines[-1] == following


def test_replay_names_the_recorded_settings():
    out = run("replay", "--capacity", "16GiB", EXAMPLES / "oom.pickle", expect=0).out
    assert "With the recorded settings, as far as it runs" in " ".join(out.split()) and "With same" not in out


def test_files_that_threads_left_no_memory_for_are_read_again(shared):
    """One after the other they fit."""
    resource = pytest.importorskip("resource")
    import subprocess
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (80000 << 10,) * 2)
    ask = lambda threads: subprocess.run([program(), "report", "--threads", threads, shared / "data" / "snapshots"],
                                         preexec_fn=limit, capture_output=True, timeout=300)
    one = ask("1")
    if b"AddressSanitizer" in one.stderr or b"ThreadSanitizer" in one.stderr:
        return  # a sanitizer needs more room than any limit leaves
    eight = ask("8")
    assert one.returncode == 0 and (eight.returncode, eight.stdout, eight.stderr) == (0, one.stdout, one.stderr)


def test_a_row_of_several_files_names_what_the_page_of_the_file_names(shared):
    path = shared / "data" / "snapshots" / "qlora_notebook.pickle"
    hidden = "3105878423.py:21 <module>"
    assert hidden + " alone holds 77.0 %" in page(path)
    text = run("report", EXAMPLES / "train.pickle", path, env={"COLUMNS": "160"}, expect=0).out
    row, = [line for line in text.splitlines() if line.lstrip().startswith("…qlora") or "qlora_notebook.pickle  " in line]
    assert row.endswith("77.0 % " + hidden)
