"""The front page and the README: typed, the same, and held to the records."""

import ast

import pytest
from prose import statements

from actlab import paths
from actlab.book.paper import script
from actlab.figures.style import svg

FRONT = paths.ROOT / "book" / "front.py"
PAGES = ("README.md", "book/intro.md")


def text(page):
    return " ".join((paths.ROOT / page).read_text(encoding="utf-8").split())


def test_every_statement_that_is_checked_stands_on_both_pages():
    """As typed; `check` holds the facts when the book is built."""
    said = [node.value for node in statements(ast.parse(FRONT.read_text(encoding="utf-8")))]
    assert len(said) > 12
    assert [(page, one) for page in PAGES for one in said if one not in text(page)] == []


def test_both_pages_open_with_few_words():
    """At most 120 before the first picture, on either page the same."""
    heads = [text(page).partition("![")[0] for page in PAGES]
    start = "**Train a small network"
    first, second = (head[head.index(start) :] for head in heads)
    assert first == second
    assert len(first.split()) <= 120


@pytest.mark.slow
def test_the_records_hold_the_front_page(committed):
    """Its prose, and its figures: `python book/front.py` draws them."""
    front = script("book/front.py")
    front["check"]()
    for name, figure in front["figures"]().items():
        assert (paths.ROOT / front["PICTURE"].format(name)).read_text(encoding="utf-8") == svg(figure).decode() + "\n"
