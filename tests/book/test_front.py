"""The front page and the README: typed, the same, and held to the records."""

import pytest

from actlab import paths
from actlab.book.paper import findings, of_the_book
from actlab.errors import NotHeld
from actlab.figures.style import svg

PAGES = ("README.md", "book/intro.md")


def text(page):
    return " ".join((paths.ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.slow
def test_both_pages_show_the_numbers_of_the_records(committed):
    """`python book/findings.py` writes the table; each finding has one name, each interval its value inside."""
    found = findings()
    found.check()
    table = found.table()
    inside = table["value"].between(table["low"], table["high"])
    assert (inside | table["low"].isna()).all()


@pytest.mark.slow
def test_a_changed_number_of_a_page_is_told(committed, monkeypatch):
    """With the line as it stands and as the records have it."""
    found = findings()
    monkeypatch.setattr(found, "written", lambda page: text(page).replace("the", "a", 1))
    with pytest.raises(NotHeld, match=r"README.md says '# actlab', the records say"):
        found.check()


def test_both_pages_open_with_few_words():
    """At most 120 before the first picture, on either page the same."""
    heads = [text(page).partition("![")[0] for page in PAGES]
    start = "**Train a small network"
    first, second = (head[head.index(start) :] for head in heads)
    assert first == second
    assert len(first.split()) <= 120


@pytest.mark.slow
def test_the_pictures_are_those_of_the_records(committed):
    """`python book/pictures.py` draws them."""
    pictures = of_the_book("pictures")
    for name, figure in pictures.figures().items():
        assert (paths.ROOT / pictures.PICTURE.format(name)).read_text(encoding="utf-8") == svg(figure).decode() + "\n"
