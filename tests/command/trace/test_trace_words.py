"""Whether lines of the page say plainly what their numbers are of."""
import json
import os

import pytest
from conftest import environment, run

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
    assert late.startswith("19.0 us in which the host was late: operators 19.0 us (100.0 %)") and "idle of 30.0 us from its first event to its last: the host was late 19.0 us" in words


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


ADD, MUL, COPY = (f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}, at::detail::Array<char*, 3> >(int, "
                  f"at::native::{functor}, at::detail::Array<char*, 3>)" for functor in ("AddFunctor<float>", "MulFunctor<float>", "AddFunctor<double>"))


def kernels_of(*names):
    """Each launched once; the first takes longest."""
    return [event for i, name in enumerate(names) for event in (
        span("cudaLaunchKernel", "cuda_runtime", 10 * i, 1, correlation=i + 1), kernel(name, 1000 * i + 20, 500 - 10 * i, i + 1))]


def lines(path, *args, width=80):
    return run(*args[:1], path, *args[1:], expect=0, env=environment(COLUMNS=str(width))).out.splitlines()


def written(tmp_path, events, name="made.json"):
    path = tmp_path / name
    path.write_text(json.dumps({"deviceProperties": [GPU], "traceEvents": events}))
    return path


def test_names_of_kernels_keep_what_tells_them_apart(tmp_path):
    path = written(tmp_path, kernels_of(ADD, MUL, ADD.replace("void", "void "), "volta_sgemm_64x64_nt"))
    shown = [line.split("  ")[1] for line in lines(path, "trace", "--kernels")[4:8]]
    assert shown[1].endswith("<MulFunctor>") and shown[3] == "volta_sgemm_64x64_nt" and len(set(shown)) == 4
    assert any(ADD in line for line in lines(path, "trace", "--kernels", width=300))
    shown = [line.split("  ")[1] for line in lines(written(tmp_path, kernels_of(ADD, COPY)), "trace", "--kernels")[4:6]]
    assert "float" in shown[0] and "double" in shown[1], shown


def test_differences_tell_kernels_apart(tmp_path):
    before, after = written(tmp_path, kernels_of(ADD, MUL, COPY), "a.json"), written(tmp_path, kernels_of("other"), "b.json")
    text = lines(before, "diff", after)
    first = next(i for i, line in enumerate(text) if line.startswith("  on the device"))
    names = [line.split("  ")[1] for line in text[first + 1:first + 5]]
    assert len(set(names)) == 4 and any("MulFunctor" in name for name in names)
    assert any("names are cut to fit the width" in line for line in text[first:])


def test_deep_levels_have_numbers(tmp_path):
    events = [span(f"aten::level{i}", "cpu_op", i, 100 - 2 * i) for i in range(30)]
    shown = [line.split()[-2:] for line in lines(written(tmp_path, events), "trace", "--tree", "--min-share", "0%") if "aten::level" in line]
    assert ["29:", "aten::level28"] in shown and [words[-1] for words in shown] == [f"aten::level{i}" for i in range(30)]


def test_parts_that_do_not_fit_stand_below(tmp_path):
    shapes = [[1024, 2048], [2048, 512, 3], [77], [1024, 2048]]
    events = [span("aten::a_long_name_of_an_operator", "cpu_op", 10 * i, 9, **{"Input Dims": [*shapes, [i]]}) for i in range(2)]
    text = lines(written(tmp_path, [*events, *kernels_of(ADD)]), "trace", "--ops", "--by", "shapes")
    for i in range(2):
        line = text.index("      [[1024, 2048], [2048, 512, 3], [77], [1024, 2048], [%d]]" % i)
        assert text[line - 1].startswith("  aten::a")


def test_headings_of_gaps_are_whole(tmp_path):
    events = [span("aten::a_long_name_of_an_operator", "cpu_op", 500, 600), *kernels_of(ADD, MUL)]
    assert any(line.endswith("before operator  on the device") for line in lines(written(tmp_path, events), "trace", "--gaps"))


def test_columns_are_explained_below_their_tables(tmp_path):
    events = [span("ProfilerStep#0", "user_annotation", 0, 900), span("ProfilerStep#1", "user_annotation", 1000, 900),
              span("nn.Module: A_0", "python_function", 0, 800, **{"Python id": 1}), *kernels_of(ADD, MUL)]
    for part, words in (("--steps", "begins: from the first event of the trace; its work, events: "),
                        ("--launches", "empty, full: shares of the time with none, and with 1024 or more"),
                        ("--modules", "self: without the modules inside")):
        assert words in shown(tmp_path, events, part)
    assert "calls host self host device self device module" in shown(tmp_path, events, "--modules")


def test_many_kernels_of_a_step_have_separators(tmp_path):
    events = []
    for step in range(3):
        events.append(span(f"ProfilerStep#{step}", "user_annotation", 20_000 * step, 19_000))
        for i in range(1500):
            at, number = 20_000 * step + 10 + 10 * i, 1500 * step + i + 1
            events += [span("cudaLaunchKernel", "cuda_runtime", at, 1, correlation=number), kernel("tiny", at + 2, 2, number)]
    assert "1\u202f500 kernels in a step" in run("trace", written(tmp_path, events), "--findings", expect=0).out


def total(number, size, **more):
    return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": number, "args":
            {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": size, **more}}


def test_peaks_of_one_side_are_lower_bounds(tmp_path):
    whole = written(tmp_path, [*kernels_of(ADD), total(5, 1, **{"Total Allocated": 1, "Total Reserved": 4})], "a.json")
    least = written(tmp_path, [*kernels_of(ADD), total(5, 1 << 20)], "b.json")
    row = next(line for line in lines(whole, "diff", least) if line.startswith("  GPU 0"))
    assert row.split("  ")[-2:] == ["> x 9999", "B at least"] or row.endswith("> x 9999  B at least"), row
    assert any("at least: the events have no totals" in line for line in lines(whole, "diff", least))


def test_phases_have_one_order(tmp_path):
    events = [span("ProfilerStep#0", "user_annotation", 0, 900), span("enumerate(DataLoader)#X.__next__", "user_annotation", 10, 90),
              span("aten::mm", "cpu_op", 110, 90), span("autograd::engine::evaluate_function: MmBackward0", "cpu_op", 300, 100, tid=2),
              span("Optimizer.step#SGD.step", "user_annotation", 500, 90)]
    text = lines(written(tmp_path, events), "trace", "--phases")
    names = [line.split()[0] for line in text if line.startswith("  ") and line.split()[0] in ("data", "forward", "backward", "optimizer")]
    heading = next(line for line in text if "recompute" in line).split()
    assert names == ["data", "forward", "backward", "optimizer"] == [word for word in heading if word in names]


def test_other_tools_have_a_next_command(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps([{"ph": "X", "name": "a", "cat": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]))
    text = run("trace", path, expect=0).out
    assert f"next     vramscope trace {path} --tree" in text and not text.endswith("\n\n")
    assert "--tree shows which lies in which" in " ".join(run("trace", path, "--ops", expect=0).out.split())


@pytest.mark.parametrize("option", (["--repair"], ["--slice", "0"]))
def test_traces_are_not_written_to_terminals(tmp_path, option):
    path = written(tmp_path, [span("ProfilerStep#0", "user_annotation", 0, 900)])
    ours, theirs = os.openpty()
    refused = run("trace", path, *option, stdout=theirs)
    os.close(theirs)
    os.close(ours)
    assert refused.code == 2 and "name a file with -o, or pipe it" in refused.err
    assert run("trace", path, *option, expect=0).out.startswith("{")
