"""Records a trace of a small training on the CPU with torch.profiler: training.pt.trace.json.gz.

    python3 examples/traces/profile_training.py [FILE]

The model is small and its data loader slow on purpose, so that the trace has something to tell.  It has
neither stacks nor shapes, which would make it ten times as large; times differ from run to run.
"""
import gzip
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

NAME = "training.pt.trace.json"


class Lines(Dataset):
    """Rows of numbers, each of which takes a moment to read."""

    def __len__(self):
        return 64

    def __getitem__(self, at):
        time.sleep(0.0002)
        row = torch.full((128,), float(at))
        return row, row.sum() / 1000


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    target = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name(NAME + ".gz")).absolute()
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # a trace names the file that it was written to
        with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=4, repeat=1),
                     profile_memory=True, on_trace_ready=lambda prof: prof.export_chrome_trace(NAME)) as prof:
            for row, wanted in DataLoader(Lines(), batch_size=8):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(row).squeeze(1), wanted)
                loss.backward()
                optimizer.step()
                prof.step()
        with gzip.GzipFile(target, "wb", mtime=0) as file:
            file.write(re.sub(rb'"host_name": "[^"]*"', b'"host_name": "host"', Path(NAME).read_bytes()))
        os.chdir(target.parent)


if __name__ == "__main__":
    main()
