"""The built-in rules of categories, each in a recording in which it decides and in a twin in which it does not.

The subject is what is 7 MiB large, save where its size matters.  A twin is the nearest recording
that is something else, and says what."""
import re

import pytest

from recordings import scripts
from conftest import ROOT, run, some
from models import reader

SUBJECTS = 7 << 20, 8519680, 33554432  # what cuBLAS asks for is known by its size
TORCH = "/venv/lib/python3.12/site-packages/torch/"
STACKS = """
include torch.stacks
stack main     run.py:40 main < run.py:44 <module>
stack init     @malloc < ::at::_ops::empty::call() < model.py:9 __init__ < @main
stack forward  @malloc < ::at::_ops::mm::call() < model.py:18 forward < @call < @main
stack other    @malloc < ::at::_ops::mul::call() < run.py:22 scale < @main
stack data     @malloc < ::at::_ops::stack::call() < data.py:5 collate < T/utils/data/dataloader.py:700 __next__ < @main
stack state    @adam_state < @main
stack temp     @adam_temp < @main
stack in_forward @release < model.py:19 forward < @call < @main
stack in_main  @release < run.py:27 main < run.py:44 <module>
stack in_step  @free_adam_temp < @main
stack in_zero  @free_zero_grad < @main
stack linear   @malloc < ::at::_ops::empty::call() < T/nn/modules/linear.py:106 __init__ < model.py:9 __init__ < @main
stack made     @malloc < T/optim/adamw.py:30 __init__ < @main
stack again    @malloc < model.py:18 forward < @call < T/utils/checkpoint.py:1130 unpack_hook < @engine
stack in_again @release < model.py:19 forward < @call < T/utils/checkpoint.py:1130 unpack_hook < @engine
""".replace("T/", TORCH)

def body(text):
    """`-forward` and the like stand for a small allocation of that phase that is freed at once."""
    made, n = [], 0
    stacks = dict(forward="forward in_forward", backward="linear_backward free_backward", optimizer="temp in_step",
                  data="data in_main", other="other in_main", recompute="again in_again")
    for line in text.strip().split("\n"):
        line = line.strip()
        if line.startswith("-"):
            alloc, free = stacks[line[1:]].split()
            line = "alloc tiny%d 2KiB %s\nfree tiny%d %s" % (n, alloc, n, free)
            n += 1
        made.append(line)
    if made[0] == "python_only":
        made[0] = ""
        return "python_only\n" + STACKS + "\n".join(made) + "\n"
    return STACKS + "\n".join(made) + "\n"


def subject(text):
    """The rule, category and confidence of what is so large: at `# at MOMENT`, else when the first of it was made."""
    path = scripts.make(body(text))
    trace = reader.load(path.read_bytes())[0].top["device_traces"][0]
    born = [i for i, e in enumerate(trace) if e["action"] == "alloc" and e["size"] in SUBJECTS]
    moment = re.search("# at (.*)", text)
    at = moment[1] if moment else born[0] if born else "start"
    device, = run("peak", "--json", "--by", "size", "--at", at, path, expect=0).json()["devices"]
    row, = [r for r in device["result"]["rows"] if int(r["name"]) in SUBJECTS]
    return " ".join(str(row[k]) for k in ("rule", "category", "confidence"))


FOUR_OTHERS = "alloc a 1KiB other\nalloc b 1KiB other\nalloc c 1KiB other\nalloc d 1KiB other"
STEPS = "repeat 4 {\nmark ProfilerStep#$i start\nalloc x 3MiB forward\nfree x in_forward\n%s\nmark ProfilerStep#$i end\n}"
NATIVE = "stack s @malloc < ::%s < model.py:18 forward < @call < @main\n"
PYTHON = "stack s @malloc < %s < model.py:18 forward < @call < @main\n"
PYTHON_FREE = "stack py run.py:27 main < run.py:44 <module>\n"
BATCHES = "repeat 4 {\nmark ProfilerStep#$i start\nalloc b 7MiB %s\n-forward\n-optimizer\nfree b in_main\nmark ProfilerStep#$i end\n}"
MIXED_BATCHES = BATCHES.replace("-optimizer", "-backward\n-optimizer")
VALIDATED = ("-forward\n" + FOUR_OTHERS + "\nrepeat 4 {\nmark ProfilerStep#$i start\nalloc v 7MiB other\n-other\n-other\n-other\n"
             "-forward\n#\nfree v in_main\n" + "-other\n" * 4 + "mark ProfilerStep#$i end\n}")
LIKES = "# at start\nalloc s 7MiB forward\nstack own @release < run.py:31 main < run.py:44 <module>\n"
# Three parameters; the gradient of each is gone before the next is there.
STEPPED = ("# at start\nalloc s 7MiB init\nalloc u 9MiB init\nalloc v 5MiB init\nwindow late\n%s\n"
           + "".join("alloc g%d %dMiB accumulate_grad\n-optimizer\nfree g%d in_zero\n" % (i, i, i) for i in (9, 7, 5)))
FUNCTIONAL = TORCH + "nn/functional.py:7 cross_entropy"
ONE_STEP = "alloc s 7MiB s\nfree s in_forward"

GRAPH_ONLY = "".join("alloc g%d 1MiB forward\n" % i for i in range(4))
GRAPH = "alloc s 7MiB forward\n" + GRAPH_ONLY
GRAPH_GOES = "".join("free g%d in_main\n" % i for i in range(4))
LOSS = "stack s @malloc < ::at::_ops::_log_softmax::call() < %s < @main\n" % FUNCTIONAL
INSIDE = ("stack loss %s < run.py:27 main < run.py:44 <module>\nalloc s 7MiB s\n" % FUNCTIONAL + FOUR_OTHERS
          + "\nfree s %s\n-other\n-forward\n" + GRAPH_GOES + "-other\n" * 9 + "-backward")
COPIED = "stack s @malloc < ::at::_ops::_to_copy::call() < run.py:21 main < run.py:44 <module>\n"
CAST = COPIED.replace(" < run.py:21", " < ::torch::autograd::THPVariable_float() < run.py:21")
SAVED_BATCHES = ("repeat 4 {\nmark ProfilerStep#$i start\nalloc b 7MiB %s\n-forward\n-backward\nfree b free_saved\n"
                 "-optimizer\nmark ProfilerStep#$i end\n}")
AHEAD = ("repeat 6 {\nmark ProfilerStep#$i start\nalloc b$i 7MiB %s\n-forward\n-backward\n-optimizer\n"
         "if $i == 3 {\nfree b0 in_main\n}\nif $i == 4 {\nfree b1 in_main\n}\nmark ProfilerStep#$i end\n}")

OLDER = "# at start\nalloc s 7MiB init\n%s\nwindow late\n-forward\n"
TWO_OF_NINE = "alloc a 5MiB init\nalloc b 3MiB init\nalloc c 9MiB init\nalloc d 9MiB init"
OWN_POOL = "stack pool @malloc < ::at::_ops::zeros::call() < replay.py:14 __init__ < run.py:12 build < @main\n"
LIST = "stack copied @malloc < ::at::_ops::clone::call() < run.py:30 follow < @main\n"
FLAT = "".join("stack %s @malloc < megatron/param_and_grad_buffer.py:%d __init__ < @main\n" % at
               for at in (("first", 586), ("second", 592)))
MOVED = "".join("stack %s @malloc < ::at::_ops::_to_copy::call() < %snn/modules/module.py:%d _apply < @main\n"
                % (name, TORCH, line) for name, line in (("weights", 966), ("buffers", 1036)))


def growing(by, late=False):
    """Six passes that make a pair of caches anew, larger by so many KiB, while the old pair is alive."""
    lines = ["stack append @malloc < ::at::_ops::cat::call() < model.py:21 append < @call < @main",
             "stack bind @release < model.py:22 append < @call < @main"]
    for i in range(7):
        if late and i == 1:
            lines.append("window late")
        for pair in "kv":
            size = (7 << 20) + i * by * 1024
            lines.append("alloc %s%d %d append" % (pair, i, size))
            if i > 0:
                lines.append("free %s%d bind" % (pair, i - 1))
        lines.append("-forward")
    return "\n".join(lines) + "\nfree k6 bind\nfree v6 bind"


def gradients(*sizes):
    """In MiB, one of each."""
    return "".join("alloc g%d %dMiB accumulate_grad\n" % (size, size) for size in sizes) + "-optimizer"


# What decides, where; what decides instead, where: each as "RULE CATEGORY CONFIDENCE" and a script.
TWINS = {
    "a workspace getter": (
        "W1 workspace high", NATIVE % "at::cuda::getNewWorkspace()" + ONE_STEP,
        "F1 temporary high", NATIVE % "at::cuda::getNewHandle()" + ONE_STEP),
    "workspace of cublasLt": (
        "W1 workspace high", NATIVE % "at::cuda::blas::CublasLtWorkspace::CublasLtWorkspace()" + ONE_STEP,
        "F1 temporary high", PYTHON % "my/CublasLtWorkspace.py:3 make" + ONE_STEP),
    "a convolution's plan": (
        "W2 workspace medium", NATIVE % "at::native::run_conv_plan(cudnnContext*)" + ONE_STEP,
        "F1 temporary high",
        NATIVE % "at::native::run_conv_plan(cudnnContext*)" + "alloc s 7MiB s\n-forward\n-forward\n-forward\nfree s in_forward"),
    "scratch of a sort": (
        "W2 workspace medium", NATIVE % "at::cuda::cub::radix_sort_pairs()" + ONE_STEP,
        "F1 temporary high", NATIVE % "at::native::sort_stable()" + ONE_STEP),
    "the size of a workspace": (
        "W3 workspace medium", "-forward\nalloc s 8519680\n-forward",
        "U unknown None", "-forward\nalloc s 33554432\n-forward"),
    "its size with a stack": (
        "W3 workspace medium", "-forward\nalloc s 8519680\n-forward",
        "F3 activation low", "-forward\nalloc s 8519680 forward\n-forward"),
    "its size with Python's frames": (
        "W3 workspace medium", "stack py model.py:18 forward < run.py:40 main\n-forward\nalloc s 8519680 py\n-forward",
        "F5 temporary medium",
        "stack py model.py:18 forward < run.py:40 main\nalloc s 8519680 py\n-optimizer\nfree s in_main"),
    "a collective": (
        "C1 communication high", NATIVE % "c10d::ProcessGroupNCCL::allgather()" + ONE_STEP,
        "F1 temporary high", PYTHON % "comm.py:3 ncclAllGather" + ONE_STEP),
    "FSDP's collectives": (
        "C1 communication high",
        PYTHON % (TORCH + "distributed/fsdp/_fully_shard/_fsdp_collectives.py:150 run") + ONE_STEP,
        "F1 temporary high", PYTHON % "my_fsdp_collectives.py:150 run" + ONE_STEP),
    "a cache for steps": (
        "K1 kv_cache high", PYTHON % "kv_cache.py:7 update" + STEPS % "if $i == 0 {\nalloc s 7MiB s\n}",
        "K1 kv_cache medium", PYTHON % "kv_cache.py:7 update" + STEPS % ("if $i == 0 {\n" + ONE_STEP + "\n}")),
    "a cache": (
        "K1 kv_cache medium", PYTHON % "cache_utils.py:7 update" + ONE_STEP,
        "F1 temporary high", PYTHON % "cache.py:7 update" + ONE_STEP),
    "a cache that grows": (
        "K2 kv_cache medium", growing(1),
        "F1 temporary high", growing(0)),
    "freed by zero_grad": (
        "G1 gradient high", "-forward\nalloc s 7MiB linear_backward\n-optimizer\nfree s in_zero",
        "B2 gradient medium",
        "stack own @release < run.py:27 zero_gradients < @main\n-forward\nalloc s 7MiB linear_backward\n-optimizer\nfree s own"),
    "made by AccumulateGrad": (
        "G1 gradient high", "-forward\nalloc s 7MiB accumulate_grad\nfree s free_backward",
        "B1 autograd_detail high", "-forward\nalloc s 7MiB linear_backward\nfree s free_backward"),
    "saved for backward": (
        "S1 activation high", "alloc s 7MiB forward\n-backward\nfree s free_saved",
        "F2 activation medium", "alloc s 7MiB forward\n-backward\nfree s free_backward"),
    "saved by a function outside modules": (
        "S1 activation high", "alloc s 7MiB other\n-backward\nfree s free_saved",
        "F2 activation medium", "alloc s 7MiB other\n-backward\nfree s free_backward"),
    "let go with a graph": (
        "S1 activation high", "stack dropped @release < ::torch::autograd::deleteNode() < @main\n"
        "alloc s 7MiB forward\n-optimizer\nfree s dropped",
        "F5 temporary medium", "alloc s 7MiB forward\n-optimizer\nfree s in_main"),
    "a loss outside modules": (
        "F2 activation medium", "-forward\nalloc s 7MiB other\n-backward\nfree s free_backward",
        "T1 temporary medium", "-optimizer\nalloc s 7MiB other\n-backward\nfree s in_main"),
    "what is computed beside a loss, and held": (
        "F4 activation medium", "-forward\nalloc s 7MiB other\n-backward\n-optimizer",
        "U unknown None", "-optimizer\nalloc s 7MiB other\n-backward\n-optimizer"),
    "what is computed beside a loss, and copied": (
        "F4 activation medium", "-forward\nalloc s 7MiB other\n-backward\n-optimizer",
        "U unknown None", LIST + "-forward\nalloc s 7MiB copied\n-backward\n-optimizer"),
    "what is computed between two forwards, and held": (
        "F4 activation low", "-forward\n" + FOUR_OTHERS + "\nalloc s 7MiB other\n-forward\n-backward\n-optimizer",
        "U unknown None", COPIED + "-forward\n" + FOUR_OTHERS + "\nalloc s 7MiB s\n-forward\n-backward\n-optimizer\nfree s in_main"),
    "the same within one forward": (
        "F4 activation low", "-forward\nalloc s 7MiB other\n-forward\n-backward\n-optimizer",
        "T1 temporary medium", "-forward\nalloc s 7MiB other\n-forward\nfree s in_main\n-backward\n-optimizer"),
    "a batch that operators change": (
        "F2 activation low", MIXED_BATCHES % "other",
        "I1 input medium", COPIED + MIXED_BATCHES % "s"),
    "a loss that is held": (
        "F4 activation medium", PYTHON.replace("model.py:18 forward", "run.py:22 main") % FUNCTIONAL
        + "alloc s 7MiB s\n-backward\n-optimizer\nfree s in_main",
        "T1 temporary medium", "alloc s 7MiB other\n-backward\n-optimizer\nfree s in_main"),
    "a loss that stays": (
        "F3 activation low", PYTHON.replace("model.py:18 forward", "run.py:22 main") % FUNCTIONAL + "-forward\nalloc s 7MiB s",
        "U unknown None", "-forward\nalloc s 7MiB other"),
    "held over a backward": (
        "F4 activation medium", "alloc s 7MiB forward\n-backward\n" + FOUR_OTHERS + "\nfree s in_main",
        "F5 temporary medium", "alloc s 7MiB forward\n" + FOUR_OTHERS + "\nfree s in_main"),
    "a graph without native frames": (
        "F5 activation medium", PYTHON_FREE + "alloc s 7MiB forward\nalloc t0 1MiB forward\nalloc t1 1MiB forward\n"
        "alloc t2 1MiB forward\n-optimizer\nfree s py\nfree t0 py\nfree t1 py\nfree t2 py",
        "F5 temporary medium", PYTHON_FREE + "alloc s 7MiB forward\nalloc t0 1MiB forward\nalloc t1 1MiB forward\n"
        "-optimizer\nfree s py\nfree t0 py\nfree t1 py"),
    "saved, though the optimizer made it": (
        "S1 activation high", "alloc s 7MiB other\n-backward\nfree s free_saved",
        "O3 optimizer_state medium", "alloc s 7MiB state\n-forward\n-backward\nfree s free_saved"),
    "saved by a backward that is in the graph": (
        "S2 activation high", "-forward\nalloc s 7MiB linear_backward\n-forward\n-backward\nfree s free_saved\n-optimizer",
        "B2 gradient medium", "-forward\nalloc s 7MiB linear_backward\n-forward\n-backward\nfree s free_backward\n-optimizer"),
    "the same in Python's frames": (
        "S2 activation medium",
        "python_only\n-forward\nalloc s 7MiB linear_backward\n-forward\n-backward\nfree s free_backward\n-optimizer",
        "B2 gradient medium",
        "python_only\n-forward\nalloc s 7MiB linear_backward\n-forward\n-backward\nfree s in_main\n-optimizer"),
    "gone with the step of the optimizer": (
        "O1 optimizer_temp high", "-forward\n-backward\nalloc s 7MiB temp\nfree s in_step\n-optimizer",
        "O3 optimizer_state medium", "-forward\n-backward\nalloc s 7MiB temp\n-forward\nfree s in_forward"),
    "state made at once": (
        "O0 optimizer_state medium", "alloc s 7MiB made\n-forward",
        "P1 parameter low", "stack s @malloc < optim/model.py:9 __init__ < @main\nalloc s 7MiB s\n-forward\n-backward"),
    "state made anew": (
        "O2 optimizer_state medium", "# at end\nalloc old 7MiB made\n-forward\nalloc s 7MiB state\nfree old in_step\n-optimizer",
        "O3 optimizer_state medium",
        "# at end\nalloc old 7MiB made\n-forward\nalloc s 7MiB state\nalloc t 7MiB state\nfree old in_step\n-optimizer"),
    "a parameter made anew": (
        "O2 parameter medium", "# at end\nalloc old 7MiB init\n-forward\nalloc s 7MiB state\nfree old in_step\n-optimizer",
        "O3 optimizer_state medium", "# at end\nalloc old 7MiB init\n-forward\nalloc s 7MiB state\n-optimizer\n-forward\nfree old in_forward"),
    "state used again": (
        "O3 optimizer_state high", "-forward\nalloc s 7MiB state\n-forward\n-optimizer\n-forward",
        "O3 optimizer_state medium", "-forward\nalloc s 7MiB state\n-forward"),
    "gone with the backward": (
        "B1 autograd_detail high", "-forward\nalloc s 7MiB linear_backward\nfree s free_backward\n-optimizer",
        "B2 gradient medium", "-forward\nalloc s 7MiB linear_backward\n-optimizer\nfree s in_main"),
    "gone with a backward that computes forwards again": (
        "B1 autograd_detail medium",
        "-forward\nalloc s 7MiB linear_backward\n-recompute\n-backward\nfree s free_backward\n-optimizer",
        "B2 gradient medium", "-forward\nalloc s 7MiB linear_backward\n-recompute\n-backward\n-optimizer\nfree s in_main"),
    "beyond its backward": (
        "B2 gradient medium", "-forward\nalloc s 7MiB linear_backward\n-forward\nfree s in_main",
        "B1 autograd_detail high", "-forward\nalloc s 7MiB linear_backward\nfree s free_backward\n-forward"),
    "of no parameter's size, where the recording ends": (
        "B3 autograd_detail low", "-forward\nalloc s 7MiB linear_backward",
        "B2 gradient medium", "-forward\nalloc s 7MiB linear_backward\n-forward"),
    "not saved by the graph that outlives it": (
        "F6 temporary medium", GRAPH + FOUR_OTHERS + "\nfree s in_main\n-forward\n" + GRAPH_GOES,
        "F5 activation medium", PYTHON_FREE + GRAPH + FOUR_OTHERS + "\n-forward\nfree s py\n" + GRAPH_GOES),
    "a loss that ends a graph": (
        "F5 activation medium", PYTHON_FREE + LOSS + GRAPH_ONLY + "alloc s 7MiB s\n" + FOUR_OTHERS + "\n-forward\n"
        + GRAPH_GOES + "-other\n" * 9 + "free s py\n-backward",
        "F5 temporary medium", PYTHON_FREE + LOSS + "-forward\nalloc s 7MiB s\n-forward\nfree s py"),
    "what a loss makes and frees": (
        "F5 temporary medium", PYTHON_FREE + LOSS + GRAPH_ONLY + INSIDE % "loss",
        "F5 activation medium", PYTHON_FREE + LOSS + GRAPH_ONLY + INSIDE % "py"),
    "a loss, recomputed in the next step, is no input": (
        "F5 temporary medium", LOSS + BATCHES % "s",
        "I1 input medium", COPIED + BATCHES % "s"),
    "a batch that its graph lets go": (
        "I2 input medium", COPIED + SAVED_BATCHES % "s",
        "S1 activation high", SAVED_BATCHES % "other"),
    "a batch copied ahead": (
        "I1 input medium", COPIED + AHEAD % "s",
        "U unknown None", AHEAD % "other"),
    "a batch without modules": (
        "I2 input low", COPIED + (SAVED_BATCHES % "s").replace("-forward\n", ""),
        "S1 activation medium", COPIED + "-forward\n-backward\nalloc s 7MiB s\n-backward\nfree s free_saved"),
    "a cast before a loss, saved": (
        "S1 activation medium", COPIED + "-forward\nalloc s 7MiB s\n-backward\nfree s free_saved",
        "S1 activation high", "-forward\nalloc s 7MiB other\n-backward\nfree s free_saved"),
    "a result cast in each step": (
        "U unknown None", CAST + AHEAD % "s",
        "I1 input medium", COPIED + AHEAD % "s"),
    "gone with the forward": (
        "F1 temporary high", "alloc s 7MiB forward\nfree s in_forward\n-backward",
        "F2 activation medium", "alloc s 7MiB forward\n-backward\nfree s free_backward"),
    "until the backward": (
        "F2 activation medium", "alloc s 7MiB forward\n-backward\nfree s free_backward",
        "F4 activation medium", "alloc s 7MiB forward\n-backward\n" + FOUR_OTHERS + "\nfree s in_main"),
    "before a backward": (
        "F3 activation low", "alloc s 7MiB forward",
        "F5 temporary medium", "alloc s 7MiB forward\n" + FOUR_OTHERS + "\nfree s in_main"),
    "of the last forward": (
        "F3 activation low", "-forward\n-backward\nalloc s 7MiB forward",
        "F5 temporary medium", "-forward\n-backward\nalloc s 7MiB forward\n" + FOUR_OTHERS + "\nfree s in_main"),
    "an output that is kept": (
        "F4 activation low",
        STEPS % "if $i == 1 {\nalloc s 7MiB forward\n-optimizer\n}\nif $i == 2 {\nfree s in_main\n}",
        "F5 temporary medium", STEPS % "if $i == 1 {\nalloc s 7MiB forward\n-optimizer\nfree s in_main\n}"),
    "a weight": (
        "P1 parameter medium", "alloc s 7MiB linear\n-forward",
        "U unknown None", "alloc s 7MiB linear\n-forward\nfree s in_main"),
    "a weight that an object of one's own makes": (
        "P1 parameter low", "alloc s 7MiB init\n-forward\nalloc g 8MiB accumulate_grad\nfree g in_zero",
        "U unknown None", OWN_POOL + "alloc s 7MiB pool\nalloc t 8MiB init\n-forward\nalloc g 8MiB accumulate_grad\nfree g in_zero"),
    "a weight with a gradient": (
        "P1 parameter high", "alloc s 7MiB init\n-forward\nalloc g 7MiB accumulate_grad\nfree g in_zero",
        "P1 parameter low", "alloc s 7MiB init\n-forward\nalloc g 8MiB accumulate_grad\nfree g in_zero"),
    "a frozen weight": (
        "P1 parameter high",
        "alloc s 7MiB init\nalloc t 8MiB init\n-forward\nalloc g 8MiB accumulate_grad\nfree g in_zero",
        "P1 parameter medium", "stack own @malloc < T/nn/modules/linear.py:107 __init__ < @main\n".replace("T/", TORCH) +
        "alloc s 7MiB own\nalloc t 8MiB init\n-forward\nalloc g 8MiB accumulate_grad\nfree g in_zero"),
    "a weight that is moved": (
        "P1 parameter high", MOVED + "alloc s 7MiB weights\nalloc t 1MiB buffers\n-forward",
        "P1 parameter medium", MOVED + "alloc s 7MiB weights\n-forward"),
    "a buffer that is moved": (
        "P2 buffer high", MOVED + "alloc t 1MiB weights\nalloc s 7MiB buffers\n-forward\nalloc g 7MiB accumulate_grad\nfree g in_zero",
        "P1 parameter high", MOVED + "alloc s 7MiB buffers\n-forward\nalloc g 7MiB accumulate_grad\nfree g in_zero"),
    "one buffer for all gradients": (
        "P3 gradient medium", FLAT + "alloc t 5MiB first\nalloc s 7MiB second\n-forward",
        "P3 parameter medium", FLAT + "alloc s 7MiB first\nalloc t 5MiB second\n-forward"),
    "a moving average": (
        "P4 parameter_copy medium", LIST + "alloc s 7MiB copied\nalloc c0 1MiB copied\nalloc c1 1MiB copied\nalloc c2 2MiB copied\n"
        "alloc t0 1MiB init\nalloc t1 1MiB init\nalloc t2 2MiB init\nalloc t3 7168KiB init\n-forward\n-backward",
        "U unknown None", LIST + "alloc s 7MiB copied\nalloc c0 1MiB copied\nalloc c1 1MiB copied\nalloc c2 2MiB copied\n"
        "alloc t0 1MiB init\nalloc t1 1MiB init\nalloc t2 2MiB init\n-forward\n-backward"),
    "weights made by hand": (
        "P4 parameter medium", LIST + "alloc s 7MiB copied\nalloc c0 1MiB copied\nalloc c1 1MiB copied\nalloc c2 2MiB copied\n"
        "-forward\nalloc g 7MiB accumulate_grad\nalloc g0 1MiB accumulate_grad\nalloc g1 1MiB accumulate_grad\n"
        "alloc g2 2MiB accumulate_grad\nfree g in_zero\nfree g0 in_zero\nfree g1 in_zero\nfree g2 in_zero",
        "U unknown None", LIST + "alloc s 7MiB copied\nalloc c0 1MiB copied\nalloc c1 1MiB copied\nalloc c2 2MiB copied\n"
        "-forward\nalloc g 6MiB accumulate_grad\nalloc g0 1MiB accumulate_grad\nalloc g1 1MiB accumulate_grad\n"
        "alloc g2 2MiB accumulate_grad\nfree g in_zero\nfree g0 in_zero\nfree g1 in_zero\nfree g2 in_zero"),
    "an averaged model": (
        "P5 parameter_copy medium", "stack s @malloc < T/optim/swa_utils.py:200 __init__ < @main\nalloc s 7MiB s\n-forward".replace("T/", TORCH),
        "O0 optimizer_state medium", "alloc s 7MiB made\n-forward"),
    "a weight for steps": (
        "P1 parameter medium", "alloc s 7MiB linear\n" + STEPS % "if $i == 2 {\nfree s in_main\n}",
        "U unknown None", "alloc s 7MiB linear\n" + STEPS % "if $i == 0 {\nfree s in_main\n}"),
    "such a weight for steps": (
        "P1 parameter low", "alloc s 7MiB init\n" + STEPS % "-backward\nif $i == 2 {\nfree s in_main\n}",
        "U unknown None", "alloc s 7MiB init\n" + STEPS % "-backward\nif $i == 0 {\nfree s in_main\n}"),
    "such a weight, where nothing is trained": (
        "P1 parameter low", "alloc s 7MiB init\n-forward\n-backward",
        "U unknown None", "alloc s 7MiB init\n-forward\n-forward"),
    "a weight that is replaced": (
        "P1 parameter high", "alloc s 7MiB init\n-forward\nalloc new 7MiB state\nfree s in_step\n-optimizer",
        "U unknown None", "alloc s 7MiB init\n-forward\nalloc new 6MiB state\nfree s in_step\n-optimizer"),
    "a batch": (
        "I1 input medium", "alloc s 7MiB data\n-forward\nfree s in_main",
        "T1 temporary medium", "alloc s 7MiB other\n-backward\nfree s in_main"),
    "a batch by an unknown way": (
        "I1 input medium", "python_only\n" + BATCHES % "other",
        "U unknown None", "python_only\nstack noise run.py:22 noise < @main\n" + BATCHES % "noise"),
    "a batch that is copied": (
        "I1 input medium", COPIED + BATCHES % "s",
        "U unknown None", BATCHES % "other"),
    "batches that are kept": (
        "I1 input medium", COPIED + STEPS.replace("alloc x", "alloc b$i 7MiB s\nalloc x") % "-backward\n-optimizer",
        "U unknown None", STEPS.replace("alloc x", "alloc b$i 7MiB other\nalloc x") % "-backward\n-optimizer"),
    "the batch of the last pass": (
        "I1 input low", COPIED + "-forward\n-optimizer\nalloc s 7MiB s\n-forward",
        "U unknown None", COPIED + "alloc s 7MiB s\n-forward\n-optimizer"),
    "a batch of a validation, in Python's frames": (
        "I1 input low", "python_only\n" + VALIDATED,
        "U unknown None", "python_only\n" + VALIDATED.replace("#", "-backward")),
    "a batch that stays": (
        "I1 input low", "alloc s 7MiB data\n-forward",
        "U unknown None", "alloc s 7MiB other\n-forward"),
    "a short life, in Python's frames": (
        "T1 temporary low", "python_only\n-forward\n" + "alloc s 7MiB other\n" + "-other\n" * 5 + "free s in_main",
        "U unknown None", "python_only\n-forward\n" + "alloc s 7MiB other\n" + "-other\n" * 7 + "free s in_main"),
    "a short life": (
        "T1 temporary medium", "-forward\n" + "alloc s 7MiB other\n" + "-other\n" * 5 + "free s in_main",
        "U unknown None", "-forward\n" + "alloc s 7MiB other\n" + "-other\n" * 7 + "free s in_main"),
    "older, released by backward": (
        "N1 activation medium", "alloc s 7MiB forward\nwindow late\n-backward\nfree s free_saved",
        "U unknown None", "alloc s 7MiB forward\nwindow late\n-backward\nfree s free_backward"),
    "older, freed by zero_grad": (
        "G1 gradient high", "alloc s 7MiB forward\nwindow late\n-forward\nfree s in_zero",
        "U unknown None", "alloc s 7MiB forward\nwindow late\n-forward\nfree s in_step"),
    "older, as often as gradients": (
        "N2 parameter medium", "# at start\nalloc s 7MiB init\nwindow late\n-forward\nalloc g 7MiB accumulate_grad\n-optimizer",
        "N3 persistent low", "# at start\nalloc s 7MiB init\nwindow late\n-forward\nalloc g 8MiB accumulate_grad\n-optimizer"),
    "older, and gradients that hooks step one by one": (
        "N2 parameter medium", STEPPED % "-forward",
        "N3 persistent low", STEPPED % "-other"),  # which gradients are of one backward is not known
    "older, as often as most gradients": (
        "N2 parameter medium", OLDER % "alloc a 5MiB init\nalloc b 3MiB init" + gradients(7, 5, 3, 6),
        "N3 persistent low", OLDER % "alloc a 5MiB init\nalloc b 3MiB init" + gradients(7, 5, 3, 16)),
    "older, of which there is more than of gradients": (
        "N2 parameter medium", OLDER % TWO_OF_NINE + gradients(7, 5, 3, 9),
        "N3 persistent low", OLDER % TWO_OF_NINE.replace("alloc b 3MiB init\n", "") + gradients(7, 5, 9)),
    "older, freed as its likes": (
        "N4 temporary medium", LIKES + "window late\nfree s own\nalloc t 7MiB forward\n-optimizer\nfree t own",
        "U unknown None", LIKES + "window late\nfree s own\nalloc t 8MiB forward\n-optimizer\nfree t own"),
    "older, left behind as its likes": (
        "N4 activation low", "# at start\nalloc s 7MiB forward\nwindow late\n"
        + STEPS % "alloc t$i 7MiB forward\n-backward\n-optimizer",
        "N3 persistent low", "# at start\nalloc s 7MiB forward\nwindow late\n"
        + STEPS % "alloc t$i 8MiB forward\n-backward\n-optimizer"),
    "older, of a cache that grows": (
        "N1 kv_cache medium", "# at start\n" + growing(1, late=True),
        "N4 temporary medium", "# at start\n" + growing(0, late=True)),
    "older, and nothing more is known": (
        "N3 persistent low", "alloc s 7MiB init\nwindow late\n-forward",
        "U unknown None", "alloc s 7MiB init\nwindow late\n-forward\nfree s in_main"),
}


@pytest.mark.parametrize("name", list(TWINS))
def test_a_rule_decides(name):
    want, script, _, _ = TWINS[name]
    assert subject(script) == want


@pytest.mark.parametrize("name", list(TWINS)[::some(2, 1)])
def test_its_twin_is_something_else(name):
    _, _, want, script = TWINS[name]
    assert want != TWINS[name][0]
    assert subject(script) == want


def test_a_gradient_where_the_recording_ends_has_the_size_of_its_parameter():
    for parameter, want in ((7, ("B2", "gradient", "medium")), (6, ("B3", "autograd_detail", "low"))):
        path = scripts.make(body("alloc p %dMiB init\n-forward\nalloc s 7MiB linear_backward" % parameter))
        device, = run("peak", "--json", "--by", "site", "--at", "end", path, expect=0).json()["devices"]
        assert want in [(r["rule"], r["category"], r["confidence"]) for r in device["result"]["rows"]]


def test_copies_beside_an_optimizer_that_makes_its_state_are_of_unknown_kind():
    for state, want in (("", {"parameter": 7, "optimizer_state": 7}),
                        ("alloc t 7MiB state\n-optimizer", {"parameter": 7, "persistent": 7})):
        path = scripts.make(body("alloc p 7MiB init\nalloc e 7MiB init\nwindow late\n-forward\nalloc g 7MiB accumulate_grad\n"
                                 "-optimizer\n" + state))
        device, = run("categories", "--json", "--at", "start", path, expect=0).json()["devices"]
        assert {c["category"]: c["bytes"] >> 20 for c in device["result"]["by_category"]} == want


def test_a_gradient_of_a_parameter_s_size_is_surer():
    for parameter, want in ((7, ("B2", "gradient", "high")), (6, ("B2", "gradient", "medium"))):
        path = scripts.make(body("alloc p %dMiB init\n-forward\nalloc s 7MiB linear_backward\n-optimizer\nfree s in_main" % parameter))
        device, = run("peak", "--json", "--by", "site", path, expect=0).json()["devices"]
        assert want in [(r["rule"], r["category"], r["confidence"]) for r in device["result"]["rows"]]


def test_what_a_later_backward_frees_is_a_gradient_where_a_parameter_has_its_size():
    for parameter, want in ((7, ("B2", "gradient", "high")), (6, ("S2", "activation", "medium"))):
        path = scripts.make(body("python_only\nalloc p %dMiB init\n-forward\nalloc s 7MiB linear_backward\n-forward\n"
                                 "-backward\nfree s free_backward\n-optimizer" % parameter))
        device, = run("peak", "--json", "--by", "site", path, expect=0).json()["devices"]
        assert want in [(r["rule"], r["category"], r["confidence"]) for r in device["result"]["rows"]]


def test_every_rule_has_its_recordings():
    rules = (ROOT / "src" / "analysis" / "snapshot" / "categories" / "builtin.rules").read_text(encoding="utf-8")
    named = set(re.findall(r"^rule (\S+) (\S+) (\S+)$", rules, re.M))
    here = {tuple(want.split()) for want, _, _, _ in TWINS.values()}
    told = {tuple(want.split()) for pair in TWINS.values() for want in (pair[0], pair[2])}
    # What these two rules give is another's category.
    whose = {"O2": "inherited", "N2": "split", "N4": "alike", "P4": "list"}
    told |= {("B2", "gradient", "high")}  # in the test of a gradient of a parameter's size
    told |= {(rule, whose[rule], sure) for rule, _, sure in told if rule in whose}
    assert len(named) > 20 and named <= told, named - told
    # Each has a script of its own and a twin, whatever other rules' twins show besides.
    assert {rule for rule, _, _ in named} <= {rule for rule, _, _ in here}


# The file that the documentation of the language begins with, a line at a time.

OWN = """
stack wrapped @malloc < my_pkg/wrappers/call.py:3 run < layer_cache.py:7 extend < model.py:18 forward < @call < @main
stack library @malloc < /venv/lib/python3.12/site-packages/thing/src/net.py:5 run < @main
"""
MY_KV = "rule my_kv kv_cache medium\n  alloc.owner ~* cache\n  born = forward\n  life_steps >= 2\n"
BY_CULPRIT = "rule mine input low\n  alloc.culprit ~ ^net\\.py:5 run$\n"


def by_own_rules(tmp_path, script, rules):
    """Rule and category of the subject where these rules are asked first."""
    (tmp_path / "my.rules").write_text(rules)
    path = scripts.make(body(OWN + script))
    device, = run("categories", "--json", "--at", "end", "--rules", tmp_path / "my.rules", path, expect=0).json()["devices"]
    return [r["rule"] for c in device["result"]["by_category"] for r in c["rules"] if r["bytes"] == 7 << 20]


@pytest.mark.parametrize("stack, begins, rules, want", [
    ("wrapped", 0, MY_KV + "plumbing = my_pkg/wrappers\n", "my_kv"),
    # Its owner is the wrapper; it lives for less; it is not of the forward.
    ("wrapped", 0, MY_KV, "F3"),
    ("wrapped", 2, MY_KV + "plumbing = my_pkg/wrappers\n", "F3"),
    ("other", 0, MY_KV + "plumbing = my_pkg/wrappers\n", "U"),
    # What lies in packages is a library's, unless it is said to be one's own.
    ("library", 0, "set user_root = src/\n" + BY_CULPRIT, "mine"),
    ("library", 0, BY_CULPRIT, "U"),
])
def test_rules_of_ones_own(tmp_path, stack, begins, rules, want):
    script = STEPS % ("if $i == %d {\nalloc s 7MiB %s\n}" % (begins, stack))
    assert by_own_rules(tmp_path, script, rules) == [want]


@pytest.mark.parametrize("size, first, left", [(8, 15, 3), (7, 7, 10)])
def test_the_first_of_any_size(tmp_path, size, first, left):
    """A rule of one's own asks it of all sizes at once; the built-in one asks it of one."""
    script = STEPS % ("if $i == 0 {\nalloc t 3MiB other\nalloc u %dMiB other\n}\nif $i == 1 {\nalloc s 7MiB other\n}" % size)
    (tmp_path / "my.rules").write_text("rule first input low\n  size >= 1MiB\n  first_of_size = yes\n  alive_at_end = yes\n")
    device, = run("categories", "--json", "--at", "end", "--rules", tmp_path / "my.rules", scripts.make(body(OWN + script)),
                  expect=0).json()["devices"]
    found = {r["rule"]: r["bytes"] >> 20 for c in device["result"]["by_category"] for r in c["rules"]}
    assert (found["first"], found["U"]) == (first, left)
