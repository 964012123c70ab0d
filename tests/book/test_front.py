"""README, front page and the page of evidence: short, and with numbers that the records hold."""

import re

import nbformat
import pandas as pd
import pytest

import findings
import pictures
from actlab import paths
from actlab.data.text import load_text
from actlab.figures.style import image
from actlab.study.params import read_params
from actlab.study.run import run

README, EVIDENCE, FRONT = (paths.ROOT / name for name in ("README.md", "book/evidence.md", "book/intro.md"))


def test_the_readme_is_short_and_soon_at_its_first_command():
    """At most 120 lines, and 150 words before the first command (signs of a table and pictures aside)."""
    text = README.read_text(encoding="utf-8")
    head = re.sub(r"!\[.*?\]\(.*?\)|[|#→]|---", " ", text.partition("```bash")[0])
    assert len(text.splitlines()) <= 120
    assert len(head.split()) <= 150


@pytest.mark.slow
def test_the_quick_study_has_the_losses_that_the_readme_says():
    """Within 0.01 on any processor and Python: the text's bytes are the package's own."""
    said = re.findall(r"(\w+) (2\.\d\d)\b", README.read_text(encoding="utf-8"))
    assert len(said) == 6
    quick = read_params(paths.ROOT / "params" / "repro-quick.yaml")
    assert load_text("treasure").sha256 == "ec50d1fef920646cb5968551fb0bd974a316e5e11d8f4ff47ac15e0e554c434f"
    for record in run(quick.replace(activation=("relu", "smelu_1"))).present:
        assert record["avg_val_loss"] == pytest.approx(float(dict(said)[record["activation"]]), abs=0.011)


@pytest.mark.slow
def test_the_evidence_page_shows_the_numbers_of_the_records(committed):
    """`python book/findings.py` writes the table; each finding has one name, each interval its value inside."""
    findings.check()
    table = findings.table()
    inside = table["value"].between(table["low"], table["high"])
    assert (inside | table["low"].isna()).all()


def test_the_predictions_are_counted_as_they_are_listed():
    """Title, answer and picture of the evidence page, of its own list."""
    listed, text = pictures.predicted(), EVIDENCE.read_text(encoding="utf-8")
    counts = pd.crosstab(listed["about"], listed["outcome"], margins=True)[["held", "failed", "undecided", "All"]]
    assert counts.loc["All"].tolist() == [46, 21, 18, 85]
    order = listed["about"].unique()
    said = re.findall(r"(\d+), (\d+), (\d+)", text.partition("](_static/front-predictions")[0])
    drawn = [label.get_text() for label in pictures.predictions().axes[0].texts]
    assert [", ".join(row) for row in said] == drawn
    assert [[int(number) for number in row] for row in said] == counts.loc[order].drop(columns="All").values.tolist()
    bold, weak = (listed["outcome"][listed["predicted"].str.contains(mark)].value_counts() for mark in ("bold", "weak"))
    assert bold.to_dict() == {"failed": 4, "undecided": 3, "held": 4}
    assert weak.to_dict() == {"held": 6}


def test_the_front_page_says_what_came_of_its_seven_predictions():
    """In a sentence, as the table of the page of evidence has it: two held, four failed, one is undecided."""
    outcomes = re.findall(r"\| \*\*(held|failed|undecided)\*\*", EVIDENCE.read_text(encoding="utf-8"))
    assert [outcomes.count(each) for each in ("held", "failed", "undecided")] == [2, 4, 1]
    assert "two held, four failed, and one is undecided" in FRONT.read_text(encoding="utf-8")


def test_the_front_page_is_short():
    """At most 650 words, without its pictures, and five exceptions in its table."""
    text = re.sub(r"!\[.*?\]\(.*?\)|(?<=\])\(.*?\)|[|#]|---", " ", FRONT.read_text(encoding="utf-8"))
    exceptions = FRONT.read_text(encoding="utf-8").partition("| Finding | Exception |")[2].partition("\n\n")[0]
    assert len(text.split()) <= 650
    assert len(exceptions.strip().splitlines()) - 2 <= 5


ROW = re.compile(r"<th>([\w-]+)</th>\s*<td>[^<]*</td>\s*<td>(held|failed|undecided)</td>")
"""Of a page's table of predictions: plan and outcome."""


@pytest.mark.slow
def test_the_listed_predictions_have_the_outcomes_of_their_pages():
    """Of the plans that a built page judges in a table of its own."""
    listed, judged = pictures.predicted(), []
    for page in ("answer", "one-bit", "relu-corner", "same"):
        path = paths.ROOT / "book" / "studies" / f"{page}.ipynb"
        if not path.exists():
            pytest.skip("the book is not built: make book")
        outputs = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
        judged += [row for out in outputs for row in ROW.findall(out.get("data", {}).get("text/html", ""))]
    there = {plan: sorted(outcome for name, outcome in judged if name == plan) for plan, _ in judged}
    rows = listed.assign(plan=listed["plan"].str.strip("`")).groupby("plan")["outcome"].apply(sorted)
    assert rows[[*there]].to_dict() == there


@pytest.mark.slow
def test_the_pictures_are_those_of_the_records(committed):
    """`python book/pictures.py` draws them."""
    for name, figure in pictures.figures().items():
        assert (paths.ROOT / pictures.PICTURE.format(name)).read_text(encoding="utf-8") == image(figure).decode() + "\n"
