"""The stand-in for torch is as strict as the real one, so that tests on it mean something."""
import inspect
import pickle
import sys

import in_torch
import profiler_facts
import pytest
from stand_in import Counters, installed, torch_forms

FORMS = pytest.mark.parametrize("form", torch_forms.FORMS)


@FORMS
def test_queued_calls_run_once_and_before_it_counts_as_initialised(form):
    with installed(form) as torch:
        seen = []
        torch.cuda._lazy_call(lambda: seen.append(torch.cuda.is_initialized()))
        assert not seen and len(torch.cuda._queued_calls) >= 1
        # A call queued during initialisation runs at once.
        torch.cuda._lazy_call(lambda: torch.cuda._lazy_call(lambda: seen.append("inside")))
        torch.cuda.init()
        torch.cuda.init()
        assert seen == [False, "inside"] and torch.cuda.is_initialized()
        torch.cuda._lazy_call(lambda: seen.append("after"))
        assert seen[-1] == "after"


@FORMS
def test_what_a_queued_call_raises_becomes_the_programs(form):
    with installed(form) as torch:
        torch.cuda._lazy_call(lambda: 1 / 0)
        with pytest.raises(torch.cuda.DeferredCudaCallError, match="division"):
            torch.randn(4, device="cuda")
        assert not torch.cuda.is_initialized()


@FORMS
def test_raw_calls_raise_before_initialisation_and_without_a_driver(form):
    with installed(form) as torch:
        assert torch.cuda.memory_allocated() == 0 and torch.cuda.memory_stats() == {}
        for call in (torch._C._cuda_memoryStats, torch._C._cuda_resetPeakMemoryStats):
            with pytest.raises(RuntimeError, match="Invalid device"):
                call(0)
    for devices, driver in (([], True), (None, False)):
        with installed(form, devices, driver) as torch:
            assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
            calls = [lambda: torch._C._cuda_memoryStats(0), torch.cuda.init, torch.cuda.synchronize,
                     lambda: torch.cuda.memory._record_memory_history(*[True] * (form == "1.13"))]
            if form != "1.13":
                calls += [torch._C._cuda_isHistoryEnabled, lambda: torch._C._cuda_attach_out_of_memory_observer(print)]
            for call in calls:
                with pytest.raises(RuntimeError):
                    call()


@FORMS
def test_unknown_keywords_and_names_raise(form):
    with installed(form) as torch:
        record = torch.cuda.memory._record_memory_history
        for keywords in ({"nothing": 1}, {"max_entries": 1, "nothing": 1}):
            with pytest.raises(TypeError):
                record(**keywords)
        for place, name in ((torch, "rand_like"), (torch.cuda, "nothing"), (torch._C, "_cuda_nothing")):
            with pytest.raises(AttributeError):
                getattr(place, name)
        known = inspect.signature(record).parameters
        assert ("skip_actions" in known) == (form == "2.15") and ("clear_history" in known) == (form in ("2.9", "2.15"))
        assert ("stacks" in known) == (form != "1.13") == hasattr(torch._C, "_cuda_isHistoryEnabled")
        assert hasattr(torch, "OutOfMemoryError") == (form not in ("1.13", "2.1"))
        with pytest.raises(TypeError):
            torch.cuda._lazy_call(print, nothing=1)
        assert "torch.cuda.memory" in sys.modules
    assert "torch" not in sys.modules


@FORMS
def test_counters_are_those_of_the_device(form, tmp_path):
    with installed(form) as torch:
        first = torch.randn(1000, 1000).cuda()
        second = torch.randn(10, device="cuda:0")
        assert torch.cuda.memory_allocated() == 4_000_256 + 512 and second.is_cuda
        del first
        assert torch.cuda.memory_allocated("cuda") == 512 and torch.cuda.max_memory_allocated() == 4_000_768
        torch.cuda.reset_peak_memory_stats()
        stats = torch.cuda.memory_stats(torch.device("cuda:0"))
        assert stats["allocated_bytes.all.peak"] == 512 and stats["allocation.all.allocated"] == 2
        assert stats.get("requested_bytes.all.current") == (None if form == "1.13" else 40)
        raw = torch._C._cuda_memoryStats(0)
        assert torch_forms.flat(raw) == stats and raw["allocated_bytes"]["all"]["freed"] == 4_000_256
        torch.cuda.memory._dump_snapshot(str(tmp_path / "one.pickle"))
        assert pickle.loads((tmp_path / "one.pickle").read_bytes()) == torch.cuda.memory._snapshot()


def test_observers_hear_of_a_failure_first_and_one_that_raises_replaces_it():
    with installed("2.9", [Counters(total=4096)]) as torch:
        torch.cuda.init()
        heard = []
        torch._C._cuda_attach_out_of_memory_observer(lambda *what: heard.append(what))
        with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
            torch.randn(2048, device="cuda")
        assert heard == [(0, 8192, 4096, 0)]
        torch._C._cuda_attach_out_of_memory_observer(lambda *what: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            torch.randn(2048, device="cuda")
        assert torch.cuda.memory_allocated() == 0


def test_recording_is_what_was_last_asked_for():
    with installed("2.15") as torch:
        assert torch._C._cuda_isHistoryEnabled() is False
        torch.cuda.memory._record_memory_history(max_entries=10, stacks="python")
        assert torch._C._cuda_isHistoryEnabled() is True
        torch.cuda.memory._record_memory_history(enabled=None)
        assert torch._C._cuda_isHistoryEnabled() is False
        first, last = torch.cuda.stand_in.settings
        assert (first["max_entries"], first["context"], last["enabled"]) == (10, "all", None)


def test_it_is_short():
    lines = inspect.getsource(torch_forms).splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 120


@pytest.mark.torch
def test_the_newest_form_is_the_real_one():
    """Fails when a new torch changes what the stand-in stands for."""
    real = in_torch.answer("real/names.py")
    assert real["version"].startswith("2.15"), "the forms are those of 2.15 and older"
    signature = torch_forms.recorder_signature("2.15")
    assert real["recorder"] == [[p.name, repr(p.default)] for p in signature.parameters.values()]
    with installed("2.15") as torch:
        ours = {"torch.cuda": torch.cuda, "torch.cuda.memory": torch.cuda.memory, "torch._C": torch._C}
        for place, module in ours.items():
            names = {name for name in vars(module) if not name.startswith("__")} - {"stand_in"}
            assert names <= set(real["names"][place]), (place, names - set(real["names"][place]))


def test_events_tell_nothing_before_the_device_came_to_them():
    with installed() as torch:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with pytest.raises(RuntimeError, match="recorded"):
            begin.elapsed_time(end)
        assert begin.query() and end.query()  # there is nothing to come to
        begin.record()
        end.record()
        assert not begin.query() and not end.query()
        with pytest.raises(RuntimeError, match="not ready"):
            begin.elapsed_time(end)
        torch.cuda.synchronize()
        assert begin.query() and begin.elapsed_time(end) == 0
        torch.profiler.times.capturing = True
        for call in (begin.query, lambda: begin.elapsed_time(end)):
            with pytest.raises(RuntimeError, match="capturing"):
                call()
        torch.profiler.times.capturing = False
        silent = torch.cuda.Event()
        silent.record()
        with pytest.raises(RuntimeError, match="with timing"):
            begin.elapsed_time(silent)


def facts_of_the_stand_in():
    with installed("2.15") as torch:
        torch.profiler.script[:] = [("aten::add", 0, 0)]
        return profiler_facts.facts(torch.profiler, lambda: None)


def test_profiles_that_fail_make_their_traces():
    """So that what is compared with the real one is not nothing."""
    facts = facts_of_the_stand_in()
    assert facts["failures"] == [0, 1] and facts["exports"][:2] == [None, "Trace is already saved."]


@pytest.mark.torch
def test_profiles_are_as_the_real_ones():
    assert facts_of_the_stand_in() == in_torch.answer("profiler_facts.py")
