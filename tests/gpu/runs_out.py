"""7: a program whose memory runs out on the device; the test runs it with and without `run`."""
import torch


def fill():
    held = []
    while True:
        held.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))


fill()
