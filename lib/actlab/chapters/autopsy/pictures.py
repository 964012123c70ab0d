"""Figures of the autopsy: each published anomaly with its defect on and off."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from actlab.chapters.autopsy.trained import points as snapshots
from actlab.figures.primitives import Line, lines, points, scatter
from actlab.records.autopsy import Autopsy
from actlab.records.repro import ArmResults
from actlab.statistics.estimate import Estimate

LOSS = "validation loss (nats)"
CAPTIONS = {
    "itself": "The published difference is what one model gives against itself on other inputs; two seeds on the same "
    "inputs differ far less",
    "identical": "Where hollow marks lie on corrected relu's line, the name of the activation changed nothing; "
    "corrected, the activations differ",
    "leak": "Padded on both sides, convlm's loss falls to almost nothing; padded on the left it stays an ordinary one",
    "trade_off": "On different inputs the difference rises as the loss falls, and so does one model's from itself "
    "(hollow); on the same inputs little of it is left",
}
"""Figure -> the claim that it shows."""


def _mean_loss(arm: ArmResults, until: int) -> Line:
    """The mean validation loss of an arm up to an iteration."""
    steps, values = arm.curve("val_loss")
    return Line(list(steps[steps <= until]), list(np.nanmean(values[:, steps <= until], axis=0)))


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
    """Corrected relu and gelu as lines; arms that ignored their activation as hollow marks, on relu's line or on each
    other."""
    found, marks = {}, set()
    for (model, activation), reading in evidence.on.items():
        if model != "charlm":
            for name in ("relu", "gelu"):
                if (model, name) in evidence.off.arms:
                    found[model, f"{name}, corrected"] = _mean_loss(evidence.off.arms[model, name], reading.end)
            found[model, f"{activation}, as published"] = _mean_loss(reading.arm, reading.end)
            marks.add((model, f"{activation}, as published"))
    return lines(found, "iteration", LOSS, marks=marks)


def figure_leak(evidence: Autopsy) -> Figure:
    """convlm with padding on both sides and causal, beside the n-gram baselines."""
    reading, corrected = evidence.on.get(("convlm", "relu")), evidence.off.arms.get(("convlm", "relu"))
    found = {("", "as published, padded on both sides"): _mean_loss(reading.arm, reading.end)} if reading else {}
    if reading and corrected:
        found["", "corrected, padded on the left"] = _mean_loss(corrected, reading.end)
    levels = {
        name: float(values["val_loss"])
        for name, values in evidence.off.baseline.items()
        if name in ("unigram", "bigram")
    }
    return lines(found, "iteration", LOSS, levels=levels, height=2.8)


def figure_trade_off(evidence: Autopsy) -> Figure:
    """Prediction difference against training loss, a mark an arm and snapshot: on different inputs (hollow: one model),
    and on the same inputs."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for point in snapshots(evidence):
        model, loss = str(point["model"]), float(point["train_loss"])
        for panel, series, value in (
            ("different inputs", model, "between"),
            ("different inputs", f"{model}, one model against itself", "itself"),
            ("same inputs", model, "paired"),
        ):
            found.setdefault((panel, series), []).append((loss, float(point[value])))
    hollow = [key for key in found if key[1].endswith("itself")]
    return scatter(found, "training loss (nats)", "mean total variation (0 to 1)", hollow=hollow, columns=2)
