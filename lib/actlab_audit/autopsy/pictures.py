"""Figures of the autopsy: each published anomaly with its defect on and off."""

from __future__ import annotations

from matplotlib.figure import Figure

from actlab.figures.primitives import Line, line, lines, points
from actlab.records.repro import ArmResults
from actlab.statistics.estimate import Estimate
from actlab_audit.autopsy.trained import LEAKY, ignoring
from actlab_audit.autopsy.trained import points as snapshots
from actlab_audit.readings import Autopsy

LOSS = "validation loss (nats)"
CAPTIONS = {
    "itself": "The published difference is what one model gives against itself on other inputs; two seeds on the same "
    "inputs differ far less",
    "identical": "As published (hollow) gelu's losses are relu's; corrected (line, band: 95% interval), the two "
    "activations differ in most models",
    "leak": "Padded on both sides, convlm's loss falls to nearly 0; padded on the left it does not",
    "trade_off": "On different inputs the difference rises as the loss falls, and so does one model's from itself "
    "(hollow); on the same inputs the correlation over models is weaker, and undecided",
}
"""Figure -> the claim that it shows."""


def _mean_loss(arm: ArmResults, until: int) -> Line:
    """The mean validation loss of an arm up to an iteration."""
    means = arm.curve("val_loss").mean().loc[:until]
    return Line([*means.index], [*means])


def figure_itself(evidence: Autopsy) -> Figure:
    """For each arm: two seeds on different inputs, one model on different inputs, two seeds on the same inputs."""
    found: dict[tuple[str, str, str], Estimate | None] = {}
    for (model, activation), reading in evidence.on.items():
        place = f"{model}, {activation}"
        found["", place, "two seeds, different inputs"] = reading.between()
        found["", place, "one model against itself, different inputs"] = reading.itself()
        found["", place, "two seeds, same inputs"] = reading.paired()
    return points(found, "mean total variation (0 to 1)", height=0.4 + 0.36 * len(evidence.on))


def figure_identical(evidence: Autopsy) -> Figure:
    """By model, the loss under an activation's name minus corrected relu's: hollow marks where the name was ignored, a
    line where it arrived."""
    found, marks = {}, set()
    for arm in ignoring(evidence):
        relu, corrected = (evidence.off.arms[arm.model, a] for a in ("relu", arm.activation))
        published = arm.model, f"{arm.activation}, as published"
        found[published] = line(arm.minus_through(relu))
        found[arm.model, f"{arm.activation}, corrected"] = line(corrected.minus_through(relu))
        marks.add(published)
    return lines(
        found, "iteration", "validation loss minus corrected relu's (nats)", hollow=marks, zero=True, share=False
    )


def figure_leak(evidence: Autopsy) -> Figure:
    """convlm with padding on both sides and causal, beside the n-gram baselines."""
    reading, corrected = evidence.on[LEAKY, "relu"], evidence.off.arms[LEAKY, "relu"]
    found = {
        ("", "as published, padded on both sides"): _mean_loss(reading.arm, reading.end),
        ("", "corrected, padded on the left"): _mean_loss(corrected, reading.end),
    }
    levels = {name: float(evidence.off.baseline[name]["val_loss"]) for name in ("unigram", "bigram")}
    return lines(found, "iteration", LOSS, levels=levels, height=2.8)


def figure_trade_off(evidence: Autopsy) -> Figure:
    """Prediction difference against training loss, a mark an arm and snapshot: on different inputs (hollow: one model),
    and on the same inputs."""
    found, itself = {}, "{}, one model against itself"
    for model, at in snapshots(evidence).groupby("model", sort=False):
        found["different inputs", model] = Line(at["train_loss"], at["between"])
        found["different inputs", itself.format(model)] = Line(at["train_loss"], at["itself"])
        found["same inputs", model] = Line(at["train_loss"], at["paired"])
    hollow = [key for key in found if key[1].endswith("itself")]
    x, y = "training loss (nats)", "mean total variation (0 to 1)"
    return lines(found, x, y, kind="alone", hollow=hollow, columns=2, share=False, height=3.2)
