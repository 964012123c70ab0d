"""Our numbers for each published anomaly: a function of the evidence with the defect on and one with it off, one line
each; ``KeyError`` where a record is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from actlab.claims.audited_numbers import numbers
from actlab.records.autopsy import Autopsy
from actlab.records.defects import IGNORED
from actlab.records.repro import ArmResults, Grid
from actlab.records.wording import listing, measured, signed
from actlab.statistics.means import mean_interval

LEAKY, UNIGRAM = "convlm", "tinylstm"
CHARLM = ("charlm", "relu")


def same_losses(arm: ArmResults, corrected: ArmResults) -> tuple[int, int]:
    """(evaluations that agree to the last digit, evaluations compared) of an arm under defects with a corrected one, by
    seed and iteration."""
    mine, theirs = (
        {(t["label"], e["iteration"]): e["val_loss"] for t in one.record["trials"] for e in t["history"]}
        for one in (arm, corrected)
    )
    shared = mine.keys() & theirs.keys()
    return sum(mine[key] == theirs[key] for key in shared), len(shared)


def ignoring(evidence: Autopsy) -> list[ArmResults]:
    """One arm a model, named after another activation than the relu that it got, whose corrected relu arm is recorded;
    the one without other defects where there is one."""
    found = {m: r.arm for (m, a), r in evidence.on.items() if IGNORED in r.defects and a != "relu" and m != LEAKY}
    found |= {m: arm for (m, a), arm in evidence.ignored.arms.items() if a != "relu"}
    return [arm for model, arm in found.items() if (model, "relu") in evidence.off.arms]


def identical_on(evidence: Autopsy) -> str:
    """Equal losses under two names."""
    arms = _some(ignoring(evidence))
    equal, every = np.sum([same_losses(arm, evidence.off.arms[arm.model, "relu"]) for arm in arms], axis=0)
    return f"the losses of gelu are relu's to the last digit in {equal} of {every} evaluations of {len(arms)} models"


def identical_off(evidence: Autopsy) -> str:
    """What the activation does when it arrives."""
    arms = evidence.off.arms
    there = [m for m, a in arms if a == "gelu" and m != "charlm" and (m, "relu") in arms]
    found = {m: arms[m, "gelu"].minus(arms[m, "relu"], "val_loss") for m in _some(there)}
    most = max(found, key=lambda model: abs(found[model].value))
    return f"gelu minus relu up to {signed(found[most])} nats ({most})"


def _some(found: list[Any]) -> list[Any]:
    if not found:
        raise KeyError("no record of any")
    return found


def leak_on(evidence: Autopsy) -> str:
    """Loss at all positions, and the accuracy at last ones."""
    r = evidence.on[LEAKY, "relu"]
    return (
        f"{r.value('val_loss').value:.3f} nats after {r.end} iterations, and "
        f"{r.published('val_accuracy').value:.1f}% right at last positions"
    )


def leak_off(evidence: Autopsy) -> str:
    """The causal model after as many iterations."""
    arm, step = evidence.off.arms[LEAKY, "relu"], evidence.on[LEAKY, "relu"].end
    curves = map(arm.curve, ("val_loss", "val_accuracy"))
    loss, accuracy = (mean_interval(dict(zip(s, v.T, strict=True))[step]).value for s, v in curves)
    return f"{loss:.3f} nats, {accuracy:.1f}% right at all positions"


def itself_on(evidence: Autopsy) -> str:
    """Two seeds and one model on different inputs."""
    r = evidence.on[CHARLM]
    return f"charlm: two seeds {r.between().value:.3f}, one model {r.itself().value:.3f}"


def itself_off(evidence: Autopsy) -> str:
    """Two seeds on the same inputs."""
    return f"two seeds {measured(evidence.on[CHARLM].paired())}; one model 0"


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
    if len(found) < 3:
        raise KeyError("too few points")
    return float(found["train_loss"].corr(found[name], method="spearman"))


def trade_off_on(evidence: Autopsy) -> str:
    """On different inputs."""
    two, one = (correlation(points(evidence), name) for name in ("between", "itself"))
    return f"two seeds {two:+.2f}, one model {one:+.2f}"


def trade_off_off(evidence: Autopsy) -> str:
    """On the same inputs."""
    found = points(evidence)
    whole, part = (correlation(some, "paired") for some in (found, found[found["model"] != UNIGRAM]))
    return f"two seeds on the same inputs {whole:+.2f}, without {UNIGRAM} {part:+.2f}"


def plateau_on(evidence: Autopsy) -> str:
    """tinylstm beside the table of frequencies."""
    arm, level = evidence.off.arms[UNIGRAM, "relu"], evidence.off.baseline["unigram"]["val_loss"]
    two, loss = arm.estimate("total_variation").value, arm.estimate("val_loss").value
    return f"two seeds {two:.3f}, loss {loss:.3f} nats; character frequencies alone have {level:.3f}"


def plateau_off(evidence: Autopsy) -> str:
    """Trained for longer."""
    longer = _some(evidence.longer.of_model(UNIGRAM))[0]
    end = longer.record["config"]["recipe"]["iterations"]
    return f"{longer.estimate('val_loss').value:.3f} nats after {end} iterations"


def below(low: float, high: float, digits: int = 0) -> str:
    """By how many percent ``low`` lies below ``high``: ``45% below``, ``3% above``."""
    percent = 100 * (1 - low / high)
    return f"{abs(percent):.{digits}f}% {'above' if percent < 0 else 'below'}"


def swiglu_on(evidence: Autopsy) -> str:
    """Total variation of one against the relative PD of the other."""
    gated, relu = evidence.on["charlm", "swiglu"].between("coded_pd"), evidence.on[CHARLM].between("relative_pd")
    return f"{below(gated.value, relu.value)} relu, measures mixed"


def swiglu_off(evidence: Autopsy) -> str:
    """One measure for both; and on the same inputs."""
    relu, gated = evidence.on[CHARLM], evidence.on["charlm", "swiglu"]
    fair, plain = (evidence.off.arms["charlm", a] for a in ("swiglu", "relu"))
    return (
        f"{below(gated.between().value, relu.between().value, 1)} relu in one measure; on the same inputs swiglu minus "
        f"relu {signed(fair.minus(plain, 'total_variation'))}"
    )


def own_error(accuracy: float) -> float:
    """Standard error, in percentage points, of an accuracy (%) that was read at the published number of independent
    positions."""
    return float(np.sqrt(accuracy * (100 - accuracy) / numbers.accuracy_positions))


def drawn_on(evidence: Autopsy) -> str:
    """The accuracy of one draw, and the error of a draw."""
    accuracy = evidence.on[CHARLM].published("val_accuracy").value
    return f"charlm {accuracy:.1f}%, with a standard error of {own_error(accuracy):.1f} points a run"


def drawn_off(evidence: Autopsy) -> str:
    """The accuracy at all positions."""
    return f"charlm {measured(evidence.on[CHARLM].value('val_accuracy'), 1, '%')}"


def order(grid: Grid, metric: str) -> str:
    """charlm's activations from the lowest mean loss to the highest: ``swish < gelu < relu``."""
    means = {arm.activation: float(np.mean(arm.values(metric))) for arm in _some(grid.of_model("charlm"))}
    return " < ".join(sorted(means, key=lambda name: means[name]))


def past_the_best(grid: Grid) -> tuple[int, int]:
    """(trials of charlm whose last evaluation is not their lowest, trials)."""
    trials = [t for arm in grid.of_model("charlm") for t in arm.record["trials"] if t["status"] == "done"]
    return sum(t["best"]["iteration"] < t["final"]["iteration"] for t in trials), len(trials)


def significance_on(evidence: Autopsy) -> str:
    """Our runs on little text at the last step: the order of the mean losses."""
    later, trials = past_the_best(evidence.overfit)
    said = f"{later} of {trials} runs end above their lowest loss"
    return f"at the last step {order(evidence.overfit, 'val_loss')}; {said}"


def significance_off(evidence: Autopsy) -> str:
    """The same at each trial's lowest loss."""
    grid = evidence.overfit
    changed = listing(by_the_choice(grid))
    return f"at the lowest loss {order(grid, 'best_val_loss')}; differences from relu that depend on it: {changed}"


def by_the_choice(grid: Grid) -> list[str]:
    """charlm's activations whose difference from relu depends on the step."""
    arms = {arm.activation: arm for arm in grid.of_model("charlm")}
    found = {a: [arm.minus(arms["relu"], m) for m in ("val_loss", "best_val_loss")] for a, arm in arms.items()}
    return [
        a for a, (e, best) in found.items() if e.excludes(0) and not (best.excludes(0) and best.value * e.value > 0)
    ]


def rule(grid: Grid) -> str:
    """The decision rule of params/autopsy-overfit.yaml, on its records."""
    arms, (later, trials) = {arm.activation: arm for arm in grid.of_model("charlm")}, past_the_best(grid)
    if missing := [name for name in numbers.charlm_trials if name not in arms]:
        return f"The rule of params/autopsy-overfit.yaml waits for records of {', '.join(missing)}"
    changed = by_the_choice(grid)
    reproduced = later == trials and order(grid, "val_loss") != order(grid, "best_val_loss")
    return (
        f"By the rule of params/autopsy-overfit.yaml the anomaly of the last step is {'' if reproduced else 'not '}"
        f"reproduced; differences from relu that the choice decides: {', '.join(changed) or 'none'}"
    )
