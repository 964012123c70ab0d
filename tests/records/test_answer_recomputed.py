"""Differences from a reference with Holm, and equal loss from committed records, done again from the JSON with NumPy
alone."""

import json
from dataclasses import astuple
from functools import partial

import numpy as np
import pytest
from scipy import stats

from actlab import paths
from actlab.chapters import answer, companions
from actlab.records.companions import FURTHER
from actlab.records.preregistration import plan_of


def raw(study):
    """(model, activation) -> its record, read as plain JSON."""
    records = [json.loads(path.read_text()) for path in (paths.ROOT / "results" / study).glob("*.json")]
    return {(r["model_name"], r["activation"]): r for r in records if r["kind"] == "trials"}


def course(record):
    """(losses (E, M), total variations (E, M, M)) at the snapshots and at the end."""
    labels = [trial["label"] for trial in record["trials"]]
    steps = [({t["label"]: t["val_loss"] for t in e["trials"]}, e["pairs"]) for e in record["trajectory"]]
    steps.append(({t["label"]: t["final"]["val_loss"] for t in record["trials"]}, record["reproducibility_metrics"]))
    pairs = np.zeros((len(steps), len(labels), len(labels)))
    for e, (_, found) in enumerate(steps):
        for pair in found:
            i, j = map(labels.index, pair["between"])
            pairs[e, i, j] = pairs[e, j, i] = pair["total_variation"]
    return np.array([[losses[label] for label in labels] for losses, _ in steps]), pairs


def minus_relu(arms, name, keep, earlier=0.0):
    """Total variation at the loss that every arm reaches, of these trials alone; ``earlier``: share of the way back."""
    level = max(losses[-1, keep].mean() for losses, _ in arms.values())
    level += earlier * (min(losses[0, keep].mean() for losses, _ in arms.values()) - level)
    found = {}
    for activation, (losses, pairs) in arms.items():
        mean, size = losses[:, keep].mean(axis=1), len(keep)
        values = pairs[:, keep][:, :, keep].sum(axis=(1, 2)) / (size * (size - 1))
        after = int(np.argmax(mean <= level))
        share = (mean[after - 1] - level) / (mean[after - 1] - mean[after])
        found[activation] = (1 - share) * values[after - 1] + share * values[after]
    return float(found[name] - found["relu"])


def jackknifed(statistic, n):
    """Value, low, high and n of a statistic of the seeds."""
    left_out = np.array([statistic([j for j in range(n) if j != i]) for i in range(n)])
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    value = statistic(list(range(n)))
    return pytest.approx((value, value - reach, value + reach, n))


@pytest.mark.parametrize(
    ("study", "earlier"),
    [
        *((study, 0.0) for study in ("answer", "answer-fresh", "answer-novels", "answer-rate", "answer-same-rate")),
        ("answer-same-rate", FURTHER),
    ],
)
def test_equal_loss_again_from_the_raw_records(committed, study, earlier):
    """Every comparison of the confirmatory study and of its companions."""
    found = answer.read(study)
    assert earlier in (0.0, *(level for each in plan_of(study)["outcomes"] for level in each.get("levels", ())))
    outcomes, records = found.comparisons(earlier=earlier), raw(study)
    for model, name in outcomes:
        arms = {a: course(record) for (m, a), record in records.items() if m == model}
        found = outcomes[model, name].difference
        expected = jackknifed(partial(minus_relu, arms, name, earlier=earlier), arms["relu"][0].shape[1])
        assert astuple(found)[:4] == expected, (model, name)
    assert len(outcomes) == len(records) - len({model for model, _ in outcomes})


def test_the_mean_at_one_rate_again_from_the_raw_records(committed):
    """Of each architecture the two arms that the plan names, at the higher of their final losses."""
    of = {"relu": ["answer-half", "answer-double"], "smelu_1": ["answer-fresh", "answer-double"]}
    arms = {}
    for name, studies in of.items():
        for study in ["answer", *studies]:  # the later ones last, for the models that they have
            arms |= {(m, a): course(record) for (m, a), record in raw(study).items() if a == name}
    models = sorted({model for model, _ in arms})

    def mean(keep):
        pairs = ({a: arms[model, a] for a in of} for model in models)
        return np.mean([minus_relu(pair, "smelu_1", keep) for pair in pairs])

    found = companions.read(answer.read())["answer-double"].main.pooled("smelu_1")
    assert astuple(found)[:4] == jackknifed(mean, 10)
    assert len(models) == 6
