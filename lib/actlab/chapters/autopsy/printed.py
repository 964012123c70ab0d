"""The anomalies that the published texts show by themselves: their own numbers again; where it takes a run of ours,
that beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from actlab.claims.published import numbers as p
from actlab.claims.published import parameters
from actlab.figures.style import NO_RECORD
from actlab.records.autopsy import Autopsy
from actlab.records.repro import Grid
from actlab.records.wording import measured
from actlab.statistics.means import coefficient_of_variation
from actlab.statistics.significance import f_p_value, one_way_anova, permutation_f, tukey

RULE = "params/autopsy-overfit.yaml"


def or_waiting(says: Callable[..., str], *arguments: Any) -> str:
    """What ``says`` returns, or ``NO_RECORD`` where a record that it reads is missing (a ``KeyError``)."""
    try:
        return says(*arguments)
    except KeyError:
        return NO_RECORD


def below(low: float, high: float, digits: int = 0) -> str:
    """By how many percent ``low`` lies below ``high``: ``45% below``, ``3% above``."""
    percent = 100 * (1 - low / high)
    return f"{abs(percent):.{digits}f}% {'above' if percent < 0 else 'below'}"


def derived() -> dict[str, Any]:
    """Name -> what follows from the published numbers alone."""
    cells, accuracies = list(p.console_pd.values()), p.average_accuracy.values()
    return {
        "cv": coefficient_of_variation(cells),
        "sample_cv": coefficient_of_variation(cells, 1),
        "points": max(accuracies) - min(accuracies),
        "fitting": {scale: _fitting(scale, stated) for scale, stated in p.report_parameters.items()},
    }


def _fitting(scale: str, stated: int) -> int:
    """How many models have the printed count, to its three digits."""
    return sum(float(f"{parameters(model, scale):.3g}") == stated for model in p.our_parameters)


def order(losses: Mapping[str, float | Sequence[float]]) -> str:
    """Names from the lowest mean loss to the highest: ``swish < gelu < relu``."""
    return " < ".join(sorted(losses, key=lambda name: float(np.mean(losses[name]))))


def past_the_best(grid: Grid) -> tuple[int, int]:
    """(trials of charlm whose last evaluation is not their lowest, trials)."""
    trials = [t for arm in grid.of_model("charlm") for t in arm.record["trials"] if t["status"] == "done"]
    return sum(t["best"]["iteration"] < t["final"]["iteration"] for t in trials), len(trials)


def by_trial(grid: Grid, metric: str) -> dict[str, list[float]]:
    """One loss of charlm's trials, by activation."""
    return {arm.activation: arm.values(metric).tolist() for arm in grid.of_model("charlm")}


def _tested(losses: Mapping[str, Sequence[float]]) -> str:
    """Order of the means and one-way ANOVA."""
    found = one_way_anova(losses)
    p_value = f"= {found.p_value:.4f}" if found.p_value >= 5e-5 else "< 0.0001"
    return f"{order(losses)}, F = {found.statistic:.2f}, p {p_value}"


def _ranked(grid: Grid, metric: str) -> str:
    """charlm's activations by one loss of our own runs: order, ANOVA, and every difference from relu."""
    relu, losses = grid.arms["charlm", "relu"], by_trial(grid, metric)
    if len(losses) < 2:
        raise KeyError("an activation beside relu")
    others = [arm for arm in grid.of_model("charlm") if arm is not relu]
    return "; ".join(
        [_tested(losses), *(f"{arm.activation} minus relu {measured(arm.minus(relu, metric))}" for arm in others)]
    )


def significance_on(evidence: Autopsy) -> str:
    """Our runs and the published ones at the last step: F, p and Tukey's p again."""

    def ours() -> str:
        later, trials = past_the_best(evidence.overfit)
        end = evidence.overfit.arms["charlm", "relu"].record["config"]["recipe"]["iterations"]
        said = f"{later} of {trials} trials end above their lowest loss at step {end:,}"
        return f"{_ranked(evidence.overfit, 'val_loss')}; {said}"

    stated, exact = f_p_value(p.anova["statistic"], 2, 6), permutation_f(p.charlm_trials).p_value
    pairs = tukey(p.charlm_trials)
    again = ", ".join(f"{pair} {pairs[frozenset(pair.split(' against '))]:.4f}" for pair in p.tukey)
    return (
        f"our runs on little text, at the last step: {or_waiting(ours)}; the published losses again: "
        f"{_tested(p.charlm_trials)} (the stated F gives {stated:.4f}, an exact permutation {exact:.3f}); Tukey: "
        f"{again}"
    )


def significance_off(evidence: Autopsy) -> str:
    """The same at each trial's lowest loss."""
    ours = or_waiting(_ranked, evidence.overfit, "best_val_loss")
    return f"our runs at each trial's lowest loss: {ours}; the published runs at theirs: {order(p.charlm_best)}"


def rule(grid: Grid) -> str:
    """The decision rule of params/autopsy-overfit.yaml, on its records."""
    arms, (later, trials) = {arm.activation: arm for arm in grid.of_model("charlm")}, past_the_best(grid)
    missing = [name for name in p.charlm_trials if name not in arms]
    if missing:
        return f"The rule of {RULE} waits for records of {', '.join(missing)}"
    last, best = (order(by_trial(grid, metric)) for metric in ("val_loss", "best_val_loss"))
    changed = []
    for name, arm in arms.items():
        at_end, at_best = (arm.minus(arms["relu"], metric) for metric in ("val_loss", "best_val_loss"))
        beyond = at_end.excludes(0) and not (at_best.excludes(0) and at_best.value * at_end.value > 0)
        changed += [name] if beyond else []
    return (
        f"By the rule of {RULE} the anomaly is {'' if later == trials and last != best else 'not '}reproduced: "
        f"{later} of {trials} trials end above their lowest loss; {last} at the last step, {best} at the lowest. "
        f"Differences from relu that the choice decides: {', '.join(changed) or 'none'}"
    )


def counted_on(evidence: Autopsy) -> str:
    """Our models' parameters at the published sizes."""
    return "counted at the same settings: " + "; ".join(
        f"{scale} " + ", ".join(f"{model} {parameters(model, scale):,}" for model in p.our_parameters)
        for scale in p.report_parameters
    )


def counted_off(evidence: Autopsy) -> str:
    """Those of the recorded arms."""
    recorded = {model: evidence.off.of_model(model) for model in evidence.off.models}
    found = [f"{model} {arms[0].n_parameters:,}" for model, arms in recorded.items() if arms]
    return f"lite scale, from our records: {', '.join(found) or NO_RECORD}"


def durations_on(evidence: Autopsy) -> str:
    """The sum of the stated parts."""
    parts, whole = sum(p.model_minutes.values()), p.header_minutes["full"]
    return f"the five stated durations add up to {parts:.1f} minutes, {parts - whole:.1f} more than the total"


def durations_off(evidence: Autopsy) -> str:
    """What minigpt's minutes are of."""
    minutes, arms = p.model_minutes["minigpt"], p.minigpt_activations
    return f"minigpt's {minutes:.1f} minutes are those of all its {arms} activations: {minutes / arms:.1f} each"
