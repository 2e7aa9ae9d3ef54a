"""A study is made beside the replay, so what it is made of cannot name what a replay finds: not by a
law about words, but because the compiler refuses it."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "src/analysis/snapshot"
STUDY = SNAPSHOT / "study/study.c"
# Of the curves, curve_steps alone is not of a study: it needs the sizes of blocks.
BESIDE_REPLAY = sorted(
    [*(ROOT / "src/analysis/attribution").glob("*.[ch]"),
     *(file for file in SNAPSHOT.glob("curves/*.[ch]") if file.stem != "curve_steps"),
     *SNAPSHOT.glob("steps/*.[ch]"), *SNAPSHOT.glob("categories/*.[ch]"),
     *SNAPSHOT.glob("study/study.[ch]"), *SNAPSHOT.glob("breakdown/category_table.[ch]")])
PROVEN = ("proof", "block_sizes", "proven_study")


def compiler_says(text):
    """What is wrong with a source text; nothing where it compiles."""
    done = subprocess.run(
        [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-Wall", "-Wextra", "-Werror",
         "-I", str(ROOT / "src"), "-I", str(ROOT / "include"), "-fsyntax-only", "-x", "c", "-"],
        input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
        env={**os.environ, "LC_ALL": "C"})
    return done.stdout if done.returncode != 0 else ""


def test_there_are_files():
    assert len(BESIDE_REPLAY) > 20
    assert SNAPSHOT / "study/study.h" in BESIDE_REPLAY


def reached_from(file, reached):
    """The file and the headers of analysis that it includes, each with the source of its name."""
    if file.exists() and file not in reached:
        reached.add(file)
        text = file.read_text(encoding="utf-8")
        for unit in re.findall(r'^#include "(analysis/.*)\.h"', text, re.MULTILINE):
            for end in (".h", ".c"):
                reached_from(ROOT / "src" / (unit + end), reached)
    return reached


def test_the_list_has_what_a_study_calls():
    reached = reached_from(STUDY, set())
    assert len(reached) > 20
    assert SNAPSHOT / "curves/lifetime.c" in reached
    assert reached - set(BESIDE_REPLAY) == set()


@pytest.mark.parametrize("file", BESIDE_REPLAY, ids=lambda file: file.name)
def test_what_a_study_is_made_of_knows_no_proof(file):
    text = f'#include "{file.relative_to(ROOT / "src")}"\n'
    assert compiler_says(text) == ""
    named = text + "".join(f"extern const char no_{name}[sizeof(struct {name})];\n"
                           for name in PROVEN)
    unknown = re.findall(r"incomplete type .struct (\w+)", compiler_says(named))
    assert sorted(unknown) == sorted(PROVEN)


WHOLE = """#include "analysis/snapshot/study/proven_study.h"
uint64_t f(const struct %s *s);
uint64_t f(const struct %s *s) { return %s; }
"""


@pytest.mark.parametrize("expression", [
    "proven_block(s, 0).bytes", "proven_slack(s, 0)", "s->proof->block_sizes.bytes[0]",
    "s->agreement->grade", "(uint64_t)s->trust.grade"])
def test_what_a_replay_finds_is_asked_of_a_proven_study(expression):
    assert compiler_says(WHOLE % ("proven_study", "proven_study", expression)) == ""
    assert compiler_says(WHOLE % ("study", "study", expression)) != ""
