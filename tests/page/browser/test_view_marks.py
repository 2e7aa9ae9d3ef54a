"""Marks on the page of `vramscope view`: A is the earlier of two, wherever they are named."""
from pages import EXAMPLES, plain


def test_marks_name_the_earlier_moment_a(pages):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&at=2464")
    page.ready()
    page.press("m")
    page.press("[")
    page.press("m")
    page.press("7")
    page.says("#view", "leave the marks A and B")
    a, b = (int(n) for n in page.state()["marks"].split(","))
    assert a < b == 2464 and page.state()["range"] == "%d-%d" % (a, b)
    page.says("#range", "at A")
    net = plain(page.text("#range tfoot tr"))
    note = plain(page.text("#view > :not([hidden]) .note"))
    assert note.split(": ")[-1].strip() in net, (note, net)
    assert page.ask("[...document.querySelectorAll('#view > :not([hidden]) .bar select')].slice(0, 4).every((one) => one.disabled)")
    page.press_on("#view > :not([hidden]) .bar button")
    page.says("#view", "marks A and B")
    assert page.ask("[...document.querySelectorAll('#view > :not([hidden]) .bar select')].slice(0, 4).every((one) => !one.disabled)")


def test_marks_set_while_moments_are_compared_are_compared(pages):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&at=2464")
    page.ready()
    page.press("7")
    page.says("#view", "marks A and B")
    page.press("m")
    page.press("[")
    page.press("m")
    page.says("#view", "leave the marks A and B")
