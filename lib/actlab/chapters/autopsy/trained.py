"""The anomalies that a training run shows: for each a function of the evidence with the defect on and one with it off;
``KeyError`` where a record is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from actlab.chapters.autopsy.printed import below
from actlab.claims.published import numbers as p
from actlab.records.autopsy import Autopsy, Reading, at
from actlab.records.defects import IGNORED
from actlab.records.repro import ArmResults
from actlab.records.wording import measured as said
from actlab.statistics.means import coefficient_of_variation, mean_interval, pair_mean, rank_correlation

LEAKY, UNIGRAM = "convlm", "tinylstm"
COARSE, FINE = ("gelu", "swiglu"), ("relu", "swish", "smelu_1")
"""charlm's cells in the published table: total variation on different inputs, and relative PD."""


def same_losses(arm: ArmResults, corrected: ArmResults) -> tuple[int, int]:
    """(evaluations that agree to the last digit, evaluations compared) of an arm under defects with a corrected one, by
    seed and iteration."""
    mine, theirs = (
        {(t["label"], e["iteration"]): e["val_loss"] for t in one.record["trials"] for e in t["history"]}
        for one in (arm, corrected)
    )
    shared = mine.keys() & theirs.keys()
    return sum(mine[key] == theirs[key] for key in shared), len(shared)


def same_weights(evidence: Autopsy, model: str = LEAKY) -> tuple[int, int]:
    """(seeds whose weights are equal bit for bit under relu and gelu, seeds) of a model that ignored its activation."""
    relu, gelu = (
        {t["label"]: t["weights_sha256"] for t in evidence.on[model, a].arm.record["trials"]} for a in ("relu", "gelu")
    )
    return sum(relu[label] == gelu.get(label) for label in relu), len(relu)


def ignoring(evidence: Autopsy) -> list[ArmResults]:
    """One arm a model, named after another activation than the relu that it got, whose corrected relu arm is recorded;
    the one without other defects where there is one."""
    found = {m: r.arm for (m, a), r in evidence.on.items() if IGNORED in r.defects and a != "relu" and m != LEAKY}
    found |= {m: arm for (m, a), arm in evidence.ignored.arms.items() if a != "relu"}
    return [arm for model, arm in found.items() if (model, "relu") in evidence.off.arms]


def identical_on(evidence: Autopsy) -> str:
    """Equal weights and equal losses under two names."""
    equal, seeds = same_weights(evidence)
    parts = [f"{LEAKY}: relu and gelu end in the same weights, bit for bit, in {equal} of {seeds} seeds"]
    for arm in ignoring(evidence):
        agree, compared = same_losses(arm, evidence.off.arms[arm.model, "relu"])
        same = f"the losses of {arm.activation} are relu's to the last digit"
        parts.append(f"{arm.model}: {same} in {agree} of {compared} evaluations")
    return "; ".join(parts)


def identical_off(evidence: Autopsy) -> str:
    """What the activation does when it arrives."""
    arms, models = evidence.off.arms, ("nanotransformer", "minigpt", "hybridlm", LEAKY, UNIGRAM)
    there = [m for m in models if {(m, "relu"), (m, "gelu")} <= set(arms)]
    found = _some([f"{m} {said(arms[m, 'gelu'].minus(arms[m, 'relu'], 'val_loss'))}" for m in there])
    return f"validation loss of gelu minus relu: {'; '.join(found)}"


def _some(found: list[str]) -> list[str]:
    if not found:
        raise KeyError("no record of any")
    return found


def leak_on(evidence: Autopsy) -> str:
    """Loss and accuracy at all positions, and the accuracy at last ones."""
    r = evidence.on[LEAKY, "relu"]
    everywhere = (
        f"{said(r.value('val_loss'), 3, ' nats')}, {said(r.value('val_accuracy'), 1, '%')} right at all positions"
    )
    last = f"{said(r.published('val_accuracy'), 1, '%')} at last positions, where the future is padding"
    return f"after {r.end} iterations a loss of {everywhere}, but {last}"


def leak_off(evidence: Autopsy) -> str:
    """The causal model after as many iterations."""
    arm, step = evidence.off.arms[LEAKY, "relu"], evidence.on[LEAKY, "relu"].end
    loss, accuracy = (mean_interval(at(arm, name, step)) for name in ("val_loss", "val_accuracy"))
    return f"causal, after {step} iterations: {said(loss, 3, ' nats')}, {said(accuracy, 1, '%')} right at all positions"


def _each(evidence: Autopsy, words: Callable[[Reading], str]) -> str:
    """Every recorded reading, in words."""
    return "; ".join(_some([f"{m} {a}{words(reading)}" for (m, a), reading in evidence.on.items()]))


def itself_on(evidence: Autopsy) -> str:
    """Two seeds and one model on different inputs."""
    return _each(evidence, lambda r: f": two seeds {said(r.between())}, one model {said(r.itself())}")


def itself_off(evidence: Autopsy) -> str:
    """Two seeds on the same inputs."""
    return "the same trials on the same inputs (one model: 0): " + _each(evidence, lambda r: f" {said(r.paired())}")


Point = dict[str, float | str | int]


def points(evidence: Autopsy) -> list[Point]:
    """One point an arm and snapshot: training loss, two seeds and one model as published, two seeds on the same inputs.
    Not convlm, which leaks."""
    return [
        {
            "model": model,
            "activation": activation,
            "iteration": step,
            "train_loss": reading.value("train_loss", step).value,
            "between": reading.between(iteration=step).value,
            "itself": reading.itself(iteration=step).value,
            "paired": reading.paired(iteration=step).value,
        }
        for (model, activation), reading in evidence.on.items()
        if model != LEAKY
        for step in reading.iterations
    ]


def _correlations(evidence: Autopsy, names: Mapping[str, str]) -> str:
    """Spearman's correlation of some readings with the training loss, over all points and without tinylstm's."""
    everything = points(evidence)
    learned = [point for point in everything if point["model"] != UNIGRAM]
    if len(learned) < 3:
        raise KeyError("too few points")
    parts = []
    for found, which in ((everything, ""), (learned, f" without {UNIGRAM}")):
        table = {key: np.array([float(point[key]) for point in found]) for key in ("train_loss", *names)}
        rho = {key: float(rank_correlation(np.stack([table["train_loss"], table[key]])[:, None])[0]) for key in names}
        told = ", ".join(f"{words} {rho[key]:+.2f}" for key, words in names.items())
        parts.append(f"over {len(found)} points{which} {told}")
    return f"rank correlation with training loss: {'; '.join(parts)}"


def trade_off_on(evidence: Autopsy) -> str:
    """On different inputs."""
    return _correlations(evidence, {"between": "two seeds", "itself": "one model"})


def trade_off_off(evidence: Autopsy) -> str:
    """On the same inputs."""
    return _correlations(evidence, {"paired": "two seeds on the same inputs"})


def plateau_on(evidence: Autopsy) -> str:
    """tinylstm read as published."""
    r = evidence.on[UNIGRAM, "gelu"]
    return (
        f"two seeds differ by {said(r.between())} and one model from itself on other inputs by "
        f"{said(r.itself(), 4)}: it "
        f"answers every question alike; its loss after {r.end} iterations: {said(r.value('val_loss'), 3, ' nats')}"
    )


def plateau_off(evidence: Autopsy) -> str:
    """tinylstm beside the table of frequencies, and trained for longer."""
    arm, level = evidence.off.arms[UNIGRAM, "relu"], evidence.off.baseline["unigram"]["val_loss"]
    loss, difference = said(arm.estimate("val_loss"), 3, " nats"), said(arm.estimate("total_variation"))
    parts = [f"after {_last(arm)} iterations {loss}, two seeds {difference}"]
    parts += [f"the table of character frequencies has {level:.3f} nats"]
    for longer in evidence.longer.of_model(UNIGRAM)[:1]:
        parts += [f"trained on to iteration {_last(longer)}, {said(longer.estimate('val_loss'), 3, ' nats')}"]
    return "; ".join(parts)


def _last(arm: ArmResults) -> int:
    return int(arm.record["config"]["recipe"]["iterations"])


def swiglu_on(evidence: Autopsy) -> str:
    """Total variation of one against the relative PD of the other."""
    gated, relu = (
        evidence.on["charlm", "swiglu"].between("coded_pd"),
        evidence.on["charlm", "relu"].between("relative_pd"),
    )
    against = f"swiglu's total variation {said(gated)} against relu's relative PD {said(relu)}"
    return f"{against}, both on different inputs: {below(gated.value, relu.value)}"


def swiglu_off(evidence: Autopsy) -> str:
    """One measure for both; and on the same inputs."""
    relu, gated = (evidence.on["charlm", a] for a in ("relu", "swiglu"))
    fair, plain = (evidence.off.arms["charlm", a] for a in ("swiglu", "relu"))
    same = [
        f"{name} {below(gated.between(m).value, relu.between(m).value, 1)}"
        for name, m in (("total variation", "coded_pd"), ("relative PD", "relative_pd"))
    ]
    return (
        f"one measure for both, still on different inputs: swiglu against relu {', '.join(same)}; same inputs, equal "
        f"parameters, {_last(fair)} iterations: swiglu minus relu {said(fair.minus(plain, 'total_variation'), 4)}"
    )


def sensitivity(evidence: Autopsy) -> dict[str, float]:
    """CV% over charlm's activations: measures mixed as in the published table, and each measure alone. ``KeyError``
    where an arm is missing."""
    arms = {activation: evidence.off.arms["charlm", activation] for activation in (*COARSE, *FINE)}
    total, relative = (
        {a: pair_mean(arm.matrix(metric)).value for a, arm in arms.items()}
        for metric in ("total_variation", "relative_pd")
    )
    mixed = {a: (total if a in COARSE else relative)[a] for a in arms}
    found = {"mixed": mixed, "total variation": total, "relative PD": relative}
    return {name: float(coefficient_of_variation(list(values.values()))) for name, values in found.items()}


def mixed_table_on(evidence: Autopsy) -> str:
    """The spread of a table that holds two measures."""
    return f"our five arms, measures mixed in the same way: mixed {sensitivity(evidence)['mixed']:.1f}%"


def mixed_table_off(evidence: Autopsy) -> str:
    """That of each measure alone."""
    found = sensitivity(evidence)
    return "the same arms, one measure: " + ", ".join(
        f"{n} {found[n]:.1f}%" for n in ("total variation", "relative PD")
    )


def own_error(accuracy: float) -> float:
    """Standard error, in percentage points, of an accuracy (%) that was read at the published number of independent
    positions."""
    return float(np.sqrt(accuracy * (100 - accuracy) / p.accuracy_positions))


def drawn_on(evidence: Autopsy) -> str:
    """Accuracies and losses of one draw."""

    def words(reading: Reading) -> str:
        accuracy = reading.published("val_accuracy")
        gap = reading.published("val_loss").value - reading.value("val_loss").value
        error = f"own error {own_error(accuracy.value):.1f} points a trial"
        return f" {said(accuracy, 1, '%')}, {error}, loss off by {gap:+.4f} nats"

    return _each(evidence, words)


def drawn_off(evidence: Autopsy) -> str:
    """Accuracies at all positions."""
    return _each(evidence, lambda reading: f" {said(reading.value('val_accuracy'), 1, '%')}")
