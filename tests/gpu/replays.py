"""8: a snapshot of three steps of training replays; its size, and the seconds that it takes."""
import os
import sys
import tempfile
import time

import device
import torch
import vramscope

stacks = sys.argv[1] if len(sys.argv) > 1 else "python"
step, _ = device.trainer()
step()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "run.pickle")
    with vramscope.record(stacks=stacks) as recorder:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        recorder.dump(path)
        seconds = time.perf_counter() - begun
    recording = vramscope.load(path)
    agreement = recording.replay()["devices"][0]["result"]["agreement"]
    device.say(stacks=stacks, refused=recorder.refused, bytes=os.path.getsize(path), seconds=seconds,
               events=len(recording["events.size"]), grade=agreement["grade"],
               addresses=[agreement["addresses_equal"], agreement["addresses"]])
