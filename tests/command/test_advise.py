"""Advice: each rule where it is right, silent on a twin; figures of real files; savings against a plain recount."""
import json
import pickle

import pytest

from recordings import scripts
from conftest import ROOT, batch, run, some
from models import model, reader

HEAD = """include torch.stacks
stack main         run.py:95 main < run.py:101 <module>
stack init         @malloc < ::at::_ops::empty_memory_format::call(…) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:106 __init__ < model.py:14 __init__ < run.py:31 build < @main
stack to_device    @malloc < ::at::_ops::to_dtype_layout::call(…) < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool, std::optional<c10::MemoryFormat>) < ::torch::autograd::THPVariable_cuda(_object*, _object*, _object*) < data.py:22 next_batch < run.py:60 train < @main
stack linear       @malloc < ::at::_ops::addmm::call(…) < ::at::native::linear(at::Tensor const&, at::Tensor const&, std::optional<at::Tensor> const&) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:125 forward < @call < model.py:27 forward < @call < run.py:64 train < @main
stack head         @malloc < ::at::_ops::addmm::call(…) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:125 forward < @call < model.py:40 forward < @call < run.py:64 train < @main
stack block0       @malloc < ::at::_ops::mm::call(…) < model.py:50 forward < @call < run.py:64 train < @main
stack block1       @malloc < ::at::_ops::mm::call(…) < model.py:51 forward < @call < run.py:64 train < @main
stack block2       @malloc < ::at::_ops::mm::call(…) < model.py:52 forward < @call < run.py:64 train < @main
stack block3       @malloc < ::at::_ops::mm::call(…) < model.py:53 forward < @call < run.py:64 train < @main
stack block4       @malloc < ::at::_ops::mm::call(…) < model.py:54 forward < @call < run.py:64 train < @main
stack block5       @malloc < ::at::_ops::mm::call(…) < model.py:55 forward < @call < run.py:64 train < @main
stack loss         @malloc < ::at::_ops::cross_entropy_loss::call(…) < ::at::native::log_softmax(at::Tensor const&, long, std::optional<c10::ScalarType>) < /venv/lib/python3.12/site-packages/torch/nn/functional.py:3494 cross_entropy < run.py:65 train < @main
stack math_sdp     @malloc < ::at::_ops::bmm::call(…) < ::at::_scaled_dot_product_attention_math(at::Tensor const&) < model.py:33 forward < @call < run.py:64 train < @main
stack flash_sdp    @malloc < ::at::_ops::_flash_attention_forward::call(…) < ::at::native::_scaled_dot_product_flash_attention_cuda(at::Tensor const&) < model.py:33 forward < @call < run.py:64 train < @main
stack cache        @malloc < ::at::_ops::cat::call(…) < kv.py:18 update < model.py:33 forward < @call < run.py:64 train < @main
stack free_forward @release < model.py:29 forward < @call < run.py:64 train < @main
stack free_step    @release < run.py:69 train < @main
stack state        @adam_state < run.py:67 train < @main
stack step_temp    @adam_temp < run.py:67 train < @main
stack one_temp     @malloc < ::at::_ops::sqrt::call(…) < /venv/lib/python3.12/site-packages/torch/optim/adam.py:500 _single_tensor_adam < @optimizer_step < run.py:67 train < @main
stack custom_new   @malloc < ::at::_ops::mul::call(…) < my_optim.py:30 step < run.py:67 train < @main
stack custom_free  @release < my_optim.py:31 step < run.py:67 train < @main
stack free_temp    @free_adam_temp < run.py:67 train < @main
stack zero_grad    @free_zero_grad < run.py:68 train < @main
stack free_added   @release < ::torch::autograd::AccumulateGrad::accumulateGrad(…) < ::torch::autograd::AccumulateGrad::apply(…) < @engine
stack free_graph   @release < ::torch::autograd::SavedVariable::reset_data() < ::torch::autograd::generated::AddmmBackward0::release_variables() < ::torch::autograd::deleteNode(torch::autograd::Node*) < run.py:70 evaluate < @main
stack bucket       @malloc < ::at::_ops::empty_memory_format::call(…) < ::c10d::Reducer::initialize_buckets(…) < ::c10d::Reducer::Reducer(…) < /venv/lib/python3.12/site-packages/torch/nn/parallel/distributed.py:1194 _ddp_init_helper < run.py:33 build < @main
stack gather       @malloc < ::c10d::ProcessGroupNCCL::allgather(…) < comm.py:15 gather < run.py:66 train < @main
stack free_gc      @release < ::gc_collect_main < ::gc_collect_with_callback < run.py:72 train < @main
stack emptied      @empty_cache < run.py:71 train < @main
stack cast         @malloc < ::at::_ops::_to_copy::call(…) < ::at::autocast::cached_cast(c10::ScalarType, at::Tensor const&, c10::DeviceType) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:125 forward < @call < model.py:27 forward < @call < run.py:64 train < @main
stack clone        @malloc < ::at::_ops::clone::call(…) < average.py:7 copy < run.py:34 build < @main
stack kv_pool      @malloc < ::at::_ops::zeros::call(…) < server.py:9 allocate_kv_cache < run.py:35 build < @main
stack scores       @malloc < ::at::_ops::bmm::call(…) < model.py:36 forward < @call < run.py:64 train < @main
stack weights      @malloc < ::at::_ops::_softmax::call(…) < ::at::native::softmax(at::Tensor const&, long, std::optional<c10::ScalarType>) < model.py:37 forward < @call < run.py:64 train < @main
stack mixed        @malloc < ::at::_ops::bmm::call(…) < model.py:38 forward < @call < run.py:64 train < @main
stack stolen       @malloc < ::at::_ops::mm::call(…) < ::torch::autograd::generated::AddmmBackward0::apply(…) < @engine
stack bound_anew   @release < ::torch::autograd::SavedVariable::reset_data() < ::torch::autograd::generated::AddmmBackward0::release_variables() < ::torch::autograd::deleteNode(torch::autograd::Node*) < run.py:65 train < @main
"""


def training(steps=4, weight="64MiB", activation="96MiB", before="", forward="", after_forward="", backward="",
             optimizer="", end="", zero="end", temp="step_temp", temps=True, grads=True, window=""):
    """A script of training: three layers; the keywords put statements into places of each step."""
    clear = "  if $i != 0 {\n  repeat 3 as p {\n    free g$p zero_grad\n  }\n  }\n"
    clear_all = "  repeat 3 as p {\n    free g$p zero_grad\n  }\n"
    text = HEAD + "repeat 3 as p {\n  alloc w$p %s init\n}\n%s\n" % (weight, before)
    text += "repeat %d {\n  alloc batch 4MiB to_device\n" % steps
    if zero == "first":
        text += clear
    text += "  repeat 3 as l {\n    alloc a$l %s linear\n  }\n%s\n" % (activation, forward)
    text += "  alloc loss 512 loss\n%s\n" % after_forward
    if zero == "late":
        text += clear
    text += "  repeat 3 as l {\n    alloc t %s linear_backward\n" % activation
    if grads:
        text += "    alloc g$(2-$l) %s accumulate_grad\n" % weight
    text += "    free a$(2-$l) free_saved\n    free t free_backward\n  }\n%s\n" % backward
    text += "  if $i == 0 {\n    repeat 3 as p {\n      alloc m$p %s state\n      alloc v$p %s state\n    }\n  }\n" % (weight, weight)
    if temps:
        text += "  repeat 3 as p {\n    alloc d$p %s %s\n%s  }\n" % (
            weight, temp, "    free d$p free_temp\n" if temp == "one_temp" else "")
        if temp != "one_temp":
            text += "  repeat 3 as p {\n    free d$p free_temp\n  }\n"
    text += optimizer + "\n"
    if zero == "end" and grads:
        text += clear_all
    text += "  free loss free_step\n  free batch free_step\n%s\n" % end
    if window:
        text += "  if $i == 0 {\n    window %s\n  }\n" % window
    return text + "  time +20000\n}\n"


def advice(script, *options):
    answer = run("advise", "--json", *options, scripts.make(script), expect=0).json()
    result = answer["devices"][0]["result"]
    return {a["id"]: a for a in result["advice"]}, {s["id"]: s["clause"] for s in result["silent"]}, result


def tight():
    """The same requests, of which nothing is in the way of the last."""
    return pins().replace("alloc pin$i 2MiB pin", "alloc pin$i 2MiB pin\n  free pin$i drop")


def apart():
    """What one stream has freed is no use to another, whatever the setting."""
    return HEAD + "alloc x 600MiB head stream 7\nfree x free_step\nalloc y 600MiB head\nfree y free_step\n"


def passes(held):
    """Forwards without a backward; the output of each lives on until `held` more have made theirs."""
    free = "  free out$($i-%d) free_step\n" % held
    free = "  if %d < $i {\n%s  }\n" % (held - 1, free) if held else free
    return HEAD + "alloc w 64MiB init\nrepeat 6 {\n  mark pass_$i start\n  alloc batch 4MiB to_device\n  repeat 3 as l {\n    alloc a$l 96MiB linear\n" \
        "    free a$l free_forward\n  }\n  alloc out$i 300MiB head\n%s  free batch free_step\n  mark pass_$i end\n}\n" % free


def pins(where="", capacity="4GiB", settings="", most="3GiB", after=10, before=""):
    """Four large segments, each pinned by a small block; then a request that needs the rest, and `after` small ones."""
    text = "capacity %s\n%sinclude torch.stacks\n" % (capacity, settings)
    text += "stack big @malloc < run.py:5 main\nstack pin @malloc < %srun.py:9 keep\nstack drop @release < run.py:6 main\n" % where
    text += "stack work @malloc < run.py:7 main\n" + before
    text += "repeat 4 {\n  alloc big$i 600MiB big\n}\nrepeat 4 {\n  free big$i drop\n  alloc pin$i 2MiB pin\n}\n"
    text += "alloc most %s big\nfree most drop\n" % most
    return text + "repeat %d {\n  alloc t 512 work\n  free t drop\n}\n" % after


def written_out(softmax="weights", after="mixed"):
    """Attention by hand: the forward keeps its scores and weights."""
    return training(forward="  alloc scores 500MiB scores\n  alloc weights 500MiB %s\n  alloc mixed 16MiB %s" % (softmax, after),
                    backward="  free mixed free_saved\n  free weights free_saved\n  free scores free_saved")


def older_graph(graph="400MiB", again=True):
    """A forward whose values are held until the next one has made its own; recorded from the second on."""
    made = "".join("  alloc e$($i)_%d %s block%d\n" % (k, graph if again else "%dMiB" % (100 + 9 * k), k) for k in range(5))
    first = "".join("alloc e_%d %s block%d\n" % (k, graph, k) for k in range(5))
    gone = "".join("    free e_%d bound_anew\n" % k for k in range(5))
    return HEAD + "alloc w 64MiB init\n%swindow late\nrepeat 1 {\n%s%s}\n" % (first, made, gone)


def accumulating(zero):
    """Backwards after the first add to the gradients; a step may clear them."""
    new = "  if $i %s 0 {\n  repeat 3 as p {\n    alloc g$p 64MiB accumulate_grad\n  }\n  }\n"
    added = "  if $i != 0 {\n  repeat 3 as p {\n    alloc n 64MiB linear_backward\n    free n free_added\n  }\n  }"
    return training(grads=zero == "end", zero=zero, backward="" if zero == "end" else new % "==" + added)


def blocks(count):
    """One step whose forward has so many equal blocks of six layers."""
    made = "".join("    alloc b%d_$l %dMiB block%d\n" % (k, 8 * k + 8, k) for k in range(6))
    freed = "".join("  repeat %d as l {\n    free b%d_$(%d-$l) free_saved\n  }\n" % (count, k, count - 1) for k in range(5, -1, -1))
    return training(steps=1, weight="4MiB", activation="1MiB", forward="  repeat %d as l {\n%s  }" % (count, made),
                    backward="  alloc gx 4MiB linear_backward\n" + freed + "  free gx free_backward")


def failing(count):
    """A forward of so many equal blocks that runs out of memory before any backward."""
    made = "".join("    alloc b%d_$l %dMiB block%d\n" % (k, 8 * k + 8, k) for k in range(6))
    return "capacity 3GiB\n" + HEAD + "alloc w 64MiB init\nalloc batch 4MiB to_device\nrepeat %d as l {\n%s}\nalloc head 3GiB head\n" % (count, made) + \
        "".join("repeat %d as l {\n  free b%d_$l free_graph\n}\n" % (count, k) for k in range(6))


def ahead(first):
    """Inputs are on the device `first` steps before their own."""
    return training(steps=6, activation="8MiB", before="repeat %d as b {\n  alloc in$b 256MiB to_device\n}" % first,
                    forward="  if $i < %d {\n  alloc in$($i+%d) 256MiB to_device\n  }" % (4 - first, first),
                    end="  if $i < 4 {\n  free in$i free_step\n  }")


def queued(first, place="begin", copied=False):
    """As `ahead`: one more is made in each step, at its begin or behind its forward, to the end; unless `copied` no
    frame says that it is a copy."""
    made = "  alloc in$($i+%d) 256MiB queued\n" % first
    text = training(steps=7, activation="8MiB", before="repeat %d as b {\n  alloc in$b 256MiB queued\n}" % first,
                    after_forward=made if place == "behind" else "", end="  free in$i free_step")
    if place == "begin":
        text = text.replace("  alloc batch 4MiB to_device\n", made + "  alloc batch 4MiB to_device\n")
    copy = "@malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < " if copied else ""
    return text.replace("stack to_device", "stack queued %sdata.py:25 next_batch < run.py:60 train < @main\nstack to_device" % copy, 1)


def copied_cache(prompt):
    """A cache of 64 MiB that grows by 8 MiB at each of 13 tokens, behind a prompt that needs so many MiB."""
    return HEAD + "alloc w 64MiB init\nalloc kv0 64MiB cache\nalloc p %dMiB head\nfree p free_forward\n" % prompt + \
        "repeat 13 {\n  alloc kv$($i+1) $i*8MiB+72MiB cache\n  free kv$i free_forward\n}\n"


def evaluating(places=5, dropped="free_step", between="", capacity="", stacks="python_only"):
    """Forwards whose values go together after the next forward; without frames of C++ unless `stacks` is empty."""
    made = "".join("  alloc e$($i)_%d 100MiB block%d\n" % (k, k % places) for k in range(5))
    gone = "".join("    free e$($i-1)_%d %s\n" % (k, dropped) for k in range(5))
    return "%s%s\n%salloc w 64MiB init\nrepeat 6 {\n  alloc batch 4MiB to_device\n%s%s\n  if $i != 0 {\n%s  }\n  free batch free_step\n}\n" % (
        capacity, stacks, HEAD, made, between, gone)


def renewing(freed_first):
    """An optimizer of one's own that makes its state anew at each step."""
    made = "    alloc s$($i+1)_$p 256MiB custom_new\n"
    freed = "    if $i != 0 {\n    free s$($i)_$p custom_free\n    }\n"
    return training(weight="256MiB", activation="4MiB", temps=False,
                    optimizer="  repeat 3 as p {\n%s  }" % (freed + made if freed_first else made + freed))


def kept(scalars):
    """Each step keeps an activation, and a scalar whose graph holds it."""
    return training(steps=8, forward="  alloc keep$i 64MiB linear\n  alloc sum$i 4 loss", end="" if scalars else "  free sum$i free_step\n  free keep$i free_graph") \
        + ("repeat 8 {\n  free keep$i free_graph\n}\n" if scalars else "")


def cycles(how):
    return training(steps=5, forward="  alloc cyc$i 300MiB head", end="  if $i == 3 {\n  repeat 4 as k {\n    free cyc$k %s\n  }\n  }" % how)


# A rule, a script where it is right, and its twin.
PAIRS = {
    "grad-late-zero": (training(zero="late", weight="256MiB", temps=False), training(zero="end", weight="256MiB", temps=False)),
    "two-generations": (passes(1), passes(0)),
    "no-grad": (
        training(end="  if $i != 0 {\n  repeat 3 as e {\n    free e$e free_graph\n  }\n  }\n  repeat 3 as e {\n    alloc e$e 400MiB linear\n  }"),
        training(end="  repeat 3 as e {\n    alloc e$e 400MiB linear\n    free e$e free_forward\n  }")),
    "logits-loss": (
        training(forward="  alloc logits 900MiB loss", backward="  free logits free_saved"),
        training(forward="  alloc logits 60MiB loss", backward="  free logits free_saved")),
    "attention-math": (
        training(forward="  alloc scores 900MiB math_sdp", backward="  free scores free_saved"),
        training(forward="  alloc scores 900MiB flash_sdp", backward="  free scores free_saved")),
    "bucket-view": (
        training(before="repeat 3 as p {\n  alloc bucket$p 64MiB bucket\n}", weight="64MiB"),
        training(before="repeat 3 as p {\n  alloc bucket$p 8MiB bucket\n}", weight="64MiB")),
    "optimizer-foreach": (
        training(weight="512MiB", activation="8MiB"),
        training(weight="512MiB", activation="8MiB", temp="one_temp")),
    "pending-free": (
        training(forward="  alloc shard 900MiB gather stream 7\n  free_requested shard free_forward\n  alloc late 900MiB head",
                 backward="  free late free_saved\n  free_completed shard"),
        training(forward="  alloc shard 900MiB gather stream 7\n  free_requested shard free_forward\n  free_completed shard\n  alloc late 900MiB head",
                 backward="  free late free_saved")),
    "kv-prealloc": (
        HEAD + "alloc w 64MiB init\nalloc kv0 64MiB cache\nrepeat 12 {\n  alloc kv$($i+1) $i*8MiB+72MiB cache\n  free kv$i free_forward\n}\n",
        HEAD + "alloc w 64MiB init\nalloc kv0 64MiB cache\nrepeat 12 {\n  alloc kv$($i+1) 64MiB cache\n  free kv$i free_forward\n}\n"),
    "grad-not-cleared": (accumulating("none"), accumulating("end")),
    "checkpoint": (blocks(12), blocks(3)),
    "optimizer-replace": (renewing(False), renewing(True)),
    "optimizer-heavy": (training(weight="256MiB", activation="4MiB"), training(weight="4MiB", activation="256MiB")),
    "expandable": (pins(capacity="80GiB"), tight()),
    "held-over-backward": (
        training(forward="  alloc logits 500MiB head", end="  free logits free_step"),
        training(forward="  alloc logits 500MiB head", after_forward="  free logits free_step")),
    "autocast-cache": (
        training(weight="256MiB", temps=False, zero="first", forward="  repeat 3 as c {\n    alloc c$c 128MiB cast\n  }", backward="  repeat 3 as c {\n    free c$c free_saved\n  }"),
        training(weight="256MiB", temps=False, zero="first", forward="  repeat 3 as c {\n    alloc c$c 100MiB cast\n  }", backward="  repeat 3 as c {\n    free c$c free_saved\n  }")),
    "second-model": (
        training(weight="256MiB", before="repeat 3 as e {\n  alloc e$e 256MiB clone\n}"),
        training(weight="256MiB", before="repeat 3 as e {\n  alloc e$e 255MiB clone\n}")),
    "reserved-gap": (
        HEAD + "alloc w 64MiB init\nalloc x 500MiB head\nfree x free_step\nalloc y 600MiB head\nfree y free_step\n",
        HEAD + "alloc w 64MiB init\nalloc x 600MiB head\nfree x free_step\nalloc y 600MiB head\nfree y free_step\n"),
    "kv-pool": (
        HEAD + "alloc w 64MiB init\nrepeat 4 {\n  alloc pool$i 256MiB kv_pool\n}\n",
        HEAD + "alloc w 64MiB init\nrepeat 4 {\n  alloc pool$i 256MiB init\n}\n"),
    "max-split": (pins("C:\\proj\\"), pins()),
    "retained-output": (passes(2), passes(0)),
    "graph-kept": (kept(True), kept(False)),
    "kept-each-step": (
        training(steps=8, forward="  alloc keep$i 64MiB head"),
        training(steps=8, forward="  alloc keep$i 64MiB head", end="  free keep$i free_step")),
    "inputs-ahead": (ahead(3), ahead(1)),
    "side-stream-cache": (
        training(before="alloc side 600MiB init stream 7\nfree side free_step"),
        training(before="alloc side 600MiB init stream 7\nfree side free_step", end="  alloc side 600MiB init stream 7\n  free side free_step")),
    "collector": (cycles("free_gc"), cycles("free_step")),
    "capture": (training(steps=2, window="late"), training(steps=1)),
    "near-limit": (
        "capacity 2GiB\n" + HEAD + "alloc x 1500MiB head\nfree x free_step\nalloc y 1800MiB head\nfree y free_step\n",
        "capacity 4GiB\n" + HEAD + "alloc x 1500MiB head\nfree x free_step\nalloc y 1800MiB head\nfree y free_step\n"),
    "empty-cache": (
        training(end="  empty_cache emptied", steps=6),
        training(end="  if $i == 5 {\n    empty_cache emptied\n  }", steps=6)),
}


@pytest.mark.parametrize("rule", sorted(PAIRS))
def test_rule_fires(rule):
    spoken, silent, _ = advice(PAIRS[rule][0])
    assert rule in spoken, silent.get(rule)


@pytest.mark.parametrize("rule", sorted(PAIRS))
def test_rule_is_silent_on_its_twin(rule):
    spoken, silent, _ = advice(PAIRS[rule][1])
    assert rule not in spoken and silent[rule]


def test_every_rule_has_a_pair():
    schema = json.loads((ROOT / "docs" / "schema" / "advise.schema.json").read_text())
    assert sorted(PAIRS) == sorted(schema["$defs"]["rule"]["enum"])
    # Every rule that is asked speaks or says why not.
    spoken, silent, _ = advice(PAIRS["near-limit"][0])
    assert sorted({*spoken, *silent}) == sorted(PAIRS)


# Of rules with more than one clause: a script for each further one, and what it is silent for.
CLAUSES = {
    "nothing is dropped outside the forward": (evaluating(dropped="free_forward"), "no-grad", "no graph is seen to be dropped without its backward"),
    "a few outputs are no graph": (evaluating(places=3), "no-grad", "no graph is seen to be dropped without its backward"),
    "a graph that was run, in Python": (
        evaluating(between="  alloc g 1MiB linear_backward\n  free g free_backward"), "no-grad", "a backward ran while the graphs that are dropped were alive, and may have used them"),
    "a graph that was run": (
        evaluating(dropped="free_graph", between="  alloc g 1MiB linear_backward\n  free g free_backward", stacks=""),
        "no-grad", "a backward ran while the graphs that are dropped were alive, and may have used them"),
    "after an oom, in Python": (
        evaluating(capacity="capacity 4GiB\n", between="  if $i == 0 {\n    alloc huge 8GiB head\n  }"), "no-grad",
        "graphs are dropped without their backward only after an out-of-memory event"),
    "after an oom": (
        evaluating(dropped="free_graph", capacity="capacity 4GiB\n", between="  if $i == 0 {\n    alloc huge 8GiB head\n  }", stacks=""),
        "no-grad", "graphs are dropped without their backward only after an out-of-memory event"),
    "recomputed": (
        evaluating(dropped="free_graph", stacks="").replace(" < run.py:64 train < @main", " < @engine"), "no-grad", "the graphs that are dropped were recomputed for their backward"),
    "a queue of the last five": (
        training(steps=9, forward="  alloc kept$i 64MiB head\n  if 4 < $i {\n    free kept$($i-5) free_step\n  }"), "held-over-backward",
        "no value of the forward that is worth a line is let go after one backward and before the next"),
    "no setting can save": (PAIRS["near-limit"][1].replace("x 1500MiB", "x 1800MiB"), "expandable",
                            "less than 5 % of reserved memory, or less than 16 MiB, is not in use at the peak: no setting can save more"),
    "nothing is in the way": (apart(), "expandable", "a replay with expandable segments saves less than 5 % of reserved memory, or less than 16 MiB"),
    "nothing is in the way on Windows": (
        apart().replace("run.py", "C:\\proj\\run.py"), "max-split", "a replay with max_split_size_mb saves less than 5 % of reserved memory, or less than 16 MiB"),
    "on Windows": (pins("C:\\proj\\"), "expandable", "expandable segments do not exist on Windows"),
    "gradients that are added to": (
        training(zero="none", weight="256MiB", temps=False, grads=False, end="  if $i%2 == 1 {\n  repeat 3 as p {\n    free g$p zero_grad\n  }\n  }",
                 backward="  repeat 3 as p {\n  if $i%2 == 0 {\n    alloc g$p 256MiB stolen\n  }\n  if $i%2 == 1 {\n    alloc n 256MiB stolen\n    free n free_added\n  }\n  }"),
        "grad-late-zero", "gradients that live through a forward are added to by the next backward"),
    "blocks that differ": (
        training(steps=1, weight="4MiB", activation="1MiB", forward="  repeat 8 as l {\n    alloc b$l $l*40MiB+40MiB block0\n  }",
                 backward="  repeat 8 as l {\n    free b$(7-$l) free_saved\n  }"), "checkpoint", "no line of the forward comes back four times with as many bytes"),
    "a loss is no attention": (written_out(softmax="loss"), "attention-math", "no unfused attention is seen at the peak"),
    "a softmax with one product": (written_out(after="block0"), "attention-math", "a softmax at the peak has no two products around it"),
    "a whole recording of one step": (training(steps=1), "capture", "enough was recorded"),
    "what is made anew in other sizes": (older_graph(again=False), "two-generations", "nothing at the peak was replaced by a younger value of its size"),
    "pages": (PAIRS["kv-prealloc"][0].replace("kv.py:18 update", "paged_cache.py:18 append"), "kv-prealloc", "what grows belongs to a paged cache"),
    "pages of C++": (PAIRS["kv-prealloc"][0].replace("::at::_ops::cat::call(…)", "::vllm::paged_attention_v2(…)"), "kv-prealloc",
                     "what grows belongs to a paged cache"),
}


@pytest.mark.parametrize("clause", sorted(CLAUSES))
def test_clause_holds_the_rule_back(clause):
    script, rule, text = CLAUSES[clause]
    spoken, silent, _ = advice(script)
    assert rule not in spoken and silent[rule] == text
    told = run("advise", "--explain-silent", scripts.make(script), expect=0).out
    assert text in " ".join(told.split())


def test_graphs_without_frames_of_cpp():
    """What goes together is never kept."""
    script = evaluating()
    path = scripts.make(script)
    with open(path, "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    made = [i for i, e in enumerate(trace) if e["action"] == "alloc" and e["size"] == 100 << 20]
    # Never kept, a value is gone when the next but one is made; the last two when the forward is over.
    gone = dict(zip(made, made[2:] + [made[-1] + 1] * 2))
    whole, _ = recount(path, lambda born, size, freed: None)
    now, most, live = 0, 0, {}
    for i, e in enumerate(trace):
        now -= sum(100 << 20 for born, end in gone.items() if end == i)
        if e["action"] == "alloc":
            live[e["addr"]], now = i, now + e["size"]
        elif e["action"] == "free_completed" and live.pop(e["addr"]) not in gone:
            now -= e["size"]
        most = max(most, now)
    without = most
    spoken, _, _ = advice(script)
    a = spoken["no-grad"]
    assert a["saving_bytes"] == whole - without == 800 << 20
    assert a["bytes"] == 25 * (100 << 20) and a["conditions"][0]["name"] == "dropped_bytes"
    assert all(trace[e]["action"] == "free_completed" for e in a["at_events"])
    # The same values, released as what a graph saved.
    saved, _, _ = advice(evaluating(dropped="free_graph", stacks=""))
    assert saved["no-grad"]["bytes"] == a["bytes"]


@pytest.mark.parametrize("when", ("$i == 5", "$i < 6"))
def test_a_graph_is_run_in_its_own_step(when):
    """A backward of a later step does not excuse a graph, one of its own does."""
    text = evaluating(between="  if %s {\n  alloc g 1MiB linear_backward\n  free g free_backward\n  }" % when)
    text = text.replace("  alloc batch", "  mark step_$i start\n  alloc batch").replace("  free batch free_step", "  free batch free_step\n  mark step_$i end")
    spoken, silent, _ = advice(text)
    if when == "$i < 6":
        assert silent["no-grad"] == "a backward ran while the graphs that are dropped were alive, and may have used them"
    else:
        assert spoken["no-grad"]["bytes"] == 25 * (100 << 20)


def calls_after_emptying(trace):
    """(calls of cudaMalloc, their bytes) after runs of releases that empty_cache began."""
    calls = size = 0
    emptied = False
    for i, e in enumerate(trace):
        if e["action"] in ("segment_free", "segment_unmap"):
            if i == 0 or trace[i - 1]["action"] != e["action"]:
                emptied = any("emptyCache" in f["name"] or f["name"] == "empty_cache" for f in e["frames"])
        elif e["action"] in ("segment_alloc", "segment_map") and emptied:
            calls, size = calls + 1, size + e["size"]
    return calls, size


@pytest.mark.parametrize("settings, what", (("", "cudaMalloc calls"), ("settings expandable_segments:True\n", "mappings")))
def test_calls_are_the_cost_of_empty_cache(settings, what):
    script = settings + PAIRS["empty-cache"][0]
    with open(scripts.make(script), "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    calls, size = calls_after_emptying(trace)
    spoken, _, _ = advice(script)
    said = "%d %s for %.2f GiB while the call stays" % (calls, what, size / (1 << 30))
    assert calls > 5 and spoken["empty-cache"]["cost"] == said
    assert "costs " + said in " ".join(run("advise", scripts.make(script), expect=0).out.split())


def test_settings_that_are_in_use():
    _, silent, _ = advice(pins(capacity="4GiB", settings="settings expandable_segments:True\n"))
    assert silent["expandable"] == "expandable segments are in use"


def test_capacity_tells_that_memory_was_short():
    """Asked only where no replay tells what the setting saves."""
    script = pins(capacity="80GiB")
    spoken, _, _ = advice(script, "--replay", "never", "--capacity", "6GiB")
    assert spoken["expandable"]["saving_source"] == "estimated" and spoken["expandable"]["verification"] is None
    _, silent, _ = advice(script, "--replay", "never", "--capacity", "60GiB")
    assert silent["expandable"] == "memory was never short, and no replay tells what it would save"


def test_words_name_the_event(shared):
    spoken, _, _ = advice(PAIRS["near-limit"][0])
    at = spoken["near-limit"]["at_events"][0]
    assert "of cached memory back at event %d to serve a request" % at in spoken["near-limit"]["text"]
    # What is older than the recording has no event.
    out = run("advise", shared / "data" / "snapshots" / "lm_compile_adamw.pickle", expect=0).out
    assert "rule optimizer-heavy, confidence medium; before the first event\n" in out and "event -1" not in out


def figures(path, device, check):
    """What a command says of the figure it is named for: (as recorded, as changed)."""
    done = run(check["verb"], "--json", path, *check["options"].split(), expect=0).json()
    d, = (d for d in done["devices"] if d["device"] == device)
    if check["verb"] == "fragments":
        return None, sum(g["returnable_bytes"] for g in d["result"]["groups"])
    same, changed = d["result"]["what_if"]
    recorded = d["result"]["recorded_peak_reserved_bytes"] if check["figure"] == "peak_reserved_bytes" else same[check["figure"]]
    return recorded, changed[check["figure"]]


def verify(path, document):
    """Every named verification prints the very figure; how many there were."""
    count = 0
    for d in document["devices"]:
        for a in (d["result"] or {"advice": []})["advice"]:
            check = a["verification"]
            if check is None:
                assert a["saving_source"] != "verified"
                continue
            assert figures(path, d["device"], check) == (check["recorded_bytes"], check["bytes"]), (path, a["id"])
            if a["saving_source"] == "verified":
                assert a["saving_bytes"] == check["recorded_bytes"] - check["bytes"]
            count += 1
    return count


@pytest.mark.parametrize("rule", sorted(PAIRS)[::some(4, 1)])
def test_verifications_of_scripts(rule):
    for script in PAIRS[rule]:
        path = scripts.make(script)
        verify(path, run("advise", "--json", path, expect=0).json())


@pytest.mark.parametrize("name", ("fragmentation", "leak", "oom", "train"))
def test_verifications_of_examples(name):
    path = ROOT / "examples" / (name + ".pickle")
    verify(path, run("advise", "--json", path, expect=0).json())


def test_verifications_of_real_files(shared):
    folder = shared / "data" / "snapshots"
    found, _ = batch("advise", folder, sorted(p.name for p in folder.iterdir()))
    assert sum(verify(folder / name, entries[0]) for name, entries in found.items()) >= 20


def test_verification_is_a_command_to_be_typed():
    script = PAIRS["expandable"][0].replace("include torch.stacks", "device 1\ninclude torch.stacks")
    path = scripts.make(script)
    out = run("advise", path, expect=0).out
    assert "vramscope replay %s --set expandable_segments:True" % path in out and "--device 1\n" in out
    assert "vramscope advise %s --explain-silent --device 1" % path in out


# Other ways in which a rule is right, and a twin of each.
MORE = {
    "attention written out": ("attention-math", written_out(), written_out(softmax="block5")),
    "a forward that failed": ("checkpoint", failing(6), failing(3)),
    "a graph older than the recording": ("no-grad", older_graph(), older_graph().replace(" bound_anew\n", " free_saved\n")),
    "a generation older than the recording": (
        "two-generations", older_graph().replace(" bound_anew\n", " free_step\n"), older_graph(again=False).replace(" bound_anew\n", " free_step\n")),
    "gradients that are stolen": ("grad-not-cleared", accumulating("none").replace("64MiB accumulate_grad", "64MiB stolen"), accumulating("end")),
    "batches that no frame calls a copy": ("inputs-ahead", queued(3), queued(1)),
    "copies of which the last are never used": ("inputs-ahead", queued(3, copied=True), queued(1, copied=True)),
    "what is made behind the forward": ("inputs-ahead", queued(3), queued(3, "behind")),
    "layers that share the line of a cache": (
        "kv-prealloc",
        HEAD + "alloc w 64MiB init\nrepeat 6 as l {\n  alloc kv0_$l 64MiB cache\n}\nrepeat 12 {\n  repeat 6 as l {\n    alloc kv$($i+1)_$l $i*8MiB+72MiB cache\n    free kv$($i)_$l free_forward\n  }\n}\n",
        HEAD + "alloc w 64MiB init\nrepeat 6 as l {\n  alloc kv0_$l 64MiB cache\n}\nrepeat 12 {\n  repeat 6 as l {\n    free kv$($i)_$l free_forward\n    alloc kv$($i+1)_$l $i*8MiB+72MiB cache\n  }\n}\n"),
}


@pytest.mark.parametrize("way", sorted(MORE))
def test_rule_fires_in_this_way_too(way):
    rule, script, twin = MORE[way]
    spoken, silent, _ = advice(script)
    assert rule in spoken, silent.get(rule)
    spoken, silent, _ = advice(twin)
    assert rule not in spoken and silent[rule]


def test_a_graph_is_never_kept_without_grad():
    """The saving is that of a run without the graph, not of one that drops it at the end of the forward."""
    spoken, _, _ = advice(older_graph())
    assert spoken["no-grad"]["bytes"] == 5 * (400 << 20)
    assert spoken["no-grad"]["saving_bytes"] >= 5 * (400 << 20)


@pytest.mark.parametrize("prompt, whole", ((16, 64 + 168 + 16), (100, 64 + 168 + 100), (250, 64 + 168 + 250)))
def test_a_whole_cache_is_there_in_the_prompt(prompt, whole):
    """The saving is that of a cache of its final length, which a prompt finds on the device."""
    spoken, _, _ = advice(copied_cache(prompt))
    recorded = 64 + max(160 + 168, 64 + prompt)
    assert (spoken["kv-prealloc"]["saving_bytes"] or 0) == max(recorded - whole, 0) << 20


def test_report_names_the_verification():
    path = scripts.make(pins(capacity="80GiB"))
    entry = next(a for a in advice(pins(capacity="80GiB"))[0].values() if a["verification"])
    told = run("report", path, expect=0).out
    assert "     verify: vramscope replay %s %s\n" % (path, entry["verification"]["options"]) in told
    assert "verify" not in run("report", scripts.make(tight()), expect=0).out


def test_one_fix_for_a_cause():
    """Two rules that mean the same bytes at the same line speak once."""
    spoken, silent, _ = advice(PAIRS["two-generations"][0])
    assert silent["retained-output"] == "another rule names the same bytes at the same line"
    assert "two-generations" in spoken


def test_the_line_under_a_trainer_is_named():
    """A line of the user's that holds most of the peak, for several lines of a library, is no place to act."""
    under = "/venv/lib/python3.12/site-packages/lit/net.py:%d forward < @call < run.py:64 train < @main"
    script = PAIRS["logits-loss"][0].replace("model.py:27 forward < @call < run.py:64 train < @main", under % 5)
    script = script.replace("/venv/lib/python3.12/site-packages/torch/nn/functional.py:3494 cross_entropy < run.py:65 train < @main",
                            "/venv/lib/python3.12/site-packages/torch/nn/functional.py:3494 cross_entropy < " + under % 9)
    spoken, _, _ = advice(script)
    assert "at net.py:9 forward (under run.py:64 train)" in spoken["logits-loss"]["text"]


def test_what_the_final_state_tells():
    """Without a trace most rules are silent, for that reason; the rest speaks."""
    path = scripts.make("state_only")
    d, = run("advise", "--json", "--explain-silent", path, expect=0).json()["devices"]
    assert d["status"] == "partial" and [r["id"] for r in d["reasons"]][0] == "no_trace"
    said = {a["id"]: a for a in d["result"]["advice"]}
    assert "_record_memory_history(" in said["capture"]["text"]
    silent = {s["id"]: s["clause"] for s in d["result"]["silent"]}
    assert {silent[rule] for rule in set(silent) - {"reserved-gap", "kv-pool"}} == {"the recording has no trace of events"}
    assert d["result"]["waste"] is None
    kept = scripts.make("no_trace\n" + PAIRS["kv-pool"][0])
    d, = run("advise", "--json", kept, expect=0).json()["devices"]
    assert "kv-pool" in {a["id"] for a in d["result"]["advice"]}


@pytest.mark.long
def test_what_frees_nothing_is_a_note():
    for fire, twin in PAIRS.values():
        for a in advice(fire)[2]["advice"] + advice(twin)[2]["advice"]:
            assert (a["severity"] == "note") == (not a["saving_bytes"]), a["id"]
            assert not a["saving_bytes"] or a["saving_bytes"] >= 16 << 20


@pytest.mark.parametrize("rule", sorted(PAIRS)[::some(3, 1)])
def test_savings_are_bounded(rule):
    for script in PAIRS[rule]:
        spoken, silent, result = advice(script)
        check(result)
        assert len(spoken) + len(silent) == len(PAIRS)


def check(result):
    derived = [a["saving_bytes"] for a in result["advice"] if a["saving_source"] == "derived"]
    assert result["joint_saving_bytes"] >= max(derived, default=0)
    savings = [a["saving_bytes"] or 0 for a in result["advice"]]
    assert savings == sorted(savings, reverse=True)
    assert all((a["saving_source"] is None) <= (not a["saving_bytes"]) for a in result["advice"])


# Savings by recount ---------------------------------------------------------------------

def recount(path, die):
    """(peak, peak where some die early): `die` maps (alloc event, bytes) to the event of an early death, or None."""
    with open(path, "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    live, moves, early = {}, [0] * (len(trace) + 1), [0] * (len(trace) + 1)
    for i, e in enumerate(trace):
        if e["action"] == "alloc":
            live[e["addr"]] = (i, e["size"])
        elif e["action"] == "free_completed":
            born, size = live.pop(e["addr"])
            for at, change in ((born, size), (i, -size)):
                moves[at] += change
            dead = die(born, size, i)
            for at, change in ((born, size), (i if dead is None else dead, -size)):
                early[at] += change
    for born, size in live.values():
        moves[born] += size
        early[born] += size

    def peak(changes):
        total = most = 0
        for c in changes:
            total += c
            most = max(most, total)
        return most
    return peak(moves), peak(early)


def test_late_gradients_by_recount():
    script = PAIRS["grad-late-zero"][0]
    path = scripts.make(script)
    with open(path, "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    frames = [[x["name"] for x in e.get("frames", ())] for e in trace]
    allocs = [i for i, e in enumerate(trace) if e["action"] == "alloc"]
    begins = [i - 1 for k, i in enumerate(allocs) if k and "forward" in frames[i] and "next_batch" in frames[allocs[k - 1]]]

    def die(born, size, freed):
        if not any("zero_grad" in n for n in frames[freed]):
            return None
        return min((i for i in begins if i > born), default=freed)
    whole, without = recount(path, die)
    spoken, _, result = advice(script)
    assert spoken["grad-late-zero"]["saving_bytes"] == whole - without > 0


def test_kept_outputs_by_recount():
    script = PAIRS["two-generations"][0]
    path = scripts.make(script)
    with open(path, "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    bounds = [i for i, e in enumerate(trace) if e["action"] == "alloc" and any(x["name"] == "next_batch" for x in e.get("frames", ()))]
    whole, without = recount(path, lambda born, size, freed: next((b for b in bounds if born < b < freed), None)
                             if size == 300 << 20 else None)
    spoken, _, result = advice(script, "--waste")
    assert spoken["two-generations"]["saving_bytes"] == whole - without
    assert result["joint_saving_bytes"] == whole - without and result["joint_peak_bytes"] == without
    assert result["waste"]["early_free"]["saving_bytes"] == whole - without


def test_names_of_a_file_are_not_templates():
    script = PAIRS["logits-loss"][0].replace("run.py:65 train", "r#n@.py:65 tr@in#")
    spoken, _, _ = advice(script)
    assert "the loss at r#n@.py:65 tr@in#:" in spoken["logits-loss"]["text"]


# Real files -----------------------------------------------------------------------------

@pytest.fixture(scope="session")
def real(shared):
    folder = shared / "data" / "snapshots"
    found, errors = batch("advise", folder, sorted(p.name for p in folder.iterdir()), "--waste")
    assert not errors
    return {name.rsplit(".", 1)[0]: {d["device"]: d for d in entries[0]["devices"]} for name, entries in found.items()}


def spoken(real, name, device=0):
    return {a["id"]: a for a in real[name][device]["result"]["advice"]}


def clauses(real, name, device=0):
    return {s["id"]: s["clause"] for s in real[name][device]["result"]["silent"]}


def test_gradients_of_real_files(real, shared):
    a = spoken(real, "lm_train_full")["grad-late-zero"]
    r = real["lm_train_full"][0]["result"]
    assert (a["bytes"], a["saving_bytes"], a["at_events"]) == (3877647360, 3809734652, [5713, 6365])
    path = shared / "data" / "snapshots" / "lm_train_full.pickle"
    assert run("peak", "--json", path, expect=0).json()["devices"][0]["result"]["at_event"] == 5701
    assert a["conditions"] == [{"name": "gradients", "value": 327, "threshold": 1}]
    assert r["joint_peak_bytes"] == 19018190856 and r["joint_saving_bytes"] == 3809734652
    a = spoken(real, "lm_compile_adamw")["grad-not-cleared"]
    assert (a["bytes"], a["saving_bytes"], a["severity"]) == (761840640, 0, "note")
    assert a["conditions"][0]["value"] == 761840640


def test_gradients_added_in_place_by_recount(shared):
    """111 new gradients are freed under AccumulateGrad, which allocates none; the peak is the optimizer's."""
    trace = trace_of(shared, "lm_compile_adamw.pickle")

    def adds(e):
        return any("AccumulateGrad" in f["name"] for f in e["frames"])
    freed = [e["size"] for e in trace if e["action"] == "free_completed" and adds(e)]
    assert (len(freed), sum(freed)) == (111, 761840640)
    assert not [e for e in trace if e["action"] == "alloc" and adds(e)]
    d = run("report", "--json", shared / "data" / "snapshots" / "lm_compile_adamw.pickle", expect=0).json()["devices"][0]
    assert d["requested"]["peak_event"] == 1843
    assert any(f["name"] == "step" and "optim" in f["filename"] for f in trace[1843]["frames"])


def test_generations_of_real_files(real):
    a = spoken(real, "linear_grad_tiny")
    assert a["two-generations"]["bytes"] == a["two-generations"]["saving_bytes"] == 1200000000
    assert real["linear_grad_tiny"][0]["result"]["joint_peak_bytes"] == 3234803008
    assert a["no-grad"]["bytes"] == 400000000 and len(a["no-grad"]["at_events"]) == 2
    assert "two-generations" in clauses(real, "lm_fwd_bwd_ctx150")


def graphs_dropped(shared, name, device=0):
    """Allocations whose free releases saved variables outside of the engine; the last event before which nothing failed."""
    recording = reader.load((shared / "data" / "snapshots" / name).read_bytes())[0]
    d, = (d for d in model.devices(recording) if d.number == device)
    found = []
    for a in d.allocations:
        names = [f["name"] for f in d.events[a.fr]["frames"]] if a.fr < len(d.events) else []
        if any("SavedVariable" in n or "release_variables" in n for n in names) and not any("autograd::Engine" in n for n in names):
            found.append(a)
    return found, next((i for i, e in enumerate(d.events) if e["action"] == "oom"), len(d.events))


def test_graphs_of_real_files(real, shared):
    """Of linear_grad_tiny they are worth a line; elsewhere they are small, or unwinding after an oom."""
    found, _ = graphs_dropped(shared, "linear_grad_tiny.pkl")
    assert (len(found), sum(a.req for a in found)) == (2, 400000000)
    assert "no-grad" in spoken(real, "linear_grad_tiny")
    found, _ = graphs_dropped(shared, "cnn_counterfactuals_snapshot_events.pickle")
    assert (len(found), sum(a.req for a in found)) == (20, 78643240) and 78643240 // 10 == 7864324 < 16 << 20
    assert clauses(real, "cnn_counterfactuals_snapshot_events")["no-grad"] == "the graphs that are dropped hold less than 1 % of the peak, or less than 16 MiB"
    found, oom = graphs_dropped(shared, "three_gpu_expandable_oom.pickle", 1)
    assert (len(found), sum(a.req for a in found)) == (83, 78350874296) and min(a.fr for a in found) > oom == 421
    assert clauses(real, "three_gpu_expandable_oom", 1)["no-grad"].endswith("only after an out-of-memory event")
    speak = {(n, d) for n in real for d in real[n] if real[n][d]["result"] and "no-grad" in spoken(real, n, d)}
    assert speak == {("linear_grad_tiny", 0)}
    # Frames of Python alone: nothing of theirs goes with a graph.
    for name in ("zeroth_order_finetune_windows", "lm_train_windows_python_frames"):
        assert clauses(real, name)["no-grad"] == "no graph is seen to be dropped without its backward"


def test_an_output_that_is_gone_before_the_peak(shared):
    """That of the first step of lm_fwd_bwd_ctx150 lives on in the second, whose peak it does not see."""
    trace = trace_of(shared, "lm_fwd_bwd_ctx150.pickle")
    spans, live = [], {}
    for i, e in enumerate(trace):
        if e["action"] == "alloc" and e["size"] == 60000000:
            live[e["addr"]] = i
        elif e["action"] == "free_completed" and e["addr"] in live:
            spans.append((live.pop(e["addr"]), i))
    second, peak = 3982, 4575
    assert [s for s in spans if s[0] < second < s[1]] == [(696, 4493)] and 4493 < peak


def longest_growth(d):
    """How often in a row a line asks for more than before while the older is alive, and then freed."""
    most, n, last, times = 0, len(d.events), {}, {}
    for a in sorted((a for a in d.allocations if a.a >= 0 and a.frames), key=lambda a: a.a):
        key = tuple((f["filename"].replace("\\", "/").rsplit("/", 1)[-1], f["line"], f["name"]) for f in a.frames)
        old = last.get(key)
        grows = old is not None and a.req > old.req and a.a < old.fc < n
        times[key] = times.get(key, 0) + 1 if grows else 0
        last[key], most = a, max(most, times[key])
    return most


def test_no_cache_grows_in_real_files(shared):
    longest = 0
    for path in sorted((shared / "data" / "snapshots").iterdir()):
        longest = max([longest] + [longest_growth(d) for d in model.devices(reader.load(path.read_bytes())[0])])
    assert longest == 2


def loss_share(shared, name):
    """Of the peak, what was made under the names of a loss."""
    d, = model.devices(reader.load((shared / "data" / "snapshots" / name).read_bytes())[0])
    peak = d.curves["requested"]
    live = [a for a in d.allocations if a.a <= peak.first < a.fc]
    words = "cross_entropy", "log_softmax", "nll_loss", "LogSoftmax", "NllLoss"
    return sum(a.req for a in live if any(w in f["name"] for f in a.frames for w in words)) / peak.peak


def test_kernels_of_real_files(real, shared):
    a = spoken(real, "cross_entropy_vanilla")["logits-loss"]
    assert a["bytes"] == 786432002 and a["conditions"][0]["value"] == pytest.approx(0.75, abs=1e-3)
    assert a["saving_bytes"] == a["bytes"] // 8 * 7 and a["saving_source"] == "estimated"
    assert clauses(real, "cross_entropy_liger")["logits-loss"]
    assert clauses(real, "lm_train_windows_python_frames")["logits-loss"] == "losses hold less than 10 % of the peak"
    assert loss_share(shared, "lm_train_windows_python_frames.pickle") == pytest.approx(0.071, abs=0.0005)
    assert loss_share(shared, "cross_entropy_vanilla.pickle") == pytest.approx(0.75, abs=0.0005)
    a = spoken(real, "fsdp_homework_embedded")["attention-math"]
    assert a["bytes"] == 1635778560 and round(a["conditions"][0]["value"], 3) == 0.601
    assert [n for n in real for d in real[n] if real[n][d]["result"] and "attention-math" in spoken(real, n, d)] == ["fsdp_homework_embedded"]


def test_allocator_of_real_files(real):
    a = spoken(real, "quant_empty_cache_churn")["empty-cache"]
    assert a["bytes"] == 156019720192 and a["saving_bytes"] == 0
    assert a["conditions"][0] == {"name": "bursts", "value": 28, "threshold": 3}
    assert clauses(real, "lm_fullstep_from_start")["empty-cache"] == "empty_cache is called less than three times"
    a = spoken(real, "nca_segment_free")
    assert a["near-limit"]["at_events"] == [2077]
    assert clauses(real, "lm_train_full")["expandable"].startswith("less than 5 % of reserved memory, or less than 16 MiB, is not in use")


# What expandable segments save, in bytes: as recorded, and with them; by the peak of reserved memory,
# or (suffices) by the card that is needed.
SAVED = {
    "lm_fullstep_from_start": (61111009280, 55654219776, False),
    "quant_empty_cache_churn": (5662310400, 4429185024, True),
    "nca_notebook_snapshot_event": (9196011520, 7553941504, False),
    "qlora_notebook": (6471811072, 5955911680, False),
    "cnn_counterfactuals_snapshot_events": (134217728, 113246208, False),
    "peak_memory_probe": (3781165056, 3294625792, True),
    "nca_segment_free": (22194159616, 19652411392, True),
    "lm_infer_medium_ctx1024": (3147825152, 2933915648, True),
}


def test_settings_of_real_files(real):
    fires = {n for n in real for d in real[n] if real[n][d]["result"] and "expandable" in spoken(real, n, d)}
    assert fires == set(SAVED)
    for name, (recorded, changed, suffices) in SAVED.items():
        a = spoken(real, name)["expandable"]
        assert a["verification"]["figure"] == ("capacity_needed_bytes" if suffices else "peak_reserved_bytes")
        assert (a["verification"]["recorded_bytes"], a["verification"]["bytes"]) == (recorded, changed), name
        assert a["saving_bytes"] == recorded - changed and a["saving_source"] == "verified"


def trace_of(shared, name, device=0):
    with open(shared / "data" / "snapshots" / name, "rb") as f:
        return pickle.load(f)["device_traces"][device]


def test_calls_for_memory_of_a_real_file(real, shared):
    trace = trace_of(shared, "quant_empty_cache_churn.pickle")
    both_ways = [sum(e["size"] for e in trace if e["action"] == action) for action in ("segment_alloc", "segment_free")]
    assert both_ways == [156019720192] * 2
    assert calls_after_emptying(trace) == (405, 150447587328)
    assert spoken(real, "quant_empty_cache_churn")["empty-cache"]["cost"] == "405 cudaMalloc calls for 140.12 GiB while the call stays"
    # The one burst of lm_fullstep_from_start.
    trace = trace_of(shared, "lm_fullstep_from_start.pickle")
    gone = [i for i, e in enumerate(trace) if e["action"] == "segment_free"]
    assert gone == list(range(gone[0], gone[-1] + 1)) and sum(trace[i]["size"] for i in gone) == 30918311936


def test_pins_of_real_files(real, shared, tmp_path):
    """Where expandable segments cannot be had max_split_size_mb saves nothing; in peak_memory_probe, were it on Windows, too."""
    for name in ("zeroth_order_finetune_windows", "lm_train_windows_python_frames"):
        assert "max-split" in clauses(real, name)
    assert clauses(real, "peak_memory_probe")["max-split"] == "expandable_segments:True is available, and is the better setting"
    with open(shared / "data" / "snapshots" / "peak_memory_probe.pickle", "rb") as f:
        recorded = pickle.load(f)
    trace, = [t for t in recorded["device_traces"] if t]
    for e in trace:
        for frame in e["frames"]:
            if frame["filename"].startswith("/"):
                frame["filename"] = "C:" + frame["filename"].replace("/", "\\")
    (tmp_path / "moved.pickle").write_bytes(pickle.dumps(recorded, 4))
    document = run("advise", "--json", "--explain-silent", tmp_path / "moved.pickle", expect=0).json()
    verify(tmp_path / "moved.pickle", document)
    # Without the replay: three blocks of one segment, of which the oldest was made long before the end.
    result = run("advise", "--json", "--replay", "never", tmp_path / "moved.pickle", expect=0).json()["devices"][0]["result"]
    a, = (a for a in result["advice"] if a["id"] == "max-split")
    assert a["bytes"] == a["saving_bytes"] == 524156928


def test_waste_of_real_files(real):
    def waste(name):
        return real[name][0]["result"]["waste"]
    quant, nca = waste("quant_empty_cache_churn"), waste("nca_segment_free")
    assert round(quant["churn_ratio"], 1) == 142.1 and round(nca["churn_ratio"], 1) == 38.6
    assert (quant["churn"][0]["size_bytes"], quant["churn"][0]["count"]) == (1086324736, 112)
    assert (nca["churn"][0]["size_bytes"], nca["churn"][0]["count"]) == (5210112000, 40)
    assert waste("lm_train_full")["histogram"]["life_events"] == {"p50": 10, "p90": 6807, "p99": 17213}
    full = waste("lm_fullstep_from_start")["rounding"]
    assert full["slack_bytes"] == 276333052 and full["exact"]
    assert quant["device_churn"]["returned_bytes"] <= 156019720192


def test_sums_of_real_files(real):
    seen = 0
    for name, devices in real.items():
        for d in devices.values():
            seen += 1
            if "no_trace" in {r["id"] for r in d["reasons"]}:
                assert d["status"] == "partial" and d["result"]["waste"] is None, name
                continue
            assert "kv-prealloc" not in {a["id"] for a in d["result"]["advice"]}
            if d["trust"]["grade"] == "D":
                assert {s["clause"] for s in d["result"]["silent"]} == {"trust grade D"}
            check(d["result"])
            check_waste(d["result"]["waste"])
    assert seen >= 25


def check_waste(w):
    h = w["histogram"]
    assert sum(b["count"] for b in h["events"]) >= sum(b["count"] for b in h["us"])
    assert all(b["from"] == 0 or b["from"] & (b["from"] - 1) == 0 for k in ("events", "us", "steps") for b in h[k])
    lives = sum(b["count"] for b in h["events"])
    for key, percent in (("p50", 50), ("p90", 90), ("p99", 99)):
        seen, from_ = 0, None
        for b in h["events"]:
            if seen * 100 < lives * percent:
                from_ = b["from"]
            seen += b["count"]
        if from_ is not None:
            assert from_ <= h["life_events"][key] < max(1, 2 * from_)
    assert sum(s["slack_bytes"] for s in w["rounding"]["sites"]) == w["rounding"]["slack_bytes"]
    assert sum(s["byte_events"] for s in w["pending"]["sites"]) == w["pending"]["byte_events"]
    if w["byte_time"]:
        assert sum(s["share_ratio"] for s in w["byte_time"]) == pytest.approx(1, abs=1e-3)
    assert all(c["bytes"] == c["size_bytes"] * c["count"] for c in w["churn"])


@pytest.mark.parametrize("name", ("fragmentation", "leak", "oom", "train"))
def test_examples(name):
    path = ROOT / "examples" / (name + ".pickle")
    r = run("advise", "--json", "--waste", path, expect=0).json()["devices"][0]["result"]
    check(r)
    check_waste(r["waste"])
    assert ("expandable" in {a["id"] for a in r["advice"]}) == (name in ("fragmentation", "train"))
