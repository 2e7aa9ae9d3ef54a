"""The labelled set: what is recorded replays exactly, its truth is whole, and the targets are reached."""
import ast
import json
import subprocess
import textwrap

import pytest
from conftest import program
from recorded import HERE, TORCH, names, recorded

NAMES = ["mlp_adamw", "gpt_ckpt", "oom_leak"]

pytestmark = [pytest.mark.long, pytest.mark.torch]


@pytest.fixture(scope="module")
def folder():
    return recorded()


def ask(*words):
    done = subprocess.run([program(), *words], capture_output=True, timeout=300)
    return json.loads(done.stdout)


def of_recorder(body):
    """The labels of what a few lines allocate under the recorder."""
    code = """
import copy, torch
from record.recorder import Recorder
from record.run import Run
from record.standins import standing_in
recorder = Recorder()
with standing_in(recorder):
    run = Run(recorder)
%s
    run.snapshot()
print(recorder.labels(len(recorder.events)))
""" % textwrap.indent(textwrap.dedent(body), "    ")
    if not TORCH.exists():
        pytest.skip("no torch in build/torch-venv")
    return ast.literal_eval(subprocess.run([TORCH, "-B", "-c", code], cwd=HERE, capture_output=True, check=True,
                                           timeout=120).stdout.decode())


@pytest.mark.parametrize("name", names())
def test_the_recording_replays_exactly(folder, name):
    answer = ask("replay", "--json", folder / (name + ".all.pickle"))
    if answer["devices"][0]["status"] != "needs_trace":  # the state alone has nothing to replay
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


def test_values_of_the_host_are_not_looked_at():
    """Drawing until all lie within bounds would never end: the recorder lets no value of the host be made."""
    made = of_recorder("""
        torch.nn.init.trunc_normal_(torch.full((8,), 9.0))
    """)
    assert made == []


def test_what_a_copied_model_has_are_parameters():
    """A copy is made without the constructor."""
    made = of_recorder("""
        first = torch.nn.Linear(8, 8).to(run.device)
        second = copy.deepcopy(first)
    """)
    assert made == ["parameter"] * 4


def test_backward_has_no_frame_of_the_user(folder):
    rows = ask("export", "--to", "json", "-t", "stacks", folder / "mlp_adamw.all.pickle")["tables"]["stacks"]
    engine = set()  # stacks whose outer frames are those of autograd's thread; a caller stands before its callees
    for row in rows:
        if row["caller"] in engine or "Engine::thread_main" in row["function"]:
            engine.add(row["stack"])
            assert not (row["file"] or "").endswith(".py")
    assert engine


def test_verdicts_are_those_of_the_whole_program(folder):
    """With expandable segments, which leave no pieces, a fragmented program completes and no other does."""
    truths = [json.loads(path.read_text()) for path in folder.glob("*oom_*.json")]
    assert len(truths) > 5
    for truth in truths:
        whole = folder / (truth["program"] + ".whole.pickle")
        asked = ask("replay", "--json", "--capacity", str(truth["capacity_bytes"]), "--set", "expandable_segments:True",
                    whole)["devices"][0]["result"]["what_if"][-1]
        assert (asked["first_oom"] is None) == (truth["planted"]["verdict"] == "fragmentation"), truth["program"]


def test_every_program_is_recorded(folder):
    assert {path.stem for path in folder.glob("*.json") if "@" not in path.name} == set(names())


def test_the_targets_are_reached(folder):
    """scoring/targets.py has them; the table is printed by ./score."""
    done = subprocess.run([HERE / "score", "--vramscope", program(), "--check", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
