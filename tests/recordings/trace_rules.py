"""Traces made by hand for the rules: for each id some that fire, and twins that do not by one unit.

    CASES      (id, what is tested, a trace that fires, its twin)
    as_json    JSON of a trace

Times are nanoseconds.
"""
import json

HOST, DEVICE, STREAM = 1, 0, 7
THREAD = 1


class Trace:
    def __init__(self, **header):
        self.events, self.header, self.correlation = [], header, 0

    def span(self, category, name, start, length, pid=HOST, tid=THREAD, **args):
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000,
                 "dur": length / 1000, "args": args}
        self.events.append(event)
        return self

    def op(self, name, start, length, **args):
        return self.span("cpu_op", name, start, length, **args)

    def range(self, name, start, length):
        return self.span("user_annotation", name, start, length)

    def call(self, name, start, length, **args):
        return self.span("cuda_runtime", name, start, length, **args)

    def steps(self, *lengths):
        start = 0
        for i, length in enumerate(lengths):
            self.range("ProfilerStep#%d" % i, start, length)
            start += length
        return self

    def work(self, start, length, launch=0, took=1, name="gemm", category="kernel", call="cudaLaunchKernel", **args):
        """Something that a call of `took` launched at `launch`."""
        self.correlation += 1
        self.call(call, launch, took, correlation=self.correlation)
        return self.span(category, name, start, length, pid=DEVICE, tid=STREAM, correlation=self.correlation, **args)

    def copy(self, start, length, name, size, launch=0):
        return self.work(start, length, launch, 1, name, "gpu_memcpy", "cudaMemcpyAsync", bytes=size)

    def memory(self, at, total, reserved=None):
        args = {"Device Type": 1, "Device Id": 0, "Bytes": 1, "Addr": at + 1, "Total Allocated": total}
        if reserved is not None:
            args["Total Reserved"] = reserved
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": HOST,
                            "tid": THREAD, "ts": at / 1000, "args": args})
        return self


def as_json(trace):
    return json.dumps({**trace.header, "traceEvents": trace.events}).encode()


# What the traces below differ by ----------------------------------------------------------

def busy(ns, compute=None):
    """One step of 1000 in which the device works so long, all of it computing or a part."""
    t = Trace().steps(1000).work(0, compute if compute is not None else ns)
    return t if compute is None else t.copy(compute, ns - compute, "Memcpy DtoH (Device -> Pageable)", 8)


def loop(data=0, forward=200, backward=200, optimizer=100, step=2000):
    t, at = Trace().steps(step), 0
    for name, ns in (("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", data), ("forward", forward),
                     ("backward", backward), ("Optimizer.step#SGD.step", optimizer)):
        if ns:
            t.range(name, at, ns)
        at += ns
    return t


def loader_idle(ns):
    """100 of idle time, so much of it in a loader."""
    return Trace().steps(10_000).work(10, 10).work(120, 10, launch=120).range("enumerate(DataLoader)#x", 20, ns)


def late(ns):
    """A step of 1000 with work of `ns`, the last of it launched late."""
    return Trace().steps(1000).work(10, ns - 10).work(900, 10, launch=900).op("aten::normal_", ns, 900 - ns)


def copies(ns):
    return Trace().op("aten::copy_", 0, ns).op("aten::mm", ns, 1000 - ns)


def launches(ns):
    return Trace().steps(1000).work(500, 100, took=ns)


def one_loads(ns):
    """A launch that loads a kernel, beside which another is as long as LAUNCH-BOUND allows, or longer."""
    return Trace().steps(1_000_000).work(500_000, 100, launch=100_000, took=300_000).work(900_000, 100, launch=500_000, took=ns)


def many_kernels(count):
    t = Trace().steps(20 * count)
    for i in range(count):
        t.work(20 * i + 1, 10, launch=20 * i)
    return t


def small_kernels(count):
    t = Trace()
    for i in range(100):
        t.work(10_000 * i, 10 if i < count else 10_000, launch=i)
    return t


def slow_launch(ns):
    return Trace().steps(20_000_000).work(0, 10).work(1000 + ns, 10, launch=1000, took=300_000)


def pageable(ns, size):
    return Trace().steps(10_000).copy(10, ns, "Memcpy HtoD (Pageable -> Device)", size)


def exposed(ns, name="Memcpy HtoD (Pinned -> Device)"):
    return Trace().work(0, 1000 - ns).copy(1000 - ns, ns, name, 8)


def waits(*where):
    t = Trace().steps(1000, 1000).work(0, 500).work(1500, 100, launch=1499)
    for at in where:
        t.call("cudaStreamSynchronize", at, 1)
    return t


def idle_waits(ns):
    t = Trace().steps(1000, 1000).work(0, 500).call("cudaStreamSynchronize", 500, ns)
    return t.work(600, 400, launch=600).work(1000, 200, launch=1000).work(1200, 200, launch=1001)


def allocates(at):
    return Trace().steps(1000, 1000, 1000).call("cudaMalloc", at, 10)


def collectives(ns):
    return Trace().work(0, 1000 - ns).work(1000 - ns, ns, name="ncclDevKernel_AllReduce_Sum_f32")


def products(ns, kernel="volta_sgemm_128x64_nn", major=7):
    t = Trace(deviceProperties=[{"id": 0, "name": "V100", "computeMajor": major, "computeMinor": 0}])
    return t.op("aten::mm", 0, 10).work(20, ns, launch=1, name=kernel).work(100, 10, launch=50)


def shaped(sizes, name="aten::mm", ns=90, kernel="ampere_bf16_s16816gemm_bf16_64x64_tn"):
    """A product of so long in 1000 of work."""
    t = Trace(deviceProperties=[{"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0}])
    t.op(name, 0, 10, **{"Input Dims": sizes})
    return t.work(20, ns, launch=1, name=kernel).work(200, 1000 - ns, launch=50)


def peak(of_card):
    return Trace(deviceProperties=[{"id": 0, "name": "x", "totalGlobalMem": 1000}]).op("a", 0, 9).memory(1, of_card)


def phase_peaks(forward, backward):
    return loop(0).memory(150, forward).memory(350, backward)


def reserved(size):
    return Trace().op("a", 0, 9).memory(1, 1000, size).memory(2, 900, 2000)


def grows(more, steps=3):
    t, total = Trace().steps(*[1000] * steps).memory(0, 1_000_000), 1_000_000
    for i in range(steps):
        total += total // 100 + more
        t.memory(1000 * i + 500, total)
    return t


def holds(steps):
    """Of each step's forward an activation stays, and makes up far less than a hundredth."""
    t = Trace().steps(*[1000] * steps)
    for i in range(steps):
        at = 1000 * i
        t.range("## forward ##", at, 400).range("## backward ##", at + 400, 400).op("aten::mm", at + 100, 100)
        t.memory(at + 150, 1_000_000 + i)
    return t


def device_copies(size, ns):
    return Trace().op("aten::copy_", 0, 10).copy(20, ns, "Memcpy DtoD (Device -> Device)", size, launch=1)


def optimizer_kernels(count, length=10):
    t = Trace().range("Optimizer.step#Adam.step", 0, 100_000)
    for i in range(count):
        t.work(200_000 + 20_000 * i, length, launch=i)
    return t


def optimizer_frame(name):
    return optimizer_kernels(1).span("python_function", name, 0, 90)


def fills(at):
    return Trace().range("Optimizer.zero_grad#SGD.zero_grad", 0, 100).op("aten::zero_", at, 10).op("aten::fill_", at, 9)


def selects(count):
    t = Trace()
    for i in range(count):
        t.op("aten::select", 100 * i, 10).op("aten::add", 100 * i + 20, 10)
    return t


def moved(name):
    t = Trace().op("aten::randn", 0, 100).op("aten::to", 110, 50)
    return t.copy(150, 10, name, 8, launch=120).work(170, 10, launch=130)


def device_waits(*where):
    t = Trace().steps(1000, 1000).work(0, 500).work(1900, 90, launch=1899)
    for at in where:
        t.call("cudaDeviceSynchronize", at, 1)
    return t


def profiled(*where):
    """Steps whose only waits are for the whole device; the first launch is at 1, the last at 1899."""
    t = Trace().steps(1000, 1000).work(20, 500, launch=1, took=0).work(1900, 90, launch=1899)
    for at in where:
        t.call("cudaDeviceSynchronize", at, 1)
    return t


def overhead(ns):
    return Trace().op("a", 0, 1000).span("overhead", "Buffer Flush", 10, ns, pid=-1)


# On the host alone: steps of 1000 in one function of the program, whose parts are frames and operators. -----

class Loop(Trace):
    """Steps of 1000 in a function of the program, each with a call of a module where frames have one."""

    def __init__(self, steps, has_forward=True):
        super().__init__()
        self.steps(*[1000] * steps)
        self.frame("train.py(3): train", 0, 1000 * steps)
        for at in range(0, 1000 * steps, 1000):
            if has_forward:
                self.frame("nn.Module: Net_0", at + 600, 300)
            self.op("autograd::engine::evaluate_function: AddmmBackward0", at + 900, 100)

    def frame(self, name, start, length):
        return self.span("python_function", name, start, length)

    def each(self, *spans):
        """Spans (kind of call, name, place in the step, length) in every step."""
        steps = sum(e["name"].startswith("ProfilerStep#") for e in self.events)
        for at in range(0, 1000 * steps, 1000):
            for call, name, start, length in spans:
                call(self, name, at + start, length)
        return self


def reads(*steps):
    """Of ten steps those that take a value out of a tensor."""
    t = Loop(10)
    for i in steps:
        t.op("aten::item", 1000 * i + 300, 10).op("aten::_local_scalar_dense", 1000 * i + 302, 5)
    return t


def read_in(name, call=Trace.range):
    return Loop(2).each((call, name, 300, 100), (Trace.op, "aten::item", 320, 10))


def other(ns, has_forward=True, name="aten::flip"):
    """Work of `ns` at the begin of a step, before loading that lasts until the forward."""
    t = Loop(2, has_forward)
    return t.each((Trace.range, "enumerate(DataLoader)#x", ns, 600 - ns), (Trace.op, name, 0, ns),
                  (Trace.op, "aten::copy_", 1, 9))


def stalls(steps):
    """Of four steps so many with work before the loading."""
    t = Loop(4)
    for i in range(4):
        at = 300 if i < steps else 0
        t.range("enumerate(DataLoader)#x", 1000 * i + at, 600 - at)
    return t


def loading(*inside, loader="_SingleProcessDataLoaderIter"):
    """Half of each step is loading, with these spans in it."""
    t = Loop(2).each((Trace.range, "enumerate(DataLoader)#%s.__next__" % loader, 0, 500), *inside)
    return t.each((Trace.op, "aten::stack", 490, 5))


def program_copies(ns, name="aten::clone", steps=2):
    t = Loop(2)
    for i in range(steps):
        t.op(name, 1000 * i + 300, ns).op("aten::copy_", 1000 * i + 301, 1)
    return t


def in_a_call(name):
    return program_copies(90).each((Loop.frame, "<built-in method %s>" % name, 299, 95))


FP32 = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_execute_kernel"
H2D = "Memcpy HtoD (Pinned -> Device)"
CASES = [
    ("GPU-LOW", "busy", busy(699), busy(700)),
    ("GPU-HIGH", "busy", busy(901), busy(900)),
    ("GPU-HIGH", "computing", busy(950, 801), busy(950, 800)),
    ("GPU-MIXED", "busy enough", busy(700), busy(699)),
    ("GPU-MIXED", "not too busy", busy(900), busy(901)),
    ("DATA-1", "by computing", loop(501), loop(500)),
    ("DATA-2", "by the model", loop(401), loop(400)),
    ("DATA-3", "by the step", loop(51, step=1000), loop(50, step=1000)),
    ("DATA-3", "by idle time", loader_idle(21), loader_idle(20)),
    ("HOST-1", "busy", late(699), late(700)),
    ("PH-FWD", "forward", loop(0, 401, 200), loop(0, 400, 200)),
    ("PH-BWD", "backward", loop(0, 200, 401), loop(0, 200, 400)),
    ("COPY-40", "host", copies(400), copies(399)),
    ("LAUNCH-BOUND", "calls", launches(201), launches(200)),
    ("LAUNCH-BOUND", "slow ones apart", Trace().steps(400).work(200, 100, took=90), one_loads(90_000)),
    ("LAUNCH-BOUND", "kernels", many_kernels(1001), many_kernels(1000)),
    ("SMALL-OPS", "count", small_kernels(51), small_kernels(50)),
    ("SLOW-LAUNCH", "of a step", slow_launch(200_001), slow_launch(200_000)),
    ("H2D-PAGEABLE", "time", pageable(101, 8), pageable(100, 8)),
    ("H2D-PAGEABLE", "bytes", pageable(1, (16 << 20) + 1), pageable(1, 16 << 20)),
    ("H2D-EXPOSED", "time", exposed(31), exposed(30)),
    ("SYNC-STEP", "in each step", waits(700, 1200), waits(700)),
    ("SYNC-STEP", "idle time", idle_waits(29), idle_waits(28)),
    ("SYNC-STEP", "who profiles", profiled(1, 1500), profiled(0, 1500)),
    ("PROF-SYNC", "who profiles", profiled(1, 1500), profiled(0, 1500)),
    ("ALLOC-STEP", "behind the second step", allocates(2500), allocates(1500)),
    ("COMM-EXPOSED", "time", collectives(101), collectives(100)),
    ("TC-IDLE", "time", products(1), products(0)),
    ("TC-IDLE", "kernels", products(9), products(9, "sm80_xmma_gemm_f16f16_f16f32")),
    ("TC-IDLE", "plain FP32", products(9, FP32), products(9, FP32.replace("f32f32_f32f32_f32", "f32f32_tf32f32_f32")
                                                          .replace("ffma", "tensor16x8x8"))),
    ("TC-IDLE", "capability", products(9), products(9, major=6)),
    ("TC-ALIGN", "columns", shaped([[64, 32], [32, 50257]]), shaped([[64, 32], [32, 50264]])),
    ("TC-ALIGN", "rows", shaped([[63, 32], [32, 16]]), shaped([[1, 32], [32, 16]])),
    ("TC-ALIGN", "inner", shaped([[8], [4, 64, 33], [4, 33, 16]], "aten::baddbmm"),
     shaped([[9], [5, 64, 32], [5, 32, 16]], "aten::baddbmm")),
    ("TC-ALIGN", "time", shaped([[64, 32], [32, 15]], ns=11), shaped([[64, 32], [32, 15]], ns=10)),
    ("TC-ALIGN", "16 bits", shaped([[7, 7], [7, 7]]), shaped([[7, 7], [7, 7]], kernel="ampere_sgemm_64x64_tn")),
    ("TC-ALIGN", "the kernel's word", shaped([[7, 7], [7, 7]], kernel="cutlass_80_tensorop_f16_s16816gemm_f16_64x64_tn_align2"),
     shaped([[7, 7], [7, 7]], kernel="cutlass_80_tensorop_f16_s16816gemm_f16_64x64_tn_align8")),
    ("TC-ALIGN", "products", shaped([[7, 7], [7, 7], []]), shaped([[7, 7], [8, 7], []])),
    ("MEM-90", "peak", peak(901), peak(900)),
    ("MEM-ACT", "forward", phase_peaks(801, 1000), phase_peaks(800, 1000)),
    ("MEM-GRAD", "backward", phase_peaks(1000, 1501), phase_peaks(1000, 1500)),
    ("MEM-FRAG", "reserved", reserved(1501), reserved(1500)),
    ("MEM-LEAK", "growth", grows(1), grows(0)),
    ("MEM-LEAK", "steps", grows(1), grows(1, 2)),
    ("MEM-LEAK", "held", holds(3), holds(2)),
    ("BW-LOW", "bytes", device_copies(10**9 + 1, 11_000_000), device_copies(10**9, 11_000_000)),
    ("BW-LOW", "time", device_copies(2 * 10**9, 10_000_001), device_copies(2 * 10**9, 10_000_000)),
    ("BW-LOW", "rate", device_copies(5 * 10**9 - 1, 20_000_000), device_copies(5 * 10**9, 20_000_000)),
    ("OPT-LOOP", "kernels", optimizer_kernels(201), optimizer_kernels(200)),
    ("OPT-LOOP", "tiny ones", optimizer_kernels(201, 9999), optimizer_kernels(201, 10_000)),
    ("OPT-LOOP", "frames", optimizer_frame("torch/optim/adam.py(1): _single_tensor_adam"),
     optimizer_frame("torch/optim/adam.py(1): _multi_tensor_adam")),
    ("ZERO-FILL", "inside zero_grad", fills(50), fills(150)),
    ("SELECT-LOOP", "groups", selects(10), selects(9)),
    ("TO-AFTER", "copies", moved(H2D), moved("Memcpy DtoH (Device -> Pinned)")),
    ("TO-AFTER", "made on the host", moved(H2D), moved(H2D).work(190, 5, launch=50)),
    ("ITEM-STEP", "in nine of ten", reads(*range(9)), reads(*range(8))),
    ("ITEM-STEP", "no device", reads(*range(10)), reads(*range(10)).work(20, 10, launch=5)),
    ("ITEM-STEP", "by the program", read_in("train.py(9): log", Loop.frame), read_in("Optimizer.step#Adam.step")),
    ("ITEM-STEP", "by no library", read_in("torch/_tensor.py(9): __format__", Loop.frame),
     read_in("torchvision/ops.py(9): check", Loop.frame)),
    ("STEP-OTHER", "time", other(101), other(100)),
    ("STEP-OTHER", "no device", other(300), other(300).work(20, 10, launch=5)),
    ("STEP-OTHER", "where the forward is", other(300), other(300, has_forward=False)),
    ("STEP-OTHER", "in most steps", stalls(3), stalls(2)),
    ("STEP-OTHER", "no copies", other(300), other(300, name="aten::to")),
    ("COPY-STEP", "time", program_copies(21), program_copies(20)),
    ("COPY-STEP", "in each step", program_copies(90), program_copies(90, steps=1)),
    ("COPY-STEP", "an operator that copies", program_copies(90), program_copies(90, "aten::add")),
    ("COPY-STEP", "asked for", in_a_call("contiguous of Tensor object at 0x1"), in_a_call("matmul of type object at 0x1")),
    ("COPY-STEP", "no device", program_copies(90), program_copies(90).work(20, 10, launch=5)),
    ("PROF-LONG", "steps", Trace().steps(*[10] * 11), Trace().steps(*[10] * 10)),
    ("PROF-NOWARM", "first step", Trace().steps(151, 100, 100), Trace().steps(150, 100, 100)),
    ("PROF-MODE", "backward", loop(backward=0), loop()),
    ("PROF-NOMEM", "flag", Trace().op("a", 0, 9), Trace(profile_memory=1).op("a", 0, 9)),
    ("PROF-COARSE", "ranges", Trace().op("a", 0, 9), Trace().op("a", 0, 9).range("block", 0, 9)),
    ("PROF-COARSE", "of the program", loop(0, 0, 0, 90).op("a", 0, 9), loop(0, 1, 0, 90).op("a", 0, 9)),
    ("PROF-COARSE", "frames", Trace().op("a", 0, 9), Trace().op("a", 0, 9).span("python_function", "a.py(1): f", 0, 9)),
    ("PROF-SYNC", "by no operator", device_waits(700, 1200), device_waits(700)),
    ("PROF-COST", "time", overhead(21), overhead(20)),
]
