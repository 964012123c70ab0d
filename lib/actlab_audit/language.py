"""Rules of single claims on language models: orders of arms, and the published reading on different inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import actlab
from actlab.records.defect_names import BOTH, UNPAIRED
from actlab_audit.evidence import ARM, values
from actlab_audit.rules import SAME, label, mean, of_records
from actlab_audit.verdicts import Finding, Judged, decided, explained, measured, signs

GAIN = 0.1
"""The share of the reference's difference that a benefit has at least, where one is to be excluded."""
STRONG, FEWEST = 0.7, 6
"""A rank correlation that makes a trade-off, and the points for it, of two architectures at least."""


@of_records
def never_lower(arms: pd.DataFrame, metric: str) -> Judged:
    """R47: in no model is the first activation's metric significantly below the second's, nor by as much as ``GAIN``
    within the interval."""
    activation, reference = arms["activation"].unique()
    found = actlab.contrasts(values(arms, metric), metric, reference=reference)
    small, lower = found["low"] >= -GAIN * found["reference"], found["model"][signs(found) == -1]
    each = "; ".join(f"{e['model']} {measured(e)}" for _, e in found.iterrows())
    said = f"{label(metric)} of {activation} minus {reference}, significantly below in {', '.join(lower) or 'none'}"
    return decided(small.all(), len(lower) > 0), f"{said}: {each}"


@of_records
def same_metric(arms: pd.DataFrame, first: str, second: str) -> Judged:
    """T94: two metrics say the same number: no difference that is significant, nor ``SAME`` of the second within any
    interval."""
    pairs = values(arms, first).melt([*ARM, "first", "second"], [first, second], "metric")
    found = actlab.contrasts(pairs, "value", factor="metric", reference=second)
    largest = found[["difference", "low", "high"]].abs().max(axis=1)  # of runs that all agree there is no interval
    small = found["se"].notna() & (largest <= SAME * found["reference"])
    said = "; ".join(
        f"{e['model']}, {label(first)} {e['estimate']:.3f}, {label(second)} {e['reference']:.3f}"
        for _, e in found.iterrows()
    )
    return decided(small.all(), signs(found).any()), f"{said}; n = {found['n'].iloc[0]}"


@of_records
def correlated(arms: pd.DataFrame, first: str, second: str) -> Judged:
    """Over models, two metrics rise together: the exact permutation test of their rank correlation."""
    x, y = (actlab.means(values(arms, metric), metric)["estimate"].to_numpy() for metric in (first, second))
    found = stats.permutation_test(
        (x,), lambda x: stats.spearmanr(x, y).statistic, permutation_type="pairings", vectorized=False
    )
    null = found.null_distribution
    needed = min((r for r in null if 2 * np.mean(null >= r - 1e-9) <= 0.05), default=np.nan)
    said = f"rank correlation of {label(first)} and {label(second)} over {len(x)} models: {found.statistic:.2f}"
    said += f" (significant from {needed:.3f}), exact p = {found.pvalue:.3f}"
    sign = np.sign(found.statistic) * (found.pvalue < 0.05)
    return decided(sign > 0, sign < 0), said


def trade_off(evidence: pd.DataFrame, first: str, second: str, **arguments: Any) -> Finding:
    """T33: more accurate models are less reproducible: an artefact if correctly read it fails, and each model shows it
    against itself, over every recorded reading. What is left open when read correctly stays so."""
    correct, points = correlated(evidence, first=first, second=second, **arguments), readings(evidence, second)
    if correct.verdict == "undecided":
        correct = replace(correct, lacks="more architectures")
    if len(points) < FEWEST or points.index.unique("model").size < 2:
        return correct
    between, itself = points.corr("spearman").loc[["between", "itself"], second]
    if not itself > STRONG:
        return correct
    said = f"{correct.ours}; rank correlation of accuracy with the published reading ({len(points)} points, lite)"
    told = replace(correct, ours=f"{said}: {between:.2f}, of a model with itself {itself:.2f}")
    return explained(told, decided(between > STRONG), "it needs no second model", UNPAIRED)


def readings(evidence: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A row a small arm that does not leak and a snapshot: the mean metric, and the published reading ``between`` two
    networks and of one network with ``itself``."""
    read = evidence[(evidence["scale"] == "lite") & (evidence["flaw"] == UNPAIRED) & evidence["seed"].notna()]
    last, at = read.drop_duplicates(ARM, keep="last"), [*ARM, "iteration"]
    kept = last[~last["protocol"].str.contains(BOTH, regex=False)][["study", "record"]]
    if kept.empty:
        return kept
    studies = kept["study"].unique()
    pairs = pd.concat(actlab.load_pairs(study, "published", "defective") for study in studies).merge(kept)
    curves = pd.concat(actlab.load_curves(study, "defective") for study in studies).merge(kept)
    of = np.where(pairs["first"] == pairs["second"], "itself", "between")
    return pairs.groupby([*at, of])["coded_pd"].mean().unstack().join(curves.groupby(at)[metric].mean())


def one_set(evidence: pd.DataFrame, **arguments: Any) -> Finding:
    """R55: predictions are compared on one set of inputs: contradicted by a published number that is an artefact of
    different ones; one that neither gives says nothing."""
    found = mean(evidence, **arguments)
    verdicts = {"artefact": "contradicted", "contradicted": "not testable"}
    return replace(found, verdict=verdicts.get(found.verdict, found.verdict), defect="")
