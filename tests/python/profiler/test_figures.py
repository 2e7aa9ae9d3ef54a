"""Figures that the core adds up for Python: what a device uses, how counters changed, sizes of tensors, what is to be expected."""
import pytest
from vramscope import _core
from vramscope.sim import Device

MIB = 1 << 20


class Told:
    def __init__(self, free, total):
        self.pair = free, total

    def memory(self, device):
        return self.pair


@pytest.mark.parametrize("free, total, used", [(60, 100, 40), (100, 100, 0), (101, 100, None), (None, 100, None), (60, None, None)])
def test_used_is_total_minus_free_of_one_reading(free, total, used):
    backend = _core.Backend(Told(free, total))
    assert backend._usage(0) == backend._usage() == (used, free, total) and backend.memory(0) == (free, total)


def test_a_device_that_tells_nothing_uses_nobody_knows_what():
    assert _core.Backend(object())._usage() == (None, None, None)
    with pytest.raises(_core.Error, match="no device 3"):
        Device("1GiB").backend._usage(3)


def test_changes_of_counters_are_signed():
    device = Device("1GiB")
    kept, backend = device.alloc(30 * MIB), device.backend
    before = backend.stats()
    device.free(kept)
    more = device.alloc(10 * MIB)
    changes = backend._changes(before, 0)
    assert list(changes) == list(before) and changes["state"] == "exact"
    assert changes["allocated_bytes"] == -20 * MIB and (changes["allocations"], changes["frees"]) == (1, 1)
    assert more.live and changes["freed_total_bytes"] == 30 * MIB and changes["reserved_bytes"] == 0


def test_a_change_of_what_is_not_known_is_none():
    device = Device("1GiB")
    before = {**device.backend.stats(), "allocated_bytes": None}
    del before["frees"]
    changes = device.backend._changes(before)
    assert changes["allocated_bytes"] is changes["frees"] is None and changes["reserved_bytes"] == 0
    changes = _core.Backend(object())._changes(device.backend.stats())
    assert changes.pop("state") == "unknown" and set(changes.values()) == {None}
    for wrong in ((), (7,), (before, 0, 0), ({}, 5)):
        with pytest.raises((TypeError, _core.Error)):
            device.backend._changes(*wrong)


class Tensor:
    def __init__(self, count, each):
        self.count, self.each = count, each

    def numel(self):
        return self.count

    def element_size(self):
        return self.each


def test_bytes_of_tensors_are_elements_times_their_size():
    assert _core._tensor_bytes() == 0 and _core._tensor_bytes(Tensor(0, 4)) == 0
    assert _core._tensor_bytes(Tensor(10, 4), Tensor(3, 2)) == 46
    assert _core._tensor_bytes(Tensor((1 << 64) - 1, 1)) == (1 << 64) - 1
    for wrong in ([Tensor(1 << 62, 4)], [Tensor((1 << 64) - 1, 1), Tensor(1, 1)], [Tensor(-1, 4)]):
        with pytest.raises(OverflowError):
            _core._tensor_bytes(*wrong)
    with pytest.raises(TypeError):
        _core._tensor_bytes(Tensor(1.5, 4))
    with pytest.raises(AttributeError):
        _core._tensor_bytes(object())


def test_parts_of_a_step():
    assert _core._step_parts(100, 10, None) == (10, 20, 60, True)
    assert _core._step_parts(None, 10, 5) == (10, 5, None, False)


def test_a_recording_that_is_to_come():
    assert _core._step_events(3, 2) == 7 and _core._step_events(None, 2) is None
    assert _core._expected(7, 10, 50) == (50, 2000, 20000, 7) and _core._expected(0, 10, 50) == (0, 0, 0, None)
    assert _core._expected(None, 10, 50) == (None,) * 4
