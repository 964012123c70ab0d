"""Our numbers for each published anomaly: a function of the evidence that says it with the defect on and off, one line
each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from actlab.records.defects import IGNORED
from actlab.records.repro import ArmResults, Grid
from actlab.records.wording import listing, measured, signed
from actlab_audit.audited_numbers import numbers
from actlab_audit.readings import Autopsy

LEAKY, UNIGRAM = "convlm", "tinylstm"
CHARLM = ("charlm", "relu")
Sides = tuple[str, str]
"""With the defect on, and without it."""


def ignoring(evidence: Autopsy) -> list[ArmResults]:
    """One arm a model, named after another activation than the relu that it got, whose corrected relu arm is recorded;
    the one without other defects where there is one."""
    found = {m: r.arm for (m, a), r in evidence.on.items() if IGNORED in r.defects and a != "relu" and m != LEAKY}
    found |= {m: arm for (m, a), arm in evidence.ignored.arms.items() if a != "relu"}
    return [arm for model, arm in found.items() if (model, "relu") in evidence.off.arms]


def identical(evidence: Autopsy) -> Sides:
    """Equal losses under two names; what the activation does when it arrives."""
    named, arms = ignoring(evidence), evidence.off.arms
    gaps = pd.concat(arm.curve("val_loss") - arms[arm.model, "relu"].curve("val_loss") for arm in named)
    equal, every = gaps.eq(0).sum().sum(), gaps.count().sum()  # by seed and iteration
    couples = evidence.off.couples("relu").items()
    found = {m: arm.minus(relu, "val_loss") for (m, a), (arm, relu) in couples if a == "gelu" and m != "charlm"}
    most = max(found, key=lambda model: abs(found[model].value))
    on = f"the losses of gelu are relu's to the last digit in {equal} of {every} evaluations of {len(named)} models"
    return on, f"gelu minus relu up to {signed(found[most])} nats ({most})"


def leak(evidence: Autopsy) -> Sides:
    """Loss at all positions and accuracy at last ones; the causal model after as many iterations."""
    leaky, causal = evidence.on[LEAKY, "relu"], evidence.off.arms[LEAKY, "relu"]
    loss, accuracy = (causal.curve(name)[leaky.end].mean() for name in ("val_loss", "val_accuracy"))
    return (
        f"{leaky.value('val_loss').value:.3f} nats after {leaky.end} iterations, and "
        f"{leaky.published().value:.1f}% right at last positions",
        f"{loss:.3f} nats, {accuracy:.1f}% right at all positions",
    )


def itself(evidence: Autopsy) -> Sides:
    """Two seeds and one model on different inputs; two seeds on the same."""
    r = evidence.on[CHARLM]
    on = f"charlm: two seeds {r.between().value:.3f}, one model {r.itself().value:.3f}"
    return on, f"two seeds {measured(r.paired())}; one model 0"


COLUMNS = ("model", "activation", "iteration", "train_loss", "between", "itself", "paired")


def points(evidence: Autopsy) -> pd.DataFrame:
    """One row an arm and snapshot: training loss, two seeds and one model as published, two seeds on the same inputs.
    Not convlm, which leaks."""
    rows = []
    for cell, r in evidence.on.items():
        for step in r.iterations if cell[0] != LEAKY else ():
            read = (r.value("train_loss", step), *(way(iteration=step) for way in (r.between, r.itself, r.paired)))
            rows.append((*cell, step, *(found.value for found in read)))
    return pd.DataFrame(rows, columns=COLUMNS)


def correlation(found: pd.DataFrame, name: str) -> float:
    """Spearman's correlation of a reading with the training loss."""
    return float(found["train_loss"].corr(found[name], method="spearman"))


def trade_off(evidence: Autopsy) -> Sides:
    """On different inputs; on the same."""
    found = points(evidence)
    two, one, whole = (correlation(found, name) for name in ("between", "itself", "paired"))
    part = correlation(found[found["model"] != UNIGRAM], "paired")
    on = f"two seeds {two:+.2f}, one model {one:+.2f}"
    return on, f"two seeds on the same inputs {whole:+.2f}, without {UNIGRAM} {part:+.2f}"


def plateau(evidence: Autopsy) -> Sides:
    """tinylstm beside the table of frequencies; trained for longer."""
    arm, level = evidence.off.arms[UNIGRAM, "relu"], evidence.off.baseline["unigram"]["val_loss"]
    two, loss = arm.estimate("total_variation").value, arm.estimate("val_loss").value
    longer = evidence.longer.of_model(UNIGRAM)[0]
    end = longer.recipe["iterations"]
    return (
        f"two seeds {two:.3f}, loss {loss:.3f} nats; character frequencies alone have {level:.3f}",
        f"{longer.estimate('val_loss').value:.3f} nats after {end} iterations",
    )


def below(low: float, high: float, digits: int = 0) -> str:
    """By how many percent ``low`` lies below ``high``: ``45% below``, ``3% above``."""
    percent = 100 * (1 - low / high)
    return f"{abs(percent):.{digits}f}% {'above' if percent < 0 else 'below'}"


def swiglu(evidence: Autopsy) -> Sides:
    """Total variation of one against the relative PD of the other; one measure for both, and on the same inputs."""
    relu, gated = evidence.on[CHARLM], evidence.on["charlm", "swiglu"]
    fair, plain = (evidence.off.arms["charlm", a] for a in ("swiglu", "relu"))
    mixed = below(gated.between().value, relu.between("relative_pd").value)
    alike = below(gated.between().value, relu.between().value, 1)
    same = signed(fair.minus(plain, "total_variation"))
    return f"{mixed} relu, measures mixed", f"{alike} relu in one measure; on the same inputs swiglu minus relu {same}"


def drawn(evidence: Autopsy) -> Sides:
    """The accuracy of one draw, with the standard error of the published number of independent positions; that at all
    positions."""
    r = evidence.on[CHARLM]
    accuracy = r.published().value
    error = np.sqrt(accuracy * (100 - accuracy) / numbers.accuracy_positions)
    on = f"charlm {accuracy:.1f}%, with a standard error of {error:.1f} points a run"
    return on, f"charlm {measured(r.value('val_accuracy'), 1, '%')}"


def order(grid: Grid, metric: str) -> str:
    """charlm's activations from the lowest mean loss to the highest: ``swish < gelu < relu``."""
    means = {arm.activation: float(np.mean(arm.values(metric))) for arm in grid.of_model("charlm")}
    return " < ".join(sorted(means, key=lambda name: means[name]))


def past_the_best(grid: Grid) -> tuple[int, int]:
    """(trials of charlm whose last evaluation is not their lowest, trials)."""
    trials = [t for arm in grid.of_model("charlm") for t in arm.record["trials"] if t["status"] == "done"]
    return sum(t["best"]["iteration"] < t["final"]["iteration"] for t in trials), len(trials)


def significance(evidence: Autopsy) -> Sides:
    """Our runs on little text: the order of the mean losses at the last step; at each trial's lowest loss."""
    grid, (later, trials) = evidence.overfit, past_the_best(evidence.overfit)
    last, best = (order(grid, metric) for metric in ("val_loss", "best_val_loss"))
    changed = listing(by_the_choice(grid))
    return (
        f"at the last step {last}; {later} of {trials} runs end above their lowest loss",
        f"at the lowest loss {best}; differences from relu that depend on it: {changed}",
    )


def by_the_choice(grid: Grid) -> list[str]:
    """charlm's activations whose difference from relu depends on the step."""
    arms = {arm.activation: arm for arm in grid.of_model("charlm")}
    found = {a: [arm.minus(arms["relu"], m) for m in ("val_loss", "best_val_loss")] for a, arm in arms.items()}
    return [
        a for a, (e, best) in found.items() if e.excludes(0) and not (best.excludes(0) and best.value * e.value > 0)
    ]


def rule(grid: Grid) -> str:
    """The decision rule of params/autopsy-overfit.yaml, on its records."""
    (later, trials), changed = past_the_best(grid), by_the_choice(grid)
    reproduced = later == trials and order(grid, "val_loss") != order(grid, "best_val_loss")
    return (
        f"By the rule of params/autopsy-overfit.yaml the anomaly of the last step is {'' if reproduced else 'not '}"
        f"reproduced; differences from relu that the choice decides: {', '.join(changed) or 'none'}"
    )
