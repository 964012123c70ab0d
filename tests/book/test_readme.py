"""The README and the front page say what the records say."""

import pytest

from actlab import paths
from actlab.book import readme
from actlab.chapters import intro
from actlab.errors import BadInput


def test_headlines_are_not_stale(committed):
    """The block between the markers is the one that today's records give (`python -m actlab.book.readme` writes it)."""
    front = intro.read()
    for name, places in readme.PAGES.items():
        text = (paths.ROOT / name).read_text(encoding="utf-8")
        assert text == readme.replaced(text, readme.headline(front, *places)), name


def test_markers_are_required():
    """A page without its markers is refused rather than appended to."""
    with pytest.raises(BadInput, match="must hold"):
        readme.replaced("# Title", "block")
