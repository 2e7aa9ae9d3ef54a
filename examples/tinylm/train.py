"""Train a small language model and record its GPU memory from the first byte."""
import argparse

import torch
import torch.nn.functional as F
from torch.profiler import record_function

from data import batches
from model import TinyLM


def train_step(model, optimizer, x, y):
    with record_function("## forward ##"):
        logits = model(x)
        loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
    with record_function("## backward ##"):
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return logits, loss


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--layers", type=int, default=6)
    options.add_argument("--batch", type=int, default=8)
    options.add_argument("--lengths", type=int, nargs="+", default=[1024] * 3)
    options.add_argument("--keep-logits", action="store_true")
    options.add_argument("--output", default="train.pickle")
    args = options.parse_args()

    torch.cuda.memory._record_memory_history()
    model = TinyLM(32000, 1024, 16, args.layers, max(args.lengths))
    model = model.to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    history = []
    for step, (x, y) in enumerate(batches(32000, args.batch, args.lengths)):
        with record_function(f"ProfilerStep#{step}"):
            try:
                logits, loss = train_step(model, optimizer, x, y)
            except torch.cuda.OutOfMemoryError:
                print(f"step {step}: out of memory")
                break
            if args.keep_logits:
                history.append(logits.detach().float())
    torch.cuda.memory._dump_snapshot(args.output)


if __name__ == "__main__":
    main()
