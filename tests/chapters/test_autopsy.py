"""The autopsy: numbers in the words are those of the evidence or of the texts, and what is missing says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats
from tests.support import autopsies

from actlab.chapters.autopsy import WAITING, anomalies, headline, overview, printed, shown, trained
from actlab.claims.published import numbers
from actlab.records.autopsy import Autopsy
from actlab.records.repro import read

OF_TEXTS = ("significance", "counted", "durations")
SAID = {
    ("identical", "on"): "in 3 of 3 seeds; nanotransformer: the losses of gelu are relu's to the last digit in 9 of 9 "
    "evaluations; tinylstm: the losses of gelu are relu's to the last digit in 6 of 9",
    ("identical", "off"): "gelu minus relu: nanotransformer 0.733",
    ("leak", "on"): "a loss of 0.300 nats",
    ("leak", "off"): "causal, after 10 iterations: 2.100",
    ("itself", "on"): "charlm relu: two seeds 0.601 [0.596, 0.606], n = 3, one model 0.591",
    ("itself", "off"): "charlm relu 0.120",
    ("plateau", "on"): "one model from itself on other inputs by 0.0010",
    ("plateau", "off"): "the table of character frequencies has 3.300 nats; trained on to iteration 10, 2.333",
    ("swiglu", "published"): f"for relu: {printed.below(0.5935, 1.0739)}",
    ("swiglu", "on"): f"on different inputs: {100 * (1 - 0.611 / 0.9015):.0f}% below",
    (
        "swiglu",
        "off",
    ): "relu total variation 1.7% above, relative PD 1.7% above; same inputs, equal parameters, 10 iter",
    ("mixed_table", "published"): "give 20.26% dividing by n, 22.66% by n - 1",
    ("drawn", "published"): "0.38 points from first to last",
    ("drawn", "on"): "charlm relu 26.0% [26.0, 26.0], n = 3, own error 1.4 points a trial, loss off by -0.0900 nats",
    ("drawn", "off"): "charlm relu 47.9%",
    ("significance", "on"): "Tukey: swish against relu 0.0269, swish against gelu 0.0301",
    ("significance", "off"): "gelu < swish < relu",
    ("counted", "defect"): "0 of 6 models have it at partial scale, 3 at full scale",
    ("counted", "on"): "convlm 1,217,601",
    ("durations", "on"): "881.9 minutes, 198.1 more",
    ("durations", "off"): "66.8 each",
}


@pytest.mark.parametrize(("name", "part"), SAID)
def test_what_each_anomaly_says(name: str, part: str) -> None:
    """Numbers worked out from the made-up evidence, or from the texts alone."""
    assert SAID[name, part] in getattr(anomalies(autopsies.evidence())[name], part)


def test_the_published_test_again() -> None:
    """F(2, 6) = 8.34, p = 0.0185, by SciPy; the stated F has p = 0.0186 and not the stated 0.024."""
    found = stats.f_oneway(*numbers.charlm_trials.values())
    said = (
        f"F = {found.statistic:.2f}, p = {found.pvalue:.4f} (the stated F gives {stats.f.sf(8.32, 2, 6):.4f}, an exact"
    )
    assert said in anomalies(Autopsy())["significance"].on


def test_without_records_it_waits() -> None:
    """No number is invented: both of our columns say that there is no record; the published one stands."""
    for name, found in anomalies(Autopsy()).items():
        assert all((found.published, found.source, found.defect))
        assert name in OF_TEXTS or (found.on, found.off) == (WAITING, WAITING)
    relu = autopsies.corrected("charlm", "relu")
    for waiting in (Autopsy(), Autopsy(overfit=read([relu]))):
        assert f"at the last step: {WAITING}; " in anomalies(waiting)["significance"].on


@pytest.mark.parametrize("arm", autopsies.evidence().on)
def test_with_some_records_it_says_what_it_can(arm: tuple[str, str]) -> None:
    """One arm alone never breaks an anomaly: it is told, or waits."""
    whole = autopsies.evidence()
    found = anomalies(replace(whole, on={arm: whole.on[arm]}))
    assert all(anomaly.on and anomaly.off for anomaly in found.values())
    assert arm[0] in found["itself"].on


def test_a_single_other_bit_shows() -> None:
    """Weights that differ in one seed are not counted as equal."""
    evidence = autopsies.evidence()
    evidence.on["convlm", "gelu"].arm.record["trials"][1]["weights_sha256"] = "other"
    assert trained.same_weights(evidence) == (2, 3)


def test_trade_off_has_one_point_an_arm_and_iteration() -> None:
    """convlm is left out; a loss of 3 nats halves the reading on different inputs, so that it falls with the loss."""
    evidence = autopsies.evidence()
    arms = (("charlm", "relu"), ("charlm", "swiglu"), ("nanotransformer", "gelu"), ("tinylstm", "gelu"))
    points = trained.points(evidence)
    assert {(p["model"], p["activation"], p["iteration"]) for p in points} == {
        (*arm, i) for arm in arms for i in (5, 10)
    }
    loss, between = ([float(p[name]) for p in points] for name in ("train_loss", "between"))
    assert (
        f"over 8 points two seeds {stats.spearmanr(loss, between).statistic:+.2f}"
        in anomalies(evidence)["trade_off"].on
    )


def test_mixed_measures_make_a_spread() -> None:
    """Where both measures are equal in every arm, mixing them changes nothing; where one is twice the other, it
    does."""
    evidence = autopsies.evidence()
    same = trained.sensitivity(evidence)
    assert same["mixed"] == pytest.approx(same["total variation"])
    for arm in evidence.off.of_model("charlm"):
        for pair in arm.record["reproducibility_metrics"]:
            pair["relative_pd"] = 2 * pair["total_variation"]
    found = trained.sensitivity(evidence)
    assert found["relative PD"] == pytest.approx(found["total variation"])
    assert found["mixed"] > 2 * found["total variation"]


def test_our_runs_that_overfit() -> None:
    """gelu leads at the last step and trails at the lowest loss: the rule calls that reproduced, and a comparison that
    the choice decides; where both orders agree it does not."""
    losses = {"relu": (2.5, 2.6, 2.7), "gelu": (2.0, 2.1, 2.21), "swish": (2.9, 3.0, 3.11)}
    arms = {name: autopsies.corrected("charlm", name, values) for name, values in losses.items()}
    assert "is not reproduced: 9 of 9" in printed.rule(read(arms.values()))
    for trial in arms["gelu"]["trials"]:
        trial["best"]["val_loss"] = 0.5 + trial["final"]["val_loss"]
    said = printed.rule(read(arms.values()))
    assert "is reproduced: 9 of 9 trials end above their lowest loss; gelu < relu < swish at the last step" in said
    assert said.endswith("relu < gelu < swish at the lowest. Differences from relu that the choice decides: gelu")
    assert printed.rule(read([arms["relu"]])).endswith("waits for records of gelu, swish")
    found, expected = anomalies(Autopsy(overfit=read(arms.values())))["significance"], stats.f_oneway(*losses.values())
    assert (
        f"at the last step: gelu < relu < swish, F = {expected.statistic:.2f}, p = {expected.pvalue:.4f}; " in found.on
    )
    assert "each trial's lowest loss: relu < gelu < swish" in found.off


def test_tables() -> None:
    """One anomaly in two columns, with its own names of them; all in rows, with the first of their numbers."""
    found = anomalies(autopsies.evidence())
    assert shown(found["leak"]).loc["ours, defect on"].item() == found["leak"].on
    assert {"as counted", "remark"} < set(shown(found["durations"]).index)
    assert list(overview(found).index) == [anomaly.title for anomaly in found.values()]
    assert [headline(text) for text in ("one number", "one; two; three")] == ["one number", "one; ..."]
