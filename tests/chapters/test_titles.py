"""Titles and captions of the case studies are fixed text: each test fails when the committed records say otherwise."""

from __future__ import annotations

import pytest

from actlab.book.pages import load_pages
from actlab.chapters import report
from actlab.claims import ledger
from actlab.claims.evidence import gather
from actlab.records import store


@pytest.fixture(autouse=True)
def committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACTLAB_RESULTS", raising=False)


def title(page: str) -> str:
    """Of a page below studies/."""
    return next(str(each.params["title"]) for each in load_pages() if each.name == f"studies/{page}")


def test_report() -> None:
    """Every loss moves further from relu's with size; of the full scale there is no record."""
    assert title("report") == "From 34 thousand to a million parameters the activation's effect on the loss grows"
    sizes = report.read(store.load_study("scale"))
    assert [f"{size:,}" for size in report.sizes(sizes).values()][::3] == ["33,728", "1,017,200"]
    assert all(e.low > 0 for e in report.growth(sizes).values())
    assert report.verdict(sizes) == "undecided"
    assert "none at full scale" in report.waiting(gather())


def test_claims() -> None:
    """The ledger's title is the sentence that the front page quotes; most decided outcomes are artefacts."""
    counts = ledger.outcomes(ledger.judge())
    assert title("claims") == ledger.replicated(counts)
    assert 2 * counts["artefact"] > sum(counts.values()) - counts["not yet tested"] - counts["not testable"]
