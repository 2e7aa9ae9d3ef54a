"""A memory of seven places takes longer and longer segments: the next does not fit, although as much is free."""
import torch
from torch import nn

CAPACITY = 1100 << 20
PLANTED = {"verdict": "fragmentation"}


def main(run):
    gru = nn.GRU(256, 1024, batch_first=True).to(run.device)
    memory = {}
    with torch.inference_mode():
        for number, length in enumerate((*range(64, 640, 32), 1280, 1408, 1536)):
            with run.other_pass():
                hidden = torch.tanh(gru.weight_ih_l0.sum() + run.values(32, length, 1024).to(run.device))
                hidden = hidden * hidden.sigmoid()
                memory[number % 7] = hidden[:, ::2].clone()
    run.snapshot()
