"""Results and events for tests of the analyzer, of which each test says only what it is about."""
from vramscope.compat.gpumemprof import MemorySnapshot, ProfileResult, TelemetryEventV2

MIB, GIB = 1 << 20, 1 << 30
MS = 1_000_000


def snapshot(allocated, reserved=None, at=0.0):
    reserved = allocated if reserved is None else reserved
    return MemorySnapshot(at, allocated, reserved, allocated, reserved, allocated, 0, 0)


def call(name="f", *, seconds=1.0, before=0, after=0, peak=None, reserved=None, at=0.0, allocated="net"):
    """`allocated`: what the result says, where that is not what its snapshots say."""
    net = None if None in (before, after) else after - before
    return ProfileResult(name, seconds, snapshot(before, at=at), snapshot(after, reserved, at=at + 1),
                         snapshot(max(before or 0, after or 0) if peak is None else peak),
                         (net if net is None else max(0, net)) if allocated == "net" else allocated,
                         0 if net is None else max(0, -net), 0, 0)


def grows(*bytes_each, name="f", **more):
    """A call for each number of bytes that it leaves behind."""
    return [call(name, before=8 * GIB, after=8 * GIB + bytes, **more) for bytes in bytes_each]


def event(at_ns=0, *, used=None, reserved=0, allocated=None, total=80 * GIB, rank=0, world=1, job=None,
          kind="sample", context=None, metadata=None, interval=100):
    return TelemetryEventV2(2, at_ns, kind, "test", interval, 7, "host", rank, reserved if allocated is None else allocated,
                            reserved, None, None, 0, used, None, total, context, job, rank, 0, world, metadata or {})


def only(rows):
    assert len(rows) == 1, rows
    return rows[0]


def of_kind(rows, kind):
    """The row of a kind, or None."""
    found = [row for row in rows if kind in (getattr(row, "pattern_type", None), getattr(row, "title", None),
                                             getattr(row, "classification", None))]
    assert len(found) < 2
    return found[0] if found else None
