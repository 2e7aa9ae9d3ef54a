"""Every row of every verb, read as columns through the public interface, is what JSON shows.

`columns` (columns.c) asks a question and prints the answer twice: as JSON, and column by column."""
import json
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from recordings import scripts

from conftest import ROOT, environment, program, some

VERBS = ("report", "steps", "leaks", "fragments", "categories", "peak", "replay", "oom", "advise", "check", "diff")
OF_SETS = {"missing_ranks"}  # members of sets that not every set has
KEYED = {"actions", "settings", "unknown_keys", "unknown_actions"}  # objects whose names are the recording's


def asked(verb, *files):
    tool = Path(program()).parents[1] / "tests" / "api" / "columns"
    if not tool.exists():
        pytest.skip("the tool columns is not built beside the program")
    done = subprocess.run([tool, verb, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                          env=environment())
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-3000:]
    doc = json.loads(done.stdout, parse_float=Decimal)
    return doc["answer"], {c["name"]: c for c in doc["columns"]}


class Walk:
    """The values that a column should have, by walking the JSON along its name."""

    def __init__(self, answer, columns):
        self.columns = columns
        self.files = answer["files"] if answer["schema"].endswith("-set/1") else [answer]
        self.answer = answer

    def is_list(self, path):
        return self.columns[".".join(path)]["type"] == "list"

    def member(self, node, path):
        """The member of an object, or the place in an array that stands for one."""
        if not isinstance(node, list):
            return node.get(path[-1])
        prefix = ".".join(path[:-1]) + "."
        names = [n[len(prefix):] for n in self.columns if n.startswith(prefix) and "." not in n[len(prefix):]]
        return node[names.index(path[-1])]

    def rows(self, path):
        """What stands along a path: objects and None for null, each with its file."""
        if not path:
            whole = [(self.answer, self.answer)] if self.of_set else [(f, f) for f in self.files]
            return whole
        found = []
        for node, file in self.rows(path[:-1]):
            value = None if node is None else self.member(node, path)
            if not self.is_list(path):
                found.append((value, file))
            elif isinstance(value, dict):
                found += [(item, file) for item in value.items()]
            else:
                found += [(item, file) for item in value or ()]
        return found

    def wanted(self, name):
        path = name.split(".")
        self.of_set = self.answer["schema"].endswith("-set/1") and path[0] in OF_SETS | set(self.answer)
        parent = self.rows(path[:-1])
        return [None if node is None else self.part(node, path) for node, _ in parent]

    def part(self, node, path):
        if isinstance(node, tuple):  # a member of an object with names of its own: its name, or its value by type
            return node[0] if path[-1] == "name" else self.typed(node[1], path[-1])
        if path[-1] == "value" and not isinstance(node, dict):
            return node
        return self.member(node, path)

    @staticmethod
    def typed(value, column):
        kinds = {"flag": bool, "text": str, "real": Decimal, "integer": int}
        if column not in kinds:
            return value
        return value if type(value) is kinds[column] else None


def same(have, want):
    if isinstance(want, bool):
        return have == int(want)
    if isinstance(want, Decimal):
        exponent = want.as_tuple().exponent
        return have is not None and abs(Decimal(have) - want) <= Decimal("0.51") * Decimal(10) ** exponent
    if isinstance(have, Decimal) and isinstance(want, int):
        return abs(have - want) <= Decimal("0.51")
    return have == want


def stacks_of(answer, columns):
    """The frames of each row of "stacks", file by file, by the columns."""
    frames, first = columns["stacks.frames.value"]["values"], [v[0] for v in columns["stacks.frames"]["values"]]
    stacks = [frames[a:b] for a, b in zip(first, first[1:])]
    first = [v[0] for v in columns["stacks"]["values"]]
    return [stacks[a:b] for a, b in zip(first, first[1:])]


def check_list(name, values, wanted):
    at = 0
    for (begin, known), want in zip(values, wanted):
        assert begin == at, name
        assert bool(known) == (want is not None), (name, want)
        at += len(want or ())
    assert len(values) == len(wanted) + 1 and values[-1][0] == at, name


def check_stacks(name, walk, values, texts, path):
    nodes = walk.rows(path[:-1])
    assert len(values) == len(nodes), name
    for have, (node, file) in zip(values, nodes):
        want = None if node is None else walk.member(node, path)
        if want is None:
            assert have is None, name
        else:
            mine = texts[walk.files.index(file)]
            assert mine[have] == file["stacks"][want], (name, have, want)


def check(answer, columns):
    """Compares; returns how many values were."""
    walk, compared = Walk(answer, columns), 0
    texts = stacks_of(answer, columns) if "stacks" in columns else []
    for file, mine in zip(walk.files, texts):
        assert all(stack in mine for stack in file["stacks"])
    for name, column in columns.items():
        path, values = name.split("."), column["values"]
        if path[0] == "stacks":
            continue
        if (path[-1] == "stack" or path[-1].endswith("_stack")) and not is_object(columns, name):
            check_stacks(name, walk, values, texts, path)
            compared += len(values)
            continue
        wanted = walk.wanted(name)
        if column["type"] == "list":
            check_list(name, values, wanted)
        else:
            assert len(values) == len(wanted), (name, len(values), len(wanted))
            for have, want in zip(values, wanted):
                if column["type"] == "u8" and (isinstance(want, dict) or (want is None and is_object(columns, name))):
                    assert have == (want is not None), (name, have)
                elif isinstance(want, dict):  # of a type that differs from row to row: its text
                    assert json.loads(have, parse_float=Decimal) == want, name
                else:
                    assert same(have, want), (name, have, want)
        compared += len(values)
    return compared


def is_object(columns, name):
    return any(other.startswith(name + ".") for other in columns)


def members(node, path=""):
    """The names of all members in a document, as columns are called."""
    found = set()
    for key, value in node.items():
        name = path + key
        found.add(name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                found |= members(item, name + ".")
    return found


def missing(answer, columns):
    """Members that no column has."""
    names = members(answer) - {"schema", "tool", "files"}
    names = {n[len("files."):] if n.startswith("files.") else n for n in names}
    # Members whose names are the recording's own, or whose object has no type, stand in their object's column.
    inside = tuple(c + "." for c in columns if c.split(".")[-1] in KEYED | {"evidence"})
    return {n for n in names if n not in columns and not n.startswith(inside)}


def files_of(verb):
    pair = [ROOT / "examples" / (n + ".pickle") for n in ("leak", "train", "oom", "fragmentation")]
    return [pair[:2], pair[2:]] if verb == "diff" else [[p] for p in pair] + [pair]


@pytest.mark.parametrize("verb", VERBS[::some(3, 1)])
def test_columns_are_what_json_shows(verb):
    for files in files_of(verb):
        answer, columns = asked(verb, *files)
        assert missing(answer, columns) == set()
        assert check(answer, columns) > 50


@pytest.mark.parametrize("verb", VERBS)
def test_columns_of_made_recordings(verb, tmp_path):
    for name in ("late_streams", "state_only", "two_devices", "expandable"):
        files = [scripts.make(name)] * (2 if verb == "diff" else 1)
        answer, columns = asked(verb, *files)
        assert missing(answer, columns) == set()
        check(answer, columns)


@pytest.mark.parametrize("verb", VERBS)
def test_columns_of_real_recordings(verb, real):
    paths = [path for path, _ in real.values() if path.suffix != ".html" and path.stat().st_size < 1 << 20]
    for path in paths:
        answer, columns = asked(verb, *[path] * (2 if verb == "diff" else 1))
        assert missing(answer, columns) == set()
        check(answer, columns)
