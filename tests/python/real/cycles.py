"""cycles.py: vramscope.watch_cycles in a program that makes reference cycles of CPU tensors; prints JSON."""
import gc
import json
import logging
import os
import sys
import threading
import time
import weakref
from pathlib import Path

import torch

import vramscope
from vramscope.objects.cycles import watch_cycles

gc.disable()  # collections are those below
told, logged, finalized = [], [], []


class Trainer:
    def __del__(self):
        finalized.append(threading.current_thread().name)


class Handler(logging.Handler):
    def emit(self, record):
        logged.append(record.getMessage())


def cycle(elements):
    """A trainer whose callback refers to it, as a closure does."""
    trainer = Trainer()
    trainer.activations = {"last": torch.zeros(elements)}
    trainer.callback = lambda: trainer
    return weakref.ref(trainer.activations["last"])


def collected(watch, generation=2):
    gc.collect(generation)
    watch.flush()


logging.getLogger("vramscope").addHandler(Handler())
logging.getLogger("vramscope").propagate = False
gc.collect()
answers = {"profile": [sys.getprofile() is None]}
folder = Path(sys.argv[1])
with watch_cycles(lambda cycles: told.append(cycles.to_dict()), device="cpu", graph=folder / "cycle.svg") as watch:
    threads = [t.name for t in threading.enumerate()]
    dead = [cycle(1000), cycle(250)]
    plain = [[]]
    plain[0].append(plain)
    del plain
    collected(watch, 0)
    # Freed by the second collection, once they were told of.
    answers["freed"] = [r() is None for r in dead]
    answers["flags"], answers["kept"] = gc.get_debug(), len(gc.garbage)
    told_first = len(told)
    torch.zeros(10)  # no cycle
    collected(watch)
    # A tensor of the cycle itself.
    tensor = torch.zeros(64)
    tensor.itself = tensor
    del tensor
    shared = torch.zeros(512)
    views = [shared[:10], shared[10:]]
    views.append(views)
    del shared, views
    collected(watch)
    # Flags of others stay theirs.
    gc.set_debug(gc.DEBUG_UNCOLLECTABLE)
    quiet = cycle(7)
    collected(watch)
    answers["others"] = [gc.get_debug() == gc.DEBUG_UNCOLLECTABLE, quiet() is None]
    gc.set_debug(0)
    pid = os.fork()
    if pid == 0:
        in_child = cycle(9)
        gc.collect()
        watch.cancel()
        os._exit(0 if in_child() is None and not gc.get_debug() else 1)
    answers["child"] = os.waitpid(pid, 0)[1]
    answers["losses"] = dict(watch.losses)
after = cycle(3)
gc.collect()
answers["ended"] = [after() is None, watch._collector in gc.callbacks, "vramscope-reader" in
                    [t.name for t in threading.enumerate()]]
count = len(told)
with watch_cycles(lambda cycles: 1 / 0, device="cpu", min_bytes="1KiB", log=False) as watch:
    small, large = cycle(4), cycle(4000)
    collected(watch)
    answers["raising"] = [dict(watch.losses), small() is None, large() is None]
with watch_cycles(told.append) as watch:  # of devices, of which there is none
    cycle(4000)
    collected(watch)
try:
    watch_cycles(min_bytes="some")
except vramscope.Error as error:
    answers["refused"] = error.status
with watch_cycles(graph=folder / "nothing/cycle.svg", device="cpu", log=False) as watch:
    cycle(4000)
    collected(watch)
    answers["graph"] = [watch.losses["graph"], watch.losses["failed"], sorted(p.name for p in folder.iterdir())]
answers["svg"] = (folder / "cycle.svg").read_text(encoding="utf-8")
answers["finalized"] = sorted(set(finalized))
gc.enable()
with watch_cycles(device="cpu", log=False) as watch:  # the collector by itself, and many of them
    many = [cycle(16) for _ in range(3000)]
    watch.flush()
    gc.collect()
    watch.flush()
    answers["many"] = [sum(r() is None for r in many), dict(watch.losses)["failed"]]
gate = threading.Event()
held = watch_cycles(lambda cycles: gate.wait(), device="cpu", log=False)  # comes back late
for _ in range(20):
    cycle(4)
    gc.collect()
begun = time.monotonic()
held.cancel()
answers["held"] = [time.monotonic() - begun, held.losses["collections"]]
gate.set()
left = watch_cycles(lambda cycles: threading.Event().wait(), device="cpu")  # is ended at exit, though it never does
cycle(4)
gc.collect()
print(json.dumps({**answers, "told": told[:count], "first": told_first, "later": len(told) - count, "logged": logged,
                  "threads": threads}))
