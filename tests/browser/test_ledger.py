"""The ledger's page: whole without scripts, filtered with them."""

import re
from html import unescape

import pandas as pd
import pytest
import yaml

from actlab_audit import ledger as claims

ROWS = yaml.safe_load("""
A1: {source: first, verdict: replicated, claim: loss < 1, page: studies/mnist}
A2: {source: first, verdict: artefact, claim: a Tukey test, defect: "padding: both", page: x}
B1: {source: second, verdict: replicated, claim: a Tukey count, kind: count}
""")
PLAIN = dict.fromkeys(["document", "section", "reported", "ours", "basis", "rule", "changed", "twins", "page"], "x")
JUDGED = pd.DataFrame.from_dict(
    {id: PLAIN | {"kind": "outcome", "defect": ""} | row for id, row in ROWS.items()}, "index"
)


def test_every_row_is_there_and_escaped():
    """One row a claim with its id as anchor, outcomes first and by verdict; text is text; the place leads to the
    audited works, the page to its evidence."""
    page = claims.rows(JUDGED[::-1]).data
    assert re.findall(r'<dl id="(\w+)"', page) == list(ROWS)
    assert page.index('class="others"') < page.index('id="B1"')
    assert "loss < 1" in unescape(page)
    assert "loss < 1" not in page
    assert page.count('the same statement: <a href="#x">x</a>') == len(ROWS)
    assert 'x (<a href="methods.html#the-audited-works">x</a>, x)' in page
    assert '<a href="mnist.html">evidence: ' in page
    assert "x; obtained with: convolutions padded on both sides (" in page
    bar = claims.bar(JUDGED).data
    assert 'aria-label="1 come out again, 1 do not come out again"' in bar
    assert "http" not in page + bar  # nothing comes from elsewhere


@pytest.mark.browser
def test_filters(browser, tmp_path):
    """Menus and words leave the rows that fit, say how many, and can be taken back; the address chooses too, and opens
    a row; all from the keyboard."""
    file = tmp_path / "page.html"
    body = claims.bar(JUDGED).data + claims.rows(JUDGED).data
    file.write_text(f"<!doctype html><title>t</title>{body}", encoding="utf-8")
    page, faults = browser.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{file.as_uri()}?verdict=artefact")
    status, rows = page.get_by_role("status"), page.locator("details[data-verdict]:visible")
    assert status.inner_text() == "1 of 3 claims"
    page.get_by_label("Verdict").select_option("")
    assert rows.count() == 2, "settings and counts are folded"
    page.get_by_label("Words").focus()
    page.keyboard.type("TUKEY x")
    assert rows.count() == 2, "the fold opens for what is looked for"
    page.get_by_label("Source").select_option("second")
    assert status.inner_text() == "1 of 3 claims"
    page.get_by_role("button", name="Show all").press("Enter")
    page.get_by_text("3 of 3 claims").wait_for()
    page.goto(f"{file.as_uri()}#B1")
    assert page.get_by_text("Published").last.is_visible()
    assert faults == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
    page.close()
