"""The checks of the tree must pass on it, and catch one planted breach of each kind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(tool, root=ROOT):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), str(root)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("tool", ["check-layers", "check-sizes"])
def test_the_tree_passes(tool):
    done = run(tool)
    assert done.returncode == 0, done.stdout


# file, its text, the line of the breach, words of the message
BREACHES = [
    ("src/base/a.c", '#include "model/stacks.h"\n', 1, "may not include model/stacks.h"),
    ("src/base/a.c", '#include "vramscope/vramscope.h"\n', 1, "may not include"),
    ("src/model/a.c", '#include "base/str.h"\n#include "format/pickle.h"\n', 2, "may not include"),
    ("src/format/a.h", '#include "analysis/peak.h"\n', 1, "may not include"),
    ("src/allocator/a.c", '#include "analysis/peak.h"\n', 1, "may not include"),
    ("src/analysis/a.c", '/* \n */\n#include "format/pickle.h"\n', 3, "may not include"),
    ("src/render/a.c", '#include "api/open.h"\n', 1, "may not include"),
    ("src/model/a.c", '#include "str.h"\n', 1, "needs its folder"),
    ("cli/a.c", '#include "base/str.h"\n', 1, "may not include"),
    ("python/a.c", '#include "model/stacks.h"\n', 1, "may not include"),
    ("capture/a.c", '#include "base/str.h"\n', 1, "may not include"),
    ("include/vramscope/a.h", "#include <stdio.h>\n", 1, "may not include"),
    ("src/common/a.c", "int f(void);\n", 1, "no layer"),
    ("src/model/a.c", "#include <zlib.h>\n", 1, "may not include <zlib.h>"),
    ("src/base/a.c", "#include <zstd.h>\n", 1, "may not include <zstd.h>"),
    ("src/format/a.c", "#include <sqlite3.h>\n", 1, "may not include <sqlite3.h>"),
    ("src/analysis/a.c", "#include <xxhash.h>\n", 1, "may not include <xxhash.h>"),
    ("src/format/a.c", "#include <pthread.h>\n", 1, "thread.c alone"),
    ("src/format/a.c", '#include "base/thread.h"\n', 1, "thread.c alone"),
    ("src/model/a.c", "static _Atomic const int *const x;\n", 1, "_Atomic belongs"),
    ("src/model/a.c", "void f(void)\n{\n    g(malloc(3));\n}\n", 3, "malloc belongs"),
    ("src/api/a.c", "void f(void *p)\n{\n    free(p);\n}\n", 3, "free belongs"),
    ("src/render/a.c", 'void f(void)\n{\n    printf("x");\n}\n', 3, "printf"),
    ("src/render/a.c", "void f(void)\n{\n    fputc(1, stdout);\n}\n", 3, "stdout"),
    ("src/base/a.c", "void f(void)\n{\n    exit(1);\n}\n", 3, "exit"),
    ("src/base/a.c", "void f(void)\n{\n    abort();\n}\n", 3, "abort"),
    ("src/base/a.c", "static int calls;\n", 1, "mutable variable"),
    ("src/base/a.c", "int calls = 3;\n", 1, "mutable variable"),
    ("src/base/a.c", "static const char *names[] = {\n    S(1),\n};\n", 1, "mutable variable"),
    ("src/base/a.c", "static _Thread_local int calls;\n", 1, "mutable variable"),
    ("src/base/a.c", "static struct { int n; } table[2];\n", 1, "mutable variable"),
    ("src/base/a.c", "static void (*hook)(void);\n", 1, "mutable variable"),
    ("src/base/a.c", "int f(void)\n{\n    static int calls = 0;\n}\n", 3, "mutable static"),
    ("src/analysis/snapshot/categories/category_match.h", "int a;\nint f(r->block_sizes);\n", 2, "beside the replay"),
    ("src/base/pool.c", "#define _GNU_SOURCE\n", 1, "_GNU_SOURCE"),
    ("cli/main.c", "#define _GNU_SOURCE 1\n", 1, "_GNU_SOURCE"),
] + [
    ("cli/a.c", f"void f(void)\n{{\n    {word}(x);\n}}\n", 3, f"{word} is banned")
    for word in "strcpy strcat strncpy sprintf strtok gmtime localtime atoi".split()
] + [
    (f"src/analysis/{file}.c", f"int f(void)\n{{\n    {word}(l, 1);\n}}\n", 3,
     f"{word}: this runs beside the replay")
    for file in """tokens phases steps steps_cycles steps_marks steps_period step_body mark_events
        categories category_match category_rules category_table replaced split""".split()
    for word in ("lifetimes_block", "lifetimes_slack")
]


@pytest.mark.parametrize("name, text, line, words", BREACHES)
def test_a_breach_is_found(tmp_path, name, text, line, words):
    plant(tmp_path, name, text)
    done = run("check-layers", tmp_path)
    assert done.returncode == 1
    found = [said for said in done.stdout.splitlines() if said.startswith(f"{name}:{line}: ")]
    assert any(words in said for said in found), done.stdout


# What looks like a breach and is none.
HONEST = [
    ("src/base/pool.c", "#include <pthread.h>\n#include <stdatomic.h>\n"),
    ("src/base/queue.c", "#include <pthread.h>\n"),
    ("src/base/file.c", "#define _GNU_SOURCE\n#include <sys/stat.h>\n"),
    ("src/base/pool.c", '#include "base/thread.h"\n#include <pthread.h>\n'),
    ("src/base/arena.c", "void *f(void)\n{\n    return malloc(3);\n}\n"),
    ("src/base/hash.c", '#define XXH_INLINE_ALL\n#include <xxhash.h>\n#include "base/hash.h"\n'),
    ("src/base/fail.c", '#include "vramscope/error.h"\n'),
    ("src/format/a.c", "#include <zlib.h>\n#include <zstd.h>\n"),
    ("src/api/a.c", '#include "format/a.h"\n#include <vramscope/vramscope.h>\n'),
    ("cli/a.c", '#include "command.h"\n#include <vramscope/vramscope.h>\n'),
    ("capture/a.c", '#include "base/bytes.h"\n#include "ring.h"\n#define _GNU_SOURCE\n'),
    ("tests/unit/a.c", '#include <cmocka.h>\n#include "format/pickle.h"\n'),
    ("src/model/comment.c", '/* malloc(1); "base" */ // static int x;\n// #include <zlib.h>\n'),
    ("src/model/string.c", 'static const char text[] = "printf(1) /* static int x; */";\n'),
    ("src/model/member.c", "void f(struct s *s)\n{\n    s->free(1);\n    s->pool.free(2);\n}\n"),
    ("src/model/text.c", "void f(void)\n{\n    snprintf(b, 3, s);\n    vsnprintf(b, 3, s, v);\n}\n"),
    ("src/model/table.c", "static const struct { int n; } table[] = {\n    { 1 },\n};\n"
                          "static const char *const names[2] = { a, b };\n"
                          "enum kind { A, B };\nstruct s {\n    int x;\n};\ntypedef struct {\n"
                          "    int n;\n} id;\nstruct t;\nextern const int z;\n"
                          "_Static_assert(sizeof(int) == 4, \"int\");\n"
                          "static bool f(int x);\nbool h(int x, int (*of)(int));\n"
                          "static int g(void (*h)(void))\n{\n"
                          "    static const int two = 2;\n    return two;\n}\n"),
    ("src/analysis/snapshot/steps/steps_period.c", "/* lifetimes_block */ int f(int lifetimes_blocks);\n"),
    ("src/analysis/snapshot/advise/waste.c", "int f(void)\n{\n    return lifetimes_slack(l, 1);\n}\n"),
    ("include/vramscope/a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n'
                              '#include <stdint.h>\n#include "vramscope/error.h"\n'
                              "#ifdef __cplusplus\n}\n#endif\n"),
]


@pytest.mark.parametrize("name, text", HONEST)
def test_an_honest_file_passes(tmp_path, name, text):
    plant(tmp_path, name, text)
    done = run("check-layers", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


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
