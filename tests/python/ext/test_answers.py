"""Answers are those of the command, byte for byte, as text, JSON, CSV and Markdown."""
import json
import threading

import pytest
import vramscope
from conftest import ROOT, environment, run, validate

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
# Verb, options of the command, keywords of the method.
ASKED = (
    ("report", (), {}),
    ("report", ("--quick",), {"quick": True}),
    ("report", ("--trust",), {"trust": True}),
    ("peak", (), {}),
    ("peak", ("--by", "category", "--at", "end"), {"by": "category", "at": "end"}),
    ("peak", ("--by", "site", "--key", "K2"), {"by": "site", "key": "K2"}),
    ("peak", ("--at", "7"), {"at": 7}),
    ("leaks", (), {}),
    ("leaks", ("--capacity", "80GiB"), {"capacity": "80GiB"}),
    ("steps", (), {}),
    ("fragments", (), {}),
    ("fragments", ("--at", "peak"), {"at": "peak"}),
    ("categories", (), {}),
    ("advise", (), {}),
    ("advise", ("--waste", "--capacity", "25769803776"), {"waste": True, "capacity": 24 << 30}),
    ("replay", (), {}),
    ("replay", ("--set", "expandable_segments:True", "--smallest"),
     {"set": ["expandable_segments:True"], "smallest": True}),
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.parametrize("verb, options, keywords", ASKED, ids=lambda v: " ".join(v) if isinstance(v, tuple) else None)
def test_an_answer_is_that_of_the_command(path, verb, options, keywords):
    with vramscope.load(path) as recording:
        text = getattr(recording, verb)(**keywords).text()
        # What the command asks beyond, for JSON alone.
        more = {"report": {"timeline": True}, "peak": {"categories": True}}.get(verb, {})
        result = getattr(recording, verb)(**keywords, **more)
    # The file is closed: a result holds nothing of it.
    assert text == run(verb, *options, path, expect=0).out
    assert result.json() == run(verb, *options, "--json", path, expect=0).out
    document = result.to_dict()
    validate(document)
    assert dict(result) == document and list(result) == list(result.keys()) and "devices" in result


@pytest.mark.parametrize("width", (40, 80, 200))
def test_text_takes_the_options_of_a_terminal(width):
    path = ROOT / "examples" / "train.pickle"
    text = vramscope.load(path).peak().text(width=width, stacks=True, rows=3, ascii=True)
    assert text == run("peak", "--stacks", "--rows", "3", path, expect=0, env=environment(COLUMNS=str(width), LC_ALL="C")).out
    assert "\x1b[" in vramscope.load(path).peak().text(colour=True) and "\x1b[" not in text
    assert text != vramscope.load(path).peak().text(width=width, ascii=True)


def test_tables_and_markdown():
    path = ROOT / "examples" / "oom.pickle"
    recording = vramscope.load(path)
    assert recording.peak(categories=True).csv() == run("peak", "--csv", path, expect=0).out
    assert recording.report().markdown() == run("report", "--markdown", path, expect=0).out


def test_a_verdict_is_true_false_or_none():
    said = {p.stem: vramscope.load(p).oom().verdict for p in EXAMPLES}
    assert said == {"oom": True, "fragmentation": True, "leak": False, "train": False}
    assert vramscope.load(EXAMPLES[0]).peak().verdict is None


def test_a_message_tells_of_its_failure():
    text = ("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which "
            "512.00 MiB is free.")
    path = ROOT / "examples" / "oom.pickle"
    said = vramscope.load(path).oom(message=text)
    assert said.json() == run("oom", "--json", "--message", text, path, expect=0).out != vramscope.load(path).oom().json()


def test_two_recordings_are_compared():
    a, b = (ROOT / "examples" / name for name in ("train.pickle", "leak.pickle"))
    result = vramscope.load(a).diff(vramscope.load(b), by="category")
    assert result.text() == run("diff", "--by", "category", a, b, expect=0).out
    assert result.json() == run("diff", "--json", "--by", "category", a, b, expect=0).out
    same = vramscope.load(a)
    assert same.diff(same, at="start", to="end").text() == run("diff", "--at", "start", "--to", "end", a, expect=0).out


def test_reports_are_merged_once():
    parts = [vramscope.load(p).report(part=True, rank=i) for i, p in enumerate(EXAMPLES[:2])]
    whole = vramscope.merge(parts)
    assert json.loads(whole.json()) == whole.to_dict() and all(str(p) in whole.json() for p in EXAMPLES[:2])
    for call in (parts[0].text, parts[0].json, lambda: parts[0].verdict):
        with pytest.raises(ValueError, match="merged"):
            call()
    with pytest.raises(ValueError, match="once"):
        vramscope.merge([whole, whole])
    with pytest.raises(vramscope.Error, match="nothing to merge"):
        vramscope.merge([])
    with pytest.raises(TypeError):
        vramscope.merge([1])
    assert whole.text()


@pytest.mark.parametrize("device", (0, "0", "cuda:0", type("D", (), {"index": 0})()))
def test_a_device_is_named_as_people_do(device):
    path = ROOT / "examples" / "oom.pickle"
    assert vramscope.load(path).peak(device=device).text() == run("peak", "--device", "0", path, expect=0).out


@pytest.mark.parametrize("device", (1, "cuda:1", "cuda:x", "", 1 << 40))
def test_an_unknown_device_is_a_mistake_of_the_caller(device):
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(ROOT / "examples" / "oom.pickle").peak(device=device)
    assert raised.value.status == "usage"


def test_words_that_make_no_sense():
    recording = vramscope.load(ROOT / "examples" / "oom.pickle")
    for call in (lambda: recording.peak(by="nothing"), lambda: recording.peak(at="never"),
                 lambda: recording.leaks(capacity="much"), lambda: recording.replay(set=["no:1"])):
        with pytest.raises(vramscope.Error) as raised:
            call()
        assert raised.value.status == "usage" and str(raised.value)
    for call in (lambda: recording.peak(nothing=1), lambda: recording.peak("end"), lambda: recording.diff(),
                 lambda: recording.diff(1), lambda: recording.peak(by=3), lambda: recording.replay(set="x:1")):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        recording.leaks(capacity=-1)
    with pytest.raises(ValueError):
        recording.peak(by="culprit\0")


def test_many_threads_ask_one_recording():
    recording = vramscope.load(ROOT / "examples" / "train.pickle")
    want, got = recording.report().json(), []
    threads = [threading.Thread(target=lambda: got.append(recording.report().json())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [want] * 8 and json.loads(want)
