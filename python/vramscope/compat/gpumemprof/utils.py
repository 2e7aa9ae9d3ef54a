"""Sizes as text and in other units, and advice from shares of a device's memory (row B59)."""
from __future__ import annotations

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["convert_bytes", "format_bytes", "suggest_memory_optimization"]

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def format_bytes(bytes_value: float, precision: int = 2) -> str:
    """Bytes with a unit, in steps of 1024.

    >>> format_bytes(3 << 30)
    '3.00 GB'
    """
    if bytes_value == 0:
        return "0 B"
    size, step = float(bytes_value), 0
    while size >= 1024 and step < len(_UNITS) - 1:
        size, step = size / 1024, step + 1
    return f"{size:.{precision}f} {_UNITS[step]}"


def convert_bytes(value: float, from_unit: str, to_unit: str) -> float:
    """A size in another unit: B, KB, MB, GB or TB, in steps of 1024.

    >>> convert_bytes(1.5, "GB", "MB")
    1536.0
    """
    units = _UNITS[:-1]
    if from_unit not in units or to_unit not in units:
        raise ValueError(f"Invalid unit. Must be one of: {list(units)}")
    steps: int = units.index(from_unit) - units.index(to_unit)
    return value * 1024.0 ** steps


# Share, whether more or less than the limit is told, limit, text.
_ADVICE = (
    ("fragmentation_ratio", "above", 0.3,
     "Much of what is reserved lies in unused parts of blocks. Fewer different sizes of tensors, "
     "or expandable_segments:True, leave fewer of them."),
    ("utilization_ratio", "above", 0.9,
     "The device is nearly full. A smaller batch, activation checkpointing or a model on several "
     "devices needs less of it."),
    ("waste_ratio", "above", 0.2,
     "Much is reserved and not allocated. torch.cuda.empty_cache() gives it back; sizes that "
     "change less from step to step let it be used again."),
    ("utilization_ratio", "below", 0.3,
     "Most of the device is unused. A larger batch or model would fit."),
)
_GENERAL = [
    "Run inference under torch.no_grad(), which keeps no activations.",
    "Use mixed precision (torch.autocast), which halves most activations.",
    "Measure several places of the program to see which one needs the memory.",
    "Delete large tensors with del once they are no longer needed.",
]


def suggest_memory_optimization(fragmentation_info: Mapping[str, float | None]) -> list[str]:
    """Advice for the shares of a dict as check_memory_fragmentation gives it, then four hints.

    A share that is missing counts as 0, as in the original; one that is None is left out.
    """
    told = []
    for name, side, limit, text in _ADVICE:
        share = fragmentation_info.get(name, 0)
        if share is not None and (share > limit if side == "above" else share < limit):
            told.append(text)
    return told + _GENERAL
