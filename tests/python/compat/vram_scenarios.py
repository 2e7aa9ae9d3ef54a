"""Programs for a checkpoint profiler, which the document's code and ours run alike.

Each is given a module with the names of rows A01 to A14, and a device with `alloc` and `free`; what
it prints, and a report, is its text.
"""
import types

GB = 1_000_000_000


class Holder:
    """Keeps what was allocated until it is freed: handles die with their last reference."""

    def __init__(self, device):
        self.device, self.held = device, []

    def alloc(self, much):
        self.held.append(self.device.alloc(much))
        return self.held[-1]

    def free(self, handle):
        self.held.remove(handle)
        self.device.free(handle)


def tensor(*shape):
    """As much of a tensor as a checkpoint looks at."""
    count = 1
    for size in shape:
        count *= size
    return types.SimpleNamespace(shape=shape, dtype="torch.float16", element_size=lambda: 2, nelement=lambda: count)


def report(profiler):
    profiler.print_summary()
    print(profiler.get_report())


def empty(module, device):
    report(module.VRAMProfiler())


def one_record(module, device):
    profiler = module.VRAMProfiler()
    device.alloc(2 * GB)
    profiler.checkpoint("loaded")
    report(profiler)


def two_records(module, device):
    profiler = module.VRAMProfiler()
    device.alloc(2 * GB)
    profiler.checkpoint("loaded")
    short = device.alloc(3 * GB)
    device.free(short)
    device.alloc(GB // 4)
    profiler.checkpoint("a name that is longer than the forty columns of the table")
    report(profiler)


def with_a_tensor(module, device):
    profiler = module.enable_profiling()
    device.alloc(2 * GB)
    profiler.checkpoint("points", tensor=tensor(5000, 100_000))
    device.alloc(GB)
    profiler.checkpoint("more", tensor=tensor())
    report(module.get_profiler())


def with_info(module, device):
    profiler = module.VRAMProfiler()
    profiler.checkpoint("start", tensor=tensor(10), tensor_info="ten of them")
    profiler.checkpoint("then", None, "")
    profiler.checkpoint("last", tensor_info="no tensor")
    report(profiler)


def nothing_grows(module, device):
    profiler = module.VRAMProfiler()
    handles = [device.alloc(GB) for _ in range(3)]
    for number, handle in enumerate(handles):
        profiler.checkpoint("after %d" % number)
        device.free(handle)
    report(profiler)


def seven_grow(module, device):
    """Ties in the order of the records; five are shown."""
    profiler = module.VRAMProfiler()
    for number in (1, 3, 2, 3, 1, 2, 4, 1):
        device.alloc(number * GB)
        profiler.checkpoint("grows by %d" % number)
    report(profiler)


def disabled(module, device):
    profiler = module.enable_profiling()
    device.alloc(GB)
    profiler.checkpoint("kept")
    module.disable_profiling()
    device.alloc(GB)
    profiler.checkpoint("not taken")
    report(profiler)
    print(len(profiler.checkpoints), profiler.peak_memory)
    profiler.reset()
    print(len(profiler.checkpoints), profiler.peak_memory)


def blocks_and_functions(module, device):
    profiler = module.enable_profiling()

    @module.profile_function(profiler)
    def load(much):
        return device.alloc(much)

    @module.profile_function(profiler, name="named")
    def shape():
        """What it does."""
        return tensor(4)

    with module.profile_memory(profiler, "block", tensor=tensor(1000)):
        device.free(load(GB))
    shape()
    try:
        with module.profile_memory(profiler, "fails"):
            load(2 * GB)
            raise ValueError("of the program")
    except ValueError as error:
        print(error)
    profiler.enabled = False
    with module.profile_memory(profiler, "half"):
        profiler.enabled = True
    report(profiler)
    print(shape.__name__, shape.__doc__)


def reset_between(module, device):
    profiler = module.VRAMProfiler()
    device.free(device.alloc(9 * GB))
    profiler.checkpoint("before")
    device.free(device.alloc(5 * GB))
    profiler.reset()
    device.alloc(GB)
    profiler.checkpoint("after")
    report(profiler)


ALL = [empty, one_record, two_records, with_a_tensor, with_info, nothing_grows, seven_grow, disabled,
       blocks_and_functions, reset_between]
