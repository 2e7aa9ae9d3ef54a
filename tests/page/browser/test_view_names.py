"""Names that the recorded process gave to its memory: in the page's tables, its details, its search."""
import pickle
import random

import pytest
from models import page
from recordings import named, scripts, writers

from conftest import run, some
from test_view import check
from test_view_hostile import NAMES

KINDS = ("tensor", "parameter", "buffer", "gradient", "optimizer_state")


def view(path, *arguments):
    return page.Page(run("view", path, *arguments, "-o", "-", expect=0).raw.decode())


def told(read, device):
    """By the size of the allocation: what the page says of its name."""
    alloc, tensor, strings = read.table(device, "alloc"), read.table(device, "tensor"), read.strings(device, "tensor_string")
    return {size >> 20: (KINDS[tensor["kind"][n]],
                         *(strings[tensor[column][n]] for column in ("name", "shape", "dtype", "of", "shared")))
            for size, n in zip(alloc["bytes"], alloc["tensor"]) if n}


@pytest.fixture
def layers(tmp_path):
    return named.written(tmp_path, scripts.make(named.LAYERS), named.TENSORS)


def test_the_page_holds_the_names_of_its_allocations(layers):
    read = view(layers)
    [device] = read.head["files"][0]["devices"]
    assert told(read, device) == {
        20: ("parameter", "model.layers.0.weight", "4096 x 11008", "torch.bfloat16", "Llama", "lm_head.weight, head.tied"),
        22: ("buffer", "model.rotary.inv_freq", "scalar", "float32", "", ""),
        24: ("gradient", "grad of model.layers.0.weight", "4096 x 11008", "bfloat16", "", ""),
        28: ("optimizer_state", "optimizer.exp_avg of model.layers.0.weight", "7", "int8", "", ""),
        30: ("tensor", "train.cache", "", "", "", ""),
    }
    # Equal texts are there once.
    strings = read.strings(device, "tensor_string")
    assert len(strings) == len(set(strings))
    check(layers)


def test_names_that_hold_for_nothing_are_not_there(tmp_path):
    recording = pickle.loads(scripts.make(named.LAYERS).read_bytes())
    at = {requested >> 20: address for _, address, _, requested in named.in_use(recording)}
    made = named.with_tensors(recording, {20: {"name": "too large", "bytes": 1 << 30}, 24: {"name": "holds"},
                                          22: {"name": "elsewhere", "address": at[22] + 512}})
    entries = made["vramscope"]["names"]["tensors"]
    holds = next(e for e in entries if e["name"] == "holds")
    entries += [dict(holds, device=1), *(dict(holds, address=at[26], name=name) for name in ("one", "or the other"))]
    (tmp_path / "run.pickle").write_bytes(writers.pickled(made, 4))
    read = view(tmp_path / "run.pickle")
    [device] = read.head["files"][0]["devices"]
    assert {size: name for size, (_, name, *_) in told(read, device).items()} == {24: "holds"}


def test_a_page_without_names_has_nothing_of_them(tmp_path, layers):
    """And what else a page with names has is the same, but for what names tell of categories."""
    recording = pickle.loads(scripts.make(named.LAYERS).read_bytes())
    plain, other = tmp_path / "plain.pickle", tmp_path / "other.pickle"
    plain.write_bytes(writers.pickled(recording, 4))
    other.write_bytes(writers.pickled(named.with_tensors(recording, {}), 4))
    # An empty list, and names of nothing, are no names.
    pages = [view(path) for path in (plain, other, layers)]
    [bare], [empty], [full] = (read.head["files"][0]["devices"] for read in pages)
    assert bare == empty and pages[0].blocks == pages[1].blocks
    assert set(full["tables"]) - set(bare["tables"]) == {"tensor", "tensor_string"}
    assert set(full["tables"]["alloc"]["columns"]) - set(bare["tables"]["alloc"]["columns"]) == {"tensor"}
    for table in bare["tables"]:
        one, two = pages[0].table(bare, table), pages[2].table(full, table)
        for column in set(one) - {"cat", "rule", "sure"}:
            assert one[column] == two[column], (table, column)


def test_devices_have_names_of_their_own(tmp_path):
    recording = pickle.loads(scripts.make(named.LAYERS).read_bytes())
    second = [dict(s, device=1, address=s["address"] + (1 << 40),
                   blocks=[dict(b, address=b["address"] + (1 << 40)) for b in s["blocks"]]) for s in recording["segments"]]
    made = dict(recording, segments=recording["segments"] + second, device_traces=[*recording["device_traces"], []])
    made = named.with_tensors(made, {size: {"name": "of %d" % size} for size in (20, 22, 28)})
    for entry in made["vramscope"]["names"]["tensors"]:
        entry["name"] += " on %d" % entry["device"]
    (tmp_path / "two.pickle").write_bytes(writers.pickled(made, 4))
    read = view(tmp_path / "two.pickle")
    for number, device in enumerate(read.head["files"][0]["devices"]):
        assert {size: name for size, (_, name, *_) in told(read, device).items()} == {
            size: "of %d on %d" % (size, number) for size in (20, 22, 28)}


@pytest.mark.long
def test_names_narrow_with_the_page_and_go_last_but_addresses(tmp_path):
    """Random names fill a page that may not be large: they go, and the page says so."""
    body = "".join("alloc a%d %d init\n" % (i, (i + 1) << 20) for i in range(2000))
    source = scripts.make("stack init model.py:3 build < run.py:12 main\n" + body)
    chance = random.Random(5)
    path = named.written(tmp_path, source, {i + 1: {"name": "w%d " % i + "".join(
        chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=900))} for i in range(2000)})
    plain = len(run("view", source, "-o", "-", expect=0).raw)
    whole = run("view", path, "-o", "-", expect=0)
    assert len(whole.raw) > plain + 1_000_000
    done = run("view", path, "--max-size", plain + 100_000, "-o", "-", expect=0)
    assert len(done.raw) <= plain + 100_000 and "names of tensors" in done.err
    read = page.Page(done.raw.decode())
    [device] = read.head["files"][0]["devices"]
    assert "names of tensors" in read.head["left_out"] and "addresses" not in read.head["left_out"]
    assert "tensor" not in device["tables"]["alloc"]["columns"] and "lane" in device["tables"]["alloc"]["columns"]
    # A window has the names of what lives in it.
    part = view(path, "--from", "10", "--to", "500")
    [device] = part.head["files"][0]["devices"]
    alloc, tensor, strings = part.table(device, "alloc"), part.table(device, "tensor"), part.strings(device, "tensor_string")
    assert len(alloc["born"]) < 1000
    assert [strings[tensor["name"][n]].split()[0] for n in alloc["tensor"]] == [
        "w%d" % ((size >> 20) - 1) for size in alloc["bytes"]]


def find(shown, text):
    shown.press("/")
    shown.wait("document.activeElement === document.getElementById('query')")
    shown.ask("document.activeElement.select()")
    shown.type(text)
    shown.press("Enter")


def visit(shown):
    """Pins the next match."""
    shown.ask("document.activeElement.blur()")
    shown.press("n")


def pinned(shown):
    """The details of what is pinned, by their names."""
    shown.wait("document.getElementById('details').classList.contains('pinned')")
    return shown.ask("Object.fromEntries([...document.querySelectorAll('#details dt')].map((dt) =>"
                     " [dt.textContent, dt.nextElementSibling.textContent]))")


FOUND = (("layers.0", 3), ("LAYERS.0.weight", 3), ("name:rotary", 1), ("name:lm_head", 1), ("tied", 1),
         ("name:/exp_avg|grad/", 2), ("name:/.*/", 5), ("-name:/.*/", 2), ("train.cache", 1),
         ("name:forward", 0), ("forward", 4), ("name:weight size<21MiB", 1), ("name:absent", 0))


@pytest.mark.long
def test_the_search_finds_names_and_counts(pages, layers):
    shown = pages(layers)
    shown.settled()
    for text, count in FOUND:
        shown.ask("document.getElementById('found').textContent = ''")
        find(shown, text)
        shown.says("#found", "%d allocation%s, " % (count, "" if count == 1 else "s"))
    shown.sound()


def test_details_say_what_the_program_said(pages, layers):
    shown = pages(layers)
    shown.settled()
    find(shown, "lm_head")
    shown.says("#found", "1 allocation, 20.00 MiB ever")
    visit(shown)
    got = pinned(shown)
    assert shown.text("#details .tensor") == "model.layers.0.weight bf16 4096 x 11008"
    assert got["kind"] == "parameter of Llama" and got["shared with"] == "lm_head.weight, head.tied"
    assert got["category"].startswith("parameter (rule ") and got["requested"].endswith(" B")
    shown.sound()


@pytest.mark.long
def test_what_has_no_name_says_nothing_of_one(pages, layers):
    shown = pages(layers)
    shown.settled()
    find(shown, "size=26MiB")
    visit(shown)
    got = pinned(shown)
    assert "kind" not in got and "shared with" not in got
    assert shown.ask("document.querySelector('#details .tensor')") is None
    # What lies beside it has one.
    assert "after 24.00 MiB grad of model.layers.0.weight" in shown.text("#details")


def test_lines_that_name_a_block_have_its_name(pages, layers):
    """Passing over a picture, the events of the allocator, and the blocks that pin free memory."""
    shown = pages(layers, fragment="#v=1&by=category")
    shown.settled()
    shown.mouse("mouseMoved", *shown.plot(0.95, 0.05))
    shown.says("#status-text", "parameter 20.00 MiB \xb7 model.layers.0.weight  bf16 4096 x 11008 \xb7 ")
    shown.press("4")
    shown.says("ol.events", "alloc 20.00 MiB  model.layers.0.weight")
    shown.says("ol.events", "alloc 26.00 MiB")
    shown.sound()


@pytest.mark.parametrize("name", NAMES[::some(5, 1)], ids=lambda name: ascii(name[:9]))
def test_hostile_names_are_text(pages, tmp_path, name):
    said = {"kind": name, "name": name, "shape": [1], "dtype": name, "of": name, "shared": [name, name]}
    path = named.written(tmp_path, scripts.make(named.LAYERS), {20: said, 22: said})
    written = run("view", path, "-o", "-", expect=0).raw.decode()
    assert "<img" not in written and "<svg onload" not in written
    shown = pages(path)
    shown.settled()
    shown.ask("self.alerted = 0; self.alert = () => { self.alerted++; }; 0")
    find(shown, "size<=22MiB")
    shown.says("#found", "2 allocations")
    visit(shown)
    assert pinned(shown)["kind"].startswith("tensor of ")
    shown.mouse("mouseMoved", *shown.plot(0.95, 0.05))
    for key in "341":
        shown.press(key)
        shown.wait("document.querySelector('[role=tab][aria-selected=true] kbd').textContent === '%s'" % key)
    shown.sound()
    found = shown.ask("[document.querySelectorAll('img, svg, iframe, object, embed').length, self.alerted]")
    assert found == [0, 0]
    said = shown.text("#details")
    assert not any(c in said for c in "\u202e\u2066\u2069\u0000\u0007\u0085")
    if len(name) < 100 and "\0" not in name and "\u202e" not in name:
        assert said.count(name) >= 3
    assert shown.ask("document.documentElement.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth")
    assert shown.ask("(() => { const d = document.getElementById('details'); return d.scrollWidth <= d.clientWidth; })()")
