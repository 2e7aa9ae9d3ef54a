"""Recordings whose process told what its memory is: the key `vramscope`, docs/formats.md."""
import pickle

from recordings import writers

LATER_THAN_ALL = 1 << 60  # microseconds: a list that was begun behind all events of its recording


def in_use(recording):
    """What is in use at the end: (device, address, bytes of the block, of the request), as it lies in the segments."""
    found = []
    for segment in recording["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found.append((segment["device"], block.get("address", at), block["size"], block["requested_size"]))
            at += block["size"]
    return found


def with_tensors(recording, tensors, dropped=0):
    """The same recording with a list of names: by the MiB of a request what is said of it."""
    entries = []
    for device, address, size, requested in in_use(recording):
        tensor = tensors.get(requested >> 20)
        if tensor:
            entries.append(dict({"device": device, "address": address, "bytes": size, "kind": "tensor"}, **tensor))
    return dict(recording, vramscope={"schema": "vramscope.extra/1",
                                      "names": {"time_us": LATER_THAN_ALL, "dropped": dropped, "tensors": entries}})


def written(folder, source, tensors, name="named.pickle"):
    """The path of a recording, `source`, that has these names."""
    path = folder / name
    path.write_bytes(writers.pickled(with_tensors(pickle.loads(source.read_bytes()), tensors), 4))
    return path


# Six blocks that stay, each of a size of its own.
LAYERS = """stack init model.py:3 build < run.py:12 main
stack work model.py:7 forward < run.py:20 main
alloc a 20MiB init
alloc b 22MiB init
alloc c 24MiB init
alloc d 26MiB work
alloc e 28MiB work
alloc t 64MiB work
free t work
alloc f 30MiB work
"""
TENSORS = {
    20: {"kind": "parameter", "name": "model.layers.0.weight", "shape": [4096, 11008], "dtype": "torch.bfloat16",
         "of": "Llama", "shared": ["lm_head.weight", "head.tied"]},
    22: {"kind": "buffer", "name": "model.rotary.inv_freq", "shape": [], "dtype": "float32"},
    24: {"kind": "gradient", "name": "grad of model.layers.0.weight", "shape": [4096, 11008], "dtype": "bfloat16"},
    28: {"kind": "optimizer_state", "name": "optimizer.exp_avg of model.layers.0.weight", "shape": [7], "dtype": "int8"},
    30: {"kind": "of a later program", "name": "train.cache"},
}
