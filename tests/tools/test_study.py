"""A study is made beside the replay, so what it is made of cannot name what a replay finds: not by a
law about words, but because the compiler refuses it."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "src/analysis/snapshot"
BESIDE_REPLAY = sorted(
    [*(ROOT / "src/analysis/attribution").glob("tokens.[ch]"),
     *SNAPSHOT.glob("steps/*.[ch]"), *SNAPSHOT.glob("categories/*.[ch]"),
     *SNAPSHOT.glob("study/study.[ch]"), *SNAPSHOT.glob("breakdown/category_table.[ch]")])


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


@pytest.mark.parametrize("file", BESIDE_REPLAY, ids=lambda file: file.name)
def test_what_a_study_is_made_of_knows_no_proof(file):
    text = f'#include "{file.relative_to(ROOT / "src")}"\n'
    assert compiler_says(text) == ""
    for type_name in ("proof", "block_sizes", "proven_study"):
        named = text + f"extern const char no[sizeof(struct {type_name})];\n"
        assert "incomplete type" in compiler_says(named), type_name


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
