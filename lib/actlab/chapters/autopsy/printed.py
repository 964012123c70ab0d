"""The anomalies that the published texts show by themselves: their own numbers again; where it takes a run of ours,
that beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from actlab.chapters.autopsy import WAITING, Anomaly, or_waiting
from actlab.claims.published import numbers as p
from actlab.claims.published import parameters
from actlab.records.autopsy import Evidence
from actlab.records.repro import Grid
from actlab.statistics.estimate import Estimate
from actlab.statistics.tests import Test, f_p_value, one_way_anova, permutation_f, tukey
from actlab.wording import measured


def anova() -> Test:
    """One-way ANOVA of charlm's nine published losses."""
    return one_way_anova(p.charlm_trials)


def p_of_stated_f() -> float:
    """The p-value that belongs to the F that was stated."""
    return f_p_value(p.anova["statistic"], 2, 6)


def tukeys() -> dict[str, float]:
    """Tukey's p-values of the same losses: ``swish against relu``."""
    found = tukey(p.charlm_trials)
    return {pair: found[frozenset(pair.split(" against "))] for pair in p.tukey}


def order(losses: dict[str, float]) -> str:
    """Names from the lowest loss to the highest: ``swish < gelu < relu``."""
    return " < ".join(sorted(losses, key=lambda name: losses[name]))


def at_the_end() -> dict[str, float]:
    """charlm's mean loss at the last step."""
    return _means(p.charlm_trials)


def _means(losses: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: float(np.mean(values)) for name, values in losses.items()}


def past_the_best(grid: Grid) -> tuple[int, int]:
    """(trials of charlm whose last evaluation is not their lowest, trials)."""
    trials = [t for arm in grid.of_model("charlm") for t in arm.record["trials"] if t["status"] == "done"]
    return sum(t["best"]["iteration"] < t["final"]["iteration"] for t in trials), len(trials)


def by_trial(grid: Grid, metric: str) -> dict[str, list[float]]:
    """One loss of charlm's trials, by activation."""
    return {arm.activation: arm.values(metric).tolist() for arm in grid.of_model("charlm")}


def _p(value: float) -> str:
    return f"p = {value:.4f}" if value >= 5e-5 else "p < 0.0001"


def ranked(grid: Grid, metric: str) -> str:
    """charlm's activations by one loss of our own runs: order of the means, one-way ANOVA, and every difference from
    relu.

    Raises:
        KeyError: relu, or all others, have no record.
    """
    relu, losses = grid.arms["charlm", "relu"], by_trial(grid, metric)
    if len(losses) < 2:
        raise KeyError("an activation beside relu")
    found = one_way_anova(losses)
    apart = [
        f"{arm.activation} less relu {measured(arm.minus(relu, metric))}"
        for arm in grid.of_model("charlm")
        if arm is not relu
    ]
    return f"{order(_means(losses))}, F = {found.statistic:.2f}, {_p(found.p_value)}; {'; '.join(apart)}"


def rule(grid: Grid) -> str:
    """The decision rule of params/autopsy-overfit.yaml, on its records."""
    arms, (later, trials) = {arm.activation: arm for arm in grid.of_model("charlm")}, past_the_best(grid)
    missing = [name for name in p.charlm_trials if name not in arms]
    if missing:
        return f"The rule of params/autopsy-overfit.yaml waits for records of {', '.join(missing)}"
    last, best = (_means(by_trial(grid, metric)) for metric in ("val_loss", "best_val_loss"))
    reproduced = later == trials and order(last) != order(best)
    changed = []
    for name, arm in arms.items():
        at_end, at_best = (_side(arm.minus(arms["relu"], metric)) for metric in ("val_loss", "best_val_loss"))
        changed += [name] if at_end and at_end != at_best else []
    return (
        f"By the rule of params/autopsy-overfit.yaml the anomaly is {'' if reproduced else 'not '}reproduced: {later} of {trials} trials end above "
        f"their lowest loss; {order(last)} at the last step, {order(best)} at the lowest. Differences from relu that the choice decides: "
        f"{', '.join(changed) or 'none'}"
    )


def _side(difference: Estimate) -> int:
    """On which side of 0 the whole interval lies; 0: on neither."""
    return int(difference.low > 0) - int(difference.high < 0)


def significance(evidence: Evidence) -> Anomaly:
    """F = 8.32, p = 0.024, and the order that flips at the best checkpoint."""
    found, exact = anova(), permutation_f(p.charlm_trials)
    stated = ", ".join(f"{pair} {value}" for pair, value in p.tukey.items())
    again = ", ".join(f"{pair} {value:.4f}" for pair, value in tukeys().items())

    def on() -> str:
        later, trials = past_the_best(evidence.overfit)
        end = evidence.overfit.arms["charlm", "relu"].record["config"]["recipe"]["iterations"]
        return f"{ranked(evidence.overfit, 'val_loss')}; {later} of {trials} trials end above their lowest loss at step {end:,}"

    return Anomaly(
        "Swish is significantly better in charlm",
        f"ANOVA F = {p.anova['statistic']}, p = {p.anova['p_value']}; Tukey: {stated}",
        "report, 7.2",
        "The p-value is not that of its own F; and the last of 5,000 steps is compared, long after the validation loss has turned up, so that the "
        "test says which activation overfits later.",
        f"our runs on little text, at the last step: {or_waiting(on)}; the published losses again: {order(at_the_end())}, F = {found.statistic:.2f}, "
        f"{_p(found.p_value)} (the stated F gives {p_of_stated_f():.4f}, an exact permutation {exact.p_value:.3f}); Tukey: {again}",
        f"our runs at each trial's lowest loss: {or_waiting(lambda: ranked(evidence.overfit, 'best_val_loss'))}; the published runs at theirs: "
        f"{order(p.charlm_best)}",
    )


def sizes() -> dict[str, tuple[float, float]]:
    """``model, scale`` -> (parameters as printed, as counted)."""
    return {
        f"{m}, {scale}": (stated, parameters(m, scale))
        for scale, stated in p.report_parameters.items()
        for m in p.our_parameters
    }


def _fitting(scale: str) -> int:
    """How many models have the printed count, to its three digits."""
    stated = p.report_parameters[scale]
    return sum(float(f"{parameters(model, scale):.3g}") == stated for model in p.our_parameters)


def minutes() -> dict[str, tuple[float, float]]:
    """What -> (minutes as printed, as the text's own numbers give them)."""
    return {
        "five full studies, added up": (p.header_minutes["full"], sum(p.model_minutes.values())),
        "minigpt, all activations": (p.minigpt_minutes, p.model_minutes["minigpt"]),
    }


def counted(evidence: Evidence) -> Anomaly:
    """Parameter counts that no model has."""
    scales = {
        scale: ", ".join(f"{m} {parameters(m, scale):,}" for m in p.our_parameters) for scale in p.report_parameters
    }
    recorded = {m: evidence.off.of_model(m)[0].n_parameters for m in evidence.off.models if evidence.off.of_model(m)}
    return Anomaly(
        "Parameter counts",
        f"{p.report_parameters['partial']:,.0f} (partial) and {p.report_parameters['full']:,.0f} (full) for every model",
        "report, header and methodology notes",
        f"One number was printed for all models of a scale; {_fitting('partial')} of {len(p.our_parameters)} models have it at partial scale, "
        f"{_fitting('full')} at full scale.",
        f"counted at the same settings: partial {scales['partial']}; full {scales['full']}",
        "lite scale, from our records: " + (", ".join(f"{m} {n:,}" for m, n in recorded.items()) or WAITING),
        ("as counted", "as recorded"),
    )


def durations(evidence: Evidence) -> Anomaly:
    """Minutes that do not add up."""
    whole, parts = minutes()["five full studies, added up"]
    multiplied, mine = minutes()["minigpt, all activations"]
    arms = p.minigpt_activations
    return Anomaly(
        "Durations",
        f"{whole} minutes for the five full studies; {mine:.0f} minutes x {arms} activations = {multiplied:,.0f} minutes for minigpt",
        "report, header and key discovery 5",
        "A total that was not added up again when studies were appended, and a duration of all activations multiplied once more by their number.",
        f"the five stated durations add up to {parts:.1f} minutes, {parts - whole:.1f} more than the total",
        f"minigpt's {mine:.1f} minutes are those of all its {arms} activations: {mine / arms:.1f} each",
        ("as counted", "remark"),
    )


PRINTED = (significance, counted, durations)
