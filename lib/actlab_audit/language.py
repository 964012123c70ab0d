"""Rules of single claims on language models: orders of arms, and the published reading on different inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import actlab
from actlab.records.defect_names import BOTH, UNPAIRED
from actlab_audit.evidence import ARM, Arms
from actlab_audit.rules import SAME, label, mean, of_records
from actlab_audit.verdicts import Finding, Judged, Verdict, decided, explained, measured, signs

GAIN = 0.1
"""The share of the reference's difference that a benefit has at least, where one is to be excluded."""
STRONG, FEWEST = 0.7, 6
"""A rank correlation that makes a trade-off, and the points for it, of two architectures at least."""


def _differences(table: pd.DataFrame, metric: str, factor: str, reference: str) -> pd.DataFrame:
    """A row a model: the ``estimate`` of the difference between the factor's two levels, and the ``reference``."""
    found = actlab.contrasts(table, metric, factor=factor, reference=reference).set_index("model")
    return found.assign(estimate=found["difference"])


@of_records
def never_lower(arms: Arms, metric: str) -> Judged:
    """R47: in no model is the first activation's metric significantly below the second's, nor by as much as ``GAIN``
    within the interval."""
    activation, reference = dict.fromkeys(a for _, a in arms.cells)
    found = _differences(arms.table(metric), metric, "activation", reference)
    lower = [*found.index[np.array(signs(found)) == -1]]
    small = (found["low"] >= -GAIN * found["reference"]).all()
    which = f"significantly below in {len(lower)} of {len(found)} models ({', '.join(lower) or 'none'})"
    said = "; ".join(f"{model} {measured(e)}" for model, e in found.iterrows())
    holds = False if lower else True if small else None
    return holds, f"{label(metric)} of {activation} minus {reference}, {which}: {said}"


@of_records
def same_metric(arms: Arms, first: str, second: str) -> Judged:
    """T94: two metrics say the same number: no difference that is significant, nor ``SAME`` of the second within any
    interval."""
    pairs = arms.table(first).melt([*ARM, "first", "second"], [first, second], "metric")
    found = _differences(pairs, "value", "metric", second)
    allowed = SAME * found["reference"]
    small = ((-allowed <= found["low"]) & (found["high"] <= allowed)).all()
    said = "; ".join(
        f"{model}, {label(first)} {e['reference'] + e['difference']:.3f}, {label(second)} {e['reference']:.3f}"
        for model, e in found.iterrows()
    )
    return False if any(signs(found)) else True if small else None, f"{said}; n = {found['n'].iloc[0]}"


@of_records
def correlated(arms: Arms, first: str, second: str) -> Judged:
    """Over models, two metrics rise together: the exact permutation test of their rank correlation."""
    x, y = (arms.means(metric)["estimate"].to_numpy() for metric in (first, second))
    found = stats.permutation_test(
        (x,), lambda x: stats.spearmanr(x, y).statistic, permutation_type="pairings", vectorized=False
    )
    null = found.null_distribution
    needed = min((r for r in null if 2 * np.mean(null >= r - 1e-9) <= 0.05), default=np.nan)
    said = f"rank correlation of {label(first)} and {label(second)} over {len(x)} models: {found.statistic:.2f}"
    said += f" (significant from {needed:.3f}), exact p = {found.pvalue:.3f}"
    return bool(found.statistic > 0) if found.pvalue < 0.05 else None, said


def trade_off(evidence: Arms, first: str, second: str, **arguments: Any) -> Finding:
    """T33: more accurate models are less reproducible: an artefact if correctly read it fails, and each model shows it
    against itself, over every recorded reading. What is left open when read correctly stays so."""
    correct, points = correlated(evidence, first=first, second=second, **arguments), readings(evidence, second)
    if correct.verdict == "undecided":
        correct = replace(correct, lacks="more architectures")
    if len(points) < FEWEST or points.index.unique("model").size < 2:
        return correct
    two, one = points.corr("spearman")[second][["between", "itself"]]
    if not one > STRONG:
        return correct
    said = f"{correct.ours}; rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}"
    told = replace(correct, ours=f"{said}, of a model with itself {one:.2f}")
    return explained(told, decided(two > STRONG, "it needs no second model"), UNPAIRED)


def readings(evidence: Arms, metric: str) -> pd.DataFrame:
    """A row a small arm that does not leak and a snapshot: the mean metric, and the published reading ``between`` two
    networks and of one network with ``itself``."""
    last = evidence.where(scale="lite").trials.query("flaw != ''").drop_duplicates(ARM, keep="last")
    kept = last[~last["protocol"].str.contains(BOTH, regex=False)][["study", "record"]]
    pairs = [actlab.load_pairs(study, "published", "defective") for study in kept["study"].unique()]
    if not (pairs := [read.merge(kept) for read in pairs if len(read)]):
        return pd.DataFrame()
    read, at = pd.concat(pairs), [*ARM, "iteration"]
    of = np.where(read["first"] == read["second"], "itself", "between")
    curves = pd.concat(actlab.load_curves(study, "defective") for study in read["study"].unique()).merge(kept)
    return read.groupby([*at, of])["coded_pd"].mean().unstack().join(curves.groupby(at)[metric].mean())


def one_set(evidence: Arms, **arguments: Any) -> Finding:
    """R55: predictions are compared on one set of inputs: contradicted by a published number that is an artefact of
    different ones; one that neither gives says nothing."""
    found = mean(evidence, **arguments)
    verdicts: dict[str, Verdict] = {"artefact": "contradicted", "contradicted": "not testable"}
    return replace(found, verdict=verdicts.get(found.verdict, found.verdict), defect="")
