"""Titles and captions of the case studies are fixed text: each test fails when the committed records say otherwise."""

from __future__ import annotations

import pytest

from actlab.book.pages import load_pages
from actlab.chapters import ablation, report
from actlab.claims import ledger
from actlab.claims.evidence import gather
from actlab.records import ablation as ablation_records
from actlab.records import store
from actlab.records.estimates import ALPHA, adjusted


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


def test_ablation() -> None:
    """On average bQ+bV raises the loss, at neither rate does it lower one significantly; the rate matters more."""
    assert title("ablation").startswith("In a GPT of 170 thousand parameters, breaking attention's symmetry does not")
    published, tuned = ablation_records.read(store.load_study("ablation-novels")), ablation.tuned()
    assert round(published.trials["n_parameters"].max(), -4) == 170_000
    assert ablation_records.symmetry(tuned).low > 0
    for f in (published, tuned):
        assert all(e.value > 0 or p > ALPHA for e, p in adjusted(ablation_records.effects(f)).values())
    rates = ablation_records.rates(store.load_study(ablation.TUNING))["adamw"]
    assert rates[1.0].value - min(e.value for e in rates.values()) > 10 * ablation_records.symmetry(tuned).value
