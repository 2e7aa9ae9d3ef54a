"""What the search box of `vramscope view` says: of events, of pools, of what is wrong."""
from pages import EXAMPLES

BOX = "document.getElementById('query')"


def typed(page, text):
    page.ask(BOX + ".value = ''; " + BOX + ".focus()")
    page.type(text)
    page.press("Enter")


def test_an_event_ends_the_search_before(pages):
    page = pages(EXAMPLES / "oom.pickle")
    typed(page, "model.py:22")
    page.says("#found", "allocations")
    typed(page, "#100")
    page.wait("document.getElementById('status-text').textContent.startsWith('event 100 ')")
    page.wait("document.getElementById('found').textContent === ''")
    assert page.ask(BOX + ".value") == "#100" and "q" not in page.state()
    typed(page, "model.py:22")
    page.says("#found", "allocations")
    typed(page, "#999999")
    page.says("#found", "There is no event 999999: the last one is event 3160.")
    assert page.state()["at"] == "101" and page.ask(BOX + ".getAttribute('aria-invalid')") == "true"
    typed(page, "#3160")
    page.wait("document.getElementById('status-text').textContent.replace('\\u202f', '').startsWith('event 3160 ')")
    assert page.text("#found") == "" and page.ask(BOX + ".getAttribute('aria-invalid')") == "false"
    page.sound()


def test_pools_are_found_by_what_they_are_called(pages):
    page = pages(EXAMPLES / "oom.pickle")
    for text, found in (("pool:1", "0 allocations"), ("pool:default", "1180 allocations"), ("pool:0", "1180 allocations"),
                        ("pool:graph", "0 allocations"), ("line=", "At character 1: line: nothing after the equals sign.")):
        typed(page, text)
        page.says("#found", found)


def test_of_a_search_that_cannot_be_read_nothing_is_told_apart(pages):
    page = pages(EXAMPLES / "oom.pickle")
    typed(page, "model.py:22")
    page.wait("!document.querySelector('#who .matches').hidden")
    typed(page, "size>foo")
    page.says("#found", "At character 1")
    page.wait("document.querySelector('#who .matches').hidden")
