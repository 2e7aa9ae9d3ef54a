"""What is written on the page of `vramscope view` has its room: what tells one from another is not what is cut."""
import pytest

from pages import EXAMPLES, plain
from recordings import scripts
from test_view_first import IN_SIGHT

VIEW = "document.querySelector('#view > :not([hidden])')"
# The texts of elements, and whether all of each is seen.
TEXTS = "[...document.querySelectorAll(%s)].map((one) => [one.textContent, one.scrollWidth <= one.clientWidth + 1 && one.scrollHeight <= one.clientHeight + 1])"


def test_devices_of_one_file_are_told_apart_in_all(pages, shared):
    page = pages(shared / "data/snapshots/three_gpu_expandable_oom.pickle", EXAMPLES / "oom.pickle")
    page.says("#view", "what happened")
    got = page.ask(TEXTS % '"#view .units td.name button"')
    assert len(got) == 4 and all(whole for _, whole in got), got
    assert {name[-6:] for name, _ in got} == {"cuda:0", "cuda:1", "cuda:2"}
    title = page.ask("document.querySelector('#view .units td.name button').title")
    assert title == "three_gpu_expandable_oom.pickle cuda:1"


def test_the_only_device_is_named_whole_and_so_is_each_check(pages, shared):
    page = pages(shared / "data/snapshots/llama_kv_quant_state_only.pickle")
    page.ready()
    assert page.ask(TEXTS % '"#devices button"') == [["cuda:0 15.26 GiB at the end", True]]
    page.ask("document.querySelector('#trust button').click()")
    assert page.text("#dialog td code") == "one_event"
    assert page.ask("document.querySelector('#dialog td code').getClientRects().length") == 1


def test_what_has_one_moment_alone_is_not_sent_to_another(pages):
    page = pages(scripts.make("state_only"), fragment="#v=1&view=diff")
    page.says("#view", "A and B are one moment")
    assert "vramscope view A B" in page.text("#view") and "overview" not in page.text("#view")


def test_bars_that_are_larger_than_their_scale_are_low_and_said_to_be(pages, shared):
    page = pages(shared / "data/snapshots/three_gpu_expandable_oom.pickle", fragment="#v=1&view=state&dev=1")
    page.says("#view", "Low bars are longer than their scale.")
    box = VIEW + ".querySelector('.scroll')"
    assert page.ask("%s.scrollWidth <= %s.clientWidth" % (box, box))
    painted = dict(page.ask("""[...document.querySelectorAll('canvas.segment')].map((one) => [
      one.closest('tr').cells[1].textContent, one.getContext('2d').getImageData(10, 1, 1, 1).data[3] > 0])"""))
    assert painted["25.61 GiB"] and painted["5.59 GiB"] and not painted["2.00 MiB"] and not painted["1.64 GiB"]
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&view=state")
    page.says("#view", "38 segments")
    assert page.ask("%s.scrollWidth <= %s.clientWidth" % (box, box))


def test_rows_of_one_line_are_told_apart_in_leaks(pages):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=leaks")
    page.says("#view", "What stays from step to step")
    got = page.ask("""[...document.querySelectorAll('#view .padded:not(.tall) td.name')].map((one) => [one.textContent,
      one.querySelector('.parted').lastChild.getBoundingClientRect().right <= one.getBoundingClientRect().right])""")
    assert all(whole for _, whole in got) and len({name for name, _ in got}) == len(got) == 7
    assert ["train.py:18 train_step (adam.py:176)", True] in got
    heads = page.ask("[...document.querySelectorAll('#view .tall th')].map((one) => one.textContent)")
    assert heads[2] == "oldest from" and heads[3].startswith("alive at end")


def test_names_of_a_difference_have_two_lines_on_a_phone(pages):
    page = pages(EXAMPLES / "train.pickle", size=(390, 844), fragment="#v=1&view=diff")
    page.says("#view", "What differs")
    got = page.ask(TEXTS % '"#view td.name .lines"')
    assert all(whole for name, whole in got if name.startswith("model.py")) and got[0][0] == "model.py:22 forward"
    heights = page.ask("[...document.querySelectorAll('#view tr[data-row]')].map((one) => one.getBoundingClientRect().height)")
    assert set(heights) == {38}


@pytest.mark.parametrize("fragment", ["x=e1100-1700", "x=e800-2200", "x=e400-1200", "x=e0-3241"])
def test_names_of_bands_keep_their_line(pages, fragment):
    """Whatever is drawn of a name ends it, or has all of its line."""
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&" + fragment, before=lambda page: page.send(
        "Page.addScriptToEvaluateOnNewDocument", source="""self.drawn = new Set();
          const fill = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            self.drawn.add(text);
            return fill.call(this, text, ...rest);
          };"""))
    page.settled()
    names = [text for text in page.ask("[...self.drawn]") if ".p" in text or text.startswith("model")]
    assert all(":" in name and not name.endswith(":\u2026") for name in names), names
    assert "x=e1100" not in fragment or {"model.py:22 forward", "model.py:23"} <= set(names), names


def test_what_has_the_focus_in_who_lies_between_its_head_and_its_sum(pages):
    page = pages(EXAMPLES / "oom.pickle", size=(1280, 720))
    page.settled()
    page.ask("document.querySelector('#who td.name button').focus()")
    hidden = """(() => { const b = document.activeElement.getBoundingClientRect();
      const [head, foot] = ['thead th', 'tfoot td'].map((one) => document.querySelector('#who .groups ' + one).getBoundingClientRect());
      return document.activeElement.closest('#who tbody') && (b.bottom > foot.top + 1 || b.top < head.bottom - 1); })()"""
    for modifiers in (0, 8):
        for _ in range(24):
            page.press("Tab", modifiers)
            page.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert not page.ask(hidden)


@pytest.mark.parametrize("name, height", [("oom", 800), ("fragmentation", 800), ("fragmentation", 720)])
def test_after_a_peel_its_buttons_are_in_sight_and_so_are_rows(pages, name, height):
    page = pages(EXAMPLES / (name + ".pickle"), size=(1280, height))
    page.settled()
    page.ask("document.querySelector('#who [data-peel]').click()")
    page.wait("document.querySelector('.peel:not([hidden])') !== null")
    box = page.ask("(() => { const b = document.querySelector('.peel').getBoundingClientRect(); return [b.top, b.bottom]; })()")
    for top, bottom in page.ask("[...document.querySelectorAll('.peel button')].map((b) => b.getBoundingClientRect()).map((b) => [b.top, b.bottom])"):
        assert box[0] <= top and bottom <= box[1]
    foot = page.ask("document.querySelector('#who tfoot').getBoundingClientRect().top")
    seen = page.ask("[...document.querySelectorAll('#who tr[data-row]')].filter((r) => r.getBoundingClientRect().bottom <= %f).length" % (foot + 1))
    assert seen >= 4, seen
    assert page.ask(IN_SIGHT % '"#card h2"')


def test_other_findings_are_others_and_what_fixes_save_together_is_said(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    more = "[...document.querySelectorAll('#card > .link')][0]"
    assert page.ask(more + ".textContent") == "3 more findings"
    page.ask(more + ".click()")
    assert page.ask("document.querySelectorAll('#verdicts .finding').length") == 4
    assert plain(page.text("#card .together")) == ("Together: the peak would be 5.35 GiB at event 1889, 16.85 GiB less; "
                                                   "the savings of two rules may overlap.")
    assert "1\u202f889" in page.text("#card .together") and "3\u202f160" in page.text("#card .detail")
    page = pages(EXAMPLES / "leak.pickle")
    page.settled()
    page.ask(more + ".click()")
    assert "leak" not in page.ask("[...document.querySelectorAll('#verdicts .tag')].map((t) => t.textContent.slice(2))")


def test_a_setting_ends_where_it_is_copied_and_a_capacity_is_an_example(pages):
    page = pages(EXAMPLES / "fragmentation.pickle")
    page.settled()
    assert "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment" in page.text("#verdicts .do")
    assert page.ask("document.querySelector('#verdicts .do wbr') !== null")
    assert page.ask("document.querySelector('.tools input').placeholder") == "e.g. 80GiB"
