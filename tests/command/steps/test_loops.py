"""Training loops of many shapes, and what is no step: phases and steps of recordings out of scripts."""
import pickle

import pytest

from conftest import run
from recordings import scripts

PIECES = """include torch.stacks
stack main train.py:95 main < train.py:101 <module>
stack torch_adam /venv/lib/python3.12/site-packages/torch/optim/adam.py:228 step < /venv/lib/python3.12/site-packages/torch/optim/optimizer.py:493 wrapper
stack init @malloc < model.py:9 __init__ < train.py:12 build < @main
alloc weight 4MiB init
alloc bias 1MiB init
"""


def asked(script):
    return run("steps", "--json", scripts.make(script), expect=0).json()["devices"][0]["result"]


def phases(script):
    return ["%s %d" % (p["phase"], p["allocs"]) for p in asked(script)["phases"] if p["phase"] != "init"]


# How the optimizer calls the closure, outermost last, and what happens there.
CLOSURES = {
    "torch": "train.py:40 closure < @torch_adam < train.py:50 train < @main",
    "named otherwise": "train.py:40 evaluate < /venv/lib/python3.12/site-packages/torch/utils/_contextlib.py:158 decorate_context < @torch_adam < train.py:50 train < @main",
    "lightning": "/venv/lib/python3.12/site-packages/lightning/pytorch/loops/optimization/automatic.py:146 __call__ < "
                 "/venv/lib/python3.12/site-packages/lightning/pytorch/plugins/precision/precision.py:109 _wrap_closure < @torch_adam < "
                 "/venv/lib/python3.12/site-packages/lightning/pytorch/core/optimizer.py:154 step < @main",
    "an optimizer of one's own": "train.py:40 closure < sam.py:20 step < /venv/lib/python3.12/site-packages/torch/optim/optimizer.py:493 wrapper < train.py:50 train < @main",
}
CLOSURE = PIECES + """
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < %(closure)s
stack loss @malloc < ::at::_ops::cross_entropy_loss::call(…) < train.py:41 loss_of < %(closure)s
stack temp @malloc < ::at::_ops::_foreach_sqrt::call(…) < /venv/lib/python3.12/site-packages/torch/optim/adam.py:720 _multi_tensor_adam < @torch_adam < train.py:50 train < @main
stack free_temp @release < /venv/lib/python3.12/site-packages/torch/optim/adam.py:748 _multi_tensor_adam < @torch_adam < train.py:50 train < @main
stack zero_grad @free_zero_grad < %(closure)s
repeat 3 {
  repeat 6 as l {
    alloc h$l 8MiB forward
  }
  alloc loss 512 loss
  repeat 6 as l {
    alloc grad_out 8MiB %(backward)s
    if $l < 2 {
      alloc grad$l 4MiB %(backward)s
    }
    free h$(5-$l) free_saved
    free grad_out free_backward
  }
  alloc exp_avg 4MiB temp
  free exp_avg free_temp
  free grad0 zero_grad
  free grad1 zero_grad
  free loss zero_grad
}
"""


@pytest.mark.parametrize("style", ["", "python_only\n"])
@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_is_no_part_of_the_optimizer(name, style):
    """Forward, loss and backward are called by the optimizer's step, and are none of its work."""
    backward = "" if style else "linear_backward"
    script = style + CLOSURE % {"closure": CLOSURES[name], "backward": backward}
    assert phases(script) == ["forward 6", "backward 8", "optimizer 1"] * 3
    made = run("categories", "--json", "--at", "peak", scripts.make(script), expect=0).json()["devices"][0]["result"]
    of = {c["category"]: c["bytes"] for c in made["by_category"]}
    assert of["activation"] >= 40 << 20 and "optimizer_state" not in of and "optimizer_temp" not in of


OWN = PIECES + """
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < train.py:40 train < @main
stack update @malloc < ::at::_ops::mul::call(…) < %s
repeat 3 {
  alloc h 8MiB forward
  repeat 6 as l {
    alloc grad$l 4MiB linear_backward
    %s
  }
  free h free_saved
  repeat 4 as l {
    alloc temp 4MiB update
    free temp
  }
  repeat 6 as l {
    free grad$l free_zero_grad
  }
}
"""
HOOK = "alloc temp 4MiB update\n    free temp"


@pytest.mark.parametrize("update", [
    "/venv/lib/python3.12/site-packages/torch/optim/adam.py:720 _multi_tensor_adam < @torch_adam < train.py:50 train < @main",
    "muon.py:20 orthogonalize < muon.py:35 step < /venv/lib/python3.12/site-packages/torch/optim/optimizer.py:493 wrapper < train.py:50 train < @main",
    "my_optim.py:20 scale < my_optim.py:35 step < train.py:50 train < @main",
])
def test_what_an_optimizer_makes_for_itself_is_its_own(update):
    assert phases(OWN % (update, "")) == ["forward 1", "backward 6", "optimizer 4"] * 3


def test_an_optimizer_in_a_hook_of_the_backward_is_the_optimizer():
    update = "my_optim.py:35 step < train.py:30 hook < @engine"
    one = ["forward 1"] + ["backward 1", "optimizer 1"] * 5 + ["backward 1", "optimizer 5"]
    assert phases(OWN % (update, HOOK)) == one * 3


# Where steps begin and end -------------------------------------------------------------------

LOOP = PIECES + """
stack batch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < train.py:38 train < @main
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < train.py:40 train < @main
stack validated @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < train.py:70 validate < train.py:55 train < @main
stack vbatch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < train.py:68 validate < train.py:55 train < @main
stack noise @malloc < ::at::_ops::randn_like::call(…) < train.py:39 train < @main
stack frozen @malloc < ::at::_ops::addmm::call(…) < encoder.py:18 forward < @call < train.py:37 train < @main
stack temp @malloc < ::at::_ops::_foreach_sqrt::call(…) < /venv/lib/python3.12/site-packages/torch/optim/adam.py:720 _multi_tensor_adam < @torch_adam < train.py:50 train < @main
stack temp2 @malloc < ::at::_ops::_foreach_sqrt::call(…) < /venv/lib/python3.12/site-packages/torch/optim/adam.py:720 _multi_tensor_adam < @torch_adam < train.py:60 train < @main
stack checked @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < train.py:53 train < @main
stack best @malloc < ::at::_ops::argmax::call(…) < train.py:53 train < @main
stack next_batch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < train.py:54 train < @main
stack product @malloc < ::at::_ops::mm::call(…) < train.py:40 train < @main
stack scaled @malloc < ::at::_ops::mul::call(…) < train.py:50 train < @main
stack zero_grad @free_zero_grad < train.py:51 train < @main
stack free_user @release < train.py:52 train < @main
repeat 4 {
  %s
}
"""
BATCH = "alloc batch 1MiB batch\n"
FORWARD = "alloc a 8MiB forward\nalloc b 8MiB forward\n"
# Of a pair the first makes gradients, the others add to them.
BORN = FORWARD + "alloc t 8MiB linear_backward\nalloc g1 4MiB linear_backward\nfree b free_saved\nalloc g2 4MiB linear_backward\nfree a free_saved\nfree t free_backward\n"
GROWN = FORWARD + "alloc t 8MiB linear_backward\nalloc u 4MiB linear_backward\nfree b free_saved\nfree u free_backward\nfree a free_saved\nfree t free_backward\n"
CLEARED = "free g1 zero_grad\nfree g2 zero_grad\n"
DROPPED = "free g1 free_user\nfree g2 free_user\n"
ADAM = "alloc s 4MiB temp\nfree s\n"
OTHER_ADAM = "alloc s 4MiB temp2\nfree s\n"
FREE_BATCH = "free batch free_user\n"
VALIDATION = "alloc vb 1MiB vbatch\nalloc v 8MiB validated\nfree v\nfree vb\n"


def steps(body):
    s = asked(LOOP % body.replace("\n", "\n  "))["steps"]
    return s["kind"], s["count"], s["micro_steps"], len(s["passes"])


@pytest.mark.parametrize("body, found", [
    # Plain SGD asks for no memory: zero_grad tells where a step ends, or gradients that are made anew.
    (BATCH + BORN + GROWN + GROWN + CLEARED + FREE_BATCH, ("step", 4, 3, 0)),
    (BATCH + BORN + GROWN + GROWN + DROPPED + FREE_BATCH, ("step", 4, 3, 0)),
    (BATCH + BORN + CLEARED + FREE_BATCH, ("step", 4, 1, 0)),
    (BATCH + BORN + DROPPED + FREE_BATCH, ("step", 4, 1, 0)),
    # AdamW tells by its temporaries.
    (BATCH + BORN + GROWN + ADAM + CLEARED + FREE_BATCH, ("step", 4, 2, 0)),
    # Two optimizers that take turns end one step; one that is called twice at one line ends two.
    (BATCH + BORN + ADAM + CLEARED + BORN + OTHER_ADAM + CLEARED + FREE_BATCH, ("step", 4, 2, 0)),
    (BATCH + BORN + ADAM + CLEARED + BORN + ADAM + CLEARED + FREE_BATCH, ("step", 8, 1, 0)),
    # A validation is a pass between steps, the first of a frozen part is none.
    (BATCH + BORN + ADAM + CLEARED + FREE_BATCH + VALIDATION, ("step", 4, 1, 4)),
    (BATCH + BORN + ADAM + CLEARED + FREE_BATCH + "if $i%2 == 1 {\n" + VALIDATION + "}\n", ("step", 4, 1, 2)),
    (BATCH + "alloc e 2MiB frozen\nalloc n 2MiB noise\n" + BORN + ADAM + CLEARED + FREE_BATCH + "free e free_user\nfree n free_user\n",
     ("step", 4, 1, 0)),
])
def test_a_step_ends_where_parameters_are_updated(body, found):
    assert steps(body) == found


def test_a_step_begins_with_its_batch():
    body = BATCH + BORN + ADAM + CLEARED + FREE_BATCH + VALIDATION
    s = asked(LOOP % body.replace("\n", "\n  "))
    rows = [(p["step"], p["kind"], p["phase"]) for p in s["phases"] if p["phase"] in ("data", "optimizer")]
    one = [(1, "step", "data"), (1, "step", "optimizer"), (None, "pass", "data")]
    assert rows[:3] == one and rows[3:6] == [(2, "step", "data"), (2, "step", "optimizer"), (None, "pass", "data")]


def begins_at(script):
    """The line of the training loop at which each step begins."""
    trace = pickle.loads(scripts.make(script).read_bytes())["device_traces"][0]
    begins = [trace[b["event"]]["frames"] for b in asked(script)["steps"]["boundaries"]]
    return [next(f["line"] for f in frames if f["name"] == "train") for frames in begins]


def of_loop(body):
    return LOOP % body.replace("\n", "\n  ")


# Looked at after the update, and held by a name until the next step does the same.
CHECKED = "alloc c 8MiB checked\nalloc best$i 4KiB best\nfree c\nif $i != 0 {\nfree best$($i-1) free_user\n}\n"
OWN_STEP = ("alloc a 8MiB product\nalloc b 8MiB product\n" + 3 * "alloc c 8MiB product\nfree c\n" + "alloc t 8MiB linear_backward\nalloc g1 4MiB linear_backward\nfree b free_saved\n"
            "free a free_saved\nfree t free_backward\n" + 5 * "alloc s 4MiB scaled\nfree s\n" + "free g1 free_user\n")


@pytest.mark.parametrize("body, line", [
    # What stands behind the update in the program is of the step before, also where no batch follows it.
    (BATCH + BORN + ADAM + CLEARED + CHECKED + FREE_BATCH, 38),
    (BORN + ADAM + CLEARED + CHECKED, 40),
    (BORN + ADAM + CLEARED + "if $i != 0 {\nfree n$($i-1) free_user\n}\nalloc n$i 2MiB next_batch\n", 40),
    # What stands before the forward is of the step, copied or not.
    ("alloc n 2MiB noise\n" + BORN + ADAM + CLEARED + "free n free_user\n", 39),
    # Of one optimizer that is called three times for each time of the other the first is meant.
    (BATCH + (BORN + ADAM + CLEARED) * 3 + BORN + OTHER_ADAM + CLEARED + FREE_BATCH, 38),
    # Neither modules nor an optimizer.
    (OWN_STEP, 40),
])
def test_a_step_begins_where_the_loop_goes_round(body, line):
    assert begins_at(of_loop(body)) == [line] * 4


def test_optimizers_that_take_turns_are_counted_from_the_first_also_behind_a_late_begin():
    one = BORN + ADAM + CLEARED
    body = BATCH + "if $i == 0 {\n" + one + one.replace("alloc t", "window late\nalloc t") + "}\nif $i != 0 {\n" + one * 2 + "}\n"
    assert begins_at(of_loop(body + one + BORN + OTHER_ADAM + CLEARED + FREE_BATCH)) == [38] * 3


PREFETCHED = "alloc whole 64MiB batch\n"


def test_a_batch_that_is_copied_once_belongs_to_no_step():
    body = BORN + ADAM + CLEARED
    script = (LOOP % body.replace("\n", "\n  ")).replace("repeat 4 {", PREFETCHED + "repeat 4 {", 1)
    s = asked(script)
    assert s["steps"]["count"] == 4
    assert [p["step"] for p in s["phases"] if p["phase"] == "data"] == [None]


def late(body):
    """The recording begins inside the second of four steps."""
    return asked((LOOP % ("if $i == 1 {\n" + body.replace("alloc t", "window late\nalloc t", 1) + "}\nif $i != 1 {\n" + body + "}\n")))


def test_a_step_that_is_cut_is_none():
    s = late(BATCH + BORN + ADAM + CLEARED + FREE_BATCH)["steps"]
    assert (s["source"], s["count"]) == ("phases", 2)


def test_an_update_that_makes_no_state_is_as_whole_as_those_that_do():
    """Each second step has a new optimizer; what an optimizer always asks for tells whether its last update is whole."""
    state = "if $i%2 == 0 {\nalloc state$i 4MiB temp\n}\n"
    body = BATCH + BORN + state + ADAM * 2 + CLEARED + FREE_BATCH
    assert steps(body) == ("step", 4, 1, 0)
    cut = BATCH + BORN + state + ADAM + "if $i != 3 {\n" + ADAM + CLEARED + FREE_BATCH + "}\n"
    assert steps(cut) == ("step", 3, 1, 0)


# Called from a line above the training's, in a function of its own.
PLAYED = """stack pbatch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < train.py:20 play < train.py:30 train < @main
stack played @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < train.py:21 play < train.py:30 train < @main
"""


def with_play(body):
    return of_loop(body).replace("repeat 4 {", PLAYED + "repeat 4 {", 1)


PLAY = "alloc pb 1MiB pbatch\nalloc p 8MiB played\nfree p\nfree pb\n"


def test_what_each_step_plays_before_it_learns_is_of_the_step():
    learned = BATCH + BORN + ADAM + CLEARED + FREE_BATCH
    each = with_play(PLAY * 3 + learned)
    assert asked(each)["steps"]["passes"] == [] and begins_at(each) == [30] * 4
    # Every second time only, or behind the update, it is a validation.
    second = asked(with_play("if $i%2 == 0 {\n" + PLAY + "}\n" + learned))["steps"]
    assert (second["count"], len(second["passes"])) == (4, 2)
    behind = asked(with_play(PLAY + learned).replace("train.py:30", "train.py:55"))["steps"]
    assert (behind["count"], len(behind["passes"])) == (4, 4)


UPDATE = BORN + ADAM + CLEARED
SEEN = PLAY + "alloc seen$i 6MiB noise\n"
PART = "alloc n 2MiB noise\n" + UPDATE + "free n free_user\n"
SEEN_GOES = "free seen$i free_user\n"


@pytest.mark.parametrize("style, body, found", [
    # Updates that go through what one rollout made are one step, also where each picks a part of it.
    ("", SEEN + UPDATE * 3 + SEEN_GOES, ("step", 4, 3, 0)),
    ("python_only\n", SEEN + UPDATE * 3 + SEEN_GOES, ("step", 4, 3, 0)),
    ("", SEEN + PART * 3 + SEEN_GOES, ("step", 4, 3, 0)),
    ("", SEEN + UPDATE * 3 + "if 1 < $i {\nfree seen$($i-2) free_user\n}\n", ("step", 4, 3, 0)),
    # What a validation leaves behind is nothing that later steps train on: it is gone, or they have batches of their own.
    ("", PLAY + UPDATE * 3, ("step", 12, 1, 4)),
    ("", SEEN + UPDATE + SEEN_GOES + UPDATE * 2, ("step", 12, 1, 4)),
    ("", SEEN + (BATCH + UPDATE + FREE_BATCH) * 3 + SEEN_GOES, ("step", 12, 1, 4)),
    # Without native frames a part may be a batch from the host.
    ("python_only\n", SEEN + PART * 3 + SEEN_GOES, ("step", 12, 1, 4)),
])
def test_updates_that_share_a_rollout_are_one_step(style, body, found):
    s = asked(style + with_play(body.replace("\n", "\n  ")))["steps"]
    assert (s["kind"], s["count"], s["micro_steps"], len(s["passes"])) == found


def test_a_rollout_that_is_not_gone_through_is_no_step():
    body = SEEN + UPDATE * 2 + "if $i != 3 {\n" + UPDATE + SEEN_GOES + "}\n"
    s = asked(with_play(body))["steps"]
    assert (s["count"], s["micro_steps"]) == (3, 3)


@pytest.mark.parametrize("frozen", (True, False))
def test_beside_a_step_that_was_cut_the_program_tells_where_one_begins(frozen):
    """Of two steps the recording began in the backward of the first."""
    encoded = "alloc e 2MiB frozen\n" if frozen else ""
    done = "free e free_user\n" if frozen else ""
    body = BATCH + encoded + "alloc n 2MiB noise\n" + BORN + ADAM + CLEARED + FREE_BATCH + done + "free n free_user\n"
    first = body.replace("alloc t", "window late\nalloc t", 1)
    script = of_loop("if $i == 0 {\n" + first + "}\nif $i != 0 {\n" + body + "}\n").replace("repeat 4 {", "repeat 2 {")
    assert begins_at(script) == [38]


LAYERS = PIECES + """
stack batch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < run.py:38 read < @main
stack layer_in @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < model.py:30 forward < @call < run.py:40 read < @main
stack layer_out @malloc < ::at::_ops::gelu::call(…) < model.py:19 forward < @call < model.py:30 forward < @call < run.py:40 read < @main
stack head @malloc < ::at::_ops::mm::call(…) < model.py:33 forward < @call < run.py:40 read < @main
repeat %d {
  %s
  alloc batch 1MiB batch
  repeat 8 as l {
    alloc x 8MiB layer_in
    alloc y$l 8MiB layer_out
    free x
  }
  alloc logits 16MiB head
  repeat 8 as l {
    free y$l
  }
  free logits
  free batch
  %s
}
"""


@pytest.mark.parametrize("mark", ["", "chunk"])
def test_several_forwards_are_passes_and_their_layers_no_steps(mark):
    pair = ("mark %s$i start" % mark, "mark %s$i end" % mark) if mark else ("", "")
    s = asked(LAYERS % ((3,) + pair))["steps"]
    assert (s["kind"], s["count"], s["source"]) == ("pass", 3, "annotations" if mark else "periodicity")


def test_one_forward_is_no_pass_by_its_layers():
    assert asked(LAYERS % (1, "", ""))["steps"]["count"] == 0


# What each round keeps is bound anew in its middle, where least is alive.
ROUNDS = PIECES + """
stack batch @malloc < ::torch::autograd::dispatch_to(at::Tensor const&, c10::Device, bool, bool) < run.py:%(batch)d read < @main
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < run.py:40 read < @main
stack keep @malloc < ::at::_ops::clone::call() < run.py:%(keep)d read < @main
stack rest @malloc < ::at::_ops::mul::call() < run.py:%(rest)d read < @main
stack prompt @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < run.py:30 read < @main
alloc prompt 8MiB prompt
free prompt
repeat %(rounds)d {
  alloc batch$i 1MiB batch
  alloc hidden$i 8MiB forward
  alloc logits$i 12MiB forward
  free hidden$i
  free batch$i
  free logits$i
  if 0 < $i {
    free kept$($i-1)
  }
  alloc kept$i 4MiB keep
  repeat 3 as k {
    alloc rest$i-$k 2MiB rest
    free rest$i-$k
  }
}
"""


def rounds(batch=38, keep=42, rest=43, count=6, more=""):
    """(first request of each pass, by its size in MiB, how many there are)."""
    script = ROUNDS % {"batch": batch, "keep": keep, "rest": rest, "rounds": count} + more
    trace = pickle.loads(scripts.make(script).read_bytes())["device_traces"][0]
    s = asked(script)["steps"]
    assert s["source"] == "periodicity"
    return {trace[b["event"]]["size"] >> 20 for b in s["boundaries"]}, s["count"]


def test_a_pass_begins_where_the_program_comes_back_to_an_earlier_line():
    assert rounds() == ({1}, 6)
    # Not at a loop inside it, which goes back less far.
    assert rounds(keep=41, rest=44) == ({1}, 6)
    # Where all stands in one line nothing tells but what is alive.
    assert rounds(batch=40, keep=40, rest=40)[0] == {4}


def test_a_pass_that_is_not_run_through_is_none():
    assert rounds(more="alloc last 1MiB batch\nalloc more 8MiB forward\nfree more\n") == ({1}, 6)
