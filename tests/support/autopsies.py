"""Made-up evidence for the autopsy. Not a test."""

from itertools import combinations

from tests.support import grids

from actlab.records.autopsy import Autopsy, readings
from actlab.records.labels import PAIR_METRICS
from actlab.records.repro import read

ALWAYS = ["pairing: unpaired", "accuracy: last_1000", "selection: final", "evaluation: 200 random batches"]
LABELS = ["42", "43", "44"]


def block(between, itself, accuracy=26.0):
    """As published: two seeds at ``between``, one model at ``itself``; element-wise differences 1.5 times as large."""

    def pair(a, b, value):
        return {"between": [a, b], "coded_pd": value, "relative_pd": 1.5 * value, "churn": value}

    return {
        "trials": [
            {"label": label, "val_accuracy": accuracy, "val_loss": 2.0 + 0.01 * i} for i, label in enumerate(LABELS)
        ],
        "pairs": [pair(a, b, between + 0.001 * i) for i, (a, b) in enumerate(combinations(LABELS, 2))],
        "itself": [pair(label, label, itself + 0.001 * i) for i, label in enumerate(LABELS)],
    }


def published(
    model,
    activation,
    defects,
    between,
    itself,
    losses=(2.0, 2.1, 2.2),
    start=3.0,
):
    """An arm trained for 10 iterations under defects, with a snapshot at iteration 5, where every loss is ``start`` and
    differences are halved."""
    record = grids.record(model, activation, losses, pd=0.1)
    record["config"] = {
        **record["config"],
        "protocol": [*defects, *ALWAYS],
        "recipe": {"device": "cpu", "iterations": 10},
    }
    for trial in record["trials"]:
        trial["weights_sha256"] = (
            f"{model}-{trial['seed']}-{'relu' if 'activation: ignored' in defects else activation}"
        )
    pairs = [{"between": [a, b], **dict.fromkeys(PAIR_METRICS, 0.3)} for a, b in combinations(LABELS, 2)]
    trials = [
        {"label": label, "iteration": 5, "train_loss": start, "val_loss": start, "val_accuracy": 20.0}
        for label in LABELS
    ]
    record["as_published"] = block(between, itself)
    record["trajectory"] = [
        {"iteration": 5, "trials": trials, "pairs": pairs, "as_published": block(between / 2, itself / 2)}
    ]
    return record


def corrected(model, activation, losses=(2.0, 2.1, 2.2), pd=0.1):
    """A corrected arm trained for 10 iterations."""
    record = grids.record(model, activation, losses, pd)
    record["config"] = {**record["config"], "recipe": {"device": "cpu", "iterations": 10}}
    return record


def evidence():
    """charlm under relu and swiglu, two models that ignored gelu (one exactly relu, one not), a leaking convlm; their
    corrected arms."""
    ignored = ["activation: ignored"]
    on = [
        published("charlm", "relu", [], 0.60, 0.59),
        published("charlm", "swiglu", ["gated_width: doubled"], 0.61, 0.60),
        published("nanotransformer", "gelu", ignored, 0.70, 0.69, losses=(1.9, 1.8, 1.7)),
        published("tinylstm", "gelu", ignored, 0.04, 0.0, losses=(3.3, 3.3, 3.3)),
        published("convlm", "relu", [*ignored, "padding: both"], 0.5, 0.5, losses=(0.2, 0.3, 0.4)),
        published("convlm", "gelu", [*ignored, "padding: both"], 0.5, 0.5, losses=(0.2, 0.3, 0.4)),
    ]
    off = [
        corrected("charlm", a, pd=0.1 + 0.01 * i) for i, a in enumerate(("relu", "gelu", "swish", "swiglu", "smelu_1"))
    ]
    off += [
        corrected("nanotransformer", "relu", (1.9, 1.8, 1.7)),
        corrected("nanotransformer", "gelu", (2.4, 2.5, 2.7)),
    ]
    off += [
        corrected("convlm", "relu"),
        corrected("convlm", "gelu", (2.3, 2.5, 2.6)),
        corrected("tinylstm", "relu", (3.3, 3.3, 3.31)),
    ]
    return Autopsy(readings(on), read([*off, grids.baseline()]), read([corrected("tinylstm", "relu", (2.3, 2.3, 2.4))]))
