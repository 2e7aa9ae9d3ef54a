"""What `schemas` says of a document is what jsonschema says of it."""
import copy
import json
import random

import pytest

import schemas
from conftest import ROOT, run, some
from recordings import scripts

# Small ones: what is compared with is slow.
LEAK, TRAIN = (ROOT / "examples" / (name + ".pickle") for name in ("leak", "train"))
COMMANDS = {
    **{verb: [verb, "--json", LEAK] for verb in ("peak", "oom", "leaks", "fragments", "steps", "categories", "advise")},
    **{verb + "-set": [verb, "--json", LEAK, TRAIN] for verb in ("peak", "oom", "leaks", "steps")},
    "report": ["report", "--json", "two_devices"],
    "check": ["check", "--json", "--max-peak", "1MiB", LEAK],
    "diff": ["diff", "--json", LEAK, TRAIN],
    "replay": ["replay", "--json", "--set", "expandable_segments:True", LEAK],
    "doctor": ["doctor", "--json"],
    "export": ["export", "--to", "json", "-t", "devices", "-t", "segments", LEAK],
}
MUTATIONS = some(40, 120)
OTHERS = None, True, False, 0, 1, 1.0, -1, 1.5, 2 ** 70, "", "x", [], {}, [None], {"x": 1}


def places(value, least=1):
    """(container, key) of each value in a document, of lists the first ones."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value[:3])):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


def mutate(chance, document):
    container, key = chance.choice(list(places(document)))
    kind = chance.randrange(5)
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = copy.deepcopy(chance.choice(OTHERS))
    elif kind == 2 and isinstance(container, dict):
        container["a new one"] = chance.choice(OTHERS)
    elif kind == 3 and isinstance(container, list):
        container.append(copy.deepcopy(chance.choice(OTHERS)))
    elif isinstance(container[key], (int, float)):
        container[key] = -container[key] - 1
    else:
        container[key] = [copy.deepcopy(container[key])]


@pytest.mark.parametrize("name", COMMANDS)
def test_both_say_the_same_of_changed_documents(name):
    words = [scripts.make(word) if word in scripts.NAMES else word for word in COMMANDS[name]]
    document = json.loads(run(*words).raw)
    slow = schemas.validators()[name]
    assert slow.is_valid(document) and schemas.holds(name, document)
    chance, told = random.Random(name), {True: 0, False: 0}
    for _ in range(MUTATIONS):
        changed = copy.deepcopy(document)
        mutate(chance, changed)
        valid = slow.is_valid(changed)
        assert schemas.holds(name, changed) == valid, changed
        told[valid] += 1
        if not valid:
            with pytest.raises(AssertionError, match="^%s at " % name):
                schemas.validate(name, changed)
    assert told[False] > MUTATIONS // 3, told


def nodes(node):
    if isinstance(node, dict):
        yield node
        for keyword, inner in node.items():
            if keyword in ("properties", "$defs"):
                inner = list(inner.values())
            if keyword not in ("enum", "const", "required"):
                yield from nodes(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from nodes(inner)


def test_every_keyword_is_known():
    for path in schemas.FOLDER.glob("*.schema.json"):
        assert path.name[:-len(".schema.json")] in schemas.validators()
        for node in nodes(schemas.schema(path.name)):
            schemas.check_of(path.name, node)
    with pytest.raises(KeyError):
        schemas.check_of("peak.schema.json", {"maxLength": 3})


@pytest.mark.parametrize("node, good, bad", (
    ({"type": "integer"}, (1, 1.0, -3), (True, 1.5, "1", None)),
    ({"type": ["number", "null"]}, (1, 1.5, None), (False, "1")),
    ({"enum": [1, "a", None]}, (1, 1.0, "a", None), (True, "b", [1], {})),
    ({"const": False}, (False,), (0, None, [])),
    ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, (["a", 1], ["a"], []), ([1], ["a", "b"])),
    ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, (0, 9), (3,)),
    ({"minProperties": 1, "additionalProperties": {"type": "null"}}, ({"a": None},), ({}, {"a": 1})),
    ({"pattern": "^a", "minLength": 2}, ("ab", 3), ("a", "ba")),
))
def test_a_keyword_means_what_jsonschema_says(node, good, bad):
    from jsonschema import Draft202012Validator
    check = schemas.check_of("common.schema.json", node)
    for values, want in ((good, True), (bad, False)):
        for value in values:
            assert check(value) == want == Draft202012Validator(node).is_valid(value), value
