"""Watches a program on meta tensors: each new storage is an allocation, its end a free.

A dispatch mode sees every operator below autograd; weak references to storages tell when they go.
What real kernels ask for besides their results is put in: workspaces of matrix products.  What
only a dispatch mode causes is taken out: sums of gradients that a GPU makes in place.
"""
import weakref
from contextlib import contextmanager

import torch
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import kernels, native
from .stacks import Stacks
from .truth import Truth, by_life

OUT_OF_PLACE = {"add", "scatter"}  # of gradients, under a dispatch mode alone
SUMS = {"SumBackward0", "SumBackward1", "ExpandBackward0", "MeanBackward0", "MeanBackward1"}
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm"}
DEVICE = torch.device("meta")


class Allocation:
    """One storage: when it was born and died (numbers of events), and where."""

    __slots__ = ("number", "event", "died", "size", "born", "address", "node")

    def __init__(self, number, event, size, born, address, node):
        self.number, self.event, self.size, self.born, self.address = number, event, size, born, address
        self.died, self.node = None, node


class Recorder(TorchDispatchMode):
    def __init__(self, marks=False, workspace=kernels.CUBLAS_BYTES, stacks=None):
        super().__init__()
        self.marks, self.regions, self.workspace = marks, [], workspace
        self.stacks, self.truth = stacks or Stacks(), Truth(self.number_of)
        self.events, self.allocations, self.annotations = [], [], []
        self.live = {}                           # address of a C++ storage -> Allocation
        self.watched = {}                        # number -> weak reference to the storage
        self.pending = None                      # a sum of gradients that may have been in place
        self.reduced = None                      # the node whose gradients were summed last
        self.unpacked = None                     # the storage whose saved tensor went last
        self.products = set()                    # threads that have a workspace of cuBLAS
        self.backward_calls, self.optimizer_calls = 0, 0
        self.backwards, self.ranges = [], []
        self.first, self.keeps_stacks = 0, False  # event at which the recording begins
        self.address, self.now_us, self.on = 1 << 40, 1767258000000000, True

    # Births.

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return {torch.bool: False}.get(args[0].dtype, 0 if not args[0].is_floating_point() else 0.0)
        name = func.overloadpacket.__name__
        if name in ("uniform_", "normal_") and not args[0].is_meta:
            return args[0]  # values of the host are never looked at
        self.settle()
        if name == "_to_copy" and args[0].is_meta and (kwargs or {}).get("device", DEVICE) != DEVICE:
            return torch.empty_like(args[0], dtype=kwargs.get("dtype"), device=kwargs["device"])
        if name == "copy_" and args[1].is_meta and not args[0].is_meta:
            return args[0]  # to the host: nothing to copy
        result = func(*args, **(kwargs or {}))
        if name.startswith("_record_function_"):
            self.annotate(name, args)
        if self.on:
            fresh = [t for t in _pytree.tree_leaves(result) if isinstance(t, torch.Tensor) and self.is_new(t)]
            for tensor in fresh:
                self.birth(tensor, name, args)
            if fresh or name in PRODUCTS:
                self.scratch(name, args)
        return result

    def annotate(self, name, args):
        """record_function, such as optimizers have around `step`; regions close innermost first."""
        if name.startswith("_record_function_enter"):
            self.regions.append(args[0])
        stage, region = ("START", self.regions[-1]) if "enter" in name else ("END", self.regions.pop())
        if self.marks and self.on:
            self.now_us += 5
            self.annotations.append({"stage": stage, "name": region, "device": 0, "time_us": self.now_us})

    def is_new(self, tensor):
        if tensor.device != DEVICE or tensor.layout != torch.strided:
            return False
        storage = tensor.untyped_storage()
        return storage.nbytes() > 0 and storage._cdata not in self.live

    def birth(self, tensor, name, args):
        in_engine = torch._C._current_autograd_node() is not None
        keys, cpp = self.stack_of_request(name, in_engine)
        summed = self.terms(args) if in_engine and name in OUT_OF_PLACE else ()
        storage = tensor.untyped_storage()
        if summed:
            self.pending = (weakref.ref(storage), storage.nbytes(), cpp, keys, summed)
            return
        size = kernels.bytes_of_result(name, args, tensor)
        self.begin(storage, size, self.stacks.mixed(cpp, keys, in_engine), self.where(in_engine))
        given = [t for t in _pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
        if name == "_to_copy" and given[0].device.type == "cpu":
            self.truth.say(self.live[storage._cdata].number, "input")
        elif not given and not in_engine:
            self.truth.say(self.live[storage._cdata].number, "other")

    def stack_of_request(self, name, in_engine):
        keys = self.stacks.python(in_engine)
        cpp = native.REQUEST + native.EMPTY + native.operator(name)
        if in_engine and not keys:
            node = torch._C._current_autograd_node().name()
            if name == "sum" and node not in SUMS:
                self.reduced = self.node_call()
                return keys, cpp + native.REDUCE_GRAD
            return keys, cpp + (native.SUM_OF_GRADIENTS if name == "add" else native.node(node))
        return keys, cpp + native.binding(name)

    @staticmethod
    def node_call():
        """Which node of the graph runs; None outside the engine."""
        node = torch._C._current_autograd_node()
        return None if node is None else (node.name(), node._sequence_nr())

    def where(self, in_engine):
        """The phase, by who is running: the engine, an optimizer (without a closure), else the program."""
        if in_engine or self.backward_calls:
            return "backward"
        if self.optimizer_calls and not torch.is_grad_enabled():
            return "optimizer"
        return "forward"

    def begin(self, storage, size, frames, born):
        one = Allocation(len(self.allocations), len(self.events), size, born, self.address, self.node_call())
        self.address += -(-size // 512) * 512
        self.allocations.append(one)
        self.event("alloc", one, frames)
        if storage is not None:
            self.live[storage._cdata] = one
            self.watch(storage, one)
        return one

    def watch(self, storage, one):
        key = storage._cdata
        self.watched[one.number] = weakref.ref(storage, lambda _: self.death(one, key))

    # A dispatch mode makes autograd add gradients out of place, where a GPU adds in place when
    # nobody else holds one of them: then it dies at once, and the sum takes its place.

    def terms(self, args):
        found = [self.live.get(t.untyped_storage()._cdata) for t in args if isinstance(t, torch.Tensor)]
        return [one for one in found if one is not None]

    def settle(self):
        """The sum before this operator was not in place."""
        if self.pending:
            made, size, cpp, keys, _ = self.pending
            self.pending, storage = None, made()
            if storage is not None:
                self.begin(storage, size, self.stacks.mixed(cpp, keys, True), "backward")

    def in_place(self, one):
        if not self.pending or one not in self.pending[4] or one.size != self.pending[1]:
            return False
        storage = self.pending[0]()
        self.pending = None
        if storage is None:
            return False
        self.live[storage._cdata] = one
        self.watch(storage, one)
        return True

    # Deaths.

    def death(self, one, key):
        del self.live[key]
        if not self.on or self.in_place(one):
            return
        graph = self.unpacked == one.number
        self.unpacked = None
        in_engine = torch._C._current_autograd_node() is not None
        keys = self.stacks.python(in_engine)
        cpp = native.RELEASE + native.TENSOR_ENDS + self.who_lets_go(one, in_engine, graph, keys)
        one.died = len(self.events)
        frames = self.stacks.mixed(cpp, keys, in_engine)
        self.event("free_requested", one, frames)
        self.event("free_completed", one, frames)

    def who_lets_go(self, one, in_engine, graph, keys):
        if in_engine and not keys:
            node = torch._C._current_autograd_node().name()
            if graph:
                return native.release_variables(node)
            if "AccumulateGrad" in node:
                return native.GRADIENT_ADDED
            if one.node == self.node_call() != self.reduced:
                return native.node(node)  # a variable of the node's own
            return native.GRADIENTS_END
        if graph:
            return native.release_variables("AddmmBackward0") + native.GRAPH_DROPPED
        if self.truth.labels.get(one.number) == "gradient":
            return native.SET_GRAD
        return native.PYTHON_LETS_GO

    # The graph.

    def pack(self, tensor):
        """A tensor is saved for the backward."""
        return self.saved(tensor.detach())

    def saved(self, packed):
        number = self.number_of(packed)
        if number is not None and self.on:
            self.truth.say(number, "activation")
            weakref.finalize(packed, self.saved_goes, number)
        return packed

    def saved_goes(self, number):
        self.settle()
        self.unpacked = number

    # What kernels ask for besides their results.

    def scratch(self, name, args):
        """Buffers of one call, freed when it ends, and the workspace that a thread keeps from its first product on."""
        in_engine = torch._C._current_autograd_node() is not None
        keys, cpp = self.stack_of_request(name, in_engine)
        tail = cpp[len(native.REQUEST + native.EMPTY):]
        held = []
        for size, label, owner in kernels.scratch_of(name, args):
            frames = self.stacks.mixed(native.REQUEST + owner + tail, keys, in_engine)
            one = self.begin(None, size, frames, "workspace" if label else self.where(in_engine))
            if label:
                self.truth.say(one.number, label)
            held.append((one, self.stacks.mixed(native.RELEASE + owner + tail, keys, in_engine)))
        if name in PRODUCTS and in_engine not in self.products:
            self.products.add(in_engine)
            owner = native.NEW_WORKSPACE + native.LT_WORKSPACE if held and name == "addmm" else native.CUBLAS_WORKSPACE
            frames = self.stacks.mixed(native.REQUEST + owner + tail, keys, in_engine)
            self.truth.say(self.begin(None, self.workspace, frames, "workspace").number, "workspace")
        for one, frames in reversed(held):
            one.died = len(self.events)
            self.event("free_requested", one, frames)
            self.event("free_completed", one, frames)

    # Events and what is asked of them.

    def event(self, action, one, frames):
        self.now_us += 10 + (one.size >> 20)
        self.events.append({"action": action, "addr": one.address, "size": one.size, "stream": 0,
                            "time_us": self.now_us, "compile_context": "N/A", "user_metadata": "",
                            "pool_id": (0, 0), "frames": frames})

    def number_of(self, tensor):
        if not isinstance(tensor, torch.Tensor) or tensor.device != DEVICE or tensor.layout != torch.strided:
            return None
        one = self.live.get(tensor.untyped_storage()._cdata)
        return one.number if one is not None else None

    @contextmanager
    def range(self, kind):
        """A step or pass of the program, as a range of events."""
        begin = len(self.events)
        yield
        self.settle()
        self.ranges.append((kind, begin, len(self.events)))

    def peak(self):
        """The most bytes that were requested at once, from where the recording begins."""
        now = most = 0
        for number, event in enumerate(self.events):
            now += {"alloc": event["size"], "free_completed": -event["size"]}.get(event["action"], 0)
            if number + 1 >= self.first:
                most = max(most, now)
        return most

    def labels(self, end):
        """The label of every allocation of a recording that ends at event `end`."""
        found, backwards = self.truth.labels, [b for b in self.backwards if b < end]
        passes = [(begin, stop) for _, begin, stop in self.ranges]
        return [found.get(a.number) or by_life(a, backwards, passes, end) for a in self.allocations]
