"""4: how often memory was allocated between a reading and its reset, and what that hides."""
import threading

import device
import torch
import vramscope

over = threading.Event()


def allocate():
    while not over.is_set():
        torch.empty(1 << 20, dtype=torch.uint8, device="cuda")


thread = threading.Thread(target=allocate)
torch.zeros(1, device="cuda")
thread.start()
with vramscope.Profiler(strict=True) as profiler:
    for _ in range(20_000):
        profiler.checkpoint("x")
    states = [record.state for record in profiler.records()]
over.set()
thread.join()
device.say(checkpoints=20_000, raced=states.count("raced"), exact=states.count("exact"), kept=len(states))
