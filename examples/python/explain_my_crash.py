"""Explain my crash: a program that runs out of memory leaves a snapshot, and is told why.

usage: python explain_my_crash.py [FOLDER]

Of a whole program, without changing it:  python -m vramscope run PROGRAM
"""
import os
import sys

import vramscope
from anywhere import device, tensor


def forward(batch):
    """Each layer keeps its activations for a backward that never comes."""
    kept = []
    while len(kept) < 500:
        kept.append(tensor(256 * batch))
    return kept


folder = sys.argv[1] if len(sys.argv) > 1 else "oom_dumps"
with device(), vramscope.on_oom(folder, verdict=False) as watch:
    try:
        forward(batch=4)
    except RuntimeError as error:  # torch.cuda.OutOfMemoryError is one
        message = str(error)
    else:
        sys.exit("this device is too large for the example")

recording = vramscope.load(os.path.join(watch.dumps[-1], "snapshot.pickle"))
print(recording.oom(message=message, library="*anywhere*").text())
print(recording.peak(by="culprit", library="*anywhere*").text())
print("kept in", watch.dumps[-1])
