"""Sixteen threads at once over one recording, one answer, one profiler and one device."""
import sys
import threading

import pytest
import vramscope
from conftest import ROOT
from vramscope import Profiler, sim

MIB = 1 << 20
THREADS = 16


@pytest.fixture(autouse=True)
def switches():
    """The interpreter passes on as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work):
    """Runs work(number) in each thread, all at once; the first failure is the test's."""
    gate, failures = threading.Barrier(THREADS), []

    def run(number):
        try:
            gate.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_one_recording_answers_all_of_them_the_same():
    recording = vramscope.load(ROOT / "examples" / "train.pickle")
    questions = (lambda r: r.peak().text(width=80), lambda r: r.oom().json(), lambda r: r.leaks().json(),
                 lambda r: r.fragments().json(), lambda r: bytes(memoryview(r["block_sizes.bytes"])).hex(),
                 lambda r: list(r["events.size"])[:100], lambda r: r.replay()["devices"][0]["result"]["agreement"],
                 lambda r: r.export("csv", table=("marks",)))
    alone = [question(vramscope.load(ROOT / "examples" / "train.pickle")) for question in questions]

    def ask(number):
        for i in range(len(questions)):
            at = (i + number) % len(questions)
            assert questions[at](recording) == alone[at]

    together(ask)


def test_close_takes_nothing_from_under_the_others():
    for _ in range(5):
        recording = vramscope.load(ROOT / "examples" / "leak.pickle")
        right = recording.peak().json()

        def ask(number):
            if number == 0:
                recording.close()
                return
            try:
                for _ in range(3):
                    assert recording.peak().json() == right
            except ValueError as error:
                assert str(error) == "closed"

        together(ask)


def test_one_answer_is_parsed_once():
    answer = vramscope.load(ROOT / "examples" / "leak.pickle").leaks()
    seen = []
    together(lambda number: seen.append(answer["devices"]))
    assert len(seen) == THREADS and all(devices is seen[0] for devices in seen)


@pytest.mark.parametrize("keeps", (False, True), ids=("resets", "keeps"))
def test_one_profiler_gives_each_thread_its_own_chain(keeps):
    """Each holds 1 MiB in its scope, and one of its own for a while: sums of 16 are the most there can be."""
    with sim.Device("1GiB", history=0) as device, Profiler(preserve_torch_peak=keeps) as p:
        def work(number):
            for _ in range(200):
                with p.scope(f"outer {number}") as outer:
                    held = device.alloc(MIB)
                    with p.scope("inner") as inner:
                        device.free(device.alloc(MIB))
                        record = p.checkpoint("here")
                    device.free(held)
                assert record.path == (f"outer {number}", "inner", "here")
                assert inner.result.path == (f"outer {number}", "inner") and outer.result.path == (f"outer {number}",)
                for scope, least in ((outer, MIB), (inner, 2 * MIB)):
                    result = scope.result
                    assert result.state in (("exact", "sampled") if keeps else ("exact",))
                    assert result.peak_bytes <= 2 * THREADS * MIB
                    assert least <= result.peak_bytes or keeps and least <= result.peak_at_most_bytes

        together(work)
        records, scopes = p.records(), p.scopes()
        rows = {tuple(row["path"]): row["calls"] for row in p.summary().rows if row["kind"] == "scope"}
        assert len(records) == len({r.index for r in records}) == 200 * THREADS and len(scopes) == 2 * 200 * THREADS
        assert len(rows) == 2 * THREADS and set(rows.values()) == {200}
        assert not any(p.losses.values()), p.losses
        assert p.checkpoint("end").allocated_bytes == 0 and device.stats()["allocated_bytes"] == 0


def test_one_scope_is_entered_by_all_of_them():
    with sim.Device("1GiB", history=0) as device, Profiler() as p:
        scope = p.scope("shared")

        def work(number):
            for _ in range(200):
                with scope:
                    device.free(device.alloc((1 + number) * MIB))

        together(work)
        assert len(p.scopes()) == 200 * THREADS and all(s.state == "exact" for s in p.scopes())
        assert not any(p.losses.values())
