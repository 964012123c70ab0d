"""Links of the built book: its own lead to what is there; those that lead out of it are asked by `make links` alone."""

import pytest
from bench import links


@pytest.mark.slow
def test_every_own_link_of_the_built_book_leads_somewhere():
    if not (links.BOOK / "index.html").exists():
        pytest.skip("the book is not built: make book")
    assert links.own_faults(links.BOOK.resolve()) == []
