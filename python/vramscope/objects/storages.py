"""A tensor of torch as rows of the core: the dense tensors it is made of, and their storages.

torch is never imported here: whoever has a tensor has imported it.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vramscope import _core

# Numbers of enum vrs_tensor_kind.
PARAMETER, GRADIENT, OPTIMIZER_STATE, BUFFER, OTHER = range(5)

# Of each sparse layout the dense tensors that it consists of.
_SPARSE = {
    "torch.sparse_coo": ("_indices", "_values"),
    "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
}


def is_lazy(tensor: Any) -> bool:
    """Whether it is a parameter or a buffer of a lazy module, which has no shape yet."""
    return any(cls.__name__ == "UninitializedTensorMixin" for cls in type(tensor).__mro__)


def is_sharded(tensor: Any) -> bool:
    """Whether it is a DTensor, of which this process has a part."""
    return hasattr(tensor, "to_local") and hasattr(tensor, "placements")


def pieces(tensor: Any) -> Iterator[Any]:
    """The dense tensors that it is made of: itself, or those of a sparse one or a wrapper."""
    inner = getattr(tensor, "__tensor_flatten__", None)
    if inner is not None:
        for part in (getattr(tensor, name) for name in inner()[0]):
            if hasattr(part, "untyped_storage"):
                yield from pieces(part)
    else:
        parts = _SPARSE.get(str(tensor.layout))
        plain = tensor.detach() if parts else tensor
        yield from (getattr(plain, part)() for part in parts) if parts else (tensor,)


def _memory(tensor: Any) -> tuple[int, int, int | None, int]:
    """(bytes, key of the storage, bytes of the storage, offset in it); one that is opaque is its
    own."""
    size = _core._tensor_bytes(tensor)
    try:
        storage = tensor.untyped_storage()
        offset = tensor.storage_offset() * tensor.element_size()
        return size, storage._cdata, storage.nbytes(), offset
    except (NotImplementedError, RuntimeError):
        return size, id(tensor), size, 0


def rows(tensor: Any, owner: int, name: str, kind: int,
         keep: list[Any]) -> Iterator[tuple[Any, ...]]:
    """What `_core.model_size` and `_core.tensors` take.  keep: holds what keys are made of."""
    keep.append(tensor)
    trainable = bool(tensor.requires_grad)
    if is_lazy(tensor):
        yield (owner, name, "", "", str(tensor.device), kind, trainable, None, None, None,
               id(tensor), None, 0)
        return
    elements = 0 if is_sharded(tensor) else tensor.numel()
    shape, dtype = str(tuple(tensor.shape)), str(tensor.dtype).removeprefix("torch.")
    full = _core._tensor_bytes(tensor) if is_sharded(tensor) else None
    for number, piece in enumerate(pieces(tensor)):
        keep.append(piece)
        size, key, storage_bytes, offset = _memory(piece)
        count = piece.numel() if is_sharded(tensor) else elements if number == 0 else 0
        whole = size if full is None else full if number == 0 else 0
        yield (owner, name, shape, dtype, str(piece.device), kind, trainable, count, size, whole,
               key, storage_bytes, offset)
