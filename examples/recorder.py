"""What a program does to memory, as PyTorch's history would keep it: stacks, events, annotations.

Every request has an address of its own, and no segment is told: what memory these requests
get, where they lie and when they no longer fit is found out by vramscope's allocator.

Sharing matters as much as content, because readers must cope with it: a frame dict is
shared by all stacks it stands in, a frames list by all events, blocks and segments of one
captured traceback, and nothing else is.  The C++ frames are those one meets in real
recordings, fewer and with shortened arguments.
"""
import random
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "tinylm"
USER = "/home/user/tinylm/"
TORCH = "/usr/lib/python3.12/site-packages/torch/"

CACHE = "c10::cuda::CUDACachingAllocator::Native::"
TENSOR = "at::Tensor const&"
HEAD = (
    ("torch::unwind::unwind()", "??"),
    ("torch::CapturedTraceback::gather(bool, bool, bool)", "??"),
    ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp"),
)
MALLOC = HEAD + (
    (CACHE + "DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)",
     "CUDACachingAllocator.cpp"),
    (CACHE + "NativeCachingAllocator::allocate(unsigned long)", ""),
    ("at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", "??"),
)
FREE = HEAD + (
    (CACHE + "DeviceCachingAllocator::free(" + CACHE + "(anonymous namespace)::Block*)",
     "CUDACachingAllocator.cpp"),
    (CACHE + "local_raw_delete(void*)", "CUDACachingAllocator.cpp"),
    ("c10::StorageImpl::~StorageImpl()", ""),
    ("c10::TensorImpl::~TensorImpl()", "??"),
)
DEALLOC = (("THPVariable_subclass_dealloc(_object*)", "??"), ("_Py_Dealloc", ""))
SET_GRAD = (("THPVariable_set_grad(THPVariable*, _object*, void*)", "??"),)
WORKSPACE = (
    ("at::cuda::(anonymous namespace)::getNewWorkspace()", "CublasHandlePool.cpp"),
    ("at::cuda::getCurrentCUDABlasHandle(bool)", "??"),
)
MAIN_THREAD = (("PyEval_EvalCode", ""), ("Py_RunMain", ""), ("__libc_start_main", "??"))
VARIABLES = "std::vector<at::Tensor, std::allocator<at::Tensor> >&&"
ENGINE = (
    ("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, "
     "torch::autograd::Node*, torch::autograd::InputBuffer&, "
     "std::shared_ptr<torch::autograd::ReadyQueue> const&)", "??"),
    ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
     "??"),
    ("torch::autograd::python::PythonEngine::thread_init(int, "
     "std::shared_ptr<torch::autograd::ReadyQueue> const&, bool)", "??"),
    ("execute_native_thread_routine", "thread.o"),
    ("clone", "??"),
)
ACCUMULATE = (("torch::autograd::InputBuffer::accumulate(torch::autograd::Node*, unsigned long, "
               "at::Tensor&&)", "??"),)

SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "",
    "max_split_size": -1,
    "garbage_collection_threshold": 0.0,
    "expandable_segments": False,
    "pinned_num_register_threads": 1,
    "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False,
    "graph_capture_record_stream_reuse": False,
    "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)},
}


def native_ops(ops):
    """C++ frames of nested operators, innermost first: ("bmm", "matmul") for a @ b."""
    frames = [("at::(anonymous namespace)::wrapper_CUDA_%s(%s)" % (ops[0], TENSOR),
               "RegisterCUDA_0.cpp")] if ops else []
    frames += [("at::_ops::%s::call(%s)" % (op, TENSOR), "??") for op in ops]
    return tuple(frames)


def binding(ops):
    """Where Python enters C++: the outermost operator."""
    return (("torch::autograd::THPVariable_%s(_object*, _object*, _object*)" % ops[-1],
             "python_torch_functions.cpp"),) if ops else ()


def backward_node(name):
    return (("torch::autograd::generated::%s::apply(%s)" % (name, VARIABLES), "??"),)


def release_variables(name):
    return (("torch::autograd::generated::%s::release_variables()" % name, "??"),)


def fresh(text):
    """An equal string that is another object, so that pickle writes it again."""
    return text.encode().decode()


class OutOfMemory(Exception):
    pass


class Recorder:
    """`end` is the number of the event, a request, that is not served."""

    def __init__(self, seed, end):
        self.random = random.Random(seed)
        self.end = end
        self.address = 1 << 40          # of the next request
        self.now_us = 1767258000000000  # 2026-01-01 09:00 UTC
        self.python = []                # [name, file, line] from the outermost call inwards
        self.frames = {}
        self.lines = {}
        self.events = []
        self.annotations = []

    # Call stacks.

    @contextmanager
    def call(self, name, file, line=0):
        """A Python function is running.  tinylm's files are named alone, torch's by path."""
        self.python.append([name, file, line])
        yield
        self.python.pop()

    @contextmanager
    def module(self, file, line=0):
        """nn.Module.__call__ and the forward it leads to."""
        with self.call("_wrapped_call_impl", "nn/modules/module.py", 1779), \
                self.call("_call_impl", "nn/modules/module.py", 1790), \
                self.call("forward", file, line):
            yield

    def at(self, text):
        """The innermost function has come to the only line of its source with this text."""
        file = self.python[-1][1]
        if (file, text) not in self.lines:
            source = (SOURCES / file).read_text().splitlines()
            found = [n for n, line in enumerate(source, 1) if text in line]
            if len(found) != 1:
                raise SystemExit("%s: %d lines with %r" % (file, len(found), text))
            self.lines[file, text] = found[0]
        self.python[-1][2] = self.lines[file, text]

    def capture(self, native, thread=None):
        """A traceback, innermost first; `thread` replaces the Python part."""
        if thread:
            return [self._frame(n, f, 0) for n, f in native + thread]
        stack = [self._frame(n, f, 0) for n, f in native]
        for name, file, line in reversed(self.python):
            root = TORCH if "/" in file or file.startswith("_") else USER
            stack.append(self._frame(name, root + file, line))
        return stack + [self._frame(n, f, 0) for n, f in MAIN_THREAD]

    def _frame(self, name, filename, line):
        key = (name, filename, line)
        if key not in self.frames:
            self.frames[key] = {"name": fresh(name), "filename": fresh(filename), "line": line}
        return self.frames[key]

    # Events and annotations.

    def tick(self, longest_us):
        self.now_us += 1 + int(self.random.random() * longest_us)
        return self.now_us

    def alloc(self, size, frames):
        """Its address."""
        address, self.address = self.address, self.address + -(-size // 512) * 512
        self.tick(40 + (size >> 20))  # the result before this one is written at 1 TB/s
        self._event("alloc", address, size, frames)
        if len(self.events) - 1 == self.end:
            raise OutOfMemory
        return address

    def free(self, address, size, frames):
        self.tick(40)
        self._event("free_requested", address, size, frames)
        self._event("free_completed", address, size, frames)

    def _event(self, action, address, size, frames):
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0,
                            "time_us": self.now_us, "compile_context": "N/A",
                            "user_metadata": "", "pool_id": tuple([0, 0]), "frames": frames})

    @contextmanager
    def range(self, name):
        """torch.profiler.record_function; an exception passes through its END."""
        self._annotate("START", name)
        try:
            yield
        finally:
            self._annotate("END", name)

    def _annotate(self, stage, name):
        self.annotations.append({"stage": stage, "name": fresh(name), "device": 0,
                                 "time_us": self.tick(20)})

    # The snapshot.

    def snapshot(self):
        settings = dict(SETTINGS, trace_alloc_overflowed=False,
                        trace_alloc_max_entries=(1 << 63) - 1)
        return {"segments": [], "device_traces": [self.events], "allocator_settings": settings,
                "external_annotations": self.annotations}
