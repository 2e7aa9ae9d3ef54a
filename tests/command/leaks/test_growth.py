"""What counts as growth between steps, each rule with its silent twin; the recordings are small scripts."""
import pytest

from recordings import scripts
from conftest import run

MIB = 1 << 20
HEAD = """
capacity 16GiB
include torch.stacks
stack main    run.py:40 main < run.py:44 <module>
stack init    @malloc < ::at::_ops::empty_memory_format::call() < model.py:9 __init__ < run.py:12 build < @main
stack hidden  @malloc < ::at::_ops::addmm::call() < model.py:18 forward < @call < @main
stack logits  @malloc < ::at::_ops::addmm::call() < model.py:19 forward < @call < @main
stack loss    @malloc < ::at::_ops::nll_loss::call() < run.py:22 train < @main
stack kept    @malloc < ::at::_ops::clone::call() < run.py:25 remember < @main
stack grad    @accumulate_grad
stack state   @adam_state < run.py:30 train < @main
stack in_main @release < run.py:27 train < @main
stack rebound @release < run.py:35 train < @main
stack zeroed  @free_zero_grad < @main
alloc weight 64MiB init
"""
# A step of training without what a case adds: {first} in the forward, {last} behind the optimizer.
STEP = """
  alloc hidden$i 48MiB hidden
  alloc loss$i 4 loss
  {first}
  alloc grad$i 30MiB grad
  free hidden$i free_saved
  free loss$i in_main
  alloc temp$i 8MiB adam_temp
  free temp$i free_adam_temp
  free grad$i zeroed
  {last}
"""


def program(count, first="", last="", marks=True, more=""):
    """A recording of so many steps."""
    body = STEP.format(first=first, last=last)
    if marks:
        body = "mark step#$i start\n%s\nmark step#$i end" % body
    return scripts.make("%s\nrepeat %d {\n%s\n}\n%s" % (HEAD, count, body, more))


def ask(verb, path, *options):
    device, = run(verb, "--json", *options, path, expect=0).json()["devices"]
    return device["result"]


def sites(path, line):
    """Those at a line of the program."""
    return [s for s in ask("leaks", path)["sites"] if s["site"]["culprit"].startswith(line)]


def growth(path):
    """{line: (class, bytes a step, every so many steps)} of what leaks names as growing."""
    return {s["site"]["culprit"].split(" ")[0]: (s["class"], s["slope_bytes"], s["every_steps"])
            for s in ask("leaks", path)["sites"] if s["kind"] is not None}


def limit(path, size, expect):
    row, = run("check", "--json", "--max-growth-per-step", size, path, expect=expect).json()["devices"][0]["result"]["limits"]
    return row


KEEP = "alloc kept$i 16MiB kept"


# The end of the recording ----------------------------------------------------------------

def test_a_name_that_is_bound_anew_behind_the_step_is_no_growth():
    """The old value goes after the last alloc: the last point still sees both."""
    bound = "alloc value$i 128MiB kept\n if 0 < $i {\n free value$($i-1) rebound\n }"
    path = program(2, last=bound, marks=False)
    assert growth(path) == {} and [s["class"] for s in sites(path, "run.py:25")] == ["replaced"]
    kept = program(2, last="alloc value$i 128MiB kept", marks=False)
    assert growth(kept) == {"run.py:25": ("suspect", 128 * MIB, 1)}


def test_an_end_in_the_middle_of_a_step_is_no_point_to_compare():
    whole = program(2, first=KEEP, marks=False)
    assert growth(whole) == {"run.py:25": ("suspect", 16 * MIB, 1)}
    # The second step stops before its optimizer and what comes behind it.
    cut = program(2, first=KEEP, last="if $i == 0 {\n alloc metric 1MiB loss\n free metric rebound\n }", marks=False)
    assert growth(cut) == {}


def test_the_end_is_a_point_where_the_last_step_was_run_through():
    """Without marks there is no boundary behind the last step; its last events are those of the one before."""
    keeps = ask("leaks", program(4, first=KEEP, marks=False))
    site, = [s for s in keeps["sites"] if s["class"] == "leak"]
    assert site["boundary_bytes"] == [n * 16 * MIB for n in range(5)]
    cut = program(4, first=KEEP, marks=False, more="alloc odd 1MiB loss")
    site, = [s for s in ask("leaks", cut)["sites"] if s["class"] == "leak"]
    assert site["boundary_bytes"] == [n * 16 * MIB for n in range(4)]


# Counterparts ----------------------------------------------------------------------------

def test_of_one_line_only_what_stays_is_growth():
    """Two values of one line: one is kept, one goes with the next step."""
    both = KEEP + "\n alloc swap$i 64MiB+$i*4MiB kept\n if 0 < $i {\n free swap$($i-1) in_main\n }"
    assert growth(program(6, first=both)) == {"run.py:25": ("leak", 16 * MIB, 1)}
    # Larger in each step, and never two alive for more than a step.
    swap = "alloc swap$i 64MiB+$i*4MiB kept\n if 0 < $i {\n free swap$($i-1) in_main\n }"
    assert growth(program(6, first=swap)) == {}


@pytest.mark.parametrize("count", (2, 3, 4, 6))
def test_two_generations_are_replaced_and_not_kept(count):
    two = "alloc swap$i 64MiB kept\n if 1 < $i {\n free swap$($i-2) in_main\n }"
    assert growth(program(count, first=two)).get("run.py:25", ("", 0, 0))[0] in (("suspect",) if count == 2 else ("",))


@pytest.mark.parametrize("sizes, growing", (("16MiB 16MiB 16MiB 12MiB 20MiB", False), ("12MiB 16MiB 16MiB 20MiB 20MiB", True)))
def test_older_ones_of_its_size_that_went_tell_that_it_is_no_growth(sizes, growing):
    """Three are kept of three steps; of those older than the recording as many of that size went meanwhile, or fewer."""
    older = "".join("alloc older%d %s kept\n" % one for one in enumerate(sizes.split()))
    gone = "if $i == 1 {\n%s }" % "".join("free older%d in_main\n" % i for i in range(5))
    body = "mark step#$i start\n%s\nmark step#$i end" % STEP.format(first=KEEP, last=gone)
    path = scripts.make("%s\n%s\nwindow late\nrepeat 3 {\n%s\n}\n" % (HEAD, older, body))
    assert growth(path) == ({"run.py:25": ("suspect", 16 * MIB, 1)} if growing else {})


@pytest.mark.parametrize("marks", (True, False))
def test_a_window_of_larger_and_larger_values_is_no_leak(marks):
    """The last three are kept, and each is larger than the one before: as many are alive, of more bytes."""
    value = "alloc kept$i 64MiB+$i*16MiB kept"
    window = value + "\n if 2 < $i {\n free kept$($i-3) in_main\n }"
    assert growth(program(8, first=window, marks=marks)) == {}
    assert growth(program(8, first=value, marks=marks))["run.py:25"][0] == "leak"


# One allocation that each step makes longer ------------------------------------------------

def queue(count=8, batch="48MiB", piece="4MiB", handed="", rebound="", backward=""):
    """Steps that put a piece behind a queue: the old one goes at once, later in the forward, or in the backward."""
    old = "if 0 < $i {\n free queue$($i-1) %s\n }"
    step = STEP.replace("alloc hidden$i 48MiB", "alloc hidden$i " + batch).replace("free hidden$i free_saved", "{back}")
    first = "alloc piece$i %s logits\n alloc queue$i ($i+2)*4MiB kept\n" % piece
    first += (old % handed if handed else "") + "\n alloc after$i 2MiB logits\n" + (old % rebound if rebound else "")
    back = "free hidden$i free_saved\n free after$i free_saved\n" + (old % backward if backward else "")
    body = step.format(first=first, last="free piece$i in_main", back="alloc passing$i 1MiB grad\n" + back
                       + "\n alloc passed$i 1MiB grad\n free passing$i free_saved\n free passed$i free_saved")
    return scripts.make("%s\nrepeat %d {\n%s\n}\n" % (HEAD, count, body))


def test_what_each_step_copies_into_something_longer_is_a_leak():
    """One allocation is alive, of one generation; it grows by what the step made to be put behind it."""
    assert growth(queue(handed="in_main")) == {"run.py:25": ("leak", 4 * MIB, 1)}
    assert growth(queue(backward="free_saved")) == {"run.py:25": ("leak", 4 * MIB, 1)}
    text = text_of(queue(handed="in_main"))
    assert "leak 4.00 MiB a step at run.py:25 remember; 36.00 MiB are alive, which each step copies into something longer;" in text


def test_what_is_larger_in_each_step_for_another_reason_is_no_leak():
    assert growth(queue(handed="in_main", piece="3MiB")) == {}
    assert growth(queue(handed="in_main", batch="48MiB+$i*8MiB")) == {}
    # A result that is larger because something else is goes when its name is bound anew.
    assert growth(queue(rebound="in_main")) == {}
    # Three steps show too little, and a queue that is cut at a length grows no more.
    assert growth(queue(handed="in_main", count=3)) == {}
    cut = "alloc piece$i 4MiB logits\n alloc queue$i 16MiB kept\n if 0 < $i {\n free queue$($i-1) in_main\n }"
    assert growth(program(8, first=cut, last="free piece$i in_main", marks=False)) == {}


def test_a_cache_that_grows_while_tokens_are_made_is_no_leak():
    """The same where nothing is trained: keys and values grow along a sequence."""
    token = "alloc hidden$i 48MiB hidden\n alloc piece$i 4MiB logits\n alloc keys$i ($i+2)*4MiB kept\n%s"
    old = "if 0 < $i {\n free keys$($i-1) in_main\n }\n free piece$i in_main\n free hidden$i in_main"
    path = scripts.make("%s\nrepeat 8 {\n%s\n}\n" % (HEAD, token % old))
    assert ask("leaks", path)["steps"]["count"] >= 7 and growth(path) == {}


# Every second step -----------------------------------------------------------------------

def test_a_leak_in_every_second_step_is_found():
    second = "if $i%2 == 1 {\n " + KEEP + "\n }"
    path = program(8, first=second)
    assert growth(path) == {"run.py:25": ("leak", 8 * MIB, 2)}
    assert "16.00 MiB in every 2nd step at run.py:25 remember" in " ".join(run("leaks", path, expect=0).out.split())
    assert growth(program(12, first="if $i%3 == 2 {\n " + KEEP + "\n }")) == {"run.py:25": ("leak", 16 * MIB // 3, 3)}
    # What comes twice, or comes and stops, or goes again, is none.
    assert growth(program(8, first="if $i%4 == 3 {\n " + KEEP + "\n }")) == {}
    assert growth(program(12, first="if $i%2 == 1 {\n if $i < 6 {\n " + KEEP + "\n }\n }")) == {}
    assert growth(program(12, first=second, last="if $i == 6 {\n free kept1 in_main\n }")) == {}
    # Nor is the optimizer's state, or a table for each of a few lengths.
    assert growth(program(8, last="if $i == 0 {\n alloc state 60MiB state\n }")) == {}
    assert growth(program(8, first="if $i < 3 {\n " + KEEP + "\n }")) == {}


# What tells steps -----------------------------------------------------------------------

LOOP = """
stack work  @malloc < ::at::_ops::mul::call() < tool.py:5 work < tool.py:9 <module>
stack keep  @malloc < ::at::_ops::clone::call() < tool.py:6 work < tool.py:9 <module>
stack free  @release < tool.py:7 work < tool.py:9 <module>
repeat 8 {
  %s
  alloc a$i 8MiB work
  alloc kept$i 4MiB keep
  free a$i free
  %s
}
"""


def test_without_phases_or_marks_nothing_is_more_than_a_suspect():
    assert growth(scripts.make("include torch.stacks\n" + LOOP % ("", ""))) == {"tool.py:6": ("suspect", 4 * MIB, 1)}
    marked = LOOP % ("mark step#$i start", "mark step#$i end")
    assert growth(scripts.make("include torch.stacks\n" + marked)) == {"tool.py:6": ("leak", 4 * MIB, 1)}


def test_what_is_let_go_in_the_end_is_no_suspect():
    """Outputs that are gathered in a list and given back with it."""
    path = scripts.make("include torch.stacks\n" + LOOP % ("", "") + "repeat 8 {\n free kept$i free\n}")
    assert growth(path) == {}


@pytest.mark.parametrize("freed", (True, False))
def test_what_older_steps_made_tells_of_few_steps(freed):
    """The last two values are kept; of the steps in sight none is freed, but those before them are."""
    older = "alloc old0 64MiB kept\nalloc old1 64MiB kept\nwindow late\n"
    first = "alloc swap$i 64MiB kept" + ("\n free old$i in_main" if freed else "")
    body = "mark step#$i start\n%s\nmark step#$i end" % STEP.format(first=first, last="")
    path = scripts.make("%s%srepeat 2 {\n%s\n}\n" % (HEAD, older, body))
    assert growth(path) == ({} if freed else {"run.py:25": ("suspect", 64 * MIB, 1)})


# One backward ----------------------------------------------------------------------------

BACKWARD = HEAD + """
alloc hidden 48MiB hidden
alloc loss 4 loss
repeat 6 {
  mark step#$i start
  %s
  alloc g$i 30MiB grad
  mark step#$i end
}
"""


def test_gradients_of_one_backward_are_no_growth():
    """Whatever says that layers are steps: the gradients of one backward are of one generation."""
    assert growth(scripts.make(BACKWARD % "")) == {}
    each = {c for c, *_ in growth(scripts.make(BACKWARD % "alloc h$i 48MiB hidden\n free h$i free_saved")).values()}
    assert each == {"leak"}


# The floor -------------------------------------------------------------------------------

def test_what_is_too_small_to_matter_is_named_and_no_more():
    path = program(6, first="alloc kept$i 4 kept")
    assert growth(path) == {"run.py:25": ("too_small", 4, 1)}
    text = " ".join(run("leaks", path, expect=0).out.split())
    assert "small 4 B a step at run.py:25 remember, 24 B over the recording: too small to matter" in text
    assert ask("leaks", path)["slope_total_bytes"] == 0
    report = run("report", "--json", path, expect=0).json()
    assert not [f for f in report["findings"] if f["id"] in ("leak", "suspect")]
    row = limit(path, "1", expect=0)
    assert (row["result"], row["value_bytes"], row["reason"]["id"]) == ("pass", 0, "no_leak")
    # One part in ten thousand of the peak, here 8.6 KiB, and at most 1 MiB, are what matters.
    floor = ask("leaks", path)["floor_bytes"]
    peak = run("report", "--json", path, expect=0).json()["devices"][0]["requested"]["peak_bytes"]
    assert floor == peak // 10000
    assert growth(program(6, first="alloc kept$i %d kept" % (floor // 6 + 512)))["run.py:25"][0] == "leak"
    huge = program(6, first="alloc kept$i 128KiB kept", more="alloc huge 14GiB hidden")
    assert ask("leaks", huge)["floor_bytes"] == MIB and growth(huge)["run.py:25"][0] == "too_small"


# Growth in all ---------------------------------------------------------------------------

def test_growth_in_all_is_that_of_leaks():
    wave = "alloc swap$i 64MiB+$i%3*32MiB logits\n if 0 < $i {\n free swap$($i-1) in_main\n }"
    path = program(7, first=KEEP + "\n" + wave)
    assert ask("leaks", path)["slope_total_bytes"] == 16 * MIB
    text = run("leaks", path, expect=0).out
    assert "growth   16.00 MiB a step in all" in text.replace("\u00a0", " ")
    none = run("leaks", program(7, first=wave), expect=0).out
    assert "a step in all" not in none and "leak     none" in none
    assert not [line for line in none.splitlines() if line.startswith("stable")]
    assert "1 stable site holds 64.00 MiB; --json has it" in none.replace("\u00a0", " ")


# A graph that is kept --------------------------------------------------------------------

def test_a_scalar_is_told_from_what_stands_at_its_line():
    """The loss and its log-softmax are of one line; the loss is what keeps the graph."""
    line = "alloc big$i 64MiB loss\n alloc one$i 4 loss\n alloc act$i 32MiB logits\n %s"
    kept = ask("leaks", program(6, first=line % ""))
    kinds = {(s["site"]["culprit"].split(" ")[0], s["boundary_bytes"][-1]): s["kind"] for s in kept["sites"] if s["kind"]}
    assert kinds == {("run.py:22", 6 * 64 * MIB): "graph_kept", ("run.py:22", 24): "graph_kept",
                     ("model.py:19", 6 * 32 * MIB): "graph_kept"}
    # Without the scalar it is results that are kept.
    outputs = ask("leaks", program(6, first=line % "free one$i in_main"))
    assert {s["kind"] for s in outputs["sites"] if s["kind"]} == {"outputs"}


# Validation between steps ----------------------------------------------------------------

VALIDATED = HEAD + """
stack batch   @malloc < ::at::_ops::to_dtype_layout::call() < data.py:22 next_batch < run.py:20 train < @main
stack check   @malloc < ::at::_ops::addmm::call() < model.py:18 forward < @call < run.py:52 validate < @main
stack score   @malloc < ::at::_ops::clone::call() < run.py:53 validate < @main
stack checked @release < run.py:54 validate < @main
repeat 6 {
  alloc batch$i 2MiB batch
%s
  free batch$i in_main
  if $i < %d {
    alloc test$i 2MiB batch
    alloc check$i 48MiB check
    alloc score$i 16MiB score
    free check$i checked
    free test$i checked
  }
}
"""


@pytest.mark.parametrize("validated", (6, 5))
def test_the_end_of_a_step_is_no_point_where_a_validation_follows(validated):
    """What each validation keeps; the last step has one of its own, or the recording ends before it."""
    body = STEP.format(first="", last="")
    path = scripts.make(VALIDATED % (body, validated))
    site, = [s for s in ask("leaks", path)["sites"] if s["class"] == "leak"]
    assert site["site"]["culprit"] == "run.py:53 validate" and site["slope_bytes"] == 16 * MIB
    rises = [b - a for a, b in zip(site["boundary_bytes"][1:], site["boundary_bytes"][2:])]
    assert set(rises) == {16 * MIB}


# Programs without modules ----------------------------------------------------------------

BARE = HEAD.replace(" < @call", "").replace(" forward < ", " layer < ")


@pytest.mark.parametrize("head", (HEAD, BARE), ids=("modules", "none"))
def test_each_backward_makes_a_generation_with_and_without_modules(head):
    """Gradients kept in a list are a leak, whether or not a module's call shows the forwards."""
    layers = "repeat 20 as k {\n alloc layer$i-$k 1MiB hidden\n free layer$i-$k free_saved\n}"
    body = "mark step#$i start\n%s\nmark step#$i end" % STEP.format(first=layers, last="")
    kept = body.replace("free loss", "alloc again$i 16MiB grad\n  free loss")
    lists = scripts.make("%s\nrepeat 6 {\n%s\n}\n" % (head, kept))
    assert [s["class"] for s in sites(lists, "autograd:AccumulateGrad")] == ["leak"]
    none = scripts.make("%s\nrepeat 6 {\n%s\n}\n" % (head, body))
    assert [s for s in ask("leaks", none)["sites"] if s["kind"]] == []


# Sentences -------------------------------------------------------------------------------

def text_of(path):
    return " ".join(run("leaks", path, expect=0).out.split())


def test_none_is_said_only_where_steps_can_be_compared(shared):
    """Two steps, and the recording ends within the third, so there are no three like points."""
    assert "leak none: in 4 steps no site leaves memory behind in each" in text_of(program(4))
    unlike = shared / "data" / "snapshots" / "llama_offload_two_streams.pickle"
    assert "leak not known: 2 passes, and the recording ends at another point of a pass" in text_of(unlike)


@pytest.mark.parametrize("every, name", ((2, "2nd"), (3, "3rd"), (11, "11th"), (21, "21st"), (22, "22nd")))
def test_steps_are_numbered_in_english(every, name):
    grown = "if $i%%%d == %d {\n alloc kept$i 32MiB kept\n}" % (every, every - 1)
    assert "32.00 MiB in every %s step" % name in text_of(program(4 * every, last=grown))
