"""README, front page and the page of evidence: short, and with numbers that the records hold."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest

import actlab
import findings
import pictures
from actlab import paths
from actlab.data.text import load_text
from actlab.errors import NotHeld
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
    found = findings
    found.check()
    table = found.table()
    inside = table["value"].between(table["low"], table["high"])
    assert (inside | table["low"].isna()).all()


@pytest.mark.slow
def test_a_changed_number_of_a_page_is_told(committed, monkeypatch):
    """With the line as it stands and as the records have it."""
    found = findings
    monkeypatch.setattr(found, "written", lambda _: EVIDENCE.read_text(encoding="utf-8").replace("Of", "In", 1))
    with pytest.raises(NotHeld, match=r"evidence.md says '# Of 69 predictions .*', the records say"):
        found.check()


def test_the_predictions_are_counted_as_they_are_listed():
    """Title, answer and picture of the evidence page, of its own list."""
    listed, text = pictures.predicted(), EVIDENCE.read_text(encoding="utf-8")
    counts = pd.crosstab(listed["about"], listed["outcome"], margins=True)[["held", "failed", "undecided", "All"]]
    assert counts.loc["All"].tolist() == [31, 21, 17, 69]
    order = listed["about"].unique()
    said = re.findall(r"(\d+), (\d+), (\d+)", text.partition("](_static/front-predictions")[0])
    drawn = [label.get_text() for label in pictures.predictions().axes[0].texts]
    assert [", ".join(row) for row in said] == drawn
    assert [[int(number) for number in row] for row in said] == counts.loc[order].drop(columns="All").values.tolist()
    bold = listed["predicted"].str.contains(r"(?i)a thousand times|a hundred times less|a hundredth")
    assert listed["outcome"][bold].value_counts().to_dict() == {"failed": 4, "undecided": 2, "held": 1}
    for fact in (
        "Of 69 such predictions 31 held, 21 failed, and for 17",
        "of seven predictions of a hundred- or thousandfold effect one held",
    ):
        assert fact in text


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
    assert len(exceptions.strip().splitlines()) - 1 <= 5


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
def test_averaging_and_a_falling_rate_before_and_after(committed):
    """Points between two seeds and loss of ReLU networks, constant and falling rate, last and averaged weights."""
    points, nats = [], []
    for study in ("remedies", "remedies-cooldown"):
        averaged, losses = (load(study, of="average") for load in (actlab.load_pairs, actlab.load_losses))
        runs, pairs = actlab.load(study)
        points += [pairs, averaged.query("decay == 0.99")]
        nats += [runs, losses.query("decay == 0.99")]
    relu = [rows[rows["activation"] == "relu"].groupby("model") for rows in points]
    tv = [100 * rows["total_variation"].mean() for rows in relu]
    loss = [rows[rows["activation"] == "relu"].groupby("model")["val_loss"].mean().mean() for rows in nats]
    assert [round(each.mean(), 1) for each in tv] == [19.9, 13.4, 14.8, 13.8]
    assert [round(each, 3) for each in loss] == [1.857, 1.830, 1.833, 1.842]
    assert [round(each["tinylstm"]) for each in tv[:2]] == [20, 16]
    dearer = findings.dearer("remedies-cooldown", 0.99)
    assert ((dearer > 0).sum(), len(dearer), round(dearer.max(), 3)) == (11, 12, 0.027)
    more = -100 * findings.averaging("remedies-cooldown")["difference"]
    assert (round(more.min(), 1), round(more.max(), 1)) == (0.1, 1.9)
    rates = {name: findings.estimate(row) for name, row in findings.activations().iterrows()}
    told = [name for name, (_, low, high) in rates.items() if low > 0 or high < 0]
    assert told == ["gelu", "smelu_1"]
    assert [round(rates[name][0], 1) for name in told] == [1.3, -0.8]


@pytest.mark.slow
def test_activations_and_one_bit_as_the_tables_have_them(committed):
    """Three comparisons at equal loss agree more, three less; the LSTM's largest gain; shares of a seed's effect; who
    is best."""
    found = findings
    effects = found.effects()
    assert effects.query("p_holm < 0.05")["outcome"].value_counts().to_dict() == {"lower": 3, "higher": 3}
    gain = effects.set_index(["model", "activation"]).loc[("tinylstm", "smelu_1"), "difference"]
    assert round(-100 * gain, 1) == 3.4
    assert gain == effects["difference"].min()
    ulp, seeds = (actlab.load("one-bit", kind)[1].groupby(["activation", "model"]) for kind in ("perturbed", "trials"))
    logs = [table["total_variation"].apply(lambda found: np.log10(found).mean()) for table in (ulp, seeds)]
    share = 100 * 10 ** (logs[0] - logs[1])
    models = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm"]
    assert share["relu"][models].round().to_list() == [56, 40, 69, 42, 50, 79]
    assert share["gelu"][models].round(1).to_list() == [0, 0, 5, 0, 0.5, 91.7]
    single = {}
    for model in ("nanotransformer", "hybridlm"):
        runs = ulp.get_group(("gelu", model))["total_variation"].sort_values()
        single[model] = (100 * runs / seeds.get_group(("gelu", model))["total_variation"].mean()).to_numpy()
    assert [round(each) for each in single["nanotransformer"]] == [0, 4, 32, 40, 42]
    assert single["nanotransformer"][1] < 4
    assert single["hybridlm"][-1] > 5 * single["hybridlm"][-2]
    steps = actlab.load("answer")[0].groupby("model")["iterations"].agg(set).to_dict()
    assert steps == {model: {1500 if model == "tinylstm" else 750} for model in models}
    assert {*actlab.load("one-bit")[0]["iterations"]} == {500}
    low, nudged = (actlab.load("repro-lite", kind)[1].query("activation == 'relu'") for kind in ("trials", "floor"))
    nudged = nudged.query("variant == 'nudge'").groupby("model")["total_variation"]
    share = (100 * nudged.mean() / low.groupby("model")["total_variation"].mean())[models[:5]]
    assert (round(share.min()), round(share.max()), {*nudged.size()}) == (1, 22, {1})
    marks = found.losses()[1]
    best = (marks == "best").idxmax(axis=1)
    assert best[["charlm", "minigpt", "nanotransformer", "convlm", "tinylstm"]].to_list() == [
        *["swiglu"] * 3,
        "gelu",
        "smelu_1",
    ]
    assert [*marks.columns[~marks.loc["hybridlm"].isin(["=", "best"])]] == ["swiglu"]


@pytest.mark.slow
def test_the_pictures_are_those_of_the_records(committed):
    """`python book/pictures.py` draws them."""
    for name, figure in pictures.figures().items():
        assert (paths.ROOT / pictures.PICTURE.format(name)).read_text(encoding="utf-8") == image(figure).decode() + "\n"
