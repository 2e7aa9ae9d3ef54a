"""Which names a C file declares, and which it uses: as much as the includes of a tree need.

Names are `("struct", tag)` for tags of structs, unions and enums, `("", name)` for all others.
Nothing is compiled: a name that a function declares for itself, as a parameter or a variable, hides
the same name of a header there; members are told by the `.` or `->` before them.
"""

import re
from itertools import accumulate

from c_source import code_of, without_comments

TAGS = {"struct", "union", "enum"}
TYPES = set("void char short int long float double signed unsigned bool _Bool FILE DIR".split())
QUALIFIERS = {"const", "volatile", "restrict", "_Atomic"}
KEYWORDS = TAGS | TYPES - {"bool", "FILE", "DIR"} | QUALIFIERS | set("""auto break case continue
default do else extern for goto if inline register return sizeof static switch typedef while
_Static_assert _Alignof _Alignas _Thread_local defined""".split())

_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")')
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]*)\))?")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)
_TOKEN = re.compile(r"""[A-Za-z_]\w*|\d[\w.]*|"[^"]*"|'[^']*'|->|\.\.\.|\#\#|\S""")


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def _tokens(code, line):
    """[(token, its line)]; `line` is that of the first character."""
    starts = list(accumulate((len(part) for part in code.splitlines(True)), initial=0))
    found, at = [], 0
    for match in _TOKEN.finditer(code):
        while at + 1 < len(starts) and starts[at + 1] <= match.start():
            at += 1
        found.append((match.group(), line + at))
    return found


def _without_attributes(tokens):
    depth, inside, kept = 0, False, []
    for token in tokens:
        if token[0] == "__attribute__":
            inside = True
        elif inside:
            depth += (token[0] == "(") - (token[0] == ")")
            inside = depth > 0
        else:
            kept.append(token)
    return kept


def _items(tokens):
    """The declarations and definitions at file scope, each a list of tokens."""
    item, depth, body = [], 0, False
    i = 0
    while i < len(tokens):
        token = tokens[i][0]
        if not item and token == "extern" and [t for t, _ in tokens[i + 2:i + 3]] == ["{"] \
                and tokens[i + 1][0][0] == '"':
            i += 3
            continue
        if token == "}" and depth == 0:  # the end of an extern "C"
            item = []
            i += 1
            continue
        if token == "{":
            if depth == 0:
                body = bool(item) and item[-1][0] == ")"
            depth += 1
        elif token == "}":
            depth -= 1
        item.append(tokens[i])
        if depth == 0 and (token == ";" or (token == "}" and body)):
            yield item
            item, body = [], False
        i += 1


def _flat(words):
    """The words outside of braces."""
    depth, kept = 0, []
    for word in words:
        depth -= word == "}"
        if depth == 0 and word != "}":
            kept.append(word)
        depth += word == "{"
    return kept


def _scopes(words):
    """(of each word the open `{` and `(` around it, what the `}` at each place closes).

    What is open is one of `(`, `{`, `struct`, `union` and `enum`.
    """
    scopes, closed, scope = [], {}, ()
    for i, word in enumerate(words):
        if word in ("}", ")") and scope:
            closed[i] = scope[-1]
            scope = scope[:-1]
        scopes.append(scope)
        if word == "(":
            scope += ("(",)
        elif word == "{":
            near = words[i - 1:i] + words[max(0, i - 2):max(0, i - 1)]
            scope += (next((tag for tag in near[:1] if tag in TAGS), None)
                      or next((tag for tag in near[1:] if tag in TAGS and is_name(near[0])), "{"),)
    return scopes, closed


class Names:
    """What one file declares and uses.

    include: [(line, `<name>` or `"name"`, whether it stands inside an #if)]; declares, forwards:
    sets of names, forwards only tags that are said to exist; members: of its structs; uses: name to
    the first line; accesses: members that are accessed.
    """

    def __init__(self, text, typedefs=frozenset()):
        self.include, self.declares, self.forwards, self.members = [], set(), set(), set()
        self.uses, self.accesses, self.types = {}, set(), set()
        self._typedefs = typedefs
        self._of_members = {"offsetof"}  # macros whose last argument is a member
        self._directives(text)
        code = _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), code_of(text))
        for item in _items(_without_attributes(_tokens(code, 1))):
            self._item(item)

    def _use(self, space, name, line):
        self.uses.setdefault((space, name), line)

    def _directives(self, text):
        code, plain = code_of(text), without_comments(text)
        depth, guard = 0, None
        for match in _DIRECTIVE.finditer(code):
            line, words = code.count("\n", 0, match.start()) + 1, _tokens(match.group(), 0)
            kind = words[1][0] if len(words) > 1 else ""
            include = _INCLUDE.match(plain, match.start())
            if include:
                self.include.append((line, include.group(1), depth > 0))
                continue
            if kind == "ifndef" and guard is None and words[2][0].endswith("_H"):
                guard = words[2][0]
                continue
            depth += kind in ("if", "ifdef", "ifndef")
            depth -= kind == "endif" and depth > 0
            if kind == "define":
                self._macro(match.group(), line, guard)
            elif kind in ("if", "ifdef", "ifndef", "elif"):
                for word, _ in words[2:]:
                    if is_name(word) and word not in KEYWORDS:
                        self._use("", word, line)

    def _macro(self, text, line, guard):
        head = _DEFINE.match(text)
        if head.group(1) == guard:
            return
        self.declares.add(("", head.group(1)))
        hidden = set(re.findall(r"\w+", head.group(3) or ""))
        body = _without_attributes(_tokens(text[head.end():], line))
        if any(word == "offsetof" for word, _ in body):
            self._of_members.add(head.group(1))
        self._uses_of([("", 0)] + body + [("", 0)], hidden, set())

    def _item(self, item):
        words = [word for word, _ in item]
        if len(words) == 3 and words[0] in TAGS and words[2] == ";":
            self.forwards.add(("struct", words[1]))
            return
        marked, hidden, enumerators, members = self._declarators(words)
        self.members |= members
        self.declares |= {("", name) for name in enumerators}
        for i, word in enumerate(words[:-2]):
            if word in TAGS and is_name(words[i + 1]) and words[i + 2] == "{":
                self.declares.add(("struct", words[i + 1]))
        self._declared(words)
        padded = [("", 0)] + item + [("", 0)]
        self._uses_of(padded, hidden | enumerators, {i + 1 for i in marked})

    def _declared(self, words):
        """What the item itself is called."""
        flat = _flat(words)
        if flat[0] == "typedef":
            name = self._typedef(" ".join(flat[1:-1]))
            self.declares.add(("", name))
            self.types.add(name)
            return
        head = flat[:flat.index("=")] if "=" in flat else flat
        function = next((i for i, word in enumerate(head[:-1]) if head[i + 1] == "("
                         and is_name(word) and word not in KEYWORDS), None)
        if function is not None:
            if head[function] not in ("_Static_assert", "static_assert"):
                self.declares.add(("", head[function]))
            return
        for i, word in enumerate(head):
            after = head[i + 1] if i + 1 < len(head) else "="
            if i and is_name(word) and word not in KEYWORDS and after in "[;,=" \
                    and head[i - 1] not in TAGS and head[i - 1] != "[":
                self.declares.add(("", word))

    @staticmethod
    def _typedef(text):
        """The name among the words behind a `typedef`."""
        plain = re.fullmatch(r".*?(\w+)(?: \[[^\]]*\])*", text)
        pointer, function = re.search(r"\( \* (\w+) \) \(", text), re.search(r"(\w+) \(", text)
        return (plain or pointer or function).group(1)

    def _is_type(self, words, i, closed):
        """Whether words[i] ends the name of a type."""
        word = words[i] if i >= 0 else ""
        if word == ")":  # what makes one of another
            return any(maker in words[max(0, i - 6):i] for maker in ("VEC", "__typeof__"))
        return (word in TYPES or word in self._typedefs or word in self.types
                or word.endswith("_t") or (i > 0 and words[i - 1] in TAGS)
                or closed.get(i) in TAGS)

    def _declarators(self, words):
        """(places of names declared below file scope, the names, enumerators, members)."""
        marked, hidden, enumerators, members = set(), set(), set(), set()
        scopes, closed = _scopes(words)
        listing = None  # the scope in which `, name` goes on declaring
        for i, word in enumerate(words):
            scope = scopes[i]
            if word == ";" or (listing is not None and len(scope) < len(listing)):
                listing = None
            if not scope or not is_name(word) or word in KEYWORDS or words[i - 1] in TAGS:
                continue
            before, after = words[i - 1], words[i + 1] if i + 1 < len(words) else ""
            if scope[-1] == "enum":
                if before in ("{", ","):
                    enumerators.add(word)
                    marked.add(i)
                continue
            at = i - 1
            while words[at] == "*" or words[at] in QUALIFIERS:
                at -= 1
            if before == "*" and words[i - 2] == "(" and words[i + 1:i + 3] == [")", "("]:
                at = i - 3  # a pointer to a function
                while words[at] == "*":
                    at -= 1
            elif after not in (";", ",", "=", "[", ")", ":"):
                continue
            goes_on = scope == listing and words[at] == "," and after in (",", ";", "=", "[")
            if not goes_on and not self._is_type(words, at, closed):
                continue
            marked.add(i)
            (members if scope[-1] in TAGS else hidden).add(word)
            if scope[-1] != "(" or "for" in words[max(0, i - 6):i]:
                listing = scope
        return marked, hidden, enumerators, members

    def _uses_of(self, item, hidden, marked):
        """Adds the names used in item[1:-1], but for those at `marked` places or `hidden`."""
        for i in range(1, len(item) - 1):
            word, line = item[i]
            if not is_name(word) or word in KEYWORDS or i in marked:
                continue
            before, after = item[i - 1][0], item[i + 1][0]
            if before in (".", "->"):
                self.accesses.add(word)
                continue
            if before in TAGS:
                self._tag(item, i)
                continue
            if after == ")" and before in ("(", ",") and self._is_member(item, i):
                self.accesses.add(word)
                continue
            if word not in hidden:
                self._use("", word, line)

    def _tag(self, item, i):
        word, line = item[i]
        after = item[i + 1][0]
        if after == "{" or (after == ";" and item[i - 2][0] in ("", ";", "{", "}")):
            return
        pointer = after == "*" or (after == "const" and item[i + 2][0] == "*")
        self._use("*" if pointer else "struct", word, line)

    def _is_member(self, item, i):
        """Whether item[i] is the last argument of offsetof, or of a macro that is made of it."""
        depth = 0
        for k in range(i - 1, 0, -1):
            depth += (item[k][0] == ")") - (item[k][0] == "(")
            if depth < 0:
                return item[k - 1][0] in self._of_members
        return False
