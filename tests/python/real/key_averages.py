"""Profiles small models of several kinds; prints as JSON where each trace is and what key_averages() says of it."""
import json
import os
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, _ExperimentalConfig, profile

ROUNDS = 3
FRAMES = 3


def perceptron():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    return model, lambda: model(torch.randn(16, 32)).sum()


def convolution():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))
    return model, lambda: model(torch.randn(4, 3, 8, 8)).sum()


def transformer():
    model = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return model, lambda: model(torch.randn(2, 5, 32)).sum()


def recurrent():
    model = nn.LSTM(16, 16, batch_first=True)
    return model, lambda: model(torch.randn(2, 7, 16))[0].sum()


def embedding():
    model = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 16), nn.LayerNorm(16))
    return model, lambda: model(torch.randint(0, 50, (4, 6))).sum()


def rows(prof, **by):
    """Times are microseconds with three decimals of which none is lost."""
    return [{"name": row.key, "shapes": row.input_shapes or None, "stack": row.stack, "calls": row.count, "cpu_total_ns": round(row.cpu_time_total * 1000),
             "self_cpu_ns": round(row.self_cpu_time_total * 1000), "cpu_bytes": row.cpu_memory_usage,
             "self_cpu_bytes": row.self_cpu_memory_usage} for row in prof.key_averages(**by)]


def main(folder):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    told = []
    for make in (perceptron, convolution, transformer, recurrent, embedding):
        model, loss = make()
        optimizer = torch.optim.Adam(model.parameters())
        for stacks in (False, True):
            with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=stacks,
                         record_shapes=True, experimental_config=_ExperimentalConfig(verbose=stacks)) as prof:
                for _ in range(ROUNDS):
                    optimizer.zero_grad()
                    loss().backward()
                    optimizer.step()
                    prof.step()
            path = os.path.join(folder, "%s%s.json" % (make.__name__, "-stacks" if stacks else ""))
            prof.export_chrome_trace(path)
            told.append({"path": path, "stacks": stacks, "rows": rows(prof),
                         "by_shapes": rows(prof, group_by_input_shape=True),
                         "by_stack": rows(prof, group_by_stack_n=FRAMES)})
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
