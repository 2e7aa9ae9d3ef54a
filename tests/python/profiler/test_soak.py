"""What measures for days stays as small as it is: records, scopes, samples and events in bounded memory."""
import gc
import os

import pytest
from vramscope import Profiler, Tracker, sim

KIB = 1 << 10
ROUNDS = 60_000  # a sampler at 1 Hz makes as many in 17 hours


def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("rounds", (ROUNDS // 10, pytest.param(ROUNDS * 10, marks=pytest.mark.long)))
def test_memory_is_flat_once_the_rings_are_full(rounds):
    with sim.Device("1GiB", history=0) as device, Profiler(capacity=1024) as p, Tracker(capacity=1024) as tracker:
        def work(count):
            for number in range(count):
                with p.scope("step"), p.scope(f"kind {number % 7}"):
                    held = device.alloc(4 * KIB * (1 + number % 5))
                    p.checkpoint("inside", info=f"batch {number % 100}")
                    device.advance(1_000_000_000)
                    tracker.sample()
                    device.free(held)
        work(3000)
        before = resident()
        work(rounds)
        grown = resident() - before
        assert p.losses["records"] >= rounds and p.losses["names"] == 0
        rows = {tuple(row["path"]): row["calls"] for row in p.summary().rows if row["kind"] == "scope"}
        assert rows[("step",)] == 3000 + rounds
    assert grown < 1024 * KIB
