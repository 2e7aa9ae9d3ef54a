"""Whether lines of the page say plainly what their numbers are of."""
import json

from conftest import run

GPU = {"name": "A card", "id": 0}


def span(name, category, start, duration, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def kernel(name, start, duration, number=None):
    return span(name, "kernel", start, duration, pid=0, tid=7, device=0, stream=7, **({} if number is None else {"correlation": number}))


def shown(tmp_path, events, *args, **header):
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"deviceProperties": [GPU], **header, "traceEvents": events}))
    return " ".join(run("trace", path, *args, expect=0).out.split())


def test_parts_of_a_late_host_are_of_that(tmp_path):
    """30 us of idle time; the host is late in 19 of them, in an operator for 15, and launches for 10."""
    events = [span("aten::mm", "cpu_op", 0, 15), span("cudaLaunchKernel", "cuda_runtime", 2, 1, correlation=1), kernel("a", 5, 5, 1),
              span("aten::add", "cpu_op", 15, 15), span("cudaLaunchKernel", "cuda_runtime", 29, 1, correlation=2), kernel("b", 40, 60, 2)]
    words = shown(tmp_path, events)
    late = words.split("late of ")[1].split(" missing ")[0]
    assert late.startswith("19.0 us in which the host was late: operators 19.0 us (100.0 %)") and "idle of 30.0 us: the host was late 19.0 us" in words


def test_findings_that_are_notes(tmp_path):
    events = [span("aten::mm", "cpu_op", 0, 15), span("cudaLaunchKernel", "cuda_runtime", 2, 1, correlation=1), kernel("a", 5, 1000, 1)]
    assert "findings no problem found; 3 notes (--findings)" in shown(tmp_path, events)


def test_links_by_arrows_alone(tmp_path):
    def arrows(count):
        events = [span("aten::mm", "cpu_op", 0, 15)]
        for i in range(count):
            events += [kernel("a", 20 + 10 * i, 10), {"ph": "s", "id": i, "name": "x", "cat": "async_npu", "pid": 1, "tid": 1, "ts": 1 + i},
                       {"ph": "f", "bp": "e", "id": i, "name": "x", "cat": "async_npu", "pid": 0, "tid": 7, "ts": 20 + 10 * i}]
        return [*events, kernel("nobody's", 20 + 10 * count, 10)]

    assert "links 75.0 % of the device time is linked to operators by arrows of the file alone, without the call that launched it: " \
           "when it was launched is not known missing" in shown(tmp_path, arrows(3))
