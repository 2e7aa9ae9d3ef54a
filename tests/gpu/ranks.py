"""11: one rank of a job whose rank 1 runs out of memory; begun by torchrun on one device or more."""
import os

import torch

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank % torch.cuda.device_count())
held = [torch.empty(1 << 20, dtype=torch.uint8, device="cuda")]
while rank == 1:
    held.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
