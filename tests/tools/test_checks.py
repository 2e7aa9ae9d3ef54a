"""The checks of the tree must pass on it, and catch one planted breach of each kind."""

import contextlib
import fnmatch
import importlib.machinery
import importlib.util
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def program(name):
    """A tool as a module."""
    sys.path.insert(0, str(ROOT / "tools"))
    loader = importlib.machinery.SourceFileLoader(
        name.replace("-", "_"), str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    sys.path.pop(0)
    return module


law = program("check-layers")


def run(tool, root=ROOT):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), str(root)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# Rows as tables of fields, and what names a field beside them.
FIELDS = """static const struct field leak_fields[] = {
    { "site", "Site", UNIT_NONE, .when = is_there },
    { .heading = "Bytes", .name = "all_bytes" }, FIELD("growth", "Growth"),
    [3] = { .name = "kept" }, { 0, 0 },
};
static const struct other others[] = { { "other" } };
"""
DESCRIBED = "src/analysis/snapshot/leaks/leaks_fields.c"


def plant_named(root):
    """What the law names must be there: a file for each name, with what it excuses."""
    texts = {}
    for name in law.named_files():
        folder, _, file = name.rpartition("/")
        if name.startswith(("src/", "cli/")):
            stem = "named_" + folder.replace("/", "_") if file == "*" else file.rpartition(".")[0]
            suffix = ".h" if name.endswith(".h") else ".c"
            texts[f"{folder}/{stem}{suffix}"] = ""
    for name, header, _ in law.EXCEPTIONS:
        texts[name] = texts.get(name, "") + f'#include "{header}"\n'
    for i, name in enumerate(law.MEMBERS_STAND):
        texts[DESCRIBED] = FIELDS
        texts[name.replace("*", f"named_{i}_json.c")] = 'const int a = f("site");\n'
    for name, text in texts.items():
        plant(root, name, text)


@pytest.fixture
def tree(tmp_path):
    plant_named(tmp_path)
    return tmp_path


def layers(root, includes=False):
    """(exit status, what is printed) of tools/check-layers, by default of the law alone."""
    arguments = [str(root)] if includes else ["--law", str(root)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = law.main(arguments)
    return status, said.getvalue()


def may_not(name, header, where=None):
    where = where or name.rpartition("/")[0]
    return name, header, f"{where} may not include {header}"


def never_meet(name, header):
    subject = name.split("/")[2]
    return name, header, f"{subject} may not include {header}: subjects never meet"


ROOMS = law.LAW["src/analysis/snapshot"][1].split(" < ")
A_ROOM = "src/analysis/snapshot/{}/a.c"

# One breach of each row of the law, and of each order inside: file, header, message.
ROWS = [
    may_not("src/base/a.c", "model/ids.h"),
    may_not("src/base/a.c", "vramscope/vramscope.h"),
    may_not("src/model/a.c", "format/read.h"),
    may_not("src/format/a.c", "allocator/machine/config.h"),
    may_not("src/format/input/a.c", "format/json/json.h"),
    may_not("src/format/json/a.c", "format/pickle/pickle.h"),
    may_not("src/format/pickle/a.c", "format/json/json.h"),
    may_not("src/format/json/a.c", "format/trace/spans.h"),
    may_not("src/format/trace/a.c", "format/read.h"),
    never_meet("src/format/trace/a.c", "format/snapshot/builder.h"),
    never_meet("src/format/checkpoint/a.c", "format/capture/record.h"),
    may_not("src/allocator/machine/a.c", "model/ids.h"),
    may_not("src/allocator/machine/a.c", "allocator/replay/replay.h"),
    may_not("src/allocator/replay/a.c", "allocator/whatif/whatif.h"),
    may_not("src/allocator/whatif/a.c", "format/read.h", "src/allocator"),
    may_not("src/analysis/attribution/a.c", "model/recording.h"),
    may_not("src/analysis/attribution/a.c", "allocator/machine/config.h"),
    may_not("src/analysis/attribution/a.c", "analysis/snapshot/curves/live.h"),
    may_not("src/analysis/snapshot/steps/a.c", "format/read.h", "src/analysis/snapshot"),
    may_not("src/analysis/snapshot/steps/a.c", "analysis/trace/links.h", "src/analysis/snapshot"),
    may_not("src/analysis/trace/a.c", "analysis/snapshot/steps/steps.h"),
    may_not("src/analysis/trace/a.c", "allocator/machine/config.h"),
    may_not("src/analysis/estimate/a.c", "analysis/trace/links.h"),
    may_not("src/analysis/estimate/a.c", "render/write/out.h"),
    may_not("src/device/a.c", "model/ids.h"),
    may_not("src/profiler/a.c", "analysis/snapshot/curves/live.h"),
    may_not("src/profiler/a.c", "allocator/replay/replay.h"),
    may_not("src/render/page/a.c", "api/file.h", "src/render"),
    may_not("src/render/page/a.c", "format/read.h", "src/render"),
    may_not("src/render/write/a.c", "render/answer/fields.h"),
    may_not("src/render/answer/a.c", "render/snapshot/leaks/leaks.h"),
    may_not("src/render/snapshot/leaks/a.c", "render/page/source.h", "src/render/snapshot"),
    may_not("src/render/page/a.c", "render/picture/scene.h"),
    may_not("src/render/page/a.c", "render/export/export.h"),
    may_not("src/render/export/a.c", "render/page/source.h"),
    may_not("src/render/picture/a.c", "render/export/export.h"),
    never_meet("src/render/trace/steps/a.c", "render/snapshot/steps/parts.h"),
    never_meet("src/render/trace/steps/a.c", "analysis/snapshot/steps/steps.h"),
    may_not("src/api/a.c", "cli/help.h"),
    never_meet("src/api/trace/a.c", "api/snapshot/ask.h"),
    never_meet("src/api/snapshot/a.c", "format/trace/spans.h"),
    never_meet("src/api/estimate/a.c", "render/snapshot/leaks/leaks.h"),
    may_not("include/vramscope/a.h", "base/str.h", "include"),
    may_not("cli/verbs/a.c", "base/str.h", "cli"),
    may_not("python/a.c", "model/stacks.h"),
    may_not("capture/a.c", "base/str.h"),
    may_not("capture/a.c", "format/read.h"),
] + [may_not(A_ROOM.format(room), f"analysis/snapshot/{later}/b.h")
     for room, later in zip(ROOMS, ROOMS[1:])] + [
    # A subject that nobody has thought of yet.
    may_not("src/analysis/fleet/a.c", "analysis/snapshot/steps/steps.h"),
    may_not("src/analysis/fleet/a.c", "analysis/estimate/fit.h"),
    may_not("src/analysis/snapshot/report/a.c", "analysis/fleet/hosts.h", "src/analysis/snapshot"),
    may_not("src/format/pickle/a.c", "format/fleet/hosts.h"),
    never_meet("src/format/fleet/a.c", "format/snapshot/builder.h"),
    never_meet("src/render/fleet/a.c", "analysis/snapshot/steps/steps.h"),
    may_not("src/render/fleet/a.c", "render/page/source.h", "src/render/fleet"),
    never_meet("src/api/fleet/a.c", "api/snapshot/ask.h"),
]


@pytest.mark.parametrize("name, header, message", ROWS)
def test_a_breach_of_the_law_is_found(tree, name, header, message):
    plant(tree, name, f'/* a */\n#include "{header}"\n')
    assert layers(tree) == (1, f"{name}:2: {message}\n")
    plant(tree, name, "/* a */\n")
    assert layers(tree) == (0, "")


def test_each_row_has_a_breach():
    free = {row for row, (allowed, _) in law.LAW.items() if not allowed}
    assert {law.rows_of(name)[0][1] for name, *_ in ROWS} == set(law.LAW) - free
    orders = {row for row, (_, inside) in law.LAW.items() if inside}
    met = {row for name, header, _ in ROWS for folder, row in law.rows_of(name)
           if f"src/{header}".startswith(folder + "/")}
    assert orders <= met


# What each row and order allows.
ALLOWED = [
    ("src/base/a.c", "vramscope/error.h"),
    ("src/model/a.c", "base/str.h"),
    ("src/format/json/a.c", "format/input/window.h"),
    ("src/format/snapshot/a.c", "format/pickle/pickle.h"),
    ("src/format/snapshot/a.c", "model/recording.h"),
    ("src/format/fleet/a.c", "format/json/json.h"),
    ("src/format/a.c", "format/fleet/hosts.h"),
    ("src/allocator/replay/a.c", "allocator/machine/machine.h"),
    ("src/allocator/whatif/a.c", "model/recording.h"),
    ("src/analysis/attribution/a.c", "model/code.h"),
    ("src/analysis/snapshot/steps/a.c", "analysis/attribution/site.h"),
    ("src/analysis/snapshot/report/a.c", "analysis/snapshot/curves/live.h"),
    ("src/analysis/trace/a.c", "analysis/attribution/site.h"),
    ("src/analysis/fleet/a.c", "analysis/fleet/hosts.h"),
    ("src/analysis/fleet/a.c", "model/ids.h"),
    ("src/analysis/estimate/a.c", "analysis/snapshot/breakdown/peak.h"),
    ("src/profiler/a.c", "device/device.h"),
    ("src/profiler/a.c", "allocator/machine/machine.h"),
    ("src/render/answer/a.c", "analysis/snapshot/trust/trust.h"),
    ("src/render/snapshot/leaks/a.c", "render/answer/fields.h"),
    ("src/render/snapshot/leaks/a.c", "render/snapshot/steps/parts.h"),
    ("src/render/fleet/hosts/a.c", "analysis/fleet/hosts.h"),
    ("src/render/estimate/a.c", "analysis/snapshot/breakdown/peak.h"),
    ("src/render/picture/a.c", "render/page/source.h"),
    ("src/render/export/a.c", "render/snapshot/leaks/leaks.h"),
    ("src/api/a.c", "api/snapshot/ask.h"),
    ("src/api/snapshot/a.c", "api/file.h"),
    ("src/api/fleet/a.c", "render/fleet/hosts/hosts.h"),
    ("src/api/estimate/a.c", "format/checkpoint/headers.h"),
    ("cli/verbs/a.c", "answer.h"),
    ("capture/a.c", "format/capture/record.h"),
    ("tests/unit/a.c", "api/file.h"),
]


@pytest.mark.parametrize("name, header", ALLOWED)
def test_what_the_law_allows_passes(tree, name, header):
    plant(tree, name, f'#include "{header}"\n')
    assert layers(tree) == (0, "")


@pytest.mark.parametrize("name, message", [
    ("src/common/a.c", "no layer has a folder src/common"),
    ("src/a.c", "no layer has a folder src"),
    ("src/analysis/a.c", "src/analysis has no files of its own, only rooms"),
    ("src/analysis/snapshot/a.c", "src/analysis/snapshot has no files of its own, only rooms"),
    ("src/analysis/snapshot/memory/a.c", "the law of src/analysis/snapshot names no room memory"),
    ("src/allocator/random/a.c", "the law of src/allocator names no room random"),
    ("src/render/a.c", "src/render has no files of its own, only rooms"),
])
def test_a_file_lies_in_a_room_of_the_law(tree, name, message):
    plant(tree, name, "int f(void);\n")
    assert layers(tree) == (1, f"{name}:1: {message}\n")


def test_what_the_law_names_must_be_there(tree):
    # A row of which nothing is there is yet to come.
    for name in ("src/api/a.c", "src/format/a.c", "src/render/answer/a.c",
                 "src/analysis/attribution/a.c"):
        plant(tree, name, "")
    named = [name for name in law.named_files() if name.startswith(("src/", "cli/"))]
    assert {"src/base/pool.c", "src/format/input/*", "cli/serve/*"} <= set(named)
    for name in set(named) - {"src/base/*", "src/profiler/*"}:  # whole rows
        kept = {file: file.read_text() for file in tree.rglob("*.[ch]")
                if fnmatch.fnmatchcase(file.relative_to(tree).as_posix(), name)}
        for file in kept:
            file.unlink()
        status, said = layers(tree)
        assert status == 1 and f"the law names {name}, which is not there\n" in said
        for file, text in kept.items():
            file.write_text(text)


def test_the_law_may_name_what_is_yet_to_come(tree):
    assert "python/*" in law.named_files()
    assert layers(tree) == (0, "")
    plant(tree, "python/a.c", "")
    assert layers(tree) == (0, "")


def test_a_name_outside_of_the_law_is_found(tree, monkeypatch):
    monkeypatch.setattr(law, "MEMORY_HOMES", ["src/base/*", "src/bsae/*"])
    assert layers(tree) == (1, "the law names src/bsae/*, which is not there\n")


def test_an_exception_excuses_one_include(tree, monkeypatch):
    monkeypatch.setattr(law, "EXCEPTIONS", [
        *law.EXCEPTIONS, ("src/model/a.c", "format/read.h", "until it moves")])
    plant(tree, "src/model/a.c", '#include "format/read.h"\n')
    assert layers(tree) == (0, "")
    plant(tree, "src/model/b.c", '#include "format/read.h"\n')
    assert layers(tree) == (1, "src/model/b.c:1: src/model may not include format/read.h\n")


@pytest.mark.parametrize("text", ["", '#include "base/str.h"\n'])
def test_an_exception_that_excuses_nothing_is_found(tree, monkeypatch, text):
    monkeypatch.setattr(law, "EXCEPTIONS", [
        *law.EXCEPTIONS, ("src/model/a.c", "format/read.h", "until it moves")])
    plant(tree, "src/model/a.c", text)
    assert layers(tree) == (
        1, "the law excuses src/model/a.c with format/read.h, which is not there\n")


@pytest.mark.parametrize("first, second", [
    ("src/analysis/snapshot/oom/peak.h", "src/analysis/snapshot/steps/peak.h"),
    ("src/analysis/snapshot/oom/peak.c", "src/analysis/snapshot/steps/peak.h"),
    ("src/format/input/words.c", "src/format/json/words.c"),
    ("src/render/page/source.c", "src/render/picture/source.c"),
    ("cli/inputs.c", "cli/verbs/inputs.c"),
])
def test_base_names_are_unique_in_a_layer_and_subject(tree, first, second):
    plant(tree, first, "")
    assert layers(tree) == (0, "")
    plant(tree, second, "")
    stem = Path(first).stem
    assert layers(tree) == (1, f"{second}:1: the name {stem} is taken by {first}\n")


def test_a_name_may_come_again_elsewhere(tree):
    for name in ("src/format/json/steps.c", "src/format/json/steps.h", "src/base/steps.c",
                 "src/analysis/snapshot/steps/steps.c", "src/analysis/trace/steps.c",
                 "src/render/snapshot/steps/steps.c", "cli/steps.c"):
        plant(tree, name, "")
    assert layers(tree) == (0, "")


JSON = "src/render/snapshot/leaks/leaks_json.c"
TEXT = "src/render/snapshot/leaks/leaks_text.c"


@pytest.mark.parametrize("name, text", [
    (JSON, 'f("{}")'), (TEXT, 'json_text(j, "{}")'), (TEXT, 'json_text(s->j,\n    "{}")'),
])
@pytest.mark.parametrize("member", ["site", "all_bytes", "growth", "kept"])
def test_a_member_name_stands_in_its_description_alone(tree, name, text, member):
    plant(tree, DESCRIBED, FIELDS)
    text = '#include "base/str.h"\nconst int a =\n    ' + text.format(member) + ";\n"
    plant(tree, name, text)
    line = {"site": 2, "all_bytes": 3, "growth": 3, "kept": 4}[member]
    at = text[:text.index(f'"{member}"')].count("\n") + 1
    assert layers(tree) == (
        1, f'{name}:{at}: "{member}" is a member of a row: {DESCRIBED}:{line} describes it\n')


def test_people_read_no_underscores(tree):
    plant(tree, DESCRIBED, FIELDS)
    plant(tree, TEXT, 'const int a = f("all_bytes") + g("site");\n')
    assert layers(tree) == (
        1, f'{TEXT}:1: "all_bytes" is a member of a row: {DESCRIBED}:3 describes it\n')


@pytest.mark.parametrize("name, text", [
    (JSON, 'f("Site", "Bytes", "other", "sites", " site");'),
    (JSON, '/* "site" */\n#include "base/site"\n'),
    (TEXT, 'f("site"); json_text(j, "name", "site"); json_text(j, f("site"));'),
    ("src/render/trace/steps_json.c", 'f("site");'),
    ("src/render/page/head.c", 'f("site");'),
    ("src/analysis/snapshot/leaks/other.c", 'f("site");'),
    ("src/render/snapshot/check/check_sarif.c", 'f("all_bytes");'),
])
def test_other_literals_pass(tree, name, text):
    plant(tree, DESCRIBED, FIELDS)
    plant(tree, name, f"int a(void)\n{{\n    {text}\n}}\n")
    assert layers(tree) == (0, "")


def test_where_no_row_is_described_any_literal_passes(tree, monkeypatch):
    monkeypatch.setattr(law, "MEMBERS_STAND", [])
    plant(tree, DESCRIBED, "")
    plant(tree, JSON, 'static const char a[] = "site";\n')
    assert layers(tree) == (0, "")


def test_a_subject_describes_its_own_rows(tree):
    plant(tree, "src/analysis/trace/steps_fields.c", FIELDS.replace("kept", "left"))
    plant(tree, "src/render/trace/steps_json.c", 'const int a = f("left");\n')
    plant(tree, JSON, 'const int a = f("left");\n')
    assert layers(tree) == (
        1, 'src/render/trace/steps_json.c:1: "left" is a member of a row: '
           "src/analysis/trace/steps_fields.c:4 describes it\n")


def test_rows_not_yet_described_may_be_excused(tree, monkeypatch):
    monkeypatch.setattr(law, "MEMBERS_STAND", [*law.MEMBERS_STAND, JSON])
    plant(tree, DESCRIBED, FIELDS)
    plant(tree, JSON, 'const int a = f("site");\n')
    assert layers(tree) == (0, "")
    plant(tree, JSON, 'const int a = f("sites");\n')
    assert layers(tree) == (1, f"the law excuses members named in {JSON}, which names none\n")


def test_includes_are_listed(tree):
    plant(tree, "src/base/b.h", "struct thing {\n    int n;\n};\n")
    plant(tree, "src/base/c.h", '#include "base/b.h"\nstruct two {\n    struct thing a;\n};\n')
    plant(tree, "src/base/a.c", '#include "base/c.h"\n\n#include <math.h>\n\n'
                                "static const struct thing one;\n")
    status, said = layers(tree, includes=True)
    assert said == """src/base/a.c:1: "base/c.h" is not needed
src/base/a.c:3: <math.h> is not needed
src/base/a.c:5: uses thing of "base/b.h", which it does not include
"""
    assert status == 1


# file, its text, the line of the breach, words of the message
BREACHES = [
    ("src/model/a.c", '#include "base/str.h"\n#include "format/read.h"\n', 2, "may not include"),
    ("src/format/a.h", '#include "analysis/peak.h"\n', 1, "may not include"),
    ("src/model/a.c", '/* \n */\n#include "format/read.h"\n', 3, "may not include"),
    ("src/model/a.c", '#include "str.h"\n', 1, "needs its folder"),
    ("include/vramscope/a.h", "#include <stdio.h>\n", 1, "may not include"),
    ("src/model/a.c", "#include <zlib.h>\n", 1, "may not include <zlib.h>"),
    ("src/base/a.c", "#include <zstd.h>\n", 1, "may not include <zstd.h>"),
    ("src/format/a.c", "#include <sqlite3.h>\n", 1, "may not include <sqlite3.h>"),
    ("src/format/json/a.c", "#include <zlib.h>\n", 1, "may not include <zlib.h>"),
    ("src/render/answer/a.c", "#include <zlib.h>\n", 1, "may not include <zlib.h>"),
    ("src/base/a.c", "#include <xxhash.h>\n", 1, "may not include <xxhash.h>"),
    ("cli/a.c", "#include <microhttpd.h>\n", 1, "may not include <microhttpd.h>"),
    ("src/format/a.c", "#include <pthread.h>\n", 1, "src/profiler, src/api/profiler alone"),
    ("src/model/a.c", "static _Atomic const int *const x;\n", 1, "_Atomic belongs"),
    ("src/model/a.c", "void f(void)\n{\n    g(malloc(3));\n}\n", 3, "malloc belongs"),
    ("src/api/a.c", "void f(void *p)\n{\n    free(p);\n}\n", 3, "free belongs"),
    ("src/render/write/a.c", 'void f(void)\n{\n    printf("x");\n}\n', 3, "printf"),
    ("src/render/write/a.c", "void f(void)\n{\n    fputc(1, stdout);\n}\n", 3, "stdout"),
    ("src/base/a.c", "void f(void)\n{\n    exit(1);\n}\n", 3, "exit"),
    ("src/base/a.c", "void f(void)\n{\n    abort();\n}\n", 3, "abort"),
    ("src/base/a.c", "static int calls;\n", 1, "mutable variable"),
    ("src/base/a.c", "int calls = 3;\n", 1, "mutable variable"),
    ("src/base/a.c", "static const char *names[] = {\n    S(1),\n};\n", 1, "mutable variable"),
    ("src/base/a.c", "static _Thread_local int calls;\n", 1, "mutable variable"),
    ("src/base/a.c", "static struct { int n; } table[2];\n", 1, "mutable variable"),
    ("src/base/a.c", "static void (*hook)(void);\n", 1, "mutable variable"),
    ("src/base/a.c", "typedef void maker(int);\nstatic maker *make;\n", 2, "mutable variable"),
    ("src/base/a.c", "typedef void (*maker)(int);\nmaker make;\n", 2, "mutable variable"),
    ("src/base/a.c", "int f(void)\n{\n    static int calls = 0;\n}\n", 3, "mutable static"),
    ("src/base/pool.c", "#define _GNU_SOURCE\n", 1, "_GNU_SOURCE"),
    ("cli/main.c", "#define _GNU_SOURCE 1\n", 1, "_GNU_SOURCE"),
] + [
    ("cli/a.c", f"void f(void)\n{{\n    {word}(x);\n}}\n", 3, f"{word} is banned")
    for word in "strcpy strcat strncpy sprintf strtok gmtime localtime atoi".split()
]


@pytest.mark.parametrize("name, text, line, words", BREACHES)
def test_a_breach_is_found(tree, name, text, line, words):
    plant(tree, name, text)
    status, said = layers(tree)
    assert status == 1
    found = [line_ for line_ in said.splitlines() if line_.startswith(f"{name}:{line}: ")]
    assert any(words in line_ for line_ in found), said


# What looks like a breach and is none.
HONEST = [
    ("src/base/pool.c", "#include <pthread.h>\n#include <stdatomic.h>\n"),
    ("src/format/input/queue.c", "#include <pthread.h>\n"),
    ("src/base/file.c", "#define _GNU_SOURCE\n#include <sys/stat.h>\n"),
    ("src/base/arena.c", "void *f(void)\n{\n    return malloc(3);\n}\n"),
    ("src/base/hash.c", '#define XXH_INLINE_ALL\n#include <xxhash.h>\n#include "base/hash.h"\n'),
    ("src/base/fail.c", '#include "vramscope/error.h"\n'),
    ("src/format/input/a.c", "#include <zlib.h>\n#include <zstd.h>\n"),
    ("src/render/page/a.c", "#include <zlib.h>\n"),
    ("src/render/export/a.c", "#include <sqlite3.h>\n"),
    ("cli/serve/a.c", "#include <microhttpd.h>\n"),
    ("src/api/a.c", '#include "format/a.h"\n#include <vramscope/vramscope.h>\n'),
    ("cli/a.c", '#include "command.h"\n#include <vramscope/vramscope.h>\n'),
    ("capture/a.c", '#include "base/bytes.h"\n#include "ring.h"\n#define _GNU_SOURCE\n'),
    ("tests/unit/a.c", '#include <cmocka.h>\n#include "format/pickle.h"\n'),
    ("src/model/comment.c", '/* malloc(1); "base" */ // static int x;\n// #include <zlib.h>\n'),
    ("src/model/string.c", 'static const char text[] = "printf(1) /* static int x; */";\n'),
    ("src/model/member.c", "void f(struct s *s)\n{\n    s->free(1);\n    s->pool.free(2);\n}\n"),
    ("src/model/text.c",
     "void f(void)\n{\n    snprintf(b, 3, s);\n    vsnprintf(b, 3, s, v);\n}\n"),
    ("src/model/table.c", "static const struct { int n; } table[] = {\n    { 1 },\n};\n"
                          "static const char *const names[2] = { a, b };\n"
                          "enum kind { A, B };\nstruct s {\n    int x;\n};\ntypedef struct {\n"
                          "    int n;\n} id;\nstruct t;\nextern const int z;\n"
                          "_Static_assert(sizeof(int) == 4, \"int\");\n"
                          "typedef void maker(int made);\nmaker make_one, make_two;\n"
                          "static bool f(int x);\nbool h(int x, int (*of)(int));\n"
                          "static int g(void (*h)(void))\n{\n"
                          "    static const int two = 2;\n    return two;\n}\n"),
    ("include/vramscope/a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n'
                              '#include <stdint.h>\n#include "vramscope/error.h"\n'
                              "#ifdef __cplusplus\n}\n#endif\n"),
]


@pytest.mark.parametrize("name, text", HONEST)
def test_an_honest_file_passes(tree, name, text):
    plant(tree, name, text)
    assert layers(tree) == (0, "")


def test_a_program_names_its_neighbours_rooms(tree):
    plant(tree, "cli/serve/serve_http.h", "")
    plant(tree, "cli/verbs/a.c", '#include "serve/serve_http.h"\n')
    assert layers(tree) == (0, "")


def test_an_empty_tree_is_no_success(tmp_path):
    assert run("check-layers", tmp_path).returncode == 1


def function(name, lines):
    return f"static int {name}(int x)\n{{\n" + "    x++;\n" * (lines - 3) + "}\n"


def test_sizes_at_the_limit_pass(tmp_path):
    plant(tmp_path, "src/base/a.c", function("f", 70))
    plant(tmp_path, "src/base/b.c", "\n" * 1000)
    assert run("check-sizes", tmp_path).returncode == 0


def test_a_long_file_is_found(tmp_path):
    plant(tmp_path, "src/base/b.c", "\n" * 1001)
    done = run("check-sizes", tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("src/base/b.c:1001: ")


def test_a_long_function_needs_a_reason(tmp_path):
    plant(tmp_path, "src/base/a.c", function("short_one", 5) + function("f", 71))
    done = run("check-sizes", tmp_path)
    assert done.returncode == 1
    assert re.match(r"src/base/a\.c:6: f has 71 lines", done.stdout)

    plant(tmp_path, "tools/long-functions", "src/base/a.c f: one case per opcode\n")
    assert run("check-sizes", tmp_path).returncode == 0
    plant(tmp_path, "tools/long-functions", "src/base/a.c f:\n")
    assert run("check-sizes", tmp_path).returncode == 1


def test_a_reason_without_a_function_is_found(tmp_path):
    plant(tmp_path, "src/base/a.c", function("f", 10))
    plant(tmp_path, "tools/long-functions", "# why\nsrc/base/a.c f: once was long\n")
    done = run("check-sizes", tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("tools/long-functions:2: ")


def test_a_room_has_at_most_30_units(tmp_path):
    for i in range(30):
        plant(tmp_path, f"src/base/a{i}.c", "")
        plant(tmp_path, f"src/base/a{i}.h", "")
        plant(tmp_path, f"src/base/room/b{i}.c", "")
    assert run("check-sizes", tmp_path).returncode == 0
    plant(tmp_path, "src/base/b.h", "")
    done = run("check-sizes", tmp_path)
    assert (done.returncode, done.stdout) == (
        1, "src/base: 31 units, at most 30; part it by subject\n")


@pytest.mark.parametrize("folder, suffix, counted", [
    ("cli/verbs", ".c", True), ("viewer/ui", ".js", True), ("tests/unit", ".c", True),
    ("tests/command", ".py", True), ("tests/cli/report", ".sh", False),
    ("tests/fuzz/corpus/json", ".sh", False), ("tools", ".py", False), ("src/base", ".txt", False),
])
def test_which_rooms_and_units_are_counted(tmp_path, folder, suffix, counted):
    plant(tmp_path, "src/model/a.c", "")
    for i in range(31):
        plant(tmp_path, f"{folder}/a{i}{suffix}", "")
    assert run("check-sizes", tmp_path).returncode == (1 if counted else 0)
