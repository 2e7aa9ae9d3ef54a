"""A stand-in for torch, for tests on machines without a GPU: strict where the real one is.

`torch_forms` has the functions that a profiler calls, in the forms of five releases; `tensors` has
tensors and modules enough for the programs of the documents; `timing` events; `profiler` its operators; `counters` a device that counts.
"""
import contextlib
import sys

from . import profiler, tensors, timing, torch_forms
from .counters import Counters

try:
    from vramscope import _torch
except ImportError:  # a program that runs without it
    pass
else:
    def has_driver(torch, of_the_machine=_torch.has_driver):
        """The stand-in brings its driver with it."""
        made = getattr(torch.cuda, "stand_in", None)
        return made.driver if made is not None else of_the_machine(torch)
    _torch.has_driver = has_driver


@contextlib.contextmanager
def installed(form="2.15", devices=None, driver=True):
    """`torch` is the stand-in meanwhile; yields it."""
    cuda = torch_forms.Cuda(form, [Counters()] if devices is None else devices, driver)
    modules = cuda.modules()
    modules.update(tensors.add_to(modules["torch"], cuda))
    modules.update(timing.add_to(modules["torch"], cuda))
    profiler.add_to(modules["torch"], cuda)
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torch"}
    for name in kept:
        del sys.modules[name]
    sys.modules.update(modules)
    try:
        yield modules["torch"]
    finally:
        for name in modules:
            del sys.modules[name]
        sys.modules.update(kept)
        tensors.Tensor.cuda_state = None
