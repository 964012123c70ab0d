"""Registered rules as data: one for every hypothesis of these plans, and what they say of known contrasts."""

import numpy as np
import pandas as pd
import pytest
import yaml

from actlab import paths
from actlab.plans.rules import RULES, arms, judge, plan_of

NAN = float("nan")


@pytest.mark.parametrize("study", RULES)
def test_every_hypothesis_has_a_rule_and_every_rule_a_hypothesis(study):
    """The plan says it in words, the rule as conditions."""
    assert {entry["name"] for entry in plan_of(study)["hypotheses"]} == {*RULES[study]}


def test_every_plan_that_a_page_judges_is_here():
    """A plan that is written without a rule would never be judged."""
    names = ("answer*", "control*", "corner", "gates*", "jitter", "l*", "one-bit", "p*", "r*")
    files = [path.stem for name in names for path in (paths.ROOT / "params").glob(f"{name}.yaml")]
    assert {study for study in files if plan_of(study)} == {*RULES}


def contrast(differences, rows=1, p=0.01, same=NAN, **more):
    """A contrast with these differences."""
    found = pd.DataFrame({"difference": np.ravel([differences] * rows), "p_holm": p, "p_equivalent": same, **more})
    sides = {-1: "lower", 0: "undecided", 1: "higher"}
    outcome = (np.sign(found["difference"]) * (p < 0.05)).map(sides)
    return found.assign(outcome=outcome, low=found["difference"] - 0.01, high=found["difference"] + 0.01)


CASES = yaml.safe_load("""
answer, smooth activations are more reproducible:
- [{differences: [-0.02, -0.02, -0.02, -0.02]}, supported]
- [{differences: [-0.02, -0.02, -0.02]}, undecided]  # a row is missing
- [{differences: [-0.02, -0.02, -0.02, 0.02]}, contradicted]
- [{differences: [0, 0, 0, 0], p: 0.9, same: 0.01}, contradicted]  # equivalent to 0
- [{differences: [-0.02, -0.02, -0.02, -0.001], same: 0.01}, supported]  # significant comes first
answer, swiglu is less reproducible:
- [{differences: [0.02]}, supported]
- [{differences: [-0.02]}, contradicted]
answer, architectures differ more than activations:
- [{differences: [0.02]}, supported]
- [{differences: [-0.02]}, contradicted]
- [{differences: [0.0]}, undecided]
answer-fresh, the gains repeat on fresh seeds:
- [{differences: [-0.02, -0.02, -0.02]}, supported]
- [{differences: [-0.02, -0.02, 0.02]}, contradicted]
- [{differences: [-0.02, -0.02]}, undecided]
answer-novels, the differences carry over:
- [{rows: 9, differences: 0.02, p_holm_main: 0.01, difference_main: 0.01, rank_correlation: 0.6}, supported]
- [{rows: 9, differences: 0.02, p_holm_main: 0.01, difference_main: -0.01, rank_correlation: 0.6}, contradicted]
answer-rate, the rate does not make the differences:
- [{rows: 9, differences: 0.02, p_holm_main: 0.01, difference_main: 0.01,
    significant: 3, significant_main: 3}, supported]
- [{rows: 9, differences: 0.02, p_holm_main: 0.01, difference_main: -0.01,
    significant: 3, significant_main: 3}, contradicted]
rate-or-activation, the rate does more than the activation:
- [{differences: [0.02]}, supported]
- [{differences: [-0.02]}, contradicted]
- [{differences: [0.005]}, undecided]
corner, a rounded corner keeps a rounding error small:
- [{differences: [-3.1, -4.0, -5.0]}, supported]
- [{differences: [-3.1, -4.0, -2.9]}, contradicted]
- [{differences: [-3.1, -4.0]}, undecided]
corner, it costs no loss:
- [{differences: [-0.1, -0.1, 0.005]}, undecided]
one-bit, under relu one bit does a quarter of what a seed does:
- [{rows: 6, differences: 0.4}, supported]
- [{rows: 5, differences: 0.4}, undecided]
- [{differences: [0.4, 0.4, 0.4, 0.4, 0.4, 0.2]}, contradicted]
one-bit, a smooth activation keeps the bit a hundred times smaller:
- [{rows: 3, differences: -3, below: [5, 6, 5], above: [1, 0, 0]}, supported]
- [{rows: 3, differences: -3, below: [5, 6, 4], above: [1, 0, 1]}, undecided]
- [{rows: 3, differences: -3, below: [5, 6, 4], above: [0, 0, 2]}, contradicted]
one-bit, one bit is enough:
- [{rows: 24, differences: -0.001, same: 0.01, significantly_below: 0}, supported]
- [{rows: 24, differences: -0.001, same: 0.2, significantly_below: 12}, undecided]
- [{rows: 24, differences: -0.001, same: 0.2, significantly_below: 13}, contradicted]
ladder, the smaller the disturbance the more the activation matters:
- [{rows: 4, differences: 0, ratio: [24, 40, 32, 54], trend: 0.00002}, supported]
- [{rows: 4, differences: 0, ratio: [9, 40, 32, 54], trend: 0.00002}, undecided]
- [{rows: 4, differences: 0, ratio: [0.9, 40, 32, 54], trend: 0.00002}, contradicted]
ladder, all sources act alike, one bit included:
- [{rows: 12, differences: 1, p_below: 0.9, one_bit: supported}, supported]
- [{rows: 12, differences: 0.8, p_below: 0.9, one_bit: supported}, undecided]
- [{rows: 12, differences: 1, p_below: 0.9, one_bit: contradicted}, contradicted]
remedies, averaging does no harm to the loss:
- [{rows: 12, differences: -0.03}, supported]
- [{rows: 11, differences: -0.03}, undecided]
- [{differences: [-0.03, 0.03]}, contradicted]
remedies, averaging does more than any choice of activation:
- [{rows: 6, differences: -0.06, bound: 0.03, largest: 0.02}, supported]
- [{differences: [-0.06, -0.06, -0.06, -0.06, -0.06, 0.0], bound: 0.03, largest: 0.02}, contradicted]
""")
"""Study and hypothesis -> contrasts (a number of differences stands for so many ``rows`` of it), what its rule says."""


@pytest.mark.parametrize("name", CASES)
def test_what_a_rule_says(name):
    """Supported in all rows that the plan means; one that is against it contradicts; else undecided."""
    for found, word in CASES[name]:
        assert judge(*name.split(", ", 1), contrast(**found)) == word, found


def test_arms_of_several_studies(committed):
    """relu of one study beside smelu_1 of another, at one learning rate in each architecture."""
    curves, along = arms("answer-double", "smelu_1's mean is more than its learning rates")
    rates = curves.groupby(["model", "activation"])["learning_rate"].unique().unstack()
    assert rates.shape == (6, 2)
    assert (rates["relu"].map(list) == rates["smelu_1"].map(list)).all()
    assert {*along["study"]} == {"answer", "answer-half", "answer-fresh", "answer-double"}
