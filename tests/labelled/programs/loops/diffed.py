"""A training that is changed in one place at a time, for `diff`: what a user edits, and what of it is seen."""
import copy  # noqa: F401  (an edit uses it)

import torch
from torch.nn import functional as F  # noqa: F401

from nets.gpt import GPT, loss_of
from nets.written_out import WrittenOut  # noqa: F401

ADAM = "torch.optim.AdamW(model.parameters(), lr=3e-4)"
# Name of the change: what is replaced, and the line at which most bytes come or go, by a part of it; None
# where there is no such line.
DIFFS = {
    "nothing": ([], None),
    "ema": ([("    optimizer =", "    ema = copy.deepcopy(model)\n    run.label(\"ema\", ema.parameters())\n    optimizer =")],
            "ema = copy.deepcopy(model)"),
    "sgd": ([(ADAM, "torch.optim.SGD(model.parameters(), lr=3e-4)")], "optimizer.step()"),
    "batch": ([("tokens = run.tokens(8, 256)", "tokens = run.tokens(12, 256)"),
               ("targets = run.tokens(8, 256)", "targets = run.tokens(12, 256)")], None),
    "attention": ([("    optimizer =", "    for block in model.blocks:\n"
                    "        block.attention = WrittenOut(block.attention)\n    optimizer =")],
                  ".softmax(-1)"),
    "layer": ([("GPT()", "GPT(layers=5)")], None),
    "del": ([("            loss.backward()", "            del logits\n            loss.backward()")], "self.head(self.norm"),
    "moved": ([("def main(run):", "SETTINGS = {}\n" * 20 + "\n\ndef main(run):")], None),
    "renamed": ([("def train(", "def fit("), ("    train(run", "    fit(run")], None),
}


def train(run, model, optimizer):
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    train(run, model, optimizer)
    run.snapshot()
