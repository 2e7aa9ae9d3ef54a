"""What each allocation truly is, told by objects and by the graph, never by stacks.

A storage is a parameter or buffer because a module has it, a gradient because a parameter's
`.grad` was it, state because an optimizer keeps it, an activation because the graph saved it or
because it came out of a forward and lived into the backward, an input because it was copied from
the host, other because an operator made it of nothing (ones, noise) and nobody saved it.  What none
of these claims is named after where it was born and how long it lived.
"""
import weakref

import torch

# What an object says beats what a copy from the host or a saved tensor says.
STRENGTH = ["other", "activation", "input", "gradient", "optimizer_state", "buffer", "parameter", "kv_cache",
            "ema", "master", "idle", "workspace"]


def tensors_in(value):
    """The tensors of nested lists, dicts and tensors."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)


class Truth:
    """Labels of allocations; `number_of` finds the allocation of a tensor, or None."""

    def __init__(self, number_of):
        self.number_of = number_of
        self.modules, self.optimizers = weakref.WeakSet(), weakref.WeakSet()
        self.labels = {}

    def say(self, number, label):
        old = self.labels.get(number)
        if old is None or STRENGTH.index(label) > STRENGTH.index(old):
            self.labels[number] = label

    def name(self, label, value):
        for tensor in tensors_in(value):
            number = self.number_of(tensor)
            if number is not None:
                self.say(number, label)

    def look(self):
        """Labels what modules and optimizers have now."""
        for module in list(self.modules):
            for p in module.__dict__.get("_parameters", {}).values():
                if p is not None:
                    self.parameter(p)
            self.name("buffer", dict(module.__dict__.get("_buffers", {})))
        for optimizer in list(self.optimizers):
            for group in getattr(optimizer, "param_groups", ()):
                for p in group["params"]:
                    self.parameter(p)
            self.name("optimizer_state", dict(getattr(optimizer, "state", {})))

    def parameter(self, p):
        self.name("parameter", p)
        if p.grad is not None:
            self.name("gradient", p.grad)


def by_life(allocation, backwards, passes, end):
    """The label of an allocation that nothing claimed; `backwards` are events where one began.

    `held`: it came out of a forward that no backward followed, and outlived the step or pass (of
    `passes`, pairs of events) that made it, or was alive at event `end`, the last.
    """
    if allocation.born == "backward":
        return "autograd_detail"
    if allocation.born == "optimizer":
        return "optimizer_temp"
    dies = end if allocation.died is None else min(allocation.died, end)
    if any(allocation.event < b < dies for b in backwards):
        return "activation"
    outlived = any(begin <= allocation.event < stop < dies for begin, stop in passes)
    return "held" if dies == end or outlived else "temporary"
