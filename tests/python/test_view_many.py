"""Several recordings in one page: what the core says of two devices, and of all."""
import itertools

import pytest
import recordings
from differential.page import Page, peak_rows

from conftest import ROOT, run

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))


def view(*paths):
    return Page(run("view", *paths, "-o", "-", expect=0).raw.decode())


def told_rows(a, b):
    """The rows of `vramscope diff`, as peak_rows has them."""
    doc = run("diff", "--json", "-n", "1000000", a, b, expect=0).json()
    rows = []
    for row in doc["devices"][0]["result"]["rows"]:
        score = row["score_ratio"]
        rows.append(("small" if row["name"] == "small" else row["stage"],
                     None if score is None else round(score * 1e6),
                     row["a_bytes"], row["b_bytes"], row["a_count"], row["b_count"]))
    return sorted(rows, key=str)


@pytest.mark.parametrize("a, b", itertools.permutations(EXAMPLES, 2), ids=lambda p: p.stem)
def test_pairs_are_those_of_diff(a, b):
    page = view(a, b)
    assert [(p["a"]["file"], p["b"]["file"]) for p in page.head["diff"]] == [(0, 1)]
    assert peak_rows(page, page.head["diff"][0]) == told_rows(*sorted((a, b)))


@pytest.mark.parametrize("a, b", (("lm_infer_medium_ctx1024.pickle", "lm_train_medium_ctx512.pickle"),
                                  ("lm_train_medium_ctx512.pickle", "lm_train_windows_python_frames.pickle"),
                                  ("no_frames_no_trace.pickle", "toy_mlp_short.pickle"),
                                  ("sd_img2img_state.pickle", "toy_mlp_short.pickle")))
def test_pairs_of_real_files_are_those_of_diff(shared, a, b):
    folder = shared / "data" / "snapshots"
    page = view(folder / a, folder / b)
    assert len(page.head["diff"]) == 1
    assert peak_rows(page, page.head["diff"][0]) == told_rows(folder / a, folder / b)
