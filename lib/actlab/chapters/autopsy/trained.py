"""The anomalies that a training run shows: each a function of the evidence, its numbers read from records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from actlab.chapters.autopsy import Anomaly, or_waiting
from actlab.claims.published import numbers as p
from actlab.records.autopsy import IGNORED, Evidence, Reading, at
from actlab.records.repro import ArmResults
from actlab.statistics.means import coefficient_of_variation, mean_interval, pair_mean, rank_correlation
from actlab.wording import measured as said

LEAKY, UNIGRAM = "convlm", "tinylstm"
GAINED = ("relu", "swiglu")
DRAWN = 1000
"""Windows of one published accuracy."""
COARSE, FINE = ("gelu", "swiglu"), ("relu", "swish", "smelu_1")
"""charlm's cells in the published table: total variation on different inputs, and relative PD."""


FIVE = tuple(("charlm", activation) for activation in (*COARSE, *FINE))


def same_losses(arm: ArmResults, corrected: ArmResults) -> tuple[int, int]:
    """(evaluations that agree to the last digit, evaluations compared) of an arm under defects with a corrected one, by
    seed and iteration."""
    recorded = {t["label"]: {e["iteration"]: e["val_loss"] for e in t["history"]} for t in corrected.record["trials"]}
    pairs = [
        (entry["val_loss"], recorded[trial["label"]][entry["iteration"]])
        for trial in arm.record["trials"]
        for entry in trial["history"]
        if entry["iteration"] in recorded.get(trial["label"], {})
    ]
    return sum(a == b for a, b in pairs), len(pairs)


def same_weights(evidence: Evidence, model: str = LEAKY) -> tuple[int, int]:
    """(seeds whose weights are equal bit for bit under relu and gelu, seeds) of a model that ignored its activation."""
    hashes = [
        {t["label"]: t["weights_sha256"] for t in evidence.on[model, a].arm.record["trials"]} for a in ("relu", "gelu")
    ]
    return sum(hashes[0][label] == hashes[1].get(label) for label in hashes[0]), len(hashes[0])


def ignoring(evidence: Evidence) -> list[ArmResults]:
    """One arm a model, named after another activation than the relu that it got, whose corrected relu arm is recorded;
    the one without other defects where there is one."""
    found = {m: r.arm for (m, a), r in evidence.on.items() if IGNORED in r.defects and a != "relu" and m != LEAKY}
    found |= {m: arm for (m, a), arm in evidence.ignored.arms.items() if a != "relu"}
    return [arm for model, arm in found.items() if (model, "relu") in evidence.off.arms]


def identical(evidence: Evidence) -> Anomaly:
    """0% variance across activations."""

    def on() -> str:
        equal, seeds = same_weights(evidence)
        parts = [f"{LEAKY}: relu and gelu end in the same weights, bit for bit, in {equal} of {seeds} seeds"]
        for arm in ignoring(evidence):
            agree, compared = same_losses(arm, evidence.off.arms[arm.model, "relu"])
            parts.append(
                f"{arm.model}: the losses of {arm.activation} are relu's to the last digit in {agree} of {compared} evaluations"
            )
        return "; ".join(parts)

    def off() -> str:
        models = [
            m
            for m in ("nanotransformer", "minigpt", "hybridlm", "convlm", UNIGRAM)
            if {(m, "relu"), (m, "gelu")} <= set(evidence.off.arms)
        ]
        differences = {m: evidence.off.arms[m, "gelu"].minus(evidence.off.arms[m, "relu"], "val_loss") for m in models}
        if not differences:
            raise KeyError("no pair of arms")
        return "validation loss of gelu less relu: " + "; ".join(f"{m} {said(e)}" for m, e in differences.items())

    return Anomaly(
        "Identical results across activations",
        f"0% variance over activations in {len(p.insensitive)} of {len(p.full)} architectures",
        "report, executive summary and 7.1 to 7.5",
        "A module was passed where a name was expected; the unknown name silently became ReLU, so every arm trained the same network.",
        or_waiting(on),
        or_waiting(off),
    )


def leak(evidence: Evidence) -> Anomaly:
    """convlm's loss near 0 beside an ordinary accuracy."""

    def on() -> str:
        reading = evidence.on[LEAKY, "relu"]
        return (
            f"after {reading.end} iterations a loss of {said(reading.value('val_loss'), 3, ' nats')}, {said(reading.value('val_accuracy'), 1, '%')} "
            f"right at all positions, but {said(reading.published('val_accuracy'), 1, '%')} at last positions, where the future is padding"
        )

    def off() -> str:
        arm, step = evidence.off.arms[LEAKY, "relu"], evidence.on[LEAKY, "relu"].end
        loss, accuracy = (mean_interval(at(arm, name, step)) for name in ("val_loss", "val_accuracy"))
        return f"causal, after {step} iterations: {said(loss, 3, ' nats')}, {said(accuracy, 1, '%')} right at all positions"

    return Anomaly(
        "convlm: almost no loss, ordinary accuracy",
        f"validation loss {p.full['convlm']['val_loss']} with {p.full['convlm']['val_accuracy']}% accuracy",
        "report, 7.4",
        "Convolutions padded on both sides let each position read the characters that it predicts; the loss averages all positions, the accuracy is "
        "taken at the last one alone, which has no future to read.",
        or_waiting(on),
        or_waiting(off),
    )


def itself(evidence: Evidence) -> Anomaly:
    """A prediction difference that a model has from itself."""

    def on() -> str:
        return "; ".join(
            f"{m} {a}: two seeds {said(r.between())}, one model {said(r.itself())}"
            for (m, a), r in _known(evidence.on).items()
        )

    def off() -> str:
        return "the same trials on the same inputs (one model: 0): " + "; ".join(
            f"{m} {a} {said(r.paired())}" for (m, a), r in _known(evidence.on).items()
        )

    high, low = (choose(row["total_variation"] for row in p.full.values()) for choose in (max, min))
    return Anomaly(
        "Prediction differences near 0.9",
        f"{low} to {high} at full scale, read as the share of predictions that differ",
        "report, 7, and methodology notes",
        "Each model predicts windows drawn anew for it, so that two models are never asked the same question: it measures how different texts are.",
        or_waiting(on),
        or_waiting(off),
    )


def _known(readings: dict[tuple[str, str], Reading]) -> dict[tuple[str, str], Reading]:
    if not readings:
        raise KeyError("no reading")
    return readings


Point = dict[str, float | str | int]


def points(evidence: Evidence) -> list[Point]:
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


def correlations(found: list[Point]) -> dict[str, float]:
    """Spearman's correlation of each reading with the training loss, over ``points``."""
    loss = np.array([float(point["train_loss"]) for point in found])
    return {
        name: _rank(loss, np.array([float(point[name]) for point in found])) for name in ("between", "itself", "paired")
    }


def _rank(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(rank_correlation(np.stack([x, y])[:, None])[0])


def trade_off(evidence: Evidence) -> Anomaly:
    """The "reproducibility-accuracy trade-off"."""
    everything = points(evidence)
    learned = [point for point in everything if point["model"] != UNIGRAM]

    def words(names: dict[str, str]) -> str:
        if len(learned) < 3:
            raise KeyError("too few points")
        parts = []
        for found, which in ((everything, ""), (learned, f" without {UNIGRAM}")):
            rho = correlations(found)
            parts.append(
                f"over {len(found)} points{which} "
                + ", ".join(f"{label} {rho[name]:+.2f}" for name, label in names.items())
            )
        return "rank correlation with training loss: " + "; ".join(parts)

    return Anomaly(
        'The "reproducibility-accuracy trade-off"',
        f"rank correlation of prediction difference and training loss {p.pd_against_loss:+.2f}",
        "report, 1; the correlation is of its result files",
        "On different inputs a confident model differs more, from others and from itself: it measures confidence, which grows as the loss falls.",
        or_waiting(lambda: words({"between": "two seeds", "itself": "one model"})),
        or_waiting(lambda: words({"paired": "two seeds on the same inputs"})),
    )


def plateau(evidence: Evidence) -> Anomaly:
    """tinylstm's "perfect" reproducibility."""

    def on() -> str:
        reading = evidence.on[UNIGRAM, "gelu"]
        return (
            f"two seeds differ by {said(reading.between())} and one model from itself on other inputs by {said(reading.itself(), 4)}: it answers "
            f"every question alike; its loss after {reading.end} iterations: {said(reading.value('val_loss'), 3, ' nats')}"
        )

    def off() -> str:
        level = evidence.off.baseline["unigram"]["val_loss"]
        arm = evidence.off.arms[UNIGRAM, "relu"]
        first = next((s for s in evidence.longer.of_model(UNIGRAM)), None)
        later = (
            ""
            if first is None
            else f"; trained on to iteration {_last(first)}, {said(first.estimate('val_loss'), 3, ' nats')}"
        )
        return (
            f"after {_last(arm)} iterations {said(arm.estimate('val_loss'), 3, ' nats')}, two seeds {said(arm.estimate('total_variation'))}; "
            f"the table of character frequencies has {level:.3f} nats{later}"
        )

    return Anomaly(
        'tinylstm: "perfect" reproducibility',
        f"prediction difference {p.tinylstm['total_variation']}, accuracy {p.tinylstm['val_accuracy']}%, loss {p.tinylstm['val_loss']} "
        "under every activation",
        "report, 1, 2 and 6",
        "Nothing is wrong with the code: after so few steps the network knows only how frequent each character is, and two copies of a table agree.",
        or_waiting(on),
        or_waiting(off),
    )


def _last(arm: ArmResults) -> int:
    return int(arm.record["config"]["recipe"]["iterations"])


def gain(low: float, high: float) -> float:
    """By how many percent ``low`` lies below ``high``."""
    return 100 * (1 - low / high)


def below(low: float, high: float, digits: int = 0) -> str:
    """The same in words: ``45% below``, ``3% above``."""
    percent = gain(low, high)
    return f"{abs(percent):.{digits}f}% {'above' if percent < 0 else 'below'}"


def swiglu(evidence: Evidence) -> Anomaly:
    """The 45% of SwiGLU."""

    def on() -> str:
        relu, gated = (evidence.on["charlm", a] for a in GAINED)
        ours = below(gated.between("coded_pd").value, relu.between("relative_pd").value)
        return (
            f"swiglu's total variation {said(gated.between('coded_pd'))} against relu's relative PD {said(relu.between('relative_pd'))}, "
            f"both on different inputs: {ours}"
        )

    def off() -> str:
        relu, gated = (evidence.on["charlm", a] for a in GAINED)
        measures = {"total variation": "coded_pd", "relative PD": "relative_pd"}
        same = {name: below(gated.between(m).value, relu.between(m).value, 1) for name, m in measures.items()}
        fair = evidence.off.arms["charlm", "swiglu"].minus(evidence.off.arms["charlm", "relu"], "total_variation")
        return (
            "one measure for both, still on different inputs: swiglu against relu "
            + ", ".join(f"{name} {value}" for name, value in same.items())
            + f"; same inputs, equal parameters, {_last(evidence.off.arms['charlm', 'swiglu'])} iterations: swiglu less relu {said(fair, 4)}"
        )

    best = p.console_pd["swiglu"]
    return Anomaly(
        "SwiGLU: 45% more reproducible",
        f"{best} against {p.console_pd['relu']} for relu: {below(best, p.console_pd['relu'])}",
        "README, key findings and console output",
        f"The cells of one table hold two measures: total variation after {p.swiglu_iterations} iterations for swiglu, whose feed-forward layers "
        "have half as many parameters again, and relative PD, which runs to 2, for relu.",
        or_waiting(on),
        or_waiting(off),
    )


def sensitivity(evidence: Evidence) -> dict[str, float]:
    """CV% over charlm's activations: measures mixed as in the published table, and each measure alone. ``KeyError``
    where an arm is missing."""
    arms = {a: evidence.off.arms[m, a] for m, a in FIVE}
    metrics: dict[str, Callable[[str], str]] = {
        "mixed": lambda a: "total_variation" if a in COARSE else "relative_pd",
        "total variation": lambda a: "total_variation",
        "relative PD": lambda a: "relative_pd",
    }
    values = {name: [pair_mean(arm.matrix(of(a))).value for a, arm in arms.items()] for name, of in metrics.items()}
    return {name: float(coefficient_of_variation(found)) for name, found in values.items()}


def sensitivity_bars(evidence: Evidence) -> dict[str, float]:
    """``sensitivity``, or nothing where an arm is missing."""
    return sensitivity(evidence) if set(FIVE) <= set(evidence.off.arms) else {}


def mixed_table(evidence: Evidence) -> Anomaly:
    """CV% from a table that holds several measures."""
    row = list(p.console_pd.values())

    def found(*names: str) -> str:
        values = sensitivity(evidence)
        return ", ".join(f"{name} {values[name]:.1f}%" for name in names)

    return Anomaly(
        "Sensitivity (CV%) of charlm",
        f"CV {p.readme_cv['charlm']}% (its own five cells give {coefficient_of_variation(row):.2f}% dividing by n, "
        f"{coefficient_of_variation(row, 1):.2f}% by n - 1)",
        "README, console output and models tested",
        "The five cells hold total variation for two activations and relative PD for three, so their spread is that of the measures; "
        f"{p.table_cells['no run']} of the whole table's {sum(p.table_cells.values())} cells are round numbers without a run.",
        or_waiting(lambda: f"our five arms, measures mixed in the same way: {found('mixed')}"),
        or_waiting(lambda: f"the same arms, one measure: {found('total variation', 'relative PD')}"),
    )


def own_error(accuracy: float) -> float:
    """Standard error, in percentage points, of an accuracy (%) that was read at ``DRAWN`` independent positions."""
    return float(np.sqrt(accuracy * (100 - accuracy) / DRAWN))


def drawn(evidence: Evidence) -> Anomaly:
    """Accuracies and losses of one draw."""
    spread = max(p.average_accuracy.values()) - min(p.average_accuracy.values())

    def on() -> str:
        parts = []
        for (model, activation), reading in _known(evidence.on).items():
            accuracy, gap = (
                reading.published("val_accuracy"),
                reading.published("val_loss").value - reading.value("val_loss").value,
            )
            error = own_error(accuracy.value)
            parts.append(
                f"{model} {activation} {said(accuracy, 1, '%')}, own error {error:.1f} points a trial, loss off by {gap:+.4f} nats"
            )
        return "; ".join(parts)

    def off() -> str:
        return "; ".join(
            f"{model} {activation} {said(r.value('val_accuracy'), 1, '%')}"
            for (model, activation), r in _known(evidence.on).items()
        )

    return Anomaly(
        "Accuracies to a hundredth of a percent",
        "; ".join(f"{name} {value}%" for name, value in p.average_accuracy.items())
        + f": {spread:.2f} points from first to last",
        "report, 3",
        f"Each accuracy is read once, at the last positions of {DRAWN:,} random windows; the error of that reading alone exceeds the differences.",
        or_waiting(on),
        or_waiting(off),
    )


TRAINED = (identical, leak, itself, trade_off, plateau, swiglu, mixed_table, drawn)
