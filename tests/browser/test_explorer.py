"""The explorer in the static book: its controls change picture, words and address, and its numbers are Python's own."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page
from tests.browser.conftest import Site, Visit
from tests.support.explored import grid_study

pytestmark = pytest.mark.browser


@pytest.fixture
def visit(browser: Browser, tiny: Site) -> Iterator[Visit]:
    """The explorer of made-up records."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    made = Visit(page, tiny.base)
    yield made
    assert made.faults == []
    page.close()


def opened(visit: Visit, query: str = "") -> Page:
    page = visit.open(f"studies/explore.html{query}")
    page.locator('.actlab-explorer[data-ready="true"]').wait_for()
    return page


def picture(page: Page) -> str:
    return page.locator(".actlab-explorer .main svg").evaluate("node => node.outerHTML")


def test_menus_change_picture_words_and_address(visit: Visit) -> None:
    page = opened(visit)
    before, words = picture(page), page.get_by_role("status").inner_text()
    page.get_by_role("combobox", name="metric").select_option("churn")
    assert picture(page) != before
    assert page.get_by_role("status").inner_text() != words
    assert page.url.endswith("?metric=churn")
    page.get_by_role("combobox", name="along the axis").select_option("scale")
    assert "along=scale" in page.url
    assert page.locator(".main .arm").count() == 3  # relu at two scales, swiglu at one


def test_boxes_choose_the_series(visit: Visit) -> None:
    page = opened(visit)
    marks = page.locator(".main .arm").count()
    page.get_by_role("checkbox", name="swiglu").uncheck()
    assert page.locator(".main .arm").count() == marks - 1
    assert "activation=relu" in page.url
    page.get_by_role("checkbox", name="relu").uncheck()
    assert page.locator(".main .arm").count() == 0
    assert "no arm is chosen" in page.get_by_role("status").inner_text()


def test_an_address_opens_the_view_that_it_was_made_from(visit: Visit) -> None:
    page = opened(visit)
    page.get_by_role("combobox", name="metric").select_option("val_loss")
    page.get_by_role("combobox", name="model").select_option("tinylstm")
    page.get_by_role("checkbox", name="swiglu").uncheck()
    address, before = page.url, picture(page)
    other = opened(visit, "?" + address.split("?")[1])
    assert picture(other) == before
    assert other.get_by_role("combobox", name="model").input_value() == "tinylstm"


def test_back_undoes(visit: Visit) -> None:
    """A change of the menus is one step of the browser's history."""
    page = opened(visit)
    before = picture(page)
    page.get_by_label("metric").select_option("churn")
    assert picture(page) != before
    page.go_back()
    assert "churn" not in page.url
    assert picture(page) == before


def test_an_address_that_no_longer_fits_opens_all_the_same(visit: Visit) -> None:
    """Links outlive records: what is unknown gets its default."""
    page = opened(visit, "?study=gone&metric=acuracy&model=none&activation=rleu")
    assert page.get_by_role("combobox", name="metric").input_value() == "total_variation"
    assert page.locator(".main .arm").count() > 0


def test_keyboard_alone_is_enough(visit: Visit) -> None:
    """The menus are reached with the tabulator, keep the focus, and follow the arrow keys; a space switches a box."""
    page = opened(visit)
    page.get_by_role("combobox", name="study").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("combobox", name="metric").input_value() == "relative_pd"
    assert page.evaluate("document.activeElement.name") == "metric"
    page.get_by_role("checkbox", name="relu").focus()
    page.keyboard.press("Space")
    assert "activation=swiglu" in page.url
    assert page.evaluate("document.activeElement.value") == "relu"


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"metric": "val_loss", "model": "tinylstm"},
        {"along": "scale", "activation": ["relu"]},
        {"metric": "churn", "scale": "quick"},
    ],
)
def test_csv_is_the_table_of_the_package(visit: Visit, wanted: dict[str, object]) -> None:
    """The page's selection and the package's are one: same rows, same order, same numbers to six digits, what is
    missing missing."""
    query = "&".join(f"{name}={value if isinstance(value, str) else ','.join(value)}" for name, value in wanted.items())  # type: ignore[arg-type]
    page = opened(visit, f"?{query}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download these numbers").click()
    found = pd.read_csv(StringIO(download.value.path().read_text()))
    study = grid_study()
    expected = study.table(study.choose(wanted))
    pd.testing.assert_frame_equal(
        found.drop(columns="singles"), expected.drop(columns="singles"), check_dtype=False, rtol=1e-5
    )
    singles = [[float(value) for value in str(cell).split()] for cell in found["singles"]]
    assert [len(one) for one in singles] == [len(cell.split()) for cell in expected["singles"]]


def test_table_says_what_the_picture_shows(visit: Visit) -> None:
    """A reader without eyes: the picture has a name, the table has a caption and a header for each column."""
    page = opened(visit)
    assert "total variation" in (page.locator(".main svg").get_attribute("aria-label") or "")
    page.get_by_text("The numbers as a table").click()
    table = page.locator(".numbers table")
    assert table.locator("tbody tr").count() == page.locator(".main .arm").count()
    assert table.locator("th[scope=col]").count() == 9
    assert "95% intervals" in table.locator("caption").inner_text()
