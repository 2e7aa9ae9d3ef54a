"""The recorder against recordings of a GPU: the same requests and releases, in the same order.

Three shared recordings are rebuilt as programs of `real`.  A request is the same when its size and
its place in the order are, a release when it ends the same request at the same place.
"""
import pickle

import pytest
from recorded import recorded

FILES = {"toy_mlp_short": "toy_mlp_short.pickle", "peak_memory_probe": "peak_memory_probe.pickle",
         "linear_grad_tiny": "linear_grad_tiny.pkl"}
# Frames that rules read; and how many events of each recording may differ in one of them (README.md).
READ = ("release_variables", "deleteNode", "AccumulateGrad", "getNewWorkspace", "gemm_and_bias", "zero_grad",
        "Engine::thread_main", "Node::operator()", "_make_grads", "forward", "THPVariable")
OTHER_FRAMES = {"toy_mlp_short": 0, "peak_memory_probe": 1, "linear_grad_tiny": 0}

pytestmark = [pytest.mark.long, pytest.mark.torch]


@pytest.fixture(scope="module")
def folder():
    return recorded()


def trace_of(path):
    return max(pickle.loads(path.read_bytes())["device_traces"], key=len)


def lives(trace):
    """(action, size, number of the request) of each request and release."""
    alive, events, count = {}, [], 0
    for event in trace:
        if event["action"] == "alloc":
            alive[event["addr"]] = count
            count += 1
            events.append(("alloc", event["size"], alive[event["addr"]]))
        elif event["action"] == "free_requested":
            events.append(("free", event["size"], alive.pop(event["addr"], None)))
    return events


def segments(trace):
    return [e["size"] for e in trace if e["action"] == "segment_alloc"]


def read_frames(trace):
    return [tuple(any(word in f["name"] for f in e["frames"]) for word in READ)
            for e in trace if e["action"] in ("alloc", "free_requested")]


@pytest.mark.parametrize("name", FILES)
def test_requests_and_releases_are_those_of_the_gpu(folder, shared, name):
    real = trace_of(shared / "data/snapshots" / FILES[name])
    made = trace_of(folder / (name + ".all.pickle"))
    assert lives(made) == lives(real)


@pytest.mark.parametrize("name", FILES)
def test_frames_that_rules_read_are_those_of_the_gpu(folder, shared, name):
    real = trace_of(shared / "data/snapshots" / FILES[name])
    made = trace_of(folder / (name + ".all.pickle"))
    assert sum(one != other for one, other in zip(read_frames(made), read_frames(real))) <= OTHER_FRAMES[name]


@pytest.mark.parametrize("name", ["peak_memory_probe", "linear_grad_tiny"])
def test_segments_are_those_of_the_gpu(folder, shared, name):
    """The other one began when some were there."""
    real = trace_of(shared / "data/snapshots" / FILES[name])
    assert segments(trace_of(folder / (name + ".all.pickle"))) == segments(real)
