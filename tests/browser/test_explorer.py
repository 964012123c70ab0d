"""The explorer in the static book: its controls change picture, words and address, and its numbers are Python's own."""

import csv
import re
from html import unescape
from io import StringIO
from urllib.parse import parse_qsl

import grids
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visit
from tests.support.explored import COMMITTED, folders

from actlab import paths
from actlab.explorer import link
from actlab.explorer.widget import CODE
from actlab.records.labels import words

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def site(tiny):
    """The explorer of made-up and of committed records."""
    return tiny


@pytest.fixture
def visit(visit):
    """Nothing goes wrong on its page."""
    yield visit
    assert visit.faults == []


def opened(visit, study="repro-lite", **state):
    visit.page.goto("about:blank")  # another address after # alone would not load the page anew
    page = visit.open(f"studies/{link(study, **state)}")
    page.locator('.actlab-explorer[data-ready="true"]').wait_for()
    return page


def address(page):
    """What the page itself says: ``page.url`` follows its history a moment later."""
    return page.evaluate("location.href")


def picture(page):
    return page.locator(".actlab-explorer .main").evaluate("node => node.outerHTML")


def said(page):
    return page.get_by_role("status").inner_text()


def chosen(page, menu):
    return page.get_by_role("combobox", name=menu).input_value()


def numbers(page):
    """The downloaded table."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Download these numbers").click()
    return pd.read_csv(StringIO(download.value.path().read_text()))


def test_a_cell_that_a_spreadsheet_would_execute_is_inert(visit):
    """It begins with an apostrophe; a number stays one."""
    cells = ["=1+1", "+a", "-a", "@a", "\ta", "\ra", "-1e-8", "+5", 'say "a, b"', 0.5]
    with visit.page.expect_download() as download:
        visit.page.evaluate(f"cells => {{ {CODE}; download('x.csv', [cells]); }}", cells)
    [found] = csv.reader(StringIO(download.value.path().read_bytes().decode(), newline=""))
    assert found == [*("'" + cell for cell in cells[:6]), *map(str, cells[6:])]


@pytest.mark.parametrize(
    ("state", "key", "asked", "words"),
    [
        ("study=sources&view=loss&level=40&model=convlm", "ArrowLeft", "level=50", "at a loss of 2.397"),
        ("study=sources&view=drift", "Home", "step=0", "after 0 steps"),
        ("study=corner&view=bend&model=convlm", "Home", "bend=0", "ReLU 8."),
    ],
)
def test_a_slider_changes_picture_words_and_address(visit, state, key, asked, words):
    """The level of loss (what is read there, is compared with Python's below), which falls to the right, as along the
    picture's axis; steps after one bit; relu's corner."""
    page = opened(visit, **dict(parse_qsl(state)))
    before = picture(page)
    assert words not in said(page)
    page.get_by_role("slider").press(key)
    assert asked in address(page)
    assert words in said(page)
    assert picture(page) != before


def flat(found):
    """Every number in what Python printed."""
    return np.ravel(pd.DataFrame(found).select_dtypes("number"))


ESTIMATE = ["value", "low", "high"]
TESTED = [*ESTIMATE, "p (Holm)"]


@pytest.mark.parametrize(
    ("state", "columns"),
    [
        ("study=repro-lite&view=values&metric=val_loss&minus=none", ESTIMATE),
        ("study=sources&view=values&along=varies&model=convlm&metric=churn", TESTED),
        ("study=sources&view=values&metric=val_accuracy&varies=order&activation=swiglu", TESTED),
        ("study=sources&view=through&x=churn&model=convlm", ["at", "value"]),
        ("study=sources&view=through&metric=val_loss&x=iteration", ["value"]),
        ("study=sources&view=through&x=iteration", ["value"]),
        ("study=sources&view=loss&level=20&minus=gelu", ESTIMATE),
        ("study=sources&view=loss&minus=none", ["value"]),
        ("study=sources&view=loss&model=convlm&varies=init&metric=churn", TESTED),
        ("study=extreme&view=ulp", ["value"]),
        ("study=sources&view=drift", ["value"]),
        ("study=sources&view=two&a=charlm/relu/all&b=charlm/relu/init", TESTED),
    ],
)
def test_copied_python_gives_the_shown_numbers(visit, tmp_path, state, columns):
    """Executed on the same records, it prints every number of the table (of two configurations: of the metric)."""
    grids.save(*folders()["repro-lite"], study="repro-lite")
    for name in COMMITTED:
        (tmp_path / "results" / name).symlink_to(paths.ROOT / "results" / name)
    page, printed = opened(visit, **dict(parse_qsl(state))), []
    page.get_by_role("button", name="Copy as Python").click()
    code = page.locator(".actlab-explorer pre").first.inner_text()
    assert len(code.splitlines()) <= 7
    exec(code, {"print": printed.append})
    table = numbers(page)
    if "view=loss" in state:
        table = table[table["n"].notna()]  # else what the picture beside it draws
    if "view=two" in state:
        table = table[(table["at"] == "B minus A") & table["what"].str.startswith("total variation")]
    shown = table[columns].to_numpy(float).ravel()
    assert len(shown)
    atol = 3e-4 if table["what"].str.contains("(%)", regex=False).any() else 3e-6  # the same, in %
    every = np.concatenate([*map(flat, printed)])
    for number in shown[~np.isnan(shown)]:
        assert np.isclose(every, number, rtol=1e-4, atol=atol).any(), number


def test_the_sentence_names_the_largest_significant_difference_or_none(visit):
    """With its n; a larger difference that is not significant is hollow, and not announced."""
    page = opened(visit, "extreme", view="values", metric="total_variation")
    table = numbers(page)
    significant = table[table["p (Holm)"] < 0.05]
    largest = significant.loc[significant["value"].abs().idxmax()]
    assert f"{len(significant)} of {len(table)} differences are significant" in said(page)
    assert f"the largest of these is {words(largest.activation)} " in said(page)
    assert page.locator('.main .arm path[fill="none"]').count() == len(table) - len(significant)
    page = opened(visit, "sources", view="loss")
    assert "None of 3 differences is significant (Holm over the study, 5 seeds)" in said(page)


def test_two_runs_that_drift_apart_differ_in_their_losses(visit):
    """The sentence speaks of a difference, and how many seeds it is of; what is exactly 0 is joined to nothing."""
    page = opened(visit, "sources", view="drift")
    table = numbers(page)
    last = table[table["at"] == table["at"].max()]
    assert set(last["n"]) == {5}
    most = words(last.loc[last["value"].idxmax()].activation)
    sentence = rf"after 500 steps their losses \(nats\) differ least with .*, and most with {most}, .*n = 5"
    assert re.search(sentence, said(page))
    lines = page.locator(".main path.line")
    joined = lines.evaluate_all("lines => lines.map(line => line.getAttribute('d').split('L').length)")
    assert sorted(joined) == sorted((table["value"] > 0).groupby(table["activation"]).sum())


def test_the_difference_of_two_predictions_stands_beside_that_of_their_losses(visit):
    """Agreement moves with the loss, so that neither is told alone."""
    page = opened(visit, "sources", view="two")
    assert re.search(r"At the end .* B minus A is .* Validation loss \(nats\): B minus A is [+-]\d.*n = 5", said(page))


def test_two_configurations_are_paired_by_seed(visit):
    """It opens on the reference and another activation of the same network; a line a pair of seeds."""
    page = opened(visit, "sources", view="two")
    two = [page.locator(f"select[name={name}]").input_value() for name in "ab"]
    assert two == ["charlm/relu/all", "charlm/gelu/all"]
    assert page.locator(".main g.grid line").count() == 10


def test_texts_of_all_seeds_stand_side_by_side(visit):
    """What differs from the first is marked; together the parts are the recorded text."""
    page = opened(visit, "sources", view="texts")
    assert page.locator(".main mark").all_inner_texts() == ["world", "<b>moon</b>", "moon"]
    assert page.locator(".main pre").all_inner_texts() == ["hello world", "hello <b>moon</b>", "hello moon"]


def test_menus_change_picture_words_and_address(visit):
    page = opened(visit)
    before, words = picture(page), said(page)
    page.get_by_role("combobox", name="metric").select_option("churn")
    assert picture(page) != before
    assert said(page) != words
    assert address(page).endswith("#study=repro-lite&view=values&metric=churn")
    page.get_by_role("combobox", name="compared with").select_option("none")
    assert page.locator(".main .arm").count() == 3
    page.get_by_role("checkbox", name="swiglu").uncheck()
    assert page.locator(".main .arm").count() == 2
    assert "activation=relu" in address(page)
    page.get_by_role("checkbox", name="relu").uncheck()
    assert "Nothing is chosen" in said(page)


def test_another_study_begins_with_every_level_and_back_undoes(visit):
    """What was ticked belongs to the study before; each change is one step of the browser's history."""
    page = opened(visit)
    page.get_by_role("checkbox", name="swiglu").uncheck()
    before = picture(page)
    page.get_by_role("combobox", name="study").select_option("extreme")
    assert page.locator("fieldset input:checked").count() == 6
    page.go_back()
    assert picture(page) == before
    assert not page.get_by_role("checkbox", name="swiglu").is_checked()


def test_a_link_opens_its_state_and_an_old_one_opens_all_the_same(visit):
    """Links outlive records: what is unknown gets its default."""
    page = opened(visit, "sources", view="loss", level=40, activation="relu,gelu", model="convlm")
    assert chosen(page, "picture") == "loss"
    assert chosen(page, "model") == "convlm"
    assert page.locator("fieldset input:checked").count() == 2
    page = opened(visit, "gone", metric="acuracy", model="none", activation="rleu", view="pie")
    assert chosen(page, "metric") == "total_variation"
    assert page.locator("fieldset input:checked").count() == 2


def test_the_page_opens_on_the_first_preset(visit):
    """Where the address asks for nothing."""
    visit.page.goto("about:blank")
    page = visit.open("studies/explore.html")
    page.locator('.actlab-explorer[data-ready="true"]').wait_for()
    first = page.locator(".actlab-explorer button").first
    before = picture(page)
    first.click()
    assert picture(page) == before


def test_each_preset_opens_a_picture_that_back_leaves(visit):
    """The largest difference is that of the shown study and metric."""
    page = opened(visit)
    before, values = picture(page), numbers(page).value.abs()
    opens = {"One bit under extreme activations": "ulp", "Round ReLU's corner": "bend", "The largest difference": "two"}
    for name, view in opens.items():
        page.get_by_role("button", name=name).click()
        assert chosen(page, "picture") == view
        assert page.locator(".main .arm").count() > 1
        shown = numbers(page)
        page.go_back()
        assert picture(page) == before
    assert shown.query("at == 'B minus A'").value.abs().iloc[0] == pytest.approx(values.max(), rel=1e-4)


def test_marks_tell_their_numbers_to_mouse_and_keyboard(visit):
    """The pictures' marks are one stop of the tabulator, the arrow keys go on; menus keep the focus; a space ticks."""
    page = opened(visit, minus="none")
    marks, tip = page.locator(".main .arm"), page.locator(".tip")
    marks.first.locator("path").hover()
    expect(tip).to_contain_text("ReLU (model charlm) 12.00 [")
    page.get_by_role("combobox", name="metric").focus()
    page.keyboard.press("ArrowDown")
    assert chosen(page, "metric") == "relative_pd"
    assert page.evaluate("document.activeElement.name") == "metric"
    page.get_by_role("checkbox", name="swiglu").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(tip).to_have_text(marks.nth(1).get_attribute("aria-label"))
    page.get_by_role("checkbox", name="relu").focus()
    page.keyboard.press("Space")
    assert "activation=swiglu" in address(page)


def test_table_says_what_the_picture_shows(visit):
    """A reader without eyes: the picture has a name, the table a caption and a header for each column."""
    page = opened(visit)
    page.get_by_role("group", name="total variation (%) minus ReLU's").wait_for()
    page.get_by_text("The numbers as a table").click()
    table = page.get_by_role("table", name="95% intervals")
    assert table.locator("tbody tr").count() == page.locator(".main .arm").count()
    assert table.locator("th[scope=col]").count() == 9
    ticks = opened(visit, "sources", view="through").locator(".main text").all_inner_texts()
    assert "5" not in ticks  # the number of seeds is no loss


def test_every_link_of_the_book_opens_its_state(browser, built):
    """Menus and ticks show what the address of each link to the explorer says."""
    texts = [(built.folder / name).read_text() for name in built.pages]
    states = {unescape(state) for text in texts for state in re.findall(r'href="explore\.html#([^"]+)"', text)}
    assert len(states) > 1
    for state in states:
        page = Visit(browser.new_page(), built.base).open(f"studies/explore.html#{state}")
        page.locator('[data-ready="true"]').wait_for()
        for name, value in parse_qsl(state):
            controls = page.locator(f'.menus [name="{name}"]:is(select, :checked, [type=range])')
            assert {one.input_value() for one in controls.all()} == set(value.split(",")), (state, name)
        page.close()
