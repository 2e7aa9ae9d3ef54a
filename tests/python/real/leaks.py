"""A LeakDetector over tensors of the host, whose bytes are counted by an object as a backend."""
import gc
import json

import torch
from vramscope import LeakDetector


class Counter:
    """All memory of tensors of the host that live, and of what autograd holds."""

    def __init__(self):
        self.held = 0

    def stats(self, device):
        storages = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in gc.get_objects()
                    if isinstance(t, torch.Tensor)}
        return {"requested_bytes": {"all": {"current": sum(storages.values()) + self.held}}}

    def count(self):
        return 1


def watched(step, **options):
    counter, kept = Counter(), []
    detector = LeakDetector("cpu", backend=counter, **options)
    for _ in range(8):
        step(kept, counter)
        detector.step()
    found = detector.suspects()
    return {"document": found.to_dict(), "text": found.text(), "cycles": found.held_by_cycles}


def losses(kept, counter):
    kept.append(torch.ones(256, 1024))
    kept.append(kept[-1].view(1024, 256))
    torch.ones(64, 64)


def graph(kept, counter):
    counter.held += 2 << 20
    kept.append(torch.zeros(16, dtype=torch.bfloat16))


def gradients(kept, counter):
    weight = torch.nn.Parameter(torch.zeros(512, 512))
    (weight * 1).sum().backward()
    kept.append(weight)


def cycles(kept, counter):
    holder = [torch.ones(512, 1024)]
    holder.append(holder)


gc.collect()
gc.disable()
print(json.dumps({"losses": watched(losses), "graph": watched(graph), "gradients": watched(gradients),
                  "cycles": watched(cycles), "nothing": watched(lambda kept, counter: torch.ones(9))}))
