"""Every page of a book opens cleanly: no error, nothing from outside, readable on a phone and without eyes."""

import re

import pytest

from actlab import paths

pytestmark = pytest.mark.browser
SCREENSHOTS = paths.ROOT / ".cache" / "screenshots"
"""What each page looked like in the last run: SCHEME-WIDTH/PAGE.png; ignored by git, kept by continuous
integration."""
AXE = paths.ROOT / ".cache" / "axe" / "package" / "axe.min.js"
SERIOUS = """() => axe.run(document, {resultTypes: ['violations']})
    .then(found => found.violations.filter(v => ['serious', 'critical'].includes(v.impact)))"""
OF_THE_THEME = {"label-content-name-mismatch", "region"}
"""Rules that sphinx-book-theme itself breaks, on its search button, and sphinx-togglebutton on what shows a cell's
source."""


WIDE = """() => [...document.querySelectorAll('article table')].filter(t => !t.closest('details:not([open])'))
    .filter(t => t.scrollWidth > t.closest('.cell_output, .pst-scrollable-table-container, section').clientWidth + 1)
    .map(t => t.innerText.slice(0, 80))"""
FIGURE = "article :is(figure, .chart)"


def shortcomings(page, first=False):
    """What a reader would miss: pictures without words, a page that moves sideways; of a wide page also open tables
    that are wider than their column and, where asked for, a first figure that does not begin within 1,200 px."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found = [f"{wide} px too wide"] if wide > 0 else []
    for image in page.locator("article img").all():
        alt = image.get_attribute("alt") or ""
        if not alt.strip() or re.search(r"\.(png|svg|jpg)$", alt):
            found.append(f"no alt text: {image.get_attribute('src')}")
    if page.viewport_size["width"] > 1000:
        found += page.evaluate(WIDE)
    if first and page.locator(FIGURE).first.bounding_box()["y"] > 1200:  # waits: a script draws a chart
        found.append("the first figure is far down")
    return found


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_opens_cleanly(visit, site, scheme, width):
    """No console error, no failed request, no request outside the site, and no shortcoming; axe-core finds nothing
    serious or critical but what the theme breaks on each page. The page that is all code to be copied shows its figure
    where the code has come to it."""
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_viewport_size({"width": width, "height": 900})
    assert len(site.pages) >= 3
    wrong = {}
    for name in site.pages:
        study = name.startswith("studies/") and name != "studies/takehome.html"
        page = visit.open(name)
        found = shortcomings(page, study and width == 1280)
        picture = SCREENSHOTS / f"{scheme}-{width}" / name.replace(".html", ".png")
        page.screenshot(path=picture, full_page=True)
        if AXE.exists():
            page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")  # colours fade in
            page.evaluate(AXE.read_text(encoding="utf-8"))
            rules = [rule for rule in page.evaluate(SERIOUS) if rule["id"] not in OF_THE_THEME]
            found += [(rule["id"], node["html"][:200]) for rule in rules for node in rule["nodes"][:3]]
        if found or visit.faults:
            wrong[name] = found + visit.faults
        visit.faults.clear()
    assert wrong == {}
    if not AXE.exists():
        pytest.skip("axe-core is not there: make axe (it needs npm)")


def test_search_finds_swiglu(visit):
    page = visit.open("search.html?q=SwiGLU")
    page.locator("#search-results li").first.wait_for()
    assert visit.faults == []


def test_the_charts_are_drawn_without_a_network(visit):
    """Each chart of the explorer is in the page within ten seconds of an open page, and its menu draws another one."""
    page = visit.open("studies/explore.html")
    charts = page.locator(".chart")
    for i in range(charts.count()):
        charts.nth(i).locator("svg").wait_for()
    assert charts.count() == 5
    first = charts.first
    before = first.locator("svg").evaluate("node => node.outerHTML")
    first.locator("select").first.select_option(index=1)
    page.wait_for_function("old => document.querySelector('.chart svg').outerHTML != old", arg=before)
    assert visit.faults == []
