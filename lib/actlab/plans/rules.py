"""Registered rules as data (``hypotheses.yaml``): which arms a hypothesis of a plan compares, and what of the contrast
supports or contradicts it. The contrast itself is a call of ``equal_loss`` or ``contrasts`` on the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from actlab import paths
from actlab.files import read_yaml
from actlab.records.tables import load_curves, load_pairs

RULES: Mapping[str, Mapping[str, Any]] = read_yaml(Path(__file__).with_name("hypotheses.yaml"))
"""Study -> hypothesis of the plan in its params file -> its rule."""


def plan_of(study: str) -> dict[str, Any]:
    """Read the plan in ``params/<study>.yaml`` as it stands now, as plain values; empty where there is none."""
    file = paths.params_file(study)
    return dict(read_yaml(file).get("plan", {})) if file.exists() else {}


def judge(study: str, hypothesis: str, contrast: pd.DataFrame) -> Literal["supported", "contradicted", "undecided"]:
    """Judge a contrast by a plan's rule: ``supported`` holds in all rows that it means, or ``contradicted`` in one;
    neither: undecided.

    Args:
        study: whose params file holds the plan.
        hypothesis: its ``name`` there.
        contrast: of ``contrasts`` or ``equal_loss``, with the columns that the rule names.
    """
    rule = RULES[study][hypothesis]
    if contrast.query(rule["contradicted"]).size:
        return "contradicted"
    complete = len(contrast) == len(contrast.query(rule["supported"])) >= rule["rows"]
    return "supported" if complete else "undecided"


OUTCOMES = {"supported": "held", "contradicted": "failed", "undecided": "undecided"}
"""What a page says of a prediction, in plain words."""


def predicted(study: str, contrasts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tabulate what a plan predicted and what came of it: a row for every hypothesis of the plan, so that none is left
    out.

    Args:
        study: whose params file holds the plan.
        contrasts: hypothesis -> its contrast, as ``judge`` takes it; one without a contrast was not tested.

    Returns:
        Columns ``plan``, ``prediction`` (the plan's own words) and ``outcome`` (``OUTCOMES``, or *not tested*).
    """
    rows = []
    for hypothesis in plan_of(study)["hypotheses"]:
        name = hypothesis["name"]
        outcome = OUTCOMES[judge(study, name, contrasts[name])] if name in contrasts else "not tested"
        rows.append([study, hypothesis["says"], outcome])
    return pd.DataFrame(rows, columns=["plan", "prediction", "outcome"])


def arms(study: str, hypothesis: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load (curves, pairs along training), as ``equal_loss`` takes them, of the arms of several studies that a rule
    puts together; a column ``study`` says where each is from."""
    chosen = RULES[study][hypothesis]["arms"]
    curves = [_part(load_curves(part["study"]), part) for part in chosen]
    along = [_part(load_pairs(part["study"], of="along"), part) for part in chosen]
    return pd.concat(curves, ignore_index=True), pd.concat(along, ignore_index=True)


def _part(table: pd.DataFrame, chosen: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of the models and activations that are listed, or of all."""
    for name in {"model", "activation"} & {*chosen}:
        table = table[table[name].isin(chosen[name])]
    return table
