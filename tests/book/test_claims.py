"""The ledger's page: whole without scripts, filtered with them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from actlab.book import claims

CHROMIUM = Path("/usr/bin/chromium")
ROWS = {
    "A1": {"source": "first", "verdict": "replicated", "claim": "loss < 1", "defect": "", "page": "studies/mnist"},
    "A2": {
        "source": "first",
        "verdict": "artefact",
        "claim": "a Tukey test",
        "defect": "padding: both",
        "page": "elsewhere",
    },
    "B1": {"source": "second", "verdict": "replicated", "claim": "an order", "defect": "", "page": "studies/report"},
}
JUDGED = pd.DataFrame.from_dict(
    {
        id: dict.fromkeys(("section", "reported", "ours", "basis", "rule", "changed", "twins"), "x") | row
        for id, row in ROWS.items()
    },
    "index",
)


def test_every_row_is_there_and_escaped() -> None:
    """One row a claim with its id as anchor; text is text; links lead from studies/ to where the page is."""
    page = claims.table(JUDGED).data
    assert re.findall(r'<tr role="row" id="(\w+)"', page) == list(ROWS)
    assert "loss &lt; 1" in page
    assert page.count('the same claim: <a href="#x">x</a>') == len(ROWS)
    assert '<a href="mnist.html">MNIST</a>' in page
    assert '<a href="../elsewhere.html">elsewhere</a>' in page
    assert 'artefact</span> (<span title="padding: both">convolutions padded on both sides</span>)' in page


def test_nothing_comes_from_elsewhere() -> None:
    """The page asks no other site for anything."""
    assert "http" not in claims.table(JUDGED).data


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium")
def test_filters(tmp_path: Path) -> None:
    """Menus and words leave the rows that fit, say how many, and can be taken back; the address chooses too; all from
    the keyboard."""
    sync_api = pytest.importorskip("playwright.sync_api")
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><title>t</title>{claims.table(JUDGED).data}", encoding="utf-8")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{file.as_uri()}?verdict=artefact")
        status = page.get_by_role("status")
        assert status.inner_text() == "1 of 3 claims"
        page.get_by_label("Verdict").select_option("")
        page.get_by_label("Source").select_option("first")
        assert status.inner_text() == "2 of 3 claims"
        page.get_by_label("Words").focus()
        page.keyboard.type("TUKEY x")
        assert page.locator("tbody tr:visible").count() == 1
        page.get_by_role("button", name="Show all").press("Enter")
        assert status.inner_text() == "3 of 3 claims"
        assert faults == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.locator("#ledger").evaluate("e => e.scrollWidth <= e.clientWidth")
        assert page.locator(".ledger-scroll").evaluate("e => e.scrollWidth <= e.clientWidth")
        assert page.get_by_text("artefact", exact=True).last.bounding_box()["x"] < 390  # type: ignore[index]
        assert page.get_by_role("row").count() == len(ROWS)
        page.get_by_label("Verdict").select_option("artefact")
        assert page.locator("tbody tr:visible").count() == 1
        plain = browser.new_context(java_script_enabled=False).new_page()
        plain.goto(file.as_uri())
        assert plain.locator("tbody tr:visible").count() == len(ROWS)
        browser.close()
