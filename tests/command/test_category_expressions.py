"""The expressions of the built-in rules, by PCRE2, beside Python's `re`.

They were written as POSIX extended expressions.  What they said then is written down here, and searched
in every frame and owner of every file at hand: a rule must go on deciding where it decided."""
import collections
import csv
import io
import operator
import random
import re

import pytest

from conftest import ROOT, run, some
from models import grouping
from recordings import tiny, writers

CACHES = "kv_?cache|cache_utils|cache_engine|init_cache|key_value_cache|past_key_value"
RELEASED = "SavedVariable|release_variables|autograd::deleteNode"
RANDOM = "::(rand|normal|uniform|bernoulli|multinomial|exponential|poisson)"
PERTURBED = "(?i)noise|perturb|sample"
COPY = "::_to_copy"
CAST = "autocast|cached_cast|THPVariable_(float|half|bfloat16|double|type)"


class Without(str):
    """No frame may have it."""


MEANT = {
    ("W1", "alloc.native"): "getNewWorkspace|setWorkspaceForHandle|CUDABlasLt[A-Za-z]*Workspace|[cC]ublas[A-Za-z]*Workspace",
    ("W2", "alloc.native"):
        "run_conv_plan|run_fused_conv_plan|run_single_conv|cudnn[A-Za-z_:]*Workspace|cub::.*(sort|scan)",
    ("C1", "alloc.native"): "c10d::|ProcessGroup|NCCL|nccl[A-Z]",
    ("C1", "alloc.any"):
        "/_fsdp_collectives\\.py:|all_gather_copy_in|all_gather_copy_out|chunk_cat|/torch/distributed/[^:]*(reducer|bucket)",
    ("K1", "alloc.owner"): "(?i)" + CACHES,
    ("G1", "free.any"): ":zero_grad\\Z",
    ("G1", "alloc.native"): "AccumulateGrad",
    ("S1", "free.native"): RELEASED,
    ("N1", "free.native"): RELEASED,
    ("S2", "free.native"): RELEASED,
    ("S2", "free.any"): Without("."),
    ("O0", "alloc.any"): "(?i)(/torch/optim/[^:]*|(^|/)[^/:]*optim[^/:]*):__init__\\Z",
    ("W3", "alloc.any"): Without("."),  # no frame has a name
    ("W3", "alloc.native"): Without("."),
    ("S1", "alloc.any"): Without(COPY),
    ("F3", "alloc.any"): "/torch/nn/functional\\.py:",
    ("F2", "alloc.native"): "at::(_ops|native)::",
    ("F2", "alloc.any"): Without(RANDOM + "|" + COPY),
    ("F4", "alloc.any"): "/torch/nn/functional\\.py:",
    ("F4", "alloc.any", 2): Without("/torch/autograd/|at::(_ops|native)::clone"),
    ("F4", "alloc.any", 3): Without(RANDOM + "|" + COPY),
    ("F4", "alloc.native"): "at::(_ops|native)::",
    ("F5", "alloc.any"): "/torch/nn/functional\\.py:",
    ("F5", "free.any"): "/torch/nn/functional\\.py:",
    ("F5", "free.native"): Without("."),
    ("I1", "alloc.any"): Without("/torch/nn/functional\\.py:|" + CAST),
    ("I1", "alloc.any", 2): Without("/torch/nn/functional\\.py:"),
    ("I1", "alloc.any", 3): Without(PERTURBED),
    ("I1", "alloc.native"): COPY,
    ("I1", "alloc.native", 2): Without("."),
    ("I2", "alloc.any"): Without("/torch/nn/functional\\.py:|" + CAST),
    ("I2", "alloc.native"): COPY,
    ("I2", "free.native"): RELEASED,
    ("T1", "alloc.native"): "at::(_ops|native)::",
    ("T1", "alloc.native", 2): RANDOM,
    ("P1", "alloc.any"): "/torch/nn/modules/module\\.py:_apply\\Z",
    ("P1", "alloc.any", 2): "/torch/nn/|:(load_state_dict|from_pretrained|reset_parameters|set_module_tensor_to_device|"
                            "init_weight|load_weight|load_checkpoint|load_model)",
    ("P2", "alloc.any"): "/torch/nn/modules/module\\.py:_apply\\Z",
    ("P3", "alloc.any"): "/param_and_grad_buffer\\.py:__init__\\Z",
    ("P4", "alloc.any"): Without(RANDOM),
    ("P4", "alloc.any", 2): Without(PERTURBED),
    ("P5", "alloc.any"): "/torch/optim/swa_utils\\.py:__init__\\Z",
}
PATH_BYTES, FUNCTION_BYTES = 160, 512


def conditions():
    """(rule, key) -> the line of builtin.rules that says so; what another line says has a number behind."""
    found, rule = collections.defaultdict(dict), None
    for line in (ROOT / "src" / "analysis" / "snapshot" / "categories" / "builtin.rules").read_text(encoding="utf-8").split("\n"):
        words = line.split(None, 2)
        if line.startswith("rule "):
            rule = words[1]
        elif line.startswith(" ") and words and re.match("(alloc|free)[.]", words[0]):
            found[rule, words[0]][line] = None
    return {(*k, i + 1) if i else k: line for k, lines in found.items() for i, line in enumerate(lines)}


def test_every_expression_is_looked_at():
    assert set(conditions()) == set(MEANT)


def lines_of(path, name, *more):
    """The heading of a table and its rows."""
    told = run("export", path, "--to", "csv", "-t", name, "--replay", "never", *more, expect=0).raw
    return csv.reader(io.StringIO(told.decode("latin-1"), newline=""))


def table(path, name, *more):
    head, *rows = lines_of(path, name, *more)
    return [dict(zip(head, row)) for row in rows]


SEARCHED = {key: re.compile(e, re.S) for key, e in MEANT.items()}


class Stacks:
    """What of MEANT is found in the frames of each stack of a recording; bytes are characters here."""

    def __init__(self, path):
        self.known, self.repeats = {}, None  # the latter by device, once allocations are known
        of_frame = {f["frame"]: self.of_frame(f) for f in table(path, "frames")}
        self.found = {"": set()}
        for s in table(path, "stacks"):
            self.found[s["stack"]] = self.found.get(s["caller"], set()) | of_frame[s["frame"]]

    def of_frame(self, frame):
        native = grouping.frame_class({"filename": frame["file"]}) == "native"
        function = frame["function"][:FUNCTION_BYTES]
        text = function if native else frame["file"][-PATH_BYTES:].replace("\\", "/") + ":" + function
        return {key for key in MEANT if (native or key[1].endswith(".any")) and self.has(text, key)}

    def has(self, text, key):
        if (text, key) not in self.known:
            self.known[text, key] = SEARCHED[key].search(text) is not None
        return self.known[text, key]

    def holds(self, row, key, repeats):
        if key[1] == "alloc.owner":
            return self.has(row["owner"], key)
        if key[1].startswith("alloc."):
            return (key in self.found[row["stack"]]) != isinstance(MEANT[key], Without)
        if isinstance(MEANT[key], Without):
            return repeats or key not in self.found[row["free_stack"]]
        return not repeats and key in self.found[row["free_stack"]]


def frees_repeat(rows):
    """Where most frees have the stack of the alloc, they say nothing."""
    freed = [r for r in rows if r["alloc_event"] and (r["free_requested_event"] or r["free_completed_event"])]
    same = [r for r in freed if r["stack"] and r["stack"] == r["free_stack"]]
    return len(same) * 10 > len(freed) * 9


LOOKED_AT = "device", "stack", "free_stack", "owner"  # what decides


def decided(path, folder, stacks, order):
    """Of each allocation the first of these conditions that holds: by `re`, and by the program; how
    many allocations agree in both and in what decides."""
    lines, file = conditions(), folder / "my.rules"
    file.write_text("".join("rule x.%d input high\n%s\n" % (i, lines[key]) for i, key in enumerate(order)))
    head, *rows = lines_of(path, "allocations", "--rules", file)
    if stacks.repeats is None:
        named = [dict(zip(head, row)) for row in rows]
        stacks.repeats = {d: frees_repeat([r for r in named if r["device"] == d]) for d in {r["device"] for r in named}}
    seen = collections.Counter(map(operator.itemgetter(*map(head.index, (*LOOKED_AT, "rule"))), rows))
    for (*looked_at, rule), count in seen.items():
        row = dict(zip(LOOKED_AT, looked_at))
        wanted = next((key for key in order if stacks.holds(row, key, stacks.repeats[row["device"]])), None)
        yield wanted, order[int(rule[2:])] if rule.startswith("x.") else None, row, count


def check(path, folder, alone=True):
    """In both orders, since the first that holds hides the others, and `alone` those that nearly
    always hold by themselves; how often each decided."""
    told, stacks = collections.Counter(), Stacks(path)
    found = [key for key in MEANT if not isinstance(MEANT[key], Without)]
    for order in (found, found[::-1], *([key] for key in MEANT if alone and key not in found)):
        for wanted, ours, row, count in decided(path, folder, stacks, order):
            assert ours == wanted, (path, row)
            told.update({ours: count} if ours else {})
    return told


@pytest.mark.parametrize("alone", (False, pytest.param(True, marks=pytest.mark.long)))
def test_real_files_are_decided_as_before(shared, tmp_path, alone):
    """What nearly always holds is asked by itself, 15 times more: in every run of other files."""
    paths = sorted((shared / "data" / "snapshots").iterdir())
    told = sum((check(path, tmp_path, alone) for path in paths), collections.Counter())
    # Most of them are met in real files.
    assert len(told) >= (20 if alone else 16), set(MEANT) - set(told)


@pytest.mark.long
def test_bundled_files_are_decided_as_before(tmp_path):
    told = sum((check(path, tmp_path) for path in sorted((ROOT / "examples").glob("*.pickle"))), collections.Counter())
    assert told[("G1", "free.any")] > 0 and told[("S1", "free.native")] > 0


# Frames out of the words of the expressions, and out of what nearly is one.
PIECES = re.split("[|]", "getNewWorkspace|setWorkspaceForHandle|CUDABlasLt|Cublas|cublas|cUblas|Workspace|run_conv_plan|run_"
                  "single_conv|cudnn|cub::|sort|scan|c10d::|ProcessGroup|NCCL|nccl|ncclX|_fsdp_collectives.py|_fsdp_collectives"
                  "Xpy|all_gather_copy_in|chunk_cat|torch/distributed|torch/optim|reducer|bucket|kv_cache|KVcache|cache_utils|"
                  "past_key_value|zero_grad|zero_grads|AccumulateGrad|SavedVariable|release_variables|optim|Optim|__init__|"
                  "__INIT__|__init__s|a|Z|9|_|.|.py| |/|/|/|:|:|::|\\|\n|\u00e9")
FILES = ("/torch/nn/functional.py", "/torch/nn/modules/module.py", "m/param_and_grad_buffer.py", "/torch/optim/swa_utils.py",
         "a/myoptim_1.py")
NAMES = ("__init__", "zero_grad", "_apply", "at::_ops::_to_copy", "at::native::normal_", "autograd::deleteNode", "cached_cast")


def random_text(chance, most):
    return "".join(chance.choice(PIECES) for _ in range(chance.randrange(most)))


def random_frame(chance):
    """As likely as not the kind of frame that a rule is about."""
    name = chance.choice([random_text(chance, 5), random_text(chance, 5), chance.choice(NAMES)])
    file = chance.choice(["??", "", random_text(chance, 9) + ".py", "/" + random_text(chance, 40) + "/x.py", chance.choice(FILES)])
    return {"filename": file, "line": 7, "name": name}


def recording(path, pairs):
    """An allocation for each pair of stacks, of its alloc and its free."""
    events, free = [tiny.event("segment_alloc", tiny.BASE, 20 * tiny.MIB)], tiny.block(tiny.BASE, 20 * tiny.MIB, state="inactive")
    for i, (made, freed) in enumerate(pairs):
        address = tiny.BASE + i * 512
        events += [tiny.event("alloc", address, 512, frames=made), *tiny.freed(address, 512, frames=freed)]
    path.write_bytes(writers.pickled(tiny.top([tiny.segment([free])], events), 4))
    return path


@pytest.mark.parametrize("seed", range(some(1, 4)))
def test_invented_frames_are_decided_as_before(seed, tmp_path):
    chance = random.Random(seed)
    stack = lambda: [random_frame(chance) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    told = check(recording(tmp_path / "invented.pickle", [(stack(), stack()) for _ in range(some(2000, 3000))]), tmp_path)
    # Where several say the same, the first and the last of them are seen.
    assert {MEANT[key] for key in told} == set(MEANT.values())


def test_no_frame_takes_too_long(tmp_path):
    """Words that nearly match begin at many places, or never end; of these names are as long as they are looked at."""
    words = [p for p in PIECES if len(p) > 3] + ["/torch/distributed/reduce", "/torch/optim/", "optim:", "/a", "cub::s", "cudnnW"]
    pairs, every = [], some(24, 1)
    for i, word in enumerate(words):
        for other in words[i::every]:
            text = (word + other) * (600 // len(word + other) + 1)
            pairs += [([{"filename": "??", "line": 0, "name": text}], []),
                      ([{"filename": "??", "line": 0, "name": text[:503] + ":__init__"}], []),
                      ([{"filename": text + ".py", "line": 7, "name": "__init__"}], []),
                      ([{"filename": text + ".py", "line": 7, "name": text}], [{"filename": text, "line": 7, "name": text}])]
    check(recording(tmp_path / "long.pickle", pairs), tmp_path)
