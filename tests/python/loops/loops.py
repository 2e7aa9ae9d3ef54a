"""Training loops for the CPU with one fault planted in each, and clean ones: their text, and what is true of them.

    LOOPS      name -> Loop
    source     the program of a loop, which writes its trace where its argument says
    planted    (first line, last line, name) of the function around the fault

A trace has of a call the line where its function begins, and of one that runs when the recording begins the line
where it is then: the function is what can be named.
"""
import ast
from dataclasses import dataclass, field

PROGRAM = '''\
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)
path, with_stack = sys.argv[1], sys.argv[2] == "stacks"


class Images(Dataset):
    def __init__(self):
        self.images = torch.randn(256, 3, 32, 32)

    def __len__(self):
        return len(self.images)

    def read(self, i):
        {read}
        return self.images[i]

    def __getitem__(self, i):
        image = self.read(i)
        {getitem}
        return image, i % 10


def collate(samples):
    {collate}
    return torch.stack([image for image, _ in samples]), torch.tensor([label for _, label in samples])


def prepare(images):
    {prepare}
    return images


def make_model():
    return nn.Sequential(nn.Conv2d(3, 16, 3, stride={stride}, padding=1), nn.ReLU(), {layer}nn.Conv2d(16, 64, 3, padding=1),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10))


def train(loader, model, criterion, optimizer, profiler):
    {first}
    for images, labels in loader:
        {loaded}
        {forward}
        loss = criterion(output, labels)
        {loss}
        optimizer.zero_grad()
        loss.backward()
        {graded}
        optimizer.step()
        {stepped}
        profiler.step()


def main():
    model = make_model()
    optimizer = torch.optim.{optimizer}
    loader = {loader}
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
                 record_shapes=True, profile_memory=True, with_stack=with_stack) as profiler:
        train(loader, model, nn.CrossEntropyLoss(), optimizer, profiler)
    profiler.export_chrome_trace(path)


if __name__ == "__main__":
    main()
'''
EMPTY = dict.fromkeys(["read", "getitem", "collate", "prepare", "first", "loaded", "loss", "graded", "stepped"], "pass")
LOADER = "DataLoader(Images(), batch_size=32, num_workers=%d, collate_fn=%s)"
USUAL = {**EMPTY, "loader": LOADER % (0, "None"), "layer": "", "forward": "output = model(images)",
         "optimizer": "SGD(model.parameters(), lr=0.01)", "stride": 1}
# What workers cost in a step is the same for small ones and large ones.
WORKERS = {"loader": LOADER % (2, "None"), "layer": "nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(), "}
LARGE = {"loader": "[(torch.randn(32, 3, 128, 128), torch.randint(10, (32,))) for _ in range(8)]", "stride": 4}
RANGES = {"forward": "with record_function('forward'): output = model(images)"}
MARK = "  # planted"


@dataclass
class Loop:
    # What is planted; empty: nothing is.  "load" is a transform within the loading, "workers" a slow loader with workers.
    fault: str = ""
    parts: dict = field(default_factory=dict)


def planted_at(fault, place, text, **parts):
    """`text` at a place of the program, marked."""
    return Loop(fault, {place: text + MARK, **parts})


INTERPOLATE = "torch.nn.functional.interpolate(%s.flip(-1), size=(32, 32), mode='bilinear')"
AUGMENT = "for _ in range(4): image = %s[0]" % INTERPOLATE % "image[None]"
MIX = "for _ in range(40): images = %s" % INTERPOLATE % "images"
PLAIN_ITEM = "image = torch.tensor([v * 2 - 1 for v in image.flatten().tolist()]).view(3, 32, 32)"
ROWS = "torch.stack([row * 2 - 1 for row in image.flatten(0, 1)])"
PLAIN = "images = torch.stack([%s for image in images]).view(-1, 3, 32, 32)" % ROWS
SORT = "samples = [(image.flip(-1).roll(3, 2).sort(-1)[0].exp(), label) for image, label in samples * 3][:32]"
DOUBLE = "images = images.to(torch.float64).to(torch.float32)"
LAYOUT = "images = images.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2).contiguous()"
LOOPS = {
    "clean": Loop(),
    "clean_adam": Loop("", {"optimizer": "Adam(model.parameters())"}),
    "clean_adamw": Loop("", {"optimizer": "AdamW(model.parameters(), weight_decay=0.1)"}),
    "clean_clip": Loop("", {"graded": "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"}),
    "clean_dropout": Loop("", {"layer": "nn.Dropout2d(0.1), "}),
    "clean_norm": Loop("", {"layer": "nn.BatchNorm2d(16), "}),
    "clean_workers": Loop("", WORKERS),
    "clean_detach": Loop("", {"first": "total = torch.zeros(())", "loss": "total += loss.detach()"}),
    "clean_large": Loop("", LARGE),
    "clean_fourth": Loop("", {"first": "count = 0", "stepped": "count += 1; count % 4 == 0 and print(loss.item())"}),
    "clean_ranges": Loop("", RANGES),
    "clean_penalty": Loop("", {"loss": "loss = loss + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())"}),

    "loader_sleeps": planted_at("loader", "read", "time.sleep(0.004)"),
    "loader_sleeps_workers": planted_at("workers", "read", "time.sleep(0.05)", **WORKERS),
    "loader_reads": planted_at("loader", "read", "[open(torch.__file__, 'rb').read() for _ in range(40)]"),

    "item": planted_at("item", "loss", "value = loss.item()"),
    "item_float": planted_at("item", "loss", "value = float(loss)"),
    "item_tolist": planted_at("item", "stepped", "values = output.tolist()"),
    "item_print": planted_at("item", "stepped", "print(loss)"),
    "item_numpy": planted_at("item", "loss", "values = output.detach().cpu().numpy()"),
    "item_branch": planted_at("item", "loss", "found = 1 if loss > 100 else 0"),
    "item_accuracy": planted_at("item", "stepped", "right = (output.argmax(1) == labels).sum().item()"),
    "item_workers_adam": planted_at("item", "loss", "value = loss.item()", optimizer="Adam(model.parameters())", **WORKERS),

    "transform_getitem": planted_at("load", "getitem", AUGMENT),
    "transform_getitem_plain": planted_at("load", "getitem", PLAIN_ITEM),
    "transform_collate": planted_at("load", "collate", SORT, loader=LOADER % (0, "collate")),
    "transform_loop": planted_at("transform", "loaded", MIX),
    "transform_loop_plain": planted_at("transform", "loaded", PLAIN),
    "transform_loop_ranges": planted_at("transform", "loaded", MIX, **RANGES),
    "transform_function": planted_at("transform", "prepare", MIX, loaded="images = prepare(images)"),

    "copy_clone": planted_at("copy", "loaded", "images = images.clone().clone().clone()", **LARGE),
    "copy_contiguous": planted_at("copy", "loaded", "images = images.transpose(2, 3).contiguous()", **LARGE),
    "copy_double": planted_at("copy", "loaded", DOUBLE, **LARGE),
    "copy_double_ranges": planted_at("copy", "loaded", DOUBLE, **LARGE, **RANGES),
    "copy_function": planted_at("copy", "prepare", LAYOUT, loaded="images = prepare(images)", **LARGE),
}


def source(loop):
    return PROGRAM.format(**{**USUAL, **loop.parts})


def planted(text):
    """(first line, last line, name) of the innermost function around the planted line."""
    line = next(i for i, row in enumerate(text.splitlines(), 1) if row.endswith(MARK))
    around = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and
              node.lineno <= line <= node.end_lineno]
    inner = max(around, key=lambda node: node.lineno)
    return inner.lineno, inner.end_lineno, inner.name
