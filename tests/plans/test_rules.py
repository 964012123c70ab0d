"""Registered rules as data: one for every hypothesis of these plans, and what they say of known contrasts."""

import pandas as pd
import pytest

from actlab import paths
from actlab.errors import UnknownName
from actlab.plans import RULES, arms, judge, plan_of

NAN = float("nan")


@pytest.mark.parametrize("study", RULES)
def test_every_hypothesis_has_a_rule_and_every_rule_a_hypothesis(study):
    """The plan says it in words, the rule as conditions."""
    assert {entry["name"] for entry in plan_of(study)["hypotheses"]} == {*RULES[study]}


def test_every_plan_that_a_page_judges_is_here():
    """A plan that is written without a rule would never be judged."""
    names = ("answer*", "remedies", "corner", "one-bit", "rate-*")
    files = [path.stem for name in names for path in (paths.ROOT / "params").glob(f"{name}.yaml")]
    assert {study for study in files if plan_of(study)} == {*RULES}


def rows(*differences, p=0.01, same=NAN, **more):
    """A contrast with these differences."""
    word = [("undecided", "lower", "higher")[(d < 0) + 2 * (d > 0) if p < 0.05 else 0] for d in differences]
    table = {"difference": differences, "outcome": word, "p_holm": p, "p_equivalent": same}
    return pd.DataFrame(
        table | {"low": [d - 0.01 for d in differences], "high": [d + 0.01 for d in differences]} | more
    )


MEANS, SWIGLU, _, RATIO = RULES["answer"]
CASES = [
    ("answer", MEANS, rows(-0.02, -0.02, -0.02, -0.02), "supported"),
    ("answer", MEANS, rows(-0.02, -0.02, -0.02), "undecided"),  # a row is missing
    ("answer", MEANS, rows(-0.02, -0.02, -0.02, 0.02), "contradicted"),
    ("answer", MEANS, rows(0, 0, 0, 0, p=0.9, same=0.01), "contradicted"),  # equivalent to 0
    ("answer", MEANS, rows(-0.02, -0.02, -0.02, -0.001, p=0.01, same=0.01), "supported"),  # significant comes first
    ("answer", SWIGLU, rows(0.02), "supported"),
    ("answer", SWIGLU, rows(-0.02), "contradicted"),
    ("answer", RATIO, rows(0.02), "supported"),
    ("answer", RATIO, rows(-0.02), "contradicted"),
    ("answer", RATIO, rows(0.0), "undecided"),
    ("answer-fresh", "the gains repeat on fresh seeds", rows(-0.02, -0.02, -0.02), "supported"),
    ("answer-fresh", "the gains repeat on fresh seeds", rows(-0.02, -0.02, 0.02), "contradicted"),
    ("answer-fresh", "the gains repeat on fresh seeds", rows(-0.02, -0.02), "undecided"),
    *[
        (study, name, rows(*[0.02] * n, p_holm_main=0.01, difference_main=side, **same), word)
        for study, name, n in [
            (s, *RULES[s], next(iter(RULES[s].values()))["rows"]) for s in ("answer-novels", "answer-rate")
        ]
        for same in [{"rank_correlation": 0.6, "significant": 3, "significant_main": 3}]
        for side, word in ((0.01, "supported"), (-0.01, "contradicted"))
    ],
    *[
        ("rate-or-activation", *RULES["rate-or-activation"], rows(d), w)
        for d, w in [(0.02, "supported"), (-0.02, "contradicted"), (0.005, "undecided")]
    ],
    ("corner", "a rounded corner keeps a rounding error small", rows(-3.1, -4.0, -5.0), "supported"),
    ("corner", "a rounded corner keeps a rounding error small", rows(-3.1, -4.0, -2.9), "contradicted"),
    ("corner", "a rounded corner keeps a rounding error small", rows(-3.1, -4.0), "undecided"),
    ("corner", "it costs no loss", rows(-0.1, -0.1, 0.005), "undecided"),
    *[
        ("one-bit", "under relu one bit does a quarter of what a seed does", rows(*found), word)
        for found, word in [([0.4] * 6, "supported"), ([0.4] * 5, "undecided"), ([0.4] * 5 + [0.2], "contradicted")]
    ],
    *[
        ("one-bit", "a smooth activation keeps the bit a hundred times smaller", rows(*[-3] * 3, **counts), word)
        for counts, word in [
            ({"below": [5, 6, 5], "above": [1, 0, 0]}, "supported"),
            ({"below": [5, 6, 4], "above": [1, 0, 1]}, "undecided"),
            ({"below": [5, 6, 4], "above": [0, 0, 2]}, "contradicted"),
        ]
    ],
    *[
        ("one-bit", "one bit is enough", rows(*[-0.001] * 24, same=same, significantly_below=below), word)
        for same, below, word in [(0.01, 0, "supported"), (0.2, 12, "undecided"), (0.2, 13, "contradicted")]
    ],
    ("remedies", "averaging does no harm to the loss", rows(*[-0.03] * 12), "supported"),
    ("remedies", "averaging does no harm to the loss", rows(*[-0.03] * 11, 0.03), "contradicted"),
    (
        "remedies",
        "averaging does more than any choice of activation",
        rows(*[-0.06] * 6, bound=0.03, largest=0.02),
        "supported",
    ),
    (
        "remedies",
        "averaging does more than any choice of activation",
        rows(*[-0.06] * 5, 0.0, bound=0.03, largest=0.02),
        "contradicted",
    ),
]


@pytest.mark.parametrize(("study", "name", "found", "word"), CASES)
def test_what_a_rule_says(study, name, found, word):
    """Supported in all rows that the plan means; one that is against it contradicts; else undecided."""
    assert judge(study, name, found) == word


def test_arms_of_several_studies(committed):
    """relu of one study beside smelu_1 of another, at one learning rate in each architecture."""
    curves, along = arms("answer-double", "smelu_1's mean is more than its learning rates")
    rates = curves.groupby(["model", "activation"])["learning_rate"].unique().unstack()
    assert rates.shape == (6, 2)
    assert (rates["relu"].map(list) == rates["smelu_1"].map(list)).all()
    assert {*along["study"]} == {"answer", "answer-half", "answer-fresh", "answer-double"}
    with pytest.raises(UnknownName, match="answer-fresh"):
        judge("answer-frsh", "x", curves)
