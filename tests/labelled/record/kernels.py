"""What kernels of a GPU ask for and meta tensors do not, by operator.

Each row is seen in a shared recording: unreduced losses in toy_mlp_short.pickle, the staging of full
reductions and copies of expanded operands in peak_memory_probe.pickle, the workspace of cuBLASLt in
both and in linear_grad_tiny.pkl.
"""
import torch

from . import native

CUBLAS_BYTES, LT_BYTES = 8519680, 1 << 20
# Losses that are computed unreduced: the scalar lives in a storage of the unreduced size.
UNREDUCED = {"mse_loss", "smooth_l1_loss", "binary_cross_entropy", "soft_margin_loss"}
# Full reductions that many blocks of threads share need a buffer for their parts and a semaphore.
REDUCTIONS = {"sum", "mean", "linalg_vector_norm", "max", "min", "amax", "amin"}
SHARED_FROM, PER_BLOCK, MOST_BLOCKS = 1 << 17, 1 << 13, 528


def reduces_loss(name, args):
    """The reduction of a loss, 1 (mean) unless given, is its last integer."""
    return name in UNREDUCED and next((a for a in reversed(args) if isinstance(a, int)), 1) != 0


def bytes_of_result(name, args, tensor):
    """How large the storage of a result is on a GPU."""
    if reduces_loss(name, args):
        return args[0].numel() * args[0].element_size()
    return tensor.untyped_storage().nbytes()


def expanded(tensor):
    return isinstance(tensor, torch.Tensor) and any(
        stride == 0 and size > 1 for stride, size in zip(tensor.stride()[-2:], tensor.shape[-2:]))


def scratch_of(name, args):
    """(bytes, label or None, frames) of what one call asks for after its result and frees at its end."""
    if name == "addmm":
        if min(args[2].shape) < 2:  # cuBLASLt is not asked then
            return []
        return [(LT_BYTES, "workspace", native.LT_WORKSPACE)]
    if reduces_loss(name, args):
        return [(args[0].numel() * args[0].element_size(), None, native.EMPTY)]
    if name in ("bmm", "baddbmm"):
        return [(t.numel() * t.element_size(), None, native.EMPTY) for t in args if expanded(t)]
    if name in REDUCTIONS and not any(isinstance(a, (list, tuple, int)) for a in args[1:]):
        count = args[0].numel()
        if count >= SHARED_FROM:
            parts = min(count // PER_BLOCK, MOST_BLOCKS)
            return [(parts * args[0].element_size(), None, native.EMPTY), (4, None, native.EMPTY)]
    return []
