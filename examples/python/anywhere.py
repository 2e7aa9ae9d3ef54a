"""Memory on the GPU of this machine, or on a simulated one of 24 GiB where there is none."""
import contextlib

from vramscope import sim

try:
    import torch
    HAS_GPU = torch.cuda.is_available()
except ImportError:
    HAS_GPU = False
SIMULATED = None if HAS_GPU else sim.Device("24GiB", history=0)


def device():
    """For `with`: the simulated device is the one that is asked, a real one is so anyhow."""
    return contextlib.nullcontext() if HAS_GPU else SIMULATED


def tensor(mib):
    """So many MiB, for as long as the result lives."""
    if HAS_GPU:
        return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
    return SIMULATED.alloc(mib << 20)
