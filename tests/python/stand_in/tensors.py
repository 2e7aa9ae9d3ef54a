"""Tensors and modules of the stand-in, enough for the programs of the documents.

No value is computed: a tensor has a shape, a dtype and a device, and its memory on a device lives
as long as it does.  A gradient is as large as its parameter; a backward makes those of all leaves.
"""
import math
import types
import weakref


class Dtype:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __repr__(self):
        return "torch." + self.name


FLOAT32, FLOAT16, INT8 = Dtype("float32", 4), Dtype("float16", 2), Dtype("int8", 1)


class Device:
    def __init__(self, text="cpu"):
        self.type, _, number = str(text).partition(":")
        self.index = int(number) if number else None

    def __str__(self):
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)

    def __eq__(self, other):
        return str(self) == str(other)

    __hash__ = None


class Tensor:
    cuda_state = None  # the torch_forms.Cuda whose devices tensors live on
    gradients = True  # what is made knows what it was made of

    def __init__(self, shape, dtype=FLOAT32, device="cpu", leaves=()):
        self.shape, self.dtype, self.device = tuple(shape), dtype, Device(device)
        self.requires_grad, self.grad, self.leaves = False, None, list(leaves)
        if self.device.type == "cuda":
            number = self.device.index or 0
            handle = self.cuda_state.allocate(number, self.nelement() * self.element_size())
            weakref.finalize(self, self.cuda_state.devices[number].free, handle)

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def nelement(self):
        return math.prod(self.shape)

    numel = nelement

    def size(self, dim):
        return self.shape[dim]

    def element_size(self):
        return self.dtype.itemsize

    def made(self, shape, *others):
        below = [leaf for t in (self, *others) for leaf in ([t] if t.requires_grad else t.leaves)]
        below = below if self.gradients else []
        return Tensor(shape, self.dtype, self.device, below)

    def cuda(self, device="cuda:0", non_blocking=False):
        return self.to(device)

    def to(self, device=None, non_blocking=False):
        return self if self.device == device else self._at(device)

    def _at(self, device):
        there = Tensor(self.shape, self.dtype, device)
        there.requires_grad = self.requires_grad
        return there

    def __matmul__(self, other):
        return self.made((*self.shape[:-1], other.shape[-1]), other)

    def __add__(self, other):
        return self.made(self.shape, *([other] if isinstance(other, Tensor) else []))

    @property
    def T(self):
        turned = object.__new__(Tensor)  # a view: no memory of its own
        vars(turned).update(vars(self), shape=self.shape[::-1])
        return turned

    def softmax(self, dim):
        return self.made(self.shape)

    def sum(self):
        return self.made(())

    def copy_(self, source):
        """As long as the device below is scripted to take: a thousand bytes in a nanosecond."""
        device = getattr(self.cuda_state.devices[self.device.index or 0], "device", None)
        if device is not None:
            device.advance(self.nelement() * self.element_size() // 1000)
        return self

    def backward(self):
        for leaf in self.leaves:
            leaf.grad = leaf.grad or Tensor(leaf.shape, leaf.dtype, leaf.device)


class Parameter(Tensor):
    def __init__(self, shape, dtype=FLOAT32, device="cpu", requires_grad=True):
        super().__init__(shape, dtype, device)
        self.requires_grad = requires_grad


class NoGrad:
    def __enter__(self):
        self.before, Tensor.gradients = Tensor.gradients, False

    def __exit__(self, *error):
        Tensor.gradients = self.before


class Adam:
    """Its state is twice its parameters, made in the first step."""

    def __init__(self, parameters):
        self.parameters, self.state = list(parameters), {}

    def step(self):
        for p in self.parameters:
            if p.grad is not None and p not in self.state:
                self.state[p] = {name: Tensor(p.shape, p.dtype, p.device) for name in ("exp_avg", "exp_avg_sq")}

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None


class Module:
    """Finds parameters, buffers and children among its attributes; each once, as the real one."""

    training = True

    def __init__(self):
        self.buffer_names = set()

    def register_buffer(self, name, tensor):
        self.buffer_names.add(name)
        setattr(self, name, tensor)

    def named_children(self):
        return [(name, value) for name, value in vars(self).items() if isinstance(value, Module)]

    def children(self):
        return (child for _, child in self.named_children())

    def named_modules(self, prefix="", seen=None):
        seen = set() if seen is None else seen
        if id(self) not in seen:
            seen.add(id(self))
            yield prefix, self
            for name, child in self.named_children():
                yield from child.named_modules(prefix + ("." if prefix else "") + name, seen)

    def tensors(self, wanted):
        found = {}
        for _, module in self.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor) and wanted(module, name, value):
                    found.setdefault(id(value), value)
        return iter(found.values())

    def parameters(self):
        return self.tensors(lambda module, name, value: isinstance(value, Parameter))

    def buffers(self):
        return self.tensors(lambda module, name, value: name in module.buffer_names)

    def cuda(self, device="cuda:0"):
        for _, module in self.named_modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, Parameter):
                    setattr(module, name, Parameter(value.shape, value.dtype, device, value.requires_grad))
        return self

    def to(self, device):
        if all(p.device == Device(device) or str(p.device).split(":")[0] == str(device) for p in self.parameters()):
            return self
        return self.cuda(device)

    def train(self, mode=True):
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def _hook(self, kind, call):
        vars(self).setdefault("hooks", []).append((kind, call))
        return types.SimpleNamespace(remove=lambda: self.hooks.remove((kind, call)))

    def register_forward_pre_hook(self, call):
        return self._hook("before", call)

    def register_forward_hook(self, call):
        return self._hook("after", call)

    def __call__(self, *args):
        hooks = list(vars(self).get("hooks", ()))
        for kind, call in hooks:
            if kind == "before":
                call(self, args)
        result = self.forward(*args)
        for kind, call in hooks:
            if kind == "after":
                call(self, args, result)
        return result


class Linear(Module):
    def __init__(self, inputs, outputs, bias=True, dtype=FLOAT32):
        super().__init__()
        self.weight = Parameter((outputs, inputs), dtype)
        if bias:
            self.bias = Parameter((outputs,), dtype)

    def forward(self, data):
        return data.made((*data.shape[:-1], self.weight.shape[0]), *self.parameters())


def add_to(torch, cuda_state):
    """Gives the module `torch` tensors, and nn; returns what sys.modules has to know besides."""
    Tensor.cuda_state = cuda_state
    nn = types.ModuleType("torch.nn")
    vars(nn).update(Module=Module, Linear=Linear, Parameter=Parameter)
    optim = types.SimpleNamespace(Adam=Adam)
    vars(torch).update(Tensor=Tensor, nn=nn, no_grad=NoGrad, optim=optim, device=Device, float32=FLOAT32, float16=FLOAT16, int8=INT8,
                       empty=lambda *shape, dtype=FLOAT32, device="cpu": Tensor(shape, dtype, device),
                       randn=lambda *shape, dtype=FLOAT32, device="cpu": Tensor(shape, dtype, device))
    return {"torch.nn": nn}
