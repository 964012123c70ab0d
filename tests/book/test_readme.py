"""The README says what the records say."""

from __future__ import annotations

import pytest
from tests.support import grids

from actlab import paths
from actlab.book import readme
from actlab.errors import BadInput


@pytest.fixture
def real_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """This test reads the committed records."""
    monkeypatch.delenv("ACTLAB_RESULTS")


@pytest.mark.usefixtures("real_records")
def test_headline_is_not_stale() -> None:
    """The block between the markers is the one that today's records give (`python -m actlab.book.readme` writes it)."""
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    assert text == readme.replaced(text, readme.headline(readme.lite()))


def test_headline_holds_the_grids_numbers() -> None:
    """Other records, another headline."""
    first, second = readme.headline(grids.grid(0)), readme.headline(grids.grid(1))
    assert "5 of 6 arms" in first
    assert first != second


def test_markers_are_required() -> None:
    """A README without its markers is refused rather than appended to."""
    with pytest.raises(BadInput, match="must hold"):
        readme.replaced("# Title", "block")
