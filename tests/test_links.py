"""Links of the built book: its own lead to what is there; those that lead out of it are asked by `make links` alone."""

import pytest
from bench import links
from served import served


def page(folder, name, body):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(body, encoding="utf-8")


def test_what_leads_nowhere_is_named_with_its_page(tmp_path):
    """A file, and a place in a page, that are not there; templates are no pages."""
    page(tmp_path, "a.html", '<a href="b/c.html#there">1</a><a href="#own">2</a><i id="own"></i><a href="b/">3</a>')
    page(
        tmp_path,
        "b/c.html",
        '<i id="there"></i><a href="../a.html#gone">1</a><img src="no.svg"><a href="https://x.y/z#q">',
    )
    page(tmp_path, "b/index.html", '<a href="mailto:a@b">')
    page(tmp_path, "_static/macros.html", '<a href="{{ nowhere }}">')
    assert links.own_faults(tmp_path) == [
        "b/c.html: ../a.html#gone leads to no place in its page",
        "b/c.html: no.svg leads to no file",
    ]
    assert links.external(tmp_path) == {"https://x.y/z": ["b/c.html"]}


def test_an_address_answers_or_says_why_not(tmp_path):
    page(tmp_path, "a.html", "")
    with served(tmp_path) as address:
        assert links.answer(f"{address}/a.html") == ""
        assert links.answer(f"{address}/b.html") == "404 File not found"
    assert "refused" in links.answer(f"{address}/a.html")


@pytest.mark.slow
def test_every_own_link_of_the_built_book_leads_somewhere():
    if not (links.BOOK / "index.html").exists():
        pytest.skip("the book is not built: make book")
    assert links.own_faults(links.BOOK.resolve()) == []
