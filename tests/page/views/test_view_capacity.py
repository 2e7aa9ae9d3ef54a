"""The box for the capacity: what is no size is said so, and nothing else moves."""
from pages import EXAMPLES

BOXES = ("[...document.querySelectorAll('#tabs button, .tools select, .tools input')].map((one) => {"
         " const { left, right, top } = one.getBoundingClientRect(); return [left, right, top].join(); })")
TYPE = ("(() => { const box = document.querySelector('#view .tools input'); box.value = '%s';"
        " box.dispatchEvent(new Event('change')); })()")


def test_a_wrong_capacity_moves_nothing(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    before = page.ask(BOXES)
    page.ask(TYPE % "8GiBx")
    page.says("#view .tools label .capacity", "no size")
    page.says("#status-note", "no size: a number with GiB, MiB or TiB")
    assert page.ask(BOXES) == before
    assert page.ask("document.querySelector('#view .tools input').getAttribute('aria-invalid')") == "true"
    page.ask(TYPE % "8GiB")
    page.says("#view .tools label .capacity", "capacity")
    assert page.state()["cap"] == str(8 << 30) and page.ask(BOXES) == before
    page.sound()
