"""What is said of memory timelines that PyTorch wrote equals plain sums over what it wrote, in both forms."""
import gzip
import json
import os
import subprocess

import in_torch
import pytest
from models.timeline_sums import NAMES, of_events, of_states

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return in_torch.answer("real/memory_timeline.py", tmp_path_factory.mktemp("timelines"))


def answer(path):
    done = subprocess.run([os.environ["VRAMSCOPE"], "trace", "--json", path], capture_output=True, check=True)
    return json.loads(done.stdout)


def test_sums_are_those_of_the_framework(told):
    assert len(told["runs"]) == 2
    for run in told["runs"]:
        expected = of_states(run["times"], run["sizes"])
        assert expected["states"] > 100 and expected["sum"]["before_bytes"] > 0
        for end in (".json", ".json.gz"):
            doc = answer(run["paths"][end])
            assert {k: doc[k] for k in expected} == expected
            assert doc["file"]["damage"] == []


def test_events_are_those_of_the_framework(told):
    for run in told["runs"]:
        with gzip.open(run["paths"][".raw.json.gz"]) as file:
            events = json.load(file)
        doc, expected = answer(run["paths"][".raw.json.gz"]), of_events(events)
        assert {k: doc[k] for k in expected} == expected
        assert all(doc["events"][name] > 0 for name in ("pre_existing", "create", "version", "destroy"))
        assert doc["file"]["damage"] == [] and doc["file"]["events"] == len(events)


def test_both_forms_end_alike(told):
    """A category of one is the category of the other: their numbers are not mixed up."""
    for run in told["runs"]:
        ends = [{c["category"]: (c["before_bytes"], c["end_bytes"]) for c in answer(run["paths"][end])["categories"]}
                for end in (".json", ".raw.json.gz")]
        assert ends[0] == ends[1] and set(ends[0]) == set(NAMES)
        assert ends[0]["parameter"][0] > 0 and ends[0]["optimizer_state"][1] > 0


def test_a_device_without_memory_is_told(told):
    done = subprocess.run([os.environ["VRAMSCOPE"], "trace", told["none"]], capture_output=True, text=True)
    assert done.returncode == 3 and "without a row" in done.stderr
