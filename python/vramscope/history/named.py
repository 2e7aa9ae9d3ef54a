"""Names of live device memory: which tensor, or simulated Handle, lies at which address.

A snapshot has addresses and stacks; the process that writes it also knows modules, optimizers and
variables.  One pass over the objects of the garbage collector finds them; nothing is kept.
"""
from __future__ import annotations

import gc
import sys
import time

from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator
    from types import FrameType
    from typing import Any

    from vramscope.history.recording import Source

    _Entry = dict[str, Any]
    _Key = tuple[int, int]  # device, address

__all__ = ["Names", "names"]

SCHEMA = "vramscope.extra/1"
ENTRIES_MOST = 1_000_000
REFERRERS_OF = 200  # the largest without a name are looked up among what refers to them
FRAMES_MOST = 200
OPTIMIZED = 0x1  # CO_OPTIMIZED: locals of a function, of which frame.f_locals is a copy
WRAPPERS = ("_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module.")
PARALLEL = ("DistributedDataParallel", "DataParallel")


class Names:
    """What was found: `tensors`, the largest first, each a dict; `dropped` of them are left out.

    Sizes are in bytes, as the storages have them. time_us: when the search began, by the clock of
    a snapshot's events. to_dict() is the key `vramscope` of a snapshot.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     weights = device.alloc("1GiB", tag="weights")
    ...     names = vramscope.names()
    >>> len(names), names.to_dict()["names"]["tensors"][0]["bytes"]
    (1, 1073741824)
    >>> names
    <Names of 1 tensor in 1.00 GiB, the largest 'weights' with 1.00 GiB>
    """

    def __init__(self, tensors: list[_Entry], dropped: int, time_us: int) -> None:
        self.tensors, self.dropped, self.time_us = tensors, dropped, time_us

    def __len__(self) -> int:
        return len(self.tensors)

    def __iter__(self) -> Iterator[_Entry]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        size = _core._size_text
        all_bytes = size(sum(entry["bytes"] for entry in self.tensors))
        text = f"<Names of {len(self):,} tensor{'s' if len(self) != 1 else ''} in {all_bytes}"
        if self.tensors:
            largest = self.tensors[0]
            text += f", the largest {largest['name']!r} with {size(largest['bytes'])}"
        return text + (f"; {self.dropped:,} are left out>" if self.dropped else ">")

    def to_dict(self) -> dict[str, Any]:
        """The key `vramscope` of a snapshot."""
        return {"schema": SCHEMA, "names": {"time_us": self.time_us, "dropped": self.dropped,
                                            "tensors": self.tensors}}


class _Search:
    """One pass: what is found, by (device, address)."""

    def __init__(self, seconds: float | None, kinds: Collection[str],
                 source: Source | None) -> None:
        # Addresses of one device mean nothing on another: simulated ones begin alike.
        self.all, self.device = source is None, getattr(source, "device", None)
        self.end = None if seconds is None else time.monotonic() + seconds
        self.kinds = kinds  # kinds of devices whose tensors count
        self.found: dict[_Key, _Entry] = {}
        self.objects: dict[_Key, list[Any]] = {}  # objects that are this memory
        self.variables: dict[int, str] = {}  # id of an object: the variable that holds it
        self.modules: list[Any] = []
        self.optimizers: list[Any] = []
        self.cut = False

    def late(self) -> bool:
        if self.end is not None and time.monotonic() > self.end:
            self.cut = True
        return self.cut

    def collect(self) -> None:
        """Sorts the collector's objects by their classes; asks no object for its __class__."""
        torch = sys.modules.get("torch") if self.device is None else None
        tensor = getattr(torch, "Tensor", None)
        module = getattr(getattr(torch, "nn", None), "Module", None)
        optimizer = getattr(getattr(torch, "optim", None), "Optimizer", None)
        what: dict[type, str] = {}
        for place, thing in enumerate(gc.get_objects()):
            if place % 1000 == 0 and self.late():
                break
            cls = type(thing)
            kind = what.get(cls)
            if kind is None:
                mro = cls.__mro__
                kind = what[cls] = ("handle" if cls is _core.Handle else
                                    "tensor" if tensor in mro else
                                    "module" if module in mro else
                                    "optimizer" if optimizer in mro else "other")
            if kind == "other":
                continue
            if kind == "handle":
                self.add_handle(thing)
            elif kind == "tensor":
                self.add_tensor(thing)
            else:
                (self.modules if kind == "module" else self.optimizers).append(thing)

    def add_handle(self, handle: _core.Handle) -> None:
        if handle.live and (self.all or handle.owner is self.device):
            # An empty tag is no name: a variable may have one.
            self.put({"device": handle.device, "address": handle.address, "bytes": handle.bytes,
                      "kind": "tensor", "name": handle.tag or None}, handle)

    def add_tensor(self, tensor: Any) -> _Entry | None:
        """An entry without a name; None where it is not in memory of such a device."""
        from vramscope import _torch
        place = _torch.storage_of(sys.modules["torch"], tensor, self.kinds)
        if place is None:
            return None
        device, address, size = place
        entry = {"device": device, "address": address, "bytes": size, "kind": "tensor",
                 "name": None, "shape": list(tensor.shape),
                 "dtype": str(tensor.dtype).removeprefix("torch.")}
        return self.put(entry, tensor)

    def put(self, entry: _Entry, thing: Any) -> _Entry:
        key = entry["device"], entry["address"]
        self.objects.setdefault(key, []).append(thing)
        return self.found.setdefault(key, entry)

    def name(self, tensor: Any, kind: str, name: str, of: str | None = None) -> None:
        """Calls a tensor by a name; a second one for the same memory is listed as shared."""
        entry = self.add_tensor(tensor) if tensor is not None else None
        if entry is None:
            return
        if entry["name"] is None:
            entry.update(kind=kind, name=name, shape=list(tensor.shape),
                         dtype=str(tensor.dtype).removeprefix("torch."))
            if of is not None:
                entry["of"] = of
        elif entry["name"] != name and name not in entry.setdefault("shared", []):
            entry["shared"].append(name)

    def look_at_variables(self) -> None:
        """Names of variables: of functions that are running, of their modules, of __main__."""
        main = sys.modules.get("__main__")
        spaces = {} if main is None else {id(vars(main)): (vars(main), "")}
        # At the end no variable here holds a frame: one of them is this one's.
        frames: list[FrameType | None] = list(sys._current_frames().values())
        while frames:
            frame, depth = frames.pop(), 0
            while frame is not None and depth < FRAMES_MOST:
                module = str(frame.f_globals.get("__name__", ""))
                if not (module + ".").startswith("vramscope."):
                    prefix = "" if module == "__main__" else module + "."
                    spaces.setdefault(id(frame.f_globals), (frame.f_globals, prefix))
                    self.look_at_frame(frame)
                frame, depth = frame.f_back, depth + 1
        for space, prefix in spaces.values():
            for key, value in list(space.items()):
                if type(key) is str and not key.startswith("__"):
                    self.variables.setdefault(id(value), prefix + key)

    def look_at_frame(self, frame: FrameType) -> None:
        code = frame.f_code
        if not code.co_flags & OPTIMIZED:
            return
        held = frame.f_locals
        for key, value in list(held.items()):
            self.variables.setdefault(id(value), f"{code.co_name}.{key}")
        # Before 3.13 the frame keeps this copy, which would keep memory that the program has
        # dropped.  Whoever else holds it, because the program called locals(), keeps it as it is.
        if type(held) is dict and sys.getrefcount(held) <= 3:
            held.clear()

    def name_modules(self, given: Any) -> None:
        inner = {id(child) for module in self.modules
                 for child in vars(module).get("_modules", {}).values()}
        roots = [given] if given is not None else []
        roots += [m for m in self.modules if id(m) not in inner and m is not given]
        for root in roots:
            if self.late():
                return
            first = self.variables.get(id(root), "model")
            parallel = type(root).__name__ in PARALLEL
            for path, module in root.named_modules():
                path = first + ("." + path if path else "")
                for wrapper in WRAPPERS:
                    path = (path + ".").replace(wrapper, "").removesuffix(".")
                if parallel:
                    path = path.replace(first + ".module", first, 1)
                self.name_module(path, module, type(root).__name__)

    def name_module(self, path: str, module: Any, of: str) -> None:
        own = vars(module)
        for key, parameter in list(own.get("_parameters", {}).items()):
            self.name(parameter, "parameter", f"{path}.{key}", of)
            if parameter is not None and parameter.is_leaf and parameter.grad is not None:
                self.name(parameter.grad, "gradient", f"{path}.{key}.grad", of)
        for key, buffer in list(own.get("_buffers", {}).items()):
            self.name(buffer, "buffer", f"{path}.{key}", of)

    def name_states(self, given: Any) -> None:
        from vramscope import _torch
        for optimizer in ([given] if given is not None else []) + self.optimizers:
            if self.late():
                return
            first = self.variables.get(id(optimizer), "optimizer")
            for parameter, state in list(optimizer.state.items()):
                place = _torch.storage_of(sys.modules["torch"], parameter, self.kinds)
                entry = self.found.get(place[:2]) if place is not None else None
                owner = entry["name"] if entry is not None else None
                for key, value in list(state.items()):
                    if hasattr(value, "untyped_storage"):
                        self.name(value, "optimizer_state",
                                  f"{first}.{key}" + (f" of {owner}" if owner else ""))

    def name_rest(self) -> None:
        """Variables, then for the largest what refers to them."""
        for key, entry in self.found.items():
            for thing in self.objects[key]:
                name = self.variables.get(id(thing))
                if name is None:
                    continue
                if entry["name"] is None:
                    entry["name"] = name
                elif entry["kind"] == "tensor" and entry["name"] != name:
                    entry.setdefault("shared", []).append(name)
        bare = [key for key, entry in self.found.items() if entry["name"] is None]
        bare.sort(key=lambda key: -self.found[key]["bytes"])
        for key in bare[:REFERRERS_OF]:
            if self.late():
                return
            self.found[key]["name"] = self.holder(self.objects[key][0])

    def holder(self, thing: Any) -> str | None:
        """A list, dict or object that refers to it, where that has a name; or None."""
        for holder in gc.get_referrers(thing):
            name, cls = self.variables.get(id(holder)), type(holder)
            if cls in (list, tuple) and name is not None:
                place = next((i for i, one in enumerate(holder) if one is thing), None)
                if place is not None:
                    return f"{name}[{place}]"
            elif cls is dict:
                key = next((k for k, one in list(holder.items()) if one is thing), None)
                if name is not None and type(key) in (str, int):
                    return f"{name}[{key!r}]"
                owner = next((o for o in gc.get_referrers(holder)
                              if id(o) in self.variables and type(o) not in (dict, list)), None)
                if owner is not None and type(key) is str:
                    return f"{self.variables[id(owner)]}.{key}"
            elif getattr(cls, "__dictoffset__", 0) and cls.__module__ != __name__:
                own = object.__getattribute__(holder, "__dict__")
                key = next((k for k, one in list(own.items()) if one is thing), None)
                if key is not None:
                    return f"{name or cls.__qualname__}.{key}"
        return None


def find(*, model: Any = None, optimizer: Any = None, seconds: float | None = None,
         kinds: Collection[str] = ("cuda",), source: Source | None = None) -> Names:
    """Names of what is alive now; what is missing after `seconds` of search is counted.

    source: whose memory it is; None: of every device.
    """
    # First of all: what is allocated from here on may take the place of what is found.
    time_us = time.time_ns() // 1000 if source is None else source.time_us()
    search = _Search(seconds, kinds, source)
    search.collect()
    search.look_at_variables()
    if sys.modules.get("torch") is not None and search.device is None:
        search.name_modules(model)
        search.name_states(optimizer)
    search.name_rest()
    listed = sorted(search.found.values(), key=lambda entry: -entry["bytes"])
    named = [entry for entry in listed if entry["name"] is not None]
    for entry in named:
        entry["name"] = str(entry["name"])
    kept = named[:ENTRIES_MOST]
    return Names(kept, len(listed) - len(kept), time_us)


def names(path: str | os.PathLike[str] | None = None, *, model: Any = None,
          optimizer: Any = None) -> Names:
    """What is alive on the devices, by name: a Names; with a path also as a JSON file there.

    model, optimizer: whose parameters, gradients and states are told by name; where they are not
    given, modules and optimizers are found among all objects.

    >>> from vramscope import names, sim
    >>> device = sim.Device("1GiB")
    >>> weights = device.alloc("400MiB", tag="weights")
    >>> [(entry["name"], entry["bytes"]) for entry in names() if entry["name"] == "weights"]
    [('weights', 419430400)]
    """
    made = find(model=model, optimizer=optimizer)
    if path is not None:
        import json
        from vramscope.history import recording
        text = json.dumps(made.to_dict(), indent=1, ensure_ascii=True)
        recording.write_text(path, text)
    return made
