"""What people read off the picture of a small training run: the page of `vramscope view` says the same in words."""
import re

import pytest

from recordings import scripts
from pages import plain, size

# Three steps of one layer; the output of a step lives until the next has made its own.
HEAD = """include torch.stacks
stack main run.py:95 main < run.py:101 <module>
stack init @malloc < ::at::_ops::empty_memory_format::call(…) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:106 __init__ < model.py:14 __init__ < run.py:31 build < @main
stack linear @malloc < ::at::_ops::addmm::call(…) < ::at::native::linear(at::Tensor const&, at::Tensor const&, std::optional<at::Tensor> const&) < /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:125 forward < @call < model.py:27 forward < @call < run.py:64 train < @main
stack gelu @malloc < ::at::_ops::gelu::call(…) < model.py:28 forward < @call < run.py:64 train < @main
stack out @malloc < ::at::_ops::addmm::call(…) < model.py:29 forward < @call < run.py:64 train < @main
stack free_step @release < run.py:69 train < @main
stack state @adam_state < run.py:67 train < @main
stack zero_grad @free_zero_grad < run.py:68 train < @main
repeat 4 as p {
  alloc weight$p 64MiB init
}
"""
STEPS = """repeat 3 {
  mark ProfilerStep#$i start
  repeat 4 as l {
    alloc act$l 96MiB gelu
    alloc scratch 40MiB linear
    free scratch free_saved
  }
  alloc out$i 24MiB out
  if $i != 0 {
    free out$($i-1) free_step
  }
  repeat 4 as l {
    alloc grad$(3-$l) 64MiB accumulate_grad
    free act$(3-$l) free_saved
  }
  if $i == 0 {
    repeat 4 as p {
      alloc exp_avg$p 64MiB state
      alloc exp_avg_sq$p 64MiB state
    }
  }
  ZERO
  mark ProfilerStep#$i end
  time +1000
}
"""
ZERO = """repeat 4 as p {
    free grad$p zero_grad
  }"""


def script(zero_grad=True):
    steps = STEPS.replace("ZERO", ZERO if zero_grad else "")
    if not zero_grad:  # what accumulates is made once
        steps = steps.replace("    alloc grad$(3-$l) 64MiB accumulate_grad\n",
                              "    if $i == 0 {\n      alloc grad$(3-$l) 64MiB accumulate_grad\n    }\n")
    return HEAD + steps


@pytest.fixture
def page(pages):
    shown = pages(scripts.make(script()))
    shown.settled()
    return shown


def engine(page, state):
    """Who holds the memory at a state, as the page tells it."""
    page.ask("location.hash = '#v=1&by=category&at=%d'; 0" % state)
    page.says("#who caption", "event %d," % (state - 1) if state else "start")
    page.settled()
    rows = page.ask("[...document.querySelectorAll('#who tbody tr[data-row]')].map((r) =>"
                    " [r.querySelector('button').textContent, r.cells[1].textContent])")
    return {plain(r[0]): size(r[1]) for r in rows}


def details(page, wanted):
    """The details of the first allocation that a query finds."""
    page.ask("location.hash = '#v=1&q=%s'; 0" % wanted)
    page.wait("document.getElementById('found').textContent !== ''")
    page.press("n")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.settled()
    return plain(page.text("#details"))


def starts(page):
    """The states that `]` goes to from the start, until it goes no further."""
    page.ask("location.hash = '#v=1&at=0'; 0")
    page.settled()
    found = []
    for _ in range(5):
        page.press("]")
        page.settled()
        found.append(int(page.state()["at"]))
    return sorted(set(found))


def test_three_spikes_are_three_steps(page):
    """C05: `]` goes from one to the next, and each has a peak of its own."""
    found = starts(page)
    assert len(found) == 3
    for first, past in zip(found, found[1:] + [states(page)]):
        page.ask("location.hash = '#v=1&range=%d-%d'; 0" % (first, past - 1))
        page.wait("!document.getElementById('range').hidden")
        page.says("#range h2", "event %d" % (first - 1))
        told = dict(re.findall(r"(smallest|largest|start) ([\d.]+ [KMG]iB)", plain(page.text("#range p"))))
        assert size(told["largest"]) - size(told["start"]) >= 300 * 2**20, told


def test_the_flat_band_is_the_parameters_alive_at_the_end(page):
    """C03: the same bytes in every state, and alive, which is not leaked."""
    last = states(page) - 1
    for state in (12, last // 2, last):
        assert engine(page, state)["parameter"] == 256 * 2**20
    text = details(page, "cat%3Aparameter")
    assert "alive at the end" in text and "leak" not in text
    assert "leak" not in page.text("#verdicts")


def states(page):
    page.press("Home")
    page.settled()
    return int(float(page.state()["x"].split("-")[1]))


@pytest.mark.long
def test_the_previous_output_lives_into_the_next_forward(page):
    """C03: the old value is freed only after the next step has made its own."""
    text = details(page, "size%3D24MiB")
    born, end = (int(n.replace(" ", "")) for n in re.search(
        r"event ([\d ]+) – event ([\d ]+)", text).groups())
    assert "freed by" in text and "run.py:69" in text
    second = starts(page)[1]
    assert born + 1 < second < end + 1


@pytest.mark.long
def test_activations_fall_while_gradients_rise(page):
    """C06: and gradients are gone after zero_grad."""
    text = details(page, "cat%3Agradient")
    first = int(re.search(r"event ([\d ]+) –", text).group(1).replace(" ", ""))
    before, after = [], []
    for k in range(4):  # each gradient is made, then an activation freed in two events
        found = engine(page, first + 1 + 3 * k)
        before.append(found.get("activation", 0))
        after.append(found.get("gradient", 0))
    assert before == sorted(before, reverse=True) and before[0] > before[-1]
    assert after == sorted(after) and after[0] < after[-1] == 256 * 2**20
    assert engine(page, states(page) - 1).get("gradient", 0) == 0


@pytest.mark.long
def test_state_appears_once_at_the_end_of_the_first_step(page):
    """C05, C17: growth between the first step and the second is the optimizer's, and no leak."""
    text = details(page, "cat%3Aoptimizer_state")
    assert "alive at the end" in text and "run.py:67" in text
    page.ask("location.hash = '#v=1&q=cat%3Aoptimizer_state'; 0")
    page.says("#found", "8 allocations, 512.00 MiB ever")
    held = [engine(page, state).get("optimizer state", 0) for state in starts(page)]
    assert held == [0, 512 * 2**20, 512 * 2**20]
    assert "leak" not in page.text("#verdicts")
    page.press("6")
    page.says("#view > :not([hidden])", "leak none: in ")


@pytest.mark.long
def test_thin_spikes_are_temporaries_with_their_operator(page):
    """C18, C12: the stack and the place of a workspace are a click away."""
    text = details(page, "size%3D40MiB")
    assert "temporary" in text or "activation" in text or "unknown" in text
    assert "model.py:27" in text
    page.press("h")
    page.says("#details", "addmm")


def test_growth_that_stops_is_no_leak_without_zero_grad_either(pages):
    """C16: gradients that accumulate in place grow once; the page says which memory it is."""
    page = pages(scripts.make(script(False)))
    page.settled()
    last = states(page) - 1
    assert engine(page, last)["gradient"] == 256 * 2**20
    page.press("6")
    page.says("#view > :not([hidden])", "leak none: in ")
    assert "leak" not in page.text("#verdicts").replace("no leak", "")
