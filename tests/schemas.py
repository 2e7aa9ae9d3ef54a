"""Whether a document is what a schema of docs/schema says, told by functions made of the schemas.

`jsonschema` makes an object of each node of a document, and tests validate every document that they
read: it is asked where a document is wrong, to say why, and in tests of what is said here.  A keyword
that is not known here is an error, so that none is passed over.
"""
import functools
import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schema"
SAYS_NOTHING = {"$schema", "$id", "$defs", "title", "description"}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": is_number,
    "integer": lambda value: value.is_integer() if isinstance(value, float) else is_number(value),
}


def any_of(checks):
    if len(checks) == 1:
        return checks[0]
    return lambda value: any(check(value) for check in checks)


def of_type(file, words, node):
    return any_of([TYPES[word] for word in ([words] if isinstance(words, str) else words)])


def of_enum(file, words, node):
    """Simple values alone; True is not 1 there, and 1.0 is."""
    assert all(word is None or isinstance(word, (bool, int, str)) for word in words), words
    known = {(isinstance(word, bool), word) for word in words}
    return lambda value: not isinstance(value, (dict, list)) and (isinstance(value, bool), value) in known


def of_properties(file, named, node):
    checks = {name: check_of(file, inner) for name, inner in named.items()}

    def check(value):
        if isinstance(value, dict):
            for name, inner in value.items():
                known = checks.get(name)
                if known is not None and not known(inner):
                    return False
        return True
    return check


def of_other_properties(file, inner, node):
    named, check_other = frozenset(node.get("properties", ())), check_of(file, inner)
    return lambda value: not isinstance(value, dict) or all(check_other(value[name]) for name in value if name not in named)


def of_items(file, inner, node):
    first, check_item = len(node.get("prefixItems", ())), check_of(file, inner)
    return lambda value: not isinstance(value, list) or all(map(check_item, value[first:] if first else value))


def of_first_items(file, inner, node):
    checks = [check_of(file, each) for each in inner]
    return lambda value: not isinstance(value, list) or all(check(item) for check, item in zip(checks, value))


def of_one(file, inner, node):
    checks = [check_of(file, each) for each in inner]
    return lambda value: sum(check(value) for check in checks) == 1


def of_reference(file, reference, node):
    """Made when it is first asked, since schemas refer to themselves."""
    made = []

    def check(value):
        if not made:
            made.append(referred(*place_of(file, reference)))
        return made[0](value)
    return check


def place_of(file, reference):
    path, _, pointer = reference.partition("#")
    return path or file, pointer


@functools.cache
def referred(file, pointer):
    node = functools.reduce(lambda node, name: node[name], filter(None, pointer.split("/")), schema(file))
    return check_of(file, node)


def of_pattern(file, expression, node):
    search = re.compile(expression).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def bound(kind, compare, measure=lambda value: value):
    return lambda file, limit, node: lambda value: not kind(value) or compare(measure(value), limit)


def at_least(value, limit):
    return value >= limit


def at_most(value, limit):
    return value <= limit


KEYWORDS = {
    "type": of_type,
    "enum": of_enum,
    "const": lambda file, word, node: of_enum(file, [word], node),
    "properties": of_properties,
    "additionalProperties": of_other_properties,
    "required": lambda file, names, node: lambda value: not isinstance(value, dict) or all(n in value for n in names),
    "items": of_items,
    "prefixItems": of_first_items,
    "anyOf": lambda file, inner, node: any_of([check_of(file, each) for each in inner]),
    "oneOf": of_one,
    "$ref": of_reference,
    "pattern": of_pattern,
    "minimum": bound(is_number, at_least),
    "maximum": bound(is_number, at_most),
    "minItems": bound(TYPES["array"], at_least, len),
    "maxItems": bound(TYPES["array"], at_most, len),
    "minLength": bound(TYPES["string"], at_least, len),
    "minProperties": bound(TYPES["object"], at_least, len),
}


def check_of(file, node):
    """A function that says whether a value is what a node of a file says."""
    if isinstance(node, bool):
        return lambda value: node
    checks = [KEYWORDS[keyword](file, argument, node) for keyword, argument in node.items()
              if keyword not in SAYS_NOTHING]
    if len(checks) == 1:
        return checks[0]

    def check(value):
        for one in checks:
            if not one(value):
                return False
        return True
    return check


@functools.cache
def schema(file):
    return json.loads((FOLDER / file).read_text())


def holds(name, document):
    """Whether the document is what NAME.schema.json says."""
    return referred(name + ".schema.json", "")(document)


@functools.cache
def validators():
    """jsonschema's, by name."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource
    found = {path.name[:-len(".schema.json")]: schema(path.name) for path in FOLDER.glob("*.schema.json")}
    registry = Registry().with_resources((s.get("$id", n), Resource.from_contents(s)) for n, s in found.items()
                                         if "$schema" in s)
    for each in found.values():
        Draft202012Validator.check_schema(each)
    return {name: Draft202012Validator(s, registry=registry) for name, s in found.items()}


def validate(name, document):
    """AssertionError where it does not hold: what differs, at the deepest place of each alternative."""
    if holds(name, document):
        return
    for error in validators()[name].iter_errors(document):
        deep = min(error.context, key=lambda e: -len(e.absolute_path), default=error)
        raise AssertionError("%s at %s: %s" % (name, list(deep.absolute_path), deep.message[:300]))
    raise AssertionError("%s: jsonschema finds nothing wrong with it" % name)
