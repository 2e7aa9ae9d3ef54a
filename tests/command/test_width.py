"""Text fits the terminal, from the narrowest to the widest: no line is longer unless it cannot be broken."""
import re
import unicodedata

import pytest
from recordings import scripts

from conftest import ROOT, environment, run, some

EXAMPLES = [ROOT / "examples" / (n + ".pickle") for n in ("fragmentation", "leak", "oom", "train")]
LEAST = 20      # what is narrower is drawn as if it were this
WIDTHS = some((1, 33, 250), (1, 20, 33, 47, 60, 79, 250))
QUESTIONS = (
    ("report",), ("report", "--trust"), ("report", "--quick"), ("peak",), ("peak", "--by", "module"), ("peak", "--by", "size"), ("oom",),
    ("leaks",), ("fragments", "--all-metrics"), ("steps",), ("categories",), ("advise", "--waste"), ("advise", "--explain-silent"),
    ("check", "--max-peak", "1GiB", "--no-oom", "--max-site", "forward=1MiB", "--max-unknown-share", "1%"), ("replay",), ("replay", "--sweep"))
# A label of the left column, or the blanks under it; the number of a rule's advice.
LABEL = re.compile(r"(?:[A-Za-z]+(?: \d+)? +|[AB]: |\d+ +|-  )?")


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def breakable(line):
    """Whether a line could have been shorter: a command to copy, and one long word, cannot.

    What a shell goes on with, a backslash, stands behind a word."""
    words = line.strip().removesuffix(" \\")
    if re.search(r"(^|\s)vramscope [a-z]+", words):
        return False
    return " " in words and " " in words[LABEL.match(words).end():]


def check(*args):
    for width in WIDTHS:
        result = run(*args, env=environment(COLUMNS=str(width)))
        assert result.code in (0, 1, 4), (args, width, result.err)
        for line in result.out.splitlines():
            assert columns(line) <= max(width, LEAST) or not breakable(line), (width, columns(line), line)


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_examples_fit(question):
    for path in EXAMPLES[:some(1, None)]:
        check(*question, path)


@pytest.mark.parametrize("verb", ("", "report", "peak", "oom", "leaks", "fragments", "steps", "categories", "advise", "diff", "check", "replay", "export",
                                  "view", "doctor", "help"))
def test_help_fits(verb):
    """Of what is to be typed the words stay together, and the way to a far machine is laid out."""
    for width in (*WIDTHS, 80):
        help = run("help", *[verb] * bool(verb), env=environment(COLUMNS=str(width)), expect=0).out
        for line in help.splitlines():
            laid_out = re.match(r"  (there|here|     ) +(vramscope|prints|ssh|and open) ", line)
            assert columns(line) <= max(width, LEAST) or laid_out or not breakable(line), (width, columns(line), line)


def test_several_fit():
    check("report", *EXAMPLES)
    check("diff", EXAMPLES[3], EXAMPLES[2])


def test_narrow_tables_are_lists():
    """Every figure of a table stands behind its heading where the columns do not fit; none is cut."""
    narrow = run("fragments", "--rows", 3, EXAMPLES[0], env=environment(COLUMNS="30"), expect=0).out
    wide = run("fragments", "--rows", 3, EXAMPLES[0], env=environment(COLUMNS="200"), expect=0).out
    joined = " ".join(narrow.split())
    head = next(line for line in wide.splitlines() if "stranded" in line and "largest fit" in line)
    row = wide.splitlines()[wide.splitlines().index(head) + 1]
    for heading, value in zip(re.split(r" {2,}", head.strip()), re.split(r" {2,}", row.strip())):
        assert "%s %s" % (heading, value) in joined
    assert "\u2026" not in narrow


def test_sizes_are_not_cut():
    path = scripts.make("state_only")
    for width in (20, 40, 60):
        out = run("peak", path, env=environment(COLUMNS=str(width)), expect=0).out
        assert all(columns(line) <= width or not breakable(line) for line in out.splitlines())
