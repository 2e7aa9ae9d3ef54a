"""What docs/schema says of the members of every row is what its fields say.

`row_types` (row_types.c) prints the types of the rows of every verb."""
import functools
import json
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT, program

SCHEMAS = sorted(p.name[:-len(".schema.json")] for p in (ROOT / "docs" / "schema").glob("*.schema.json"))
# The others are no answers of rows: shared parts, other tools' forms, and the sets of those here.
OTHERS = ("common", "diagnosis", "doctor", "export", "measurement", "pytest", "python-doctor", "run", "tracking", "traffic")
VERBS = [s for s in SCHEMAS if s not in OTHERS and not s.endswith("-set")]
WITHOUT_ROWS = ("method",)  # which has no CSV
COMMON = {"schema", "tool"}  # of every document
BESIDE = {"trace": {"figures"}}  # what a verb has besides its fields
JSON_TYPES = {"bool": "boolean", "unsigned": "integer", "signed": "integer", "real": "number", "text": "string",
              "word": "string", "name": "string", "stack": "integer", "sentence": "string"}
# Words of an enumeration that no such member shows, whose rows are null or not there then.
UNSAID = {"confidence": {"none"}, "steps.source": {"none"}, "result.per": {"nothing"},
          "first_disagreement.kind": {"none"}, "what_if.agreement": {"mostly", "poor", "none"},
          "peaks[].curve": {"allocated", "pending", "idle"},
          "differences[].category": {"unknown", "parameter", "buffer", "parameter_copy", "optimizer_temp", "activation", "input", "temporary",
                                     "autograd_detail", "communication", "kv_cache", "workspace", "persistent"}}
# Whether these are null depends on what they hold, which no field says.
NULL_BY_VALUE = ("text", "word", "name", "sentence", "stack", "rows", "values", "free")


@functools.cache
def described():
    tool = Path(program()).parents[1] / "tests" / "api" / "row_types"
    if not tool.exists():
        pytest.skip("the tool row_types is not built beside the program")
    return json.loads(subprocess.run([tool], capture_output=True, check=True).stdout)


@functools.cache
def schema_of(file):
    return json.loads((ROOT / "docs" / "schema" / file).read_text())


class At:
    """A place in a schema, with its references followed and null taken apart."""

    def __init__(self, file, node, nullable=False):
        self.file, self.node, self.nullable = file, node, nullable
        while True:
            if "$ref" in self.node:
                path, _, inner = self.node["$ref"].partition("#/")
                self.file = path or self.file
                self.node = functools.reduce(lambda n, key: n[key], inner.split("/") if inner else (),
                                             schema_of(self.file))
            elif {"type": "null"} in self.node.get("anyOf", ()):
                left = [n for n in self.node["anyOf"] if n != {"type": "null"}]
                self.nullable = True
                self.node = left[0] if len(left) == 1 else {"anyOf": left}
            else:
                break
        types = self.node.get("type", [])
        self.types = {types} if isinstance(types, str) else set(types)
        self.words = self.node.get("enum", [self.node["const"]] if "const" in self.node else None)
        if "null" in self.types or (self.words and None in self.words):
            self.nullable = True
        self.types.discard("null")
        if self.words is not None:
            self.words = [w for w in self.words if w is not None]

    def at(self, node):
        return At(self.file, node)


def flat(types, number):
    """The fields of a type, those of rows that stand inline among them; what they say of `when` goes with them."""
    for f in types[number]["fields"]:
        if f["type"] != "inline":
            yield f
            continue
        for inner in flat(types, f["row"]):
            yield dict(inner, optional=inner["optional"] or f["optional"] or f["when"])


class Comparison:
    def __init__(self, types):
        self.types, self.wrong, self.seen, self.unsaid = types, [], set(), set()

    def say(self, path, text, *parts):
        self.wrong.append("%s: %s" % (path, text % parts))

    def row(self, path, number, place):
        if (number, id(place.node)) in self.seen:
            return
        self.seen.add((number, id(place.node)))
        fields = list(flat(self.types, number))
        if self.types[number]["tuple"]:
            self.tuple_row(path, fields, place)
        else:
            self.members(path, fields, place.node, place)

    def tuple_row(self, path, fields, place):
        if "array" not in place.types or place.node.get("minItems") != len(fields):
            self.say(path, "is an array of %d values", len(fields))
        for i, f in enumerate(fields):
            items = place.node.get("prefixItems")
            self.value("%s[%d]" % (path, i), f, place.at(items[i] if items else place.node["items"]))

    def members(self, path, fields, node, place, more=frozenset()):
        choices = node.get("anyOf", [node])  # of an object that has one or another member
        properties = {k: v for n in choices for k, v in n.get("properties", {}).items()}
        needed = set.intersection(*(set(n.get("required", ())) for n in choices))
        names = {f["name"] for f in fields}
        if names | more != set(properties):
            self.say(path, "fields alone %s, schema alone %s", sorted(names - set(properties)),
                     sorted(set(properties) - names - more))
        required = {f["name"] for f in fields if not f["optional"]}
        if required != needed - more:
            self.say(path, "fields require %s, the schema %s", sorted(required), sorted(needed))
        if any(n.get("additionalProperties") is not False for n in choices):
            self.say(path, "the schema takes other members")
        for f in fields:
            if f["name"] in properties:
                self.value(path + "." + f["name"], f, place.at(properties[f["name"]]))

    def value(self, path, f, place):
        can_be_null = f["null"] or not f["optional"] and (f["when"] or f["type"] == "row" and f["pointer"])
        if can_be_null and not place.nullable:
            self.say(path, "may be null, which the schema does not take")
        if place.nullable and not can_be_null and not f["made"] and f["type"] not in NULL_BY_VALUE:
            self.say(path, "is never null")
        kind = f["type"]
        if kind == "row":
            self.row(path, f["row"], place)
        elif kind == "rows":
            self.rows(path, f, place)
        elif kind == "values":
            self.array(path, place, lambda item: self.plain(path + "[]", dict(f, type=f["of"], names=None), item))
        elif kind not in ("free", "stacks"):
            self.plain(path, f, place)

    def array(self, path, place, each):
        if "array" not in place.types:
            self.say(path, "is an array")
        elif "items" not in place.node:
            self.say(path, "has no schema of its elements")
        else:
            each(place.at(place.node["items"]))

    def rows(self, path, f, place):
        if not self.types[f["row"]]["keyed"]:
            self.array(path, place, lambda item: self.row(path + "[]", f["row"], item))
        elif "object" not in place.types:
            self.say(path, "is an object whose members are rows")

    def plain(self, path, f, place):
        expected = JSON_TYPES[f["type"]]
        if f.get("names") is not None:
            end = next((end for end in UNSAID if path.endswith(end)), None)
            if end and UNSAID[end] <= set(f["names"]):
                self.unsaid.add(end)
            shown = set(f["names"]) - UNSAID.get(end, set())
            if set(place.words or ()) != shown:
                self.say(path, "is one of %s, in the schema of %s", sorted(shown), sorted(place.words or ()))
            return
        if place.words is not None:
            if not all(isinstance(w, str if expected == "string" else int) for w in place.words):
                self.say(path, "is of the type %s", expected)
            return
        if f["when"] and place.node.get("type") == "null":
            return
        if place.types != {expected}:
            self.say(path, "is of the type %s, in the schema %s", expected, sorted(place.types))
        least = f["least"] if f["type"] == "unsigned" or f["bounded"] else 0 if f["type"] == "stack" else None
        if f["type"] in ("signed", "real") and not f["bounded"]:
            least = 0 if f["null"] else None
        minimum = place.node.get("minimum")
        if expected == "number" and isinstance(minimum, float):  # which `least` cannot say
            minimum = None
        if expected in ("integer", "number") and minimum != least:
            self.say(path, "is at least %s, in the schema %s", least, minimum)


def compared(verb):
    found = described()
    kind, file = found["verbs"][verb], verb + ".schema.json"
    comparison = Comparison(found["types"])
    # A document of one file has no member of those that could not be read.
    root = At(file, schema_of(file))
    fields = [dict(f, optional=False, when=False) if f["name"] in root.node["properties"] else f
              for f in flat(found["types"], kind["document"])]
    fields = [f for f in fields if f["name"] in root.node["properties"] or not f["optional"]]
    comparison.members(verb, fields, root.node, root, COMMON | BESIDE.get(verb, set()))
    return comparison


@pytest.mark.parametrize("verb", VERBS)
def test_members_are_those_of_the_fields(verb):
    assert compared(verb).wrong == []


@pytest.mark.parametrize("verb", [v for v in VERBS if v + "-set" in SCHEMAS])
def test_a_set_has_the_documents_beside_each_other(verb):
    """Each is a document of the verb without what the set says once, or a file that could not be read."""
    found, file = described(), verb + "-set.schema.json"
    kind, comparison = found["verbs"][verb], Comparison(found["types"])
    root = At(file, schema_of(file))
    of_set = [] if kind["set"] is None else list(flat(found["types"], kind["set"]))
    comparison.members(verb, of_set, root.node, root, COMMON | {"files"})
    items = root.node["properties"]["files"]["items"]
    entry = root.at(items.get("anyOf", [items])[0])
    fields = [f for f in flat(found["types"], kind["document"]) if f["name"] in entry.node["properties"]]
    alone = set(schema_of(verb + ".schema.json")["properties"]) - COMMON
    assert {f["name"] for f in fields} <= alone
    comparison.members(verb + ".files[]", [dict(f, optional=False, when=False) for f in fields], entry.node, entry,
                       COMMON | BESIDE.get(verb, set()))
    assert comparison.wrong == []


def test_every_verb_is_compared():
    assert set(described()["verbs"]) == set(VERBS)


def test_no_exception_is_left_over():
    assert set().union(*(compared(verb).unsaid for verb in VERBS)) == set(UNSAID)


@pytest.mark.parametrize("verb", VERBS)
def test_every_answer_has_one_table(verb):
    """The one that CSV shows."""
    types, seen, tables = described()["types"], set(), []

    def walk(number):
        if number in seen:
            return
        seen.add(number)
        for f in types[number]["fields"]:
            tables.extend([f["name"]] if f["table"] else [])
            if "row" in f:
                walk(f["row"])

    walk(described()["verbs"][verb]["document"])
    assert len(tables) == (0 if verb in WITHOUT_ROWS else 1)
