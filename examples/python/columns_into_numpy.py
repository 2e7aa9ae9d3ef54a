"""Columns into NumPy: the events of a recording as arrays, without a copy.

usage: python columns_into_numpy.py [SNAPSHOT]
"""
import os
import sys
import tempfile

import vramscope
from anywhere import device, tensor

try:
    import numpy
except ImportError:
    sys.exit("this example needs NumPy: pip install numpy")


def record_steps(path):
    with device(), vramscope.record(path):
        kept = [tensor(8 << i) for i in range(5)]
        for i in range(20):
            tensor(16 * (1 + i % 3))
    return path


with tempfile.TemporaryDirectory() as folder:
    path = sys.argv[1] if len(sys.argv) > 1 else record_steps(os.path.join(folder, "steps.pickle"))
    recording = vramscope.load(path)

bytes_of = numpy.asarray(recording["allocations.size"])  # reads the recording's own memory
freed = numpy.asarray(recording["allocations.free_completed_event"])
alive = freed == numpy.iinfo(freed.dtype).max  # a value that is not known is the largest
sizes, counts = numpy.unique(bytes_of, return_counts=True)
for size, count in zip(sizes[::-1], counts[::-1]):
    print(f"{size / 2**20:8.1f} MiB x {count}")
print(f"{len(bytes_of)} allocations, {alive.sum()} alive at the end",
      f"with {bytes_of[alive].sum() / 2**20:.1f} MiB")
