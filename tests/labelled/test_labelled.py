"""The recorder of the labelled set: what it records replays exactly, and its truth is whole."""
import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, program

HERE = Path(__file__).resolve().parent
TORCH = Path(os.environ.get("VRAMSCOPE_TORCH", ROOT / "build/torch-venv/bin/python"))
NAMES = ["mlp_adamw", "gpt_ckpt", "oom_leak"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not TORCH.exists():
        pytest.skip("no torch in build/torch-venv")
    made = tmp_path_factory.mktemp("labelled")
    done = subprocess.run([TORCH, "-B", "-m", "record", "--vramscope", program(), "-o", made, *NAMES], cwd=HERE,
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return made


def ask(*words):
    done = subprocess.run([program(), *words], capture_output=True, timeout=300)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_the_recording_replays_exactly(folder, name):
    for style in ("all", "python"):
        answer = ask("replay", "--json", folder / ("%s.%s.pickle" % (name, style)))
        assert answer["devices"][0]["result"]["agreement"]["grade"] == "exact"


@pytest.mark.parametrize("name", NAMES)
def test_every_allocation_has_a_truth(folder, name):
    truth = json.loads((folder / (name + ".json")).read_text())
    rows = ask("export", "--to", "json", "-t", "allocations", folder / (name + ".all.pickle"))["tables"]["allocations"]
    true = {(a["address"], a["alloc_event"]): a for a in truth["allocations"]}
    assert set(true) == {(r["address"], r["alloc_event"]) for r in rows}
    for row in rows:
        one = true[row["address"], row["alloc_event"]]
        assert (row["bytes"], row["free_completed_event"]) == (one["bytes"], one["free_event"])


@pytest.mark.parametrize("style", ["late15", "late", "late50"])
@pytest.mark.parametrize("name", NAMES)
def test_late_begins_where_it_says(folder, name, style):
    truth = json.loads((folder / (name + ".json")).read_text())
    rows = ask("export", "--to", "json", "-t", "allocations",
               folder / ("%s.%s.pickle" % (name, style)))["tables"]["allocations"]
    late = truth["first_event"][style]
    alive = [a for a in truth["allocations"]
             if a["alloc_event"] < late and (a["free_event"] is None or a["free_event"] >= late)]
    assert sorted(a["address"] for a in alive) == sorted(r["address"] for r in rows if r["alloc_event"] is None)


def test_backward_has_no_frame_of_the_user(folder):
    rows = ask("export", "--to", "json", "-t", "stacks", folder / "mlp_adamw.all.pickle")["tables"]["stacks"]
    engine = set()  # stacks whose outer frames are those of autograd's thread; a caller stands before its callees
    for row in rows:
        if row["caller"] in engine or "Engine::thread_main" in row["function"]:
            engine.add(row["stack"])
            assert not (row["file"] or "").endswith(".py")
    assert engine
