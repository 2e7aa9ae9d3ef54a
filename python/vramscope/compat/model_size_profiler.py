"""ModelSizeProfiler, drop-in: parameters of modules and the megabytes (2**20 bytes) they take.

Names, figures and texts are those of the original, rows A17 to A23 of docs/conformance.md, its
traps among them: tied tensors are counted in each leaf that has them, parameters that a module
holds beside its children stand in no table, and a model without children has an empty one.
`vramscope.model_size` counts each storage once and has totals that add up.

>>> class Weight:
...     requires_grad = True
...     def numel(self): return 3 << 20
...     def element_size(self): return 4
>>> class Layer:
...     def parameters(self): return [Weight()]
...     def buffers(self): return []
>>> ModelSizeProfiler().profile_module(Layer())["param_memory_mb"]
12.0
"""
from __future__ import annotations

from vramscope import _core
from vramscope.compat._printing import out as _out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["ModelSizeProfiler", "profile_model_size"]

_MIB = 1 << 20
_RULE, _THIN = "=" * 80, "-" * 80


class ModelSizeProfiler:
    """Counts and bytes of a model's parameters and buffers.

    module_stats: what `profile_module` found last, by name.
    """

    def __init__(self) -> None:
        self.module_stats: dict[str, dict[str, Any]] = {}

    def profile_module(self, module: Any, name: str = "Model") -> dict[str, Any]:
        """The figures of one module and all below it, as a dict.

        Each parameter of `module.parameters()` counts once; the memory is elements times the size
        of an element, in units of 2**20 bytes.
        """
        counts, parameters = {True: 0, False: 0}, list(module.parameters())
        for parameter in parameters:
            counts[bool(parameter.requires_grad)] += parameter.numel()
        parameter_bytes = _core._tensor_bytes(*parameters)
        buffer_bytes = _core._tensor_bytes(*module.buffers())
        found = {
            "name": name,
            "total_params": counts[True] + counts[False],
            "trainable_params": counts[True],
            "frozen_params": counts[False],
            "param_memory_mb": parameter_bytes / _MIB,
            "buffer_memory_mb": buffer_bytes / _MIB,
            "total_memory_mb": (parameter_bytes + buffer_bytes) / _MIB,
            "submodules": {},
        }
        self.module_stats[name] = found
        return found

    def print_model_summary(self, model: Any, detailed: bool = False) -> None:
        """Prints the figures of the whole model; `detailed`: and those of its direct children."""
        whole = self.profile_module(model, "Overall Model")
        _out(f"\n{_RULE}\nMODEL SIZE PROFILING SUMMARY\n{_RULE}\n\nOverall Statistics:")
        for label, key in (("Total", "total"), ("Trainable", "trainable"), ("Frozen", "frozen")):
            _out("  %-22s%s" % (label + " Parameters:", format(whole[key + "_params"], ",")))
        for label, key in (("Parameter", "param"), ("Buffer", "buffer"), ("Total", "total")):
            _out("  %-22s%.2f MB" % (label + " Memory:", whole[key + "_memory_mb"]))
        if detailed:
            _out(f"\n{_THIN}\nTop-Level Module Breakdown:")
            self._print_table("Module", 40, model.named_children(), None)
        _out(_RULE + "\n")

    def print_detailed_breakdown(self, model: Any, top_n: int = 10) -> None:
        """Prints the `top_n` largest modules that have a name and no children."""
        _out(f"\n{_RULE}\nTOP {top_n} LARGEST MODULES\n{_RULE}")
        leaves = ((name, module) for name, module in model.named_modules()
                  if name and not any(True for _ in module.children()))
        self._print_table("Module Path", 50, leaves, top_n)
        _out(_RULE + "\n")

    def _print_table(self, heading: str, width: int,
                     modules: Iterable[tuple[str, Any]], most: int | None) -> None:
        _out("%-*s %15s %15s\n%s" % (width, heading, "Params", "Memory (MB)", _THIN))
        rows = [self.profile_module(module, name) for name, module in modules]
        rows.sort(key=lambda row: row["total_memory_mb"], reverse=True)
        for row in rows[:most]:
            _out("%-*s %15s %15.2f" % (width, row["name"], format(row["total_params"], ","),
                                       row["total_memory_mb"]))


def profile_model_size(model: Any, detailed: bool = True) -> ModelSizeProfiler:
    """Prints the summary of a model, `detailed` with its 15 largest leaves."""
    profiler = ModelSizeProfiler()
    profiler.print_model_summary(model, detailed=detailed)
    if detailed:
        profiler.print_detailed_breakdown(model, top_n=15)
    return profiler
