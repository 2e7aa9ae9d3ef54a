"""Training loops of many shapes, and what is no step: phases and steps of recordings out of scripts."""
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
