"""Differences from a reference with Holm, and equal loss from committed records, done again from the JSON with NumPy
alone."""

import json
from functools import partial

import numpy as np
import pytest
from scipy import stats

import actlab
from actlab import paths
from actlab.plans.rules import arms as arms_of
from actlab.plans.rules import plan_of


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
        ("answer-same-rate", 0.25),
    ],
)
def test_equal_loss_again_from_the_raw_records(committed, study, earlier):
    """Every comparison of the confirmatory study and of its companions."""
    assert earlier in (0.0, *(level for each in plan_of(study)["outcomes"] for level in each.get("levels", ())))
    curves, along = actlab.load_curves(study), actlab.load_pairs(study, of="along")
    found, records = actlab.equal_loss(curves, along, share=earlier), raw(study)
    for row in found.to_dict("records"):
        model, name = row["model"], row["activation"]
        arms = {a: course(record) for (m, a), record in records.items() if m == model}
        expected = jackknifed(partial(minus_relu, arms, name, earlier=earlier), arms["relu"][0].shape[1])
        assert tuple(row[key] for key in ("difference", "low", "high", "n")) == expected, (model, name)
    assert len(found) == len(records) - found["model"].nunique()


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

    read = actlab.at_equal_loss(*arms_of("answer-double", "smelu_1's mean is more than its learning rates"))
    read["i"] = read.groupby(["model", "activation"]).cumcount()  # the i-th seed of every arm is left out at once
    wide = read.pivot(index="i", columns=["activation", "model"], values="value")
    found = actlab.jackknife((wide["smelu_1"] - wide["relu"]).mean(axis=1))
    assert tuple(found[["estimate", "low", "high", "n"]]) == jackknifed(mean, 10)
    assert len(models) == 6
