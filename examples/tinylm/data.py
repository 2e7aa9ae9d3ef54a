"""Token batches: random numbers, since only their shape matters here."""
import torch


def batches(vocabulary, batch, lengths):
    for length in lengths:
        tokens = torch.randint(vocabulary, (batch, length + 1))
        x = tokens[:, :-1].to("cuda")
        y = tokens[:, 1:].to("cuda")
        yield x, y


def documents(vocabulary, batch, lengths):
    for length in sorted(lengths):
        yield torch.randint(vocabulary, (batch, length))
