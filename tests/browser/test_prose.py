"""What a reader meets on every page: sentences with few numbers, a figure near the top, tables that fit."""

import re

import pytest

pytestmark = pytest.mark.browser
MOST = 3
"""Numbers in a sentence; an estimate with its interval is one, and so is a date."""
ONE = re.compile(
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d UTC)?(?: \([0-9a-f]{7}\))?"  # a date with its commit
    r"|[+\-−]?\d[\d,.]*(?:e[+-]?\d+)?%? ?\[[^\]]*\]"  # an estimate with its interval
    r"|[+\-−]?\d[\d,.]*(?:e[+-]?\d+)?%?"
)
LEVELS = re.compile(r"\b(?:95|5)%")
NAMES = re.compile(r"\b[A-Za-z_][\w/.:\-]*\d[\w.\-]*|\b(?=\d*[a-f])[0-9a-f]{7}\b|\bn = \d+")
"""Digits that are no number of a finding: in names, and the number of runs that stands beside an estimate."""
SENTENCES = """() => [...document.querySelectorAll('article :is(p, li, figcaption)')]
    .filter(e => !e.closest('table, pre, .actlab-explorer, footer, nav, .citation, .prev-next-area, .claim'))
    .filter(e => !e.querySelector('p, li'))
    .map(e => { const copy = e.cloneNode(true); copy.querySelectorAll('code, math, .math').forEach(x => x.remove());
                return copy.textContent; })"""
WIDE = """() => [...document.querySelectorAll('article table')].filter(t => !t.closest('details:not([open])'))
    .filter(t => t.scrollWidth > t.closest('.cell_output, .pst-scrollable-table-container, section').clientWidth + 1)
    .map(t => t.innerText.slice(0, 80))"""
FIGURE = "article :is(figure, .actlab-explorer)"


def numbers(sentence):
    """The numbers of a sentence as a reader counts them."""
    return ONE.findall(NAMES.sub("", LEVELS.sub("", sentence)))


def told(page):
    """The sentences of a page outside its tables."""
    return [s for text in page.evaluate(SENTENCES) for s in re.split(r"(?<=[.;:?!])\s+(?=\S)", text)]


def test_sentences_have_few_numbers(visit, site):
    """What needs more belongs into a table or a figure."""
    found = [f"{name}: {s}" for name in site.pages for s in told(visit.open(name)) if len(numbers(s)) > MOST]
    assert not found, "\n".join(found)


def test_the_first_figure_is_near_the_top_and_tables_fit(visit, site):
    """At 1280 px: a study's first figure begins within 1,200 px, and no open table is wider than its column. The page
    that is all code to be copied shows its figure where the code has come to it."""
    visit.page.set_viewport_size({"width": 1280, "height": 900})
    wrong = {}
    for name in site.pages:
        page = visit.open(name)
        wide = page.evaluate(WIDE)
        study = name.startswith("studies/") and name != "studies/takehome" and site.name == "built"
        figure = page.locator(FIGURE).first.bounding_box() if study else None  # waits: a script draws the explorer's
        if wide or (study and (figure is None or figure["y"] > 1200)):
            wrong[name] = (figure, wide)
    assert wrong == {}
