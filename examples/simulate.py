#!/usr/bin/env python3
"""Makes the recordings of this folder without a GPU.

It walks through tinylm/ operator by operator, as PyTorch would run it, and notes every
request and free with its stack and time.  `vramscope replay --write` then makes the
recording: its allocator, an exact model of PyTorch's, serves the requests on a card of
24 GiB, until one of them does not fit.  Line numbers are looked up in tinylm's files, so a
recording points at real lines.  The same options give the same bytes.

usage:
  simulate.py [options] NAME...    make some of: fragmentation, leak, oom, train
  simulate.py [options] --all      all of them
  simulate.py [options] --check    exit 1 if one in this folder would come out different
"""
import argparse
import json
import pickle
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import recorder as rec

HERE = Path(__file__).resolve().parent
VRAMSCOPE = HERE.parent / "build/release/cli/vramscope"
MIB = 1 << 20
# A card of 24 GiB, less what the CUDA context takes before PyTorch can have any.
CAPACITY = 24 * 1024 * MIB - 452 * MIB
WORKSPACE_BYTES = 8519680  # cuBLAS, once per thread that multiplies matrices
BF16, FP32, INT64 = 2, 4, 8
VOCABULARY, WIDTH, HEADS = 32000, 1024, 16

Shape = namedtuple("Shape", "layers batch lengths keep_logits", defaults=(False,))
TRAIN = {
    "train": Shape(6, 8, [1024] * 3),
    "oom": Shape(8, 8, [512, 1024, 2048]),
    "leak": Shape(4, 4, [512] * 5, keep_logits=True),
}
SCORE = Shape(6, 48, [1024])
CHUNKS = 12
SEEDS = {"fragmentation": 4, "leak": 1, "oom": 2, "train": 3}

# What the autograd engine will do for one operator: the gradients it makes (the first is
# handed on, others wait for `takes`), the parameters that get one, what it then lets go.
Node = namedtuple("Node", "name ops outputs parameters saved takes")


class Tensor:
    """Memory and how many variables and graph nodes hold it."""

    def __init__(self, address, size):
        self.address, self.size, self.holders = address, size, 1


class Process:
    """A Python process with PyTorch in it: operators, autograd, optimizer."""

    def __init__(self, stack):
        self.stack = stack
        self.engine = None      # the C++ frames of the node that runs, in backward
        self.tape = []
        self.recording = True   # of the tape: off under no_grad
        self.workspaces = set()
        self.parameters = {}
        self.gradients = {}
        self.state = []

    # Memory.

    def new(self, size, *ops):
        """The result of ops[0], called by ops[1] and so on."""
        return self._new(size, rec.native_ops(ops), ops)

    def _new(self, size, native, ops):
        frames = self._capture(rec.MALLOC + native, rec.binding(ops))
        return Tensor(self.stack.alloc(size, frames), size)

    def drop(self, *tensors, native=rec.DEALLOC):
        for tensor in tensors:
            tensor.holders -= 1
            if tensor.holders == 0:
                frames = self._capture(rec.FREE + native)
                self.stack.free(tensor.address, tensor.size, frames)

    def _capture(self, native, entry=()):
        if self.engine:
            return self.stack.capture(native, self.engine + rec.ENGINE)
        return self.stack.capture(native + entry)

    def _need_workspace(self, *ops):
        thread = bool(self.engine)
        if thread not in self.workspaces:
            self.workspaces.add(thread)
            self._new(WORKSPACE_BYTES, rec.WORKSPACE + rec.native_ops(ops), ops)

    # Operators.  Each returns its result, held once, and notes its gradient.

    def note(self, name, ops, outputs=(), parameters=(), saved=(), takes=0):
        if self.recording:
            for tensor in saved:
                tensor.holders += 1
            self.tape.append(Node(name, ops, outputs, parameters, saved, takes))

    def linear(self, x, size, in_size, weight):
        with self.stack.module("nn/modules/linear.py", 134):
            self._need_workspace("mm", "linear")
            y = self.new(size, "mm", "linear")
        self.note("MmBackward0", ("mm",), (in_size,), (weight,), (x,))
        return y

    def rms_norm(self, x, size, tokens, weight):
        with self.stack.module("nn/modules/normalization.py", 405), \
                self.stack.call("rms_norm", "nn/functional.py", 2959):
            y = self.new(size, "_fused_rms_norm", "rms_norm")
            scale = self.new(tokens * FP32, "_fused_rms_norm", "rms_norm")
        self.note("FusedRmsNormBackward0", ("_fused_rms_norm_backward",), (size,), (weight,),
                  (x, scale))
        self.drop(scale, native=rec.native_ops(("rms_norm",)))
        return y

    def matmul(self, a_size, b_size, size, a=None):
        """a @ b; an operand that is a permuted view is copied first."""
        self._need_workspace("bmm", "matmul")
        copies = [self.new(n, "clone", "reshape", "matmul")
                  for n in ((b_size,) if a else (a_size, b_size))]
        operands = ([a] if a else []) + copies
        y = self.new(size, "bmm", "matmul")
        self.note("BmmBackward0", ("bmm",), (a_size, b_size), saved=operands)
        self.drop(*copies, native=rec.native_ops(("matmul",)))
        return y

    def backward(self):
        with self.stack.call("backward", "_tensor.py", 630), \
                self.stack.call("backward", "autograd/__init__.py", 357):
            with self.stack.call("_make_grads", "autograd/__init__.py", 226):
                gradient = self.new(FP32, "ones_like")
            self._run_engine(gradient)

    def _run_engine(self, gradient):
        waiting, residual = [], []
        while self.tape:
            node = self.tape.pop()
            if node.name == "fork":  # both ways get the same gradient
                gradient.holders += 1
                residual.append(gradient)
                continue
            self.engine = rec.ACCUMULATE if node.name == "join" else rec.backward_node(node.name)
            if "mm" in node.ops[0]:
                self._need_workspace(*node.ops)
            made = [self.new(size, *node.ops) for size in node.outputs]
            for name in node.parameters:
                self.gradients[name] = self.new(self.parameters[name], *node.ops)
            self.engine = rec.release_variables(node.name)
            self.drop(*node.saved, native=())
            self.engine = (("torch::autograd::Node::operator()(%s)" % rec.VARIABLES, "??"),)
            for _ in range(node.takes):
                self.drop(waiting.pop(), native=())
            if node.name == "join":
                self.drop(residual.pop(), native=())
            if made:
                self.drop(gradient, native=())
                gradient = made[0]
                waiting += made[1:]
        self.drop(gradient, native=())
        self.engine = None

    def optimizer_step(self):
        s = self.stack
        with s.range("Optimizer.step#AdamW.step"), \
                s.call("wrapper", "optim/optimizer.py", 517), \
                s.call("_use_grad", "optim/optimizer.py", 82), \
                s.call("step", "optim/adam.py", 239):
            if not self.state:
                with s.call("_init_group", "optim/adam.py", 176):
                    for size in self.parameters.values():
                        for s.python[-1][2] in (176, 180):  # exp_avg, exp_avg_sq
                            self.state.append(self.new(size, "zeros_like"))
            s.python[-1][2] = 247
            with s.call("adam", "optim/adam.py", 948), \
                    s.call("_multi_tensor_adam", "optim/adam.py", 767):
                roots = [self.new(n, "_foreach_sqrt") for n in self.parameters.values()]
                s.python[-1][2] = 784
                self.drop(*roots)

    def zero_grad(self):
        with self.stack.range("Optimizer.zero_grad#AdamW.zero_grad"), \
                self.stack.call("zero_grad", "optim/optimizer.py", 1012):
            self.drop(*(self.gradients.pop(name) for name in self.parameters
                        if name in self.gradients), native=rec.SET_GRAD)


class TinyLM:
    """The forward pass of tinylm/model.py, line by line, as bytes."""

    def __init__(self, process, shape):
        self.process, self.layers, self.batch = process, shape.layers, shape.batch
        self.longest = max(shape.lengths)

    def to_cuda(self):
        square = WIDTH * WIDTH * BF16
        sizes = {"tokens": VOCABULARY * WIDTH * BF16, "places": self.longest * WIDTH * BF16}
        for i in range(self.layers):
            sizes.update({(i, "norm1"): WIDTH * BF16, (i, "qkv"): 3 * square,
                          (i, "out"): square, (i, "norm2"): WIDTH * BF16,
                          (i, "up"): 4 * square, (i, "down"): 4 * square})
        sizes.update({"norm": WIDTH * BF16, "head": VOCABULARY * WIDTH * BF16})
        p, module = self.process, "nn/modules/module.py"
        with p.stack.call("to", module, 1384), p.stack.call("_apply", module, 934):
            for name, size in sizes.items():
                with p.stack.call("_apply", module, 964), p.stack.call("convert", module, 1370):
                    p.parameters[name] = size
                    p.new(size, "_to_copy", "to")
            with p.stack.call("_apply", module, 1013), p.stack.call("convert", module, 1370):
                p.new(self.longest * self.longest, "_to_copy", "to")  # the mask, booleans

    def set_length(self, length):
        self.length = length
        self.rows = self.batch * length
        self.wide = self.rows * WIDTH * BF16                             # one activation
        self.pairs = self.batch * HEADS * length * length                # elements of the scores

    def forward(self, x):
        s = self.process.stack
        with s.module("model.py"):
            s.at("return self.head(")
            hidden = self.hidden(x)
            logits = self.process.linear(hidden, self.rows * VOCABULARY * BF16, self.wide, "head")
            self.process.drop(hidden)
        return logits

    def hidden(self, tokens):
        p, s = self.process, self.process.stack
        with s.call("hidden", "model.py"):
            s.at("x = self.tokens(tokens)")
            with s.module("nn/modules/sparse.py", 192), \
                    s.call("embedding", "nn/functional.py", 2542):
                rows = p.new(self.wide, "embedding")
            p.note("EmbeddingBackward0", ("embedding_dense_backward",), parameters=("tokens",),
                   saved=(tokens,))
            s.at("x = x + self.places.weight")
            x = p.new(self.wide, "add")
            p.note("SliceBackward0", ("slice_backward",), parameters=("places",))
            p.drop(rows)
            for i in range(self.layers):
                s.at("x = block(x, self.mask)")
                y = self.block(i, x)
                p.drop(x)
                x = y
            s.at("return self.norm(x)")
            y = p.rms_norm(x, self.wide, self.rows, "norm")
            p.drop(x)
        return y

    def block(self, i, x):
        p, s = self.process, self.process.stack
        with s.module("model.py"):
            s.at("x = x + self.attention(")
            x.holders += 1  # the caller keeps its own x until the block returns
            for norm, branch in (("norm1", self.attention), ("norm2", self.mlp)):
                p.note("join", ("add",), (self.wide,))
                normed = p.rms_norm(x, self.wide, self.rows, (i, norm))
                change = branch(i, normed)
                p.drop(normed)
                y = p.new(self.wide, "add")
                p.note("fork", ())
                p.drop(change, x)
                x = y
                s.at("return x + self.mlp(")
        return x

    def attention(self, i, x):
        p, s = self.process, self.process.stack
        with s.module("model.py"):
            s.at("qkv = self.qkv(x)")
            qkv = p.linear(x, 3 * self.wide, self.wide, (i, "qkv"))
            p.note("UnbindBackward0", ("stack",), (3 * self.wide,), takes=2)
            s.at("q = q * self.scale")
            q = p.new(self.wide, "mul")
            p.note("MulBackward0", ("mul",), (self.wide,))
            s.at("scores = q @ k")
            products = p.matmul(self.wide, self.wide, self.pairs * BF16)
            s.at("scores = scores.masked_fill")
            scores = p.new(self.pairs * BF16, "masked_fill")
            p.note("MaskedFillBackward0", ("masked_fill",), (self.pairs * BF16,))
            p.drop(products)
            s.at("probs = F.softmax(")
            with s.call("softmax", "nn/functional.py", 2135):
                copy = p.new(self.pairs * FP32, "_to_copy", "to", "softmax")
                probs = p.new(self.pairs * FP32, "_softmax", "softmax")
                p.drop(copy, native=rec.native_ops(("softmax",)))
            p.note("ToCopyBackward0", ("_to_copy",), (self.pairs * BF16,))
            p.note("SoftmaxBackward0", ("_softmax_backward_data",), (self.pairs * FP32,),
                   saved=(probs,))
            s.at("mixed = probs.to(v.dtype) @ v")
            half = p.new(self.pairs * BF16, "_to_copy", "to")
            p.note("ToCopyBackward0", ("_to_copy",), (self.pairs * FP32,))
            mixed = p.matmul(self.pairs * BF16, self.wide, self.wide, a=half)
            p.drop(half)
            s.at("mixed = mixed.transpose(1, 2)")
            flat = p.new(self.wide, "clone", "reshape")
            p.drop(mixed)
            s.at("return self.out(mixed)")
            y = p.linear(flat, self.wide, self.wide, (i, "out"))
            p.drop(qkv, q, scores, probs, flat)
        return y

    def mlp(self, i, x):
        p, s = self.process, self.process.stack
        with s.module("model.py"):
            s.at("x = self.up(x)")
            up = p.linear(x, 4 * self.wide, self.wide, (i, "up"))
            s.at("x = F.gelu(x)")
            act = p.new(4 * self.wide, "gelu")
            p.note("GeluBackward0", ("gelu_backward",), (4 * self.wide,), saved=(up,))
            p.drop(up)
            s.at("return self.down(x)")
            y = p.linear(act, self.wide, 4 * self.wide, (i, "down"))
            p.drop(act)
        return y


def cross_entropy(p, rows, logits, labels):
    narrow, wide = rows * VOCABULARY * BF16, rows * VOCABULARY * FP32
    copy = p.new(wide, "_to_copy", "to", "float")
    p.note("ToCopyBackward0", ("_to_copy",), (narrow,))
    with p.stack.call("cross_entropy", "nn/functional.py", 3462):
        logs = p.new(wide, "_log_softmax", "log_softmax", "cross_entropy_loss")
        p.note("LogSoftmaxBackward0", ("_log_softmax_backward_data",), (wide,), saved=(logs,))
        loss = p.new(FP32, "nll_loss_forward", "nll_loss", "cross_entropy_loss")
        weight = p.new(FP32, "nll_loss_forward", "nll_loss", "cross_entropy_loss")
        p.note("NllLossBackward0", ("nll_loss_backward",), (wide,),
               saved=(logs, labels, weight))
        p.drop(logs, weight, native=rec.native_ops(("cross_entropy_loss",)))
    p.drop(copy)
    return loss


def train_step(p, model, x, y):
    s = p.stack
    with s.call("train_step", "train.py"):
        with s.range("## forward ##"):
            s.at("logits = model(x)")
            logits = model.forward(x)
            s.at("loss = F.cross_entropy(")
            loss = cross_entropy(p, model.rows, logits, y)
        with s.range("## backward ##"):
            s.at("loss.backward()")
            p.backward()
        s.at("optimizer.step()")
        p.optimizer_step()
        s.at("optimizer.zero_grad()")
        p.zero_grad()
    return logits, loss


def train(p, shape):
    """tinylm/train.py."""
    s, held = p.stack, {}

    def assign(name, tensor):
        """A variable of main() lets go its old value only when it gets the new one."""
        if name in held:
            p.drop(held[name])
        held[name] = tensor

    with s.call("<module>", "train.py"):
        s.at('    main()')
        with s.call("main", "train.py"):
            model = TinyLM(p, shape)
            s.at('model = model.to("cuda"')
            model.to_cuda()
            for step, length in enumerate(shape.lengths):
                model.set_length(length)
                s.at("for step, (x, y) in")
                with s.call("batches", "data.py"):
                    for name in "xy":
                        s.at("%s = tokens[" % name)
                        assign(name, p.new(model.rows * INT64, "_to_copy", "to"))
                with s.range("ProfilerStep#%d" % step):
                    s.at("logits, loss = train_step(")
                    logits, loss = train_step(p, model, held["x"], held["y"])
                    assign("logits", logits)
                    assign("loss", loss)
                    if shape.keep_logits:
                        s.at("history.append(")
                        p.new(model.rows * VOCABULARY * FP32, "_to_copy", "to", "float")


def attend(p, model, i, x, cache):
    """attend() of tinylm/score.py; `cache` has keys and values as tensors, or nothing yet."""
    s = p.stack
    with s.call("attend", "score.py"):
        s.at("q, k, v = attention.qkv(x)")
        qkv = p.linear(x, 3 * model.wide, model.wide, (i, "qkv"))
        s.at("cache.append(")
        fresh = [p.new(model.wide, "clone", "contiguous") for _ in range(2)]
        with s.call("append", "score.py"):
            for k, text in enumerate(("keys = torch.cat(", "values = torch.cat(")):
                if cache:
                    s.at(text)
                    longer = p.new(cache[k].size + model.wide, "cat")
                    p.drop(fresh[k])
                    fresh[k] = longer
            s.at("self.keys, self.values = keys")
            p.drop(*cache)
            cache[:] = fresh
        s.at("mixed = F.scaled_dot_product_attention(")
        flash = ("_scaled_dot_product_flash_attention", "scaled_dot_product_attention")
        mixed, sums = p.new(model.wide, *flash), p.new(model.rows * HEADS * FP32, *flash)
        p.drop(sums, native=rec.native_ops(flash[1:]))
        s.at("return attention.out(")
        y = p.linear(mixed, model.wide, model.wide, (i, "out"))
        p.drop(qkv, mixed)
    return y


def read(p, model, tokens, caches):
    """read() of tinylm/score.py."""
    s = p.stack
    with s.call("read", "score.py"):
        s.at("x = model.tokens(tokens)")
        with s.module("nn/modules/sparse.py", 192), \
                s.call("embedding", "nn/functional.py", 2542):
            x = p.new(model.wide, "embedding")
        for i, cache in enumerate(caches):
            for text, norm in (("x = x + attend(", "norm1"), ("x = x + block.mlp(", "norm2")):
                s.at(text)
                normed = p.rms_norm(x, model.wide, model.rows, (i, norm))
                change = attend(p, model, i, normed, cache) if norm == "norm1" \
                    else model.mlp(i, normed)
                p.drop(normed)
                y = p.new(model.wide, "add")
                p.drop(change, x)
                x = y
        s.at("return model.norm(x)")
        y = p.rms_norm(x, model.wide, model.rows, "norm")
        p.drop(x, tokens)
    return y


def read_all(p, model):
    """read_all() of tinylm/score.py; a variable lets go its old value when it gets the new one."""
    s, states = p.stack, None
    caches = [[] for _ in range(model.layers)]
    with s.call("read_all", "score.py"):
        for number in range(CHUNKS):
            with s.range("chunk %d" % number):
                s.at("states = read(")
                tokens = p.new(model.rows * INT64, "_to_copy", "to")
                old, states = states, read(p, model, tokens, caches)
                p.drop(*[old] if old else [])
                s.at("kept.append(states")
                p.new(model.wide // 4, "clone")
        p.drop(states, *(tensor for cache in caches for tensor in cache))


def score(p, model):
    """score() of tinylm/score.py."""
    s = p.stack
    with s.call("score", "score.py"), s.range("scores"):
        s.at("logits = model(")
        tokens = p.new(model.rows * INT64, "_to_copy", "to")
        logits = model.forward(tokens)
        p.drop(tokens)
        s.at("logs = F.log_softmax(")
        wide = model.rows * VOCABULARY * FP32
        copy = p.new(wide, "_to_copy", "to", "float")
        with s.call("log_softmax", "nn/functional.py", 2250):
            logs = p.new(wide, "_log_softmax", "log_softmax")
        p.drop(copy)
        s.at("return logs.amax(")
        p.new(model.rows * FP32, "amax")
        p.drop(logs, logits)


def score_and_read(p, shape):
    """tinylm/score.py."""
    s = p.stack
    p.recording = False
    with s.call("<module>", "score.py"):
        s.at("    main()")
        with s.call("decorate_context", "utils/_contextlib.py", 124), s.call("main", "score.py"):
            model = TinyLM(p, shape)
            s.at("model = TinyLM(")
            model.to_cuda()
            model.set_length(*shape.lengths)
            s.at("kept = [score(")
            score(p, model)
            s.at("    read_all(model, kept)")
            read_all(p, model)


def program(name, path, end=None):
    """What the program does, as a snapshot that knows no memory, up to event `end`."""
    stack = rec.Recorder(SEEDS[name], end)
    try:
        if name == "fragmentation":
            score_and_read(Process(stack), SCORE)
        else:
            train(Process(stack), TRAIN[name])
    except rec.OutOfMemory:
        pass  # the annotations have heard of it
    path.write_bytes(pickle.dumps(stack.snapshot(), protocol=4))


def record(name, vramscope):
    """The bytes of one recording."""
    with tempfile.TemporaryDirectory(prefix="vramscope-") as folder:
        raw, made = Path(folder, "program.pickle"), Path(folder, name + ".pickle")

        def replay(*options):
            command = [vramscope, "replay", "--anyway", "--capacity", str(CAPACITY), *options, raw]
            return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

        program(name, raw)
        answer = json.loads(replay("--json"))["devices"][0]["result"]["what_if"][-1]
        if answer["first_oom"]:
            program(name, raw, answer["first_oom"]["event"])
        replay("--write", made)
        return made.read_bytes()


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("usage:\n")[1].strip())
    options.add_argument("names", nargs="*", metavar="NAME", choices=[*sorted(SEEDS), []])
    options.add_argument("--all", action="store_true")
    options.add_argument("--check", action="store_true")
    options.add_argument("--vramscope", type=Path, default=VRAMSCOPE, metavar="PROGRAM",
                         help="default: build/release/cli/vramscope")
    options.add_argument("--output", type=Path, default=HERE, metavar="FOLDER",
                         help="default: this one")
    args = options.parse_args()
    if bool(args.names) + args.all + args.check != 1:
        options.error("one of NAME, --all and --check is needed")
    different = 0
    for name in args.names or sorted(SEEDS):
        path = args.output / (name + ".pickle")
        data = record(name, args.vramscope)
        if not args.check:
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            print("%s differs from what simulate.py makes" % path.name)
            different += 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
