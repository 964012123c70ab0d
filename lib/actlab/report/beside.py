"""What stands beside the end of training where a study has it: averaged weights, and arms at equal validation loss."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from actlab.records.tables import load_baselines, load_curves, load_losses, load_pairs
from actlab.report.study import ARM, Report, named
from actlab.statistics.contrasts import means
from actlab.statistics.equal_loss import equal_loss

METRIC = "total_variation"
"""Of pairs, in which both are read."""


def averaged(report: Report) -> pd.DataFrame:
    """A row an arm and decay: what two seeds differ by as ``single`` networks and with ``averaged`` weights (95%
    ``low``, ``high``), and the ``loss_change`` of averaging (nats). None where no weights were averaged."""
    pairs, losses = (_own(report, load, "average") for load in (load_pairs, load_losses))
    if pairs.empty or losses.empty:
        return pd.DataFrame(columns=[*ARM, "decay", "single", "averaged", "low", "high", "loss_change"])
    by = [*ARM, "decay"]
    found = means(pairs, METRIC, by)[[*by, "estimate", "low", "high"]].rename(columns={"estimate": "averaged"})
    change = means(losses.assign(change=losses["val_loss"] - losses["single_loss"]), "change", by)
    found = found.merge(change[[*by, "estimate"]].rename(columns={"estimate": "loss_change"}))
    single = report.of(METRIC, report.estimates)["estimate"].rename("single").reset_index()
    return found.merge(single)[[*by, "single", "averaged", "low", "high", "loss_change"]]


def at_equal_loss(report: Report) -> pd.DataFrame:
    """The arm minus the reference in total variation, each read at the loss that all arms of the group reach
    (``statistics.equal_loss``); groups whose reference does not reach the bigram table are left out. None without
    snapshots."""
    along, curves = _own(report, load_pairs, "along"), _own(report, load_curves)
    if len(along):  # where both were measured
        along = along.merge(curves[["record", "iteration"]].drop_duplicates())
    if along.empty or along["iteration"].nunique() < 2 or report.reference not in set(along["arm"]):
        return pd.DataFrame(columns=[*ARM, "n", "difference", "low", "high", "p_holm", "status"])
    curves = curves[curves["record"].isin(along["record"])]
    bigram = bigram_loss(report)
    found = equal_loss(curves, along, METRIC, ["group"], "arm", report.reference, exclude_above=bigram)
    return found[found["status"] != "missing"]


def bigram_loss(report: Report) -> float | None:
    """What a table of pairs of characters reaches on the study's text, in nats; None of other kinds."""
    baselines = load_baselines(report.study)
    return float(baselines["val_loss"]["bigram"]) if "bigram" in baselines.index else None


def _own(report: Report, load: Callable[..., pd.DataFrame], *of: str) -> pd.DataFrame:
    """A table's rows of the reported arms, with their names; none of runs with published defects."""
    if report.kind != "trials" or "corrected" not in set(report.runs["protocol"]):
        return pd.DataFrame()
    table = load(report.study, *of)
    return named(table[table["record"].isin(report.runs["record"])]) if len(table) else table
