"""Just enough of C's surface for the checks: text without comments, top-level items."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_TOKEN = re.compile(
    r"""//(?:[^\n\\]|\\.|\\\n)* | /\*.*?\*/ | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'""",
    re.S | re.X,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def _without_text(match):
    token = match.group()
    if token[0] == "/":
        return _blank(token)
    return token[0] + _blank(token[1:-1]) + token[-1]


def without_comments(text):
    """Comments become spaces; strings, lines and columns stay."""
    return _TOKEN.sub(lambda m: _blank(m.group()) if m.group()[0] == "/" else m.group(), text)


def code_of(text):
    """Comments, the insides of literals become spaces; lines and columns stay."""
    return _TOKEN.sub(_without_text, text)


def without_directives(code):
    return _DIRECTIVE.sub(lambda m: _blank(m.group()), code)


class Item:
    """A declaration or definition at file scope; `text` has its brace bodies emptied."""

    def __init__(self, text, first_line, last_line):
        self.text = " ".join(text.split())
        self.first_line = first_line
        self.last_line = last_line

    @property
    def function(self):
        """The name of the function that is defined here, or None."""
        if not self.text.endswith("}") or "=" in self.text:
            return None
        names = re.findall(r"(\w+) ?\(", self.text)
        return next((name for name in names if name != "__attribute__"), None)


def items(code):
    """The items of code_of() text.  A `}` ends one when a parameter list came before its `{`."""
    code = without_directives(code)
    code = re.sub(r'extern\s+"\s*"\s*\{', lambda m: _blank(m.group()), code)
    head, depth, line, first, body_of_function = "", 0, 1, None, False
    for char in code:
        if depth == 0 or (depth == 1 and char == "}"):
            if first is None and not char.isspace():
                first = line
            head += char
        if char == "{":
            if depth == 0:
                body_of_function = head[:-1].rstrip().endswith(")")
            depth += 1
        elif char == "}":
            if depth == 0:  # the end of an extern "C"
                head, first = "", None
                continue
            depth -= 1
            if depth == 0 and body_of_function:
                yield Item(head, first, line)
                head, first = "", None
        elif char == ";" and depth == 0:
            yield Item(head, first, line)
            head, first = "", None
        elif char == "\n":
            line += 1


_TEXT = re.compile(r'"[^"]*"')


def texts(text):
    """(position, what it says) of each string literal that is no header's name."""
    code = without_directives(code_of(text))
    for match in _TEXT.finditer(code):
        yield match.start(), text[match.start() + 1:match.end() - 1]


def _rows(code, at):
    """(begin, end) of each row of the initialiser whose `{` ends before `at`."""
    depth, begin = 0, at
    for i in range(at, len(code)):
        if code[i] in "{(":
            depth += 1
        elif code[i] in "})" and depth:
            depth -= 1
        elif code[i] == "}" or (code[i] == "," and not depth):
            yield begin, i
            begin = i + 1
            if code[i] == "}":
                return


def first_texts(text, struct):
    """(position, text) of the string literal that stands first, or as .name, in each row of an
    array of `struct`."""
    code = code_of(text)
    array = re.compile(r"\bstruct\s+%s\s*(?:\w+\s*)?\[[^\]]*\]\s*(?:=|\))\s*\{" % struct)
    first = re.compile(r"\s*(?:\[[^\]]*\]\s*=\s*)?(?:\w+\s*\(\s*|\{\s*)?(\"[^\"]*\")")
    named = re.compile(r"\.name\s*=\s*(\"[^\"]*\")")
    for found in array.finditer(code):
        for begin, end in _rows(code, found.end()):
            match = first.match(code, begin, end) or named.search(code, begin, end)
            if match:
                yield match.start(1), text[match.start(1) + 1:match.end(1) - 1]


def files(root, folders, suffixes):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path
