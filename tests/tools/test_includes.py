"""Which includes tools/includes.py finds missing or not needed, on trees of a few lines."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True
import includes

# What one may use: a header with a name of each kind, and one that brings it along.
KINDS = """/* kinds.h */
#ifndef KINDS_H
#define KINDS_H
#include <stdint.h>
#define KIND_MACRO 3
#define KIND_OF(size) ((size) + KIND_MACRO)
enum kind { KIND_ONE, KIND_TWO = 2 };
enum { KIND_MOST = 64 };
typedef struct {
    uint32_t n;
} kind_id;
typedef int kind_maker(int made);
struct kind_row {
    uint32_t first, *second;
    struct kind_inner {
        int deep;
    } inner;
    int (*call)(int argument);
};
struct kind_opaque;
extern const char *const kind_names[KIND_MOST];
int kind_make(int count) __attribute__((warn_unused_result));
static inline int kind_twice(int value)
{
    return 2 * value;
}
#endif
"""
BRINGS = """#include "base/kinds.h"
struct brings {
    struct kind_row row;
    struct kind_opaque *opaque;
};
int brings_make(void);
"""


def found(**files):
    """What is said of base/x.c, or of what is given beside it."""
    tree = {"src/base/kinds.h": KINDS, "src/base/brings.h": BRINGS}
    tree |= {f"src/base/{name.replace('_h', '.h').replace('_c', '.c')}": text
             for name, text in files.items()}
    return [said for said in includes.problems(tree)
            if not said.startswith(("src/base/kinds.h", "src/base/brings.h"))]


def use(text, *headers):
    return "".join(f'#include "base/{header}.h"\n' for header in headers) + text


MISSING = 'uses {} of "base/kinds.h", which it does not include'


@pytest.mark.parametrize("name, text", [
    ("KIND_MACRO", "enum { A = KIND_MACRO };"),
    ("KIND_OF", "enum { A = KIND_OF(1) };"),
    ("KIND_MACRO", "#if KIND_MACRO > 2\n#endif"),
    ("KIND_MACRO", "#define MORE (KIND_MACRO + 1)"),
    ("KIND_TWO", "int f(int a)\n{\n    return a == KIND_TWO;\n}"),
    ("KIND_MOST", "static const char a[KIND_MOST];"),
    ("kind", "static const enum kind k;"),
    ("kind_id", "static const kind_id k;"),
    ("kind_id", "int f(kind_id a);"),
    ("kind_maker", "static kind_maker *const k;"),
    ("kind_maker", "int f(kind_maker *kind_make);"),
    ("kind_row", "static const struct kind_row k;"),
    ("kind_row", "int f(void)\n{\n    return sizeof(struct kind_row);\n}"),
    ("kind_row", "int f(const struct kind_row *k)\n{\n    return k->first;\n}"),
    ("kind_inner", "static const struct kind_inner k;"),
    ("kind_names", "const char *f(void)\n{\n    return kind_names[0];\n}"),
    ("kind_make", "int f(void)\n{\n    return kind_make(1);\n}"),
    ("kind_make", "static int (*const make)(int) = kind_make;"),
    ("kind_make", "int kind_make(int count)\n{\n    return count;\n}"),
    ("kind_twice", "int f(int a)\n{\n    int b = a;\n    return kind_twice(b);\n}"),
    ("kind_make", "int f(int a)\n{\n    return a;\n}\nint g(void)\n{\n    return kind_make(1);\n}"),
    ("kind_make", "int g(int kind_make);\nint f(void)\n{\n    return kind_make(1);\n}"),
])
def test_a_missing_include_is_found(name, text):
    text += "\nint f2(struct brings *b);\n"
    line = 2 + next(i for i, l in enumerate(text.split("\n")) if name in l and "g(int" not in l)
    assert found(x_c=use(text, "brings")) == [f"src/base/x.c:{line}: {MISSING.format(name)}"]
    assert found(x_c=use(text, "brings", "kinds")) == []


# The header's names, and none of them meant.
@pytest.mark.parametrize("text", [
    "/* KIND_MACRO kind_make(1) */ // KIND_ONE",
    'static const char a[] = "kind_make KIND_ONE";',
    "int f(int kind_make)\n{\n    return kind_make + 1;\n}",
    "int f(void)\n{\n    int a = 1, kind_make = 2;\n    return a + kind_make;\n}",
    "int f(void)\n{\n    for (int i = 0, kind_make = 2; i < kind_make; i++)\n        i++;\n}",
    "int f(int (*kind_make)(int))\n{\n    return kind_make(3);\n}",
    "struct other {\n    int kind_make, KIND_ONE;\n    int (*kind_twice)(int);\n};",
    "int f(struct brings *b)\n{\n    return b->kind_make(1) + b->row.kind_twice;\n}",
    "static const struct brings a = { .kind_make = 3 };",
    "enum { A = offsetof(struct brings, kind_make) };",
    "#define IN(member) offsetof(struct brings, member)\nenum { A = IN(kind_make) };",
    "struct calls {\n    __typeof__(brings_make) *kind_make;\n    VEC(int) kind_twice;\n};",
    "#define CALL(kind_make) (kind_make + 1)",
    "struct kind_row;\nint f(const struct kind_row *k);",
    "struct kind_opaque;\nint f(const struct kind_opaque *k);",
    "int f(int kind_row);",
])
def test_a_name_that_means_something_else_is_no_use(text):
    text += "\nint f2(struct brings *b);\n"
    assert [said for said in found(x_c=use(text, "brings")) if "stddef" not in said] == []
    assert [said for said in found(x_c=use(text, "brings", "kinds")) if "stddef" not in said] == [
        'src/base/x.c:2: "base/kinds.h" is not needed']


def test_what_nothing_leads_to_is_not_missing():
    assert found(x_c="int f(void)\n{\n    return kind_make(1);\n}\n") == []


def test_a_name_of_two_headers_is_not_guessed_at():
    assert found(two_h=use("enum { KIND_ONE };\n"), all_h=use("int all(void);\n", "two", "brings"),
                 x_c=use("int f(void)\n{\n    return all() + KIND_ONE;\n}\n", "all")) == [
        'src/base/all.h:1: "base/two.h" is not needed',
        'src/base/all.h:2: "base/brings.h" is not needed']


def test_a_source_may_rely_on_what_its_own_header_includes():
    own = use("kind_id x_make(void);\n", "kinds")
    text = "kind_id x_make(void)\n{\n    return (kind_id){ KIND_ONE };\n}\n"
    assert found(x_h=own, x_c=use(text, "x")) == []
    assert found(x_h=own, y_c=use("int y = sizeof(x_make()) + KIND_ONE;\n", "x")) == [
        f"src/base/y.c:2: {MISSING.format('KIND_ONE')}"]


def test_a_source_may_not_rely_on_what_is_further_away():
    own = use("struct brings x_make(void);\n", "brings")
    assert found(x_h=own, x_c=use("int f(void)\n{\n    return KIND_ONE;\n}\n", "x")) == [
        f"src/base/x.c:4: {MISSING.format('KIND_ONE')}"]


def test_its_own_header_is_needed_whatever_it_declares():
    assert found(x_h="", x_c=use("int f(void);\n", "x")) == []
    assert found(x_h="", y_c=use("int f(void);\n", "x")) == [
        'src/base/y.c:1: "base/x.h" is not needed']


def test_a_header_is_needed_for_a_struct_that_is_looked_into():
    points = "struct kind_row;\nstruct points {\n    struct kind_row *to;\n};\n"
    look = "unsigned f(struct points *p)\n{\n    return p->to->first;\n}\n"
    assert found(points_h=points, x_c=use(look, "points", "kinds")) == []
    # Where another one brings it, it is not.
    holds = use("struct holds {\n    struct kind_row row;\n};\n", "kinds")
    look = "unsigned f(struct holds *h)\n{\n    return h->row.first;\n}\n"
    assert found(holds_h=holds, x_c=use(look, "holds", "kinds")) == [
        'src/base/x.c:2: "base/kinds.h" is not needed']


def test_of_two_that_bring_a_struct_one_is_needed():
    one = use("struct one {\n    struct kind_row row;\n};\n", "kinds")
    outer = "struct kind_row;\nstruct outer {\n    struct one *one;\n};\nstruct one;\n"
    look = "unsigned f(struct outer *o)\n{\n    return o->one->row.first;\n}\n"
    assert found(one_h=one, outer_h=outer, x_c=use(look, "kinds", "one", "outer")) == [
        'src/base/x.c:1: "base/kinds.h" is not needed']


def test_an_opaque_struct_is_its_makers():
    text = "struct maker;\nint maker_do(struct maker *m);\n"
    body = use("struct maker {\n    int n;\n};\nint maker_do(struct maker *m)\n{\n"
               "    return m->n;\n}\n", "maker")
    other = use("int other(struct maker *m);\n", "maker")
    assert found(maker_h=text, maker_c=body, other_h=other) == []
    user = use("int f(struct maker *m)\n{\n    return other(m);\n}\n", "other")
    assert found(maker_h=text, maker_c=body, other_h=other, x_c=user) == [
        'src/base/x.c:2: uses maker of "base/maker.h", which it does not include']


def test_what_stands_for_another_is_enough():
    tree = {"include/vramscope/error.h": "enum vrs_status { VRS_OK };\n",
            "src/base/fail.h": '#include "vramscope/error.h"\nenum vrs_status vrs_fail(void);\n',
            "src/model/x.h": '#include "base/fail.h"\nenum vrs_status x_make(void);\n',
            "src/model/y.c": '#include "model/x.h"\nint y = VRS_OK + (int)x_make();\n'}
    assert list(includes.problems(tree, lambda path, header: "error.h" not in header)) == [
        'src/model/y.c:2: uses VRS_OK of "base/fail.h", which it does not include']
    tree["src/model/y.c"] = '#include "base/fail.h"\n' + tree["src/model/y.c"]
    assert list(includes.problems(tree)) == []


def test_what_the_law_forbids_is_not_missing():
    text = use("int f(void)\n{\n    return KIND_ONE + brings_make();\n}\n", "brings")
    tree = {"src/base/kinds.h": KINDS, "src/base/brings.h": BRINGS, "src/base/x.c": text}
    assert list(includes.problems(tree, lambda path, header: "kinds" not in header)) == []


def test_public_headers_stand_for_their_parts():
    tree = {"include/vramscope/error.h": "enum vrs_status { VRS_OK };\n",
            "include/vramscope/vramscope.h":
                '#include "vramscope/error.h"\nenum vrs_status vrs_open(void);\n',
            "cli/x.c": "#include <vramscope/vramscope.h>\nint x = VRS_OK;\n"}
    assert list(includes.problems(tree)) == []


def test_an_include_inside_of_an_if_is_let_be():
    assert found(x_c='#ifdef SOME\n#include "base/kinds.h"\n#include <math.h>\n#endif\n') == []


@pytest.mark.parametrize("name, header", [
    ("uint32_t", "stdint.h"), ("SIZE_MAX", "stdint.h"), ("UINT64_C", "stdint.h"),
    ("size_t", "stddef.h"), ("NULL", "stddef.h"), ("offsetof", "stddef.h"), ("bool", "stdbool.h"),
    ("true", "stdbool.h"), ("va_list", "stdarg.h"), ("assert", "assert.h"), ("memcpy", "string.h"),
    ("qsort", "stdlib.h"), ("snprintf", "stdio.h"), ("FILE", "stdio.h"), ("PRIu64", "inttypes.h"),
    ("isfinite", "math.h"), ("errno", "errno.h"), ("ENOENT", "errno.h"), ("INT_MAX", "limits.h"),
    ("clock_gettime", "time.h"), ("struct timespec", "time.h"), ("struct stat", "sys/stat.h"),
    ("O_RDONLY", "fcntl.h"), ("isatty", "unistd.h"), ("pthread_mutex_t", "pthread.h"),
])
def test_standard_headers(name, header):
    text = f"int f(void)\n{{\n    return sizeof({name}) + sizeof({name});\n}}\n"
    said = f"src/base/x.c:3: uses {name} of <{header}>, which it does not include"
    assert found(x_c=text) == [said]
    assert found(x_c=f"#include <{header}>\n" + text) == []
    assert found(x_c=f"#include <{header}>\n") == [f"src/base/x.c:1: <{header}> is not needed"]


def test_one_of_the_standard_headers_that_have_a_name_is_enough():
    assert found(x_c="#include <string.h>\nvoid *f(void)\n{\n    return NULL;\n}\n") == []
    assert found(x_c="#include <stddef.h>\n#include <string.h>\nvoid *f(void)\n{\n"
                     "    return NULL;\n}\n") == ["src/base/x.c:2: <string.h> is not needed"]
    assert found(x_h="#include <stddef.h>\nsize_t x(void);\n",
                 x_c=use("size_t x(void)\n{\n    return 0;\n}\n", "x")) == []


def test_a_name_of_the_tree_is_none_of_the_standard():
    own = "int remove(int a);\nstruct stat {\n    int n;\n};\n"
    text = "static const struct stat s;\nint f(void)\n{\n    return remove(1);\n}\n"
    assert found(own_h=own, x_c=use(text, "own")) == []
    assert found(x_c=own + text) == []


def test_members_and_locals_are_none_of_the_standard():
    assert found(x_c="struct s {\n    int read, time;\n};\nint f(struct s *s, int write)\n{\n"
                     "    int open = s->read + s->time;\n    return write + open;\n}\n") == []


def test_cmocka_wants_others_before_it():
    before = "".join(f"#include <{name}.h>\n" for name in ("setjmp", "stdarg", "stddef", "stdint"))
    text = "#include <cmocka.h>\nvoid f(void)\n{\n    assert_true(1);\n}\n"
    assert found(x_c=before + text) == []
