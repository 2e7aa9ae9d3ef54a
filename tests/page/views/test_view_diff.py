"""What Diff compares before a person chooses."""
import pytest

from conftest import run
from pages import EXAMPLES, plain

BAR = "#view > :not([hidden]) p.bar"
CHOSEN = ("[...document.querySelectorAll('#view > :not([hidden]) .bar select')].slice(0, 4)"
          ".map((one) => one.selectedOptions[0].textContent)")


@pytest.mark.parametrize("name, words", [
    ("oom", "From the start of step 3 (A) to the peak (B)."),
    ("train", "From the start of step 2 (A) to the peak (B)."),
    ("fragmentation", "From the start of step 12 (A) to the peak (B)."),
])
def test_one_file_begins_with_what_led_to_its_peak(pages, name, words):
    page = pages(EXAMPLES / (name + ".pickle"), fragment="#v=1&view=diff")
    page.says(BAR, words)
    assert "Nothing differs" not in page.text(BAR)
    page.wait("document.querySelectorAll('#view > :not([hidden]) tr[data-row] .grew').length > 3")
    assert page.ask(CHOSEN)[1::2] == ["before its peak", "its peak"]
    page.sound()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    for rank, name in enumerate(("train", "leak", "oom", "oom")):
        (folder / ("rank%d.pickle" % rank)).write_bytes((EXAMPLES / (name + ".pickle")).read_bytes())
    run("view", folder, "-o", folder / "ranks.html", expect=0)
    return folder / "ranks.html"


@pytest.mark.parametrize("opened, sides", [(2, "rank2 rank1"), (0, "rank0 rank2"), (1, "rank1 rank2")])
def test_of_several_files_the_open_one_stands_beside_one_that_differs(browser, ranks, opened, sides):
    page = browser.open(ranks.as_uri() + "#v=1&view=diff&file=%d" % opened)
    a, b = sides.split()
    page.wait("(document.querySelector(%r)?.textContent ?? '').includes(%r)" % (
        BAR, "%s.pickle cuda:0 at the peak (A) beside %s.pickle cuda:0 at the peak (B)." % (a, b)))
    assert [plain(one) for one in page.ask(CHOSEN)[::2]] == ["%s.pickle cuda:0" % one for one in (a, b)]
    assert "Nothing differs" not in page.text(BAR)
    page.close()


def test_marks_are_what_the_bar_and_the_sentence_say(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&view=diff&marks=100,1890")
    page.says(BAR, "From mark A in step 1 to mark B in step 2.")
    assert page.ask(CHOSEN)[1::2] == ["mark A", "mark B"]
    page.press("M")
    page.says(BAR, "From the start of step 3 (A) to the peak (B).")
    assert page.ask(CHOSEN)[1::2] == ["before its peak", "its peak"]
    page.sound()
