"""Every column of every example: its type, its length, its sum as the command exports it; what holds its memory."""
import array
import csv
import gc
import io
import os
import shutil

import pytest
import vramscope
from conftest import ROOT, run

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
CODES = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "int64": "q", "float64": "d"}
# Column of the recording: table and column of the export.
EXPORTED = {
    "devices.number": "devices.device", "devices.orphan_frees": "devices.orphan_frees",
    "devices.double_allocs": "devices.double_allocs", "devices.events": "devices.events",
    "devices.allocations": "devices.allocations", "devices.segments": "devices.segments",
    "devices.blocks": "devices.blocks",
    "segments.address": "segments.address", "segments.total_size": "segments.total_bytes",
    "segments.allocated_size": "segments.allocated_bytes", "segments.active_size": "segments.active_bytes",
    "segments.requested_size": "segments.requested_bytes", "segments.blocks": "segments.blocks",
    "blocks.address": "blocks.address", "blocks.size": "blocks.bytes", "blocks.requested_size": "blocks.requested_bytes",
    "events.address": "events.address", "events.size": "events.bytes", "events.time_us": "events.time_us",
    "marks.time_us": "marks.time_us",
    "allocations.alloc_event": "allocations.alloc_event", "allocations.size": "allocations.bytes",
    "allocations.free_requested_event": "allocations.free_requested_event",
    "allocations.free_completed_event": "allocations.free_completed_event",
    "block_sizes.bytes": "allocations.block_bytes",
}
# Their tables have as many rows; the strings of a row are numbers in the column.
LONG = {"frames": "frames", "stacks": "stacks", "settings": "settings", "marks": "marks"}


def number(text):
    return int(text, 0) if text else 0


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda p: p.stem)
def opened(request):
    tables = {}

    def exported(table):
        if table not in tables:
            text = run("export", "--to", "csv", "-t", table, request.param, expect=0).out
            tables[table] = list(csv.DictReader(io.StringIO(text)))
            for row in tables["events"] if table == "events" else ():
                row["address"] = row["address"] or row["device_free_bytes"]  # of an oom: docs/formats.md
        return tables[table]

    with vramscope.load(request.param) as recording:
        yield recording, exported


def test_a_column_is_what_export_writes(opened):
    recording, exported = opened
    for name, place in EXPORTED.items():
        table, field = place.split(".")
        column, rows = recording[name], exported(table)
        unknown = (1 << 8 * memoryview(column).itemsize) - 1
        assert len(column) == len(rows), name
        assert sum(v for v in column if v != unknown) == sum(number(r[field]) for r in rows), name
        assert [v == unknown for v in column] == [r[field] == "" for r in rows], name
    for table, other in LONG.items():
        column = next(iter(recording.table(table).values()))
        assert abs(len(column) - len(exported(other))) <= 1, table  # the row of none is no row of the export


def test_every_column_is_a_sequence_and_a_buffer(opened):
    recording, _ = opened
    assert len(recording) == len(recording.columns) == len(list(recording)) == len(set(recording)) > 70
    lengths = {}
    for name in recording:
        column, view = recording[name], memoryview(recording[name])
        assert (column.name, view.format, view.itemsize) == (
            name, CODES[column.dtype], array.array(CODES[column.dtype]).itemsize)
        assert view.readonly and view.c_contiguous and view.ndim == 1 and view.shape == (len(column),)
        assert column[:] == array.array(view.format, view.tolist()) and list(column) == view.tolist()
        assert column[-3:] == array.array(view.format, view.tolist()[-3:]) and column[::-2].tolist() == view.tolist()[::-2]
        assert bytes(view) == view.tobytes() == column[:].tobytes() and column.valid is None
        lengths.setdefault(name.split(".")[0], set()).add(len(column))
    assert all(len(of) == 1 for of in lengths.values())
    assert {c.name for t in lengths for c in recording.table(t).values()} == set(recording.columns)


def test_numpy_reads_in_place(opened):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed: the address was not compared")
    recording, _ = opened
    for name in recording:
        column = recording[name]
        here, again = numpy.asarray(column), numpy.frombuffer(recording[name], dtype=column.dtype) if len(column) else None
        assert here.dtype == column.dtype and not here.flags.writeable and not here.flags.owndata
        if again is not None:
            assert here.ctypes.data == again.ctypes.data and here.tolist() == list(column)
            with pytest.raises(ValueError):
                here[0] = 1


def test_views_outlive_the_file_that_is_gone(tmp_path):
    """After close, after the file is deleted, and after the collector ran."""
    path = tmp_path / "run.pickle"
    shutil.copy(EXAMPLES[0], path)
    recording = vramscope.load(path)
    views = [memoryview(recording[name]) for name in recording]
    want = [bytes(v) for v in views]
    recording.close()
    os.unlink(path)
    del recording
    gc.collect()
    junk = [vramscope.load(EXAMPLES[1]).peak().text() for _ in range(3)]  # what was freed is used again
    assert [bytes(v) for v in views] == want and junk
    for view in views:
        with pytest.raises(TypeError):
            view[:1] = b"x"
