"""Rules of the claims on image networks: GeGLU against ReLU by width, best of k, one epoch. Each reads a ``Sweep``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

import actlab
from actlab.records.defect_names import DOUBLED
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.records.tables import COLUMNS, of_records
from actlab_audit.verdicts import Finding, absent, decided, signed

RATE, BATCH = 1e-3, 64
"""What the study fixed in its sweep of widths."""
ACCURACY = "val_accuracy"
EQUAL_WIDTH, EQUAL_PARAMETERS = "geglu_equal_width", "geglu_equal_parameters"
WIDTHS = (2, 4, 8, 16)


class Sweep(NamedTuple):
    """A row a trial; accuracies in %."""

    trials: pd.DataFrame
    every: pd.DataFrame
    """With those of more epochs, which stand for themselves and enter no other comparison."""


def read(records: Iterable[Record], longer: Iterable[Record] = ()) -> Sweep:
    """A sweep from the records of its arms and of a longer training: of several settings those that most arms share
    (``usual``); arms that differ in their epochs alone go by the fewest, and the others are longer trainings."""
    own = usual(records, apart=("epochs",))
    trials, every = (of_records(found)[0].reindex(columns=list(COLUMNS)) for found in (own, [*own, *longer]))
    return Sweep(trials[trials["epochs"] == trials["epochs"].min()], every.drop_duplicates(["record", "seed"]))


def _published(trials: pd.DataFrame) -> pd.DataFrame:
    """Those at the published rate and batch."""
    return trials[(trials["learning_rate"] == RATE) & (trials["batch_size"] == BATCH)]


def lacks(sweep: Sweep) -> str:
    """What is missing for any verdict: the published cells, on the published images."""
    seeds = _published(sweep.trials).groupby(["network", "hidden"]).size()
    counts = [seeds.get((n, h), 0) for n in ("relu", EQUAL_WIDTH, EQUAL_PARAMETERS) for h in WIDTHS]
    there = set(sweep.trials["dataset"]) == {"mnist"} and min(counts) > 1
    return "" if there else "not MNIST, or not of every width"


def _over_relu(sweep: Sweep) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Accuracy minus ReLU's by rising width, at equal width and at equal parameters, at the published rate and batch,
    paired by seed; the same in words."""
    found = actlab.contrasts(_published(sweep.trials).sort_values("hidden"), ACCURACY, ["hidden"], "network")
    found["estimate"] = found["difference"]
    wide, fair = (found[found["network"] == network] for network in (EQUAL_WIDTH, EQUAL_PARAMETERS))
    wide_said, fair_said = (
        ", ".join(f"h={e['hidden']:g}: {signed(e, 1)}" for _, e in rows.iterrows()) for rows in (wide, fair)
    )
    said = f"points over ReLU, equal width (the study's own arms) {wide_said}; equal parameters {fair_said}"
    return wide, fair, said


def geglu_wins(sweep: Sweep) -> Finding:
    """M01: an artefact if GeGLU wins at three widths when it is as wide, but not with as many parameters."""
    *both, said = _over_relu(sweep)
    widely, fairly = (bool((found["low"] > 0).sum() > 2) for found in both)
    return Finding("artefact", said, defect=DOUBLED) if widely and not fairly else decided(fairly, said)


def relu_wins(sweep: Sweep) -> Finding:
    """M02: at every width, as it says; the study's own arms (equal width) can refute it."""
    wide, fair, said = _over_relu(sweep)
    if (wide["low"] > 0).all():
        return Finding("contradicted", said)
    everywhere = (fair["high"] < 0).all() and not (wide["low"] > 0).any()
    return Finding("replicated" if everywhere else "undecided", said, lacks="more trials")


def small_widths_favour_relu(sweep: Sweep) -> Finding:
    """M11: in the study's own arms there must be an advantage of ReLU to explain, and it must shrink with width."""
    wide, _, said = _over_relu(sweep)
    if not (wide["high"] < 0).any():
        return Finding("not testable", f"{said}: ReLU has no advantage to explain at equal width")
    shrinks = wide["high"].iloc[0] < min(0, wide["low"].iloc[-1])
    return Finding("replicated" if shrinks else "undecided", said, lacks="more trials")


def rises_after_one_epoch(sweep: Sweep) -> Finding:
    """M13: accuracy after the longest training minus that after one epoch, for each network and width published."""
    every = _published(sweep.every)
    published = every[every["network"].isin(["relu", EQUAL_WIDTH]) & every["hidden"].isin(WIDTHS)]
    gains = actlab.contrasts(published.sort_values("epochs"), ACCURACY, ["network", "hidden"], "epochs", 1)
    last = gains[gains["status"] != "missing"].groupby(["network", "hidden"]).tail(1)
    if len(last) < 2 * len(WIDTHS):
        return absent("nothing beyond one epoch at every width")
    rising, values = (last["low"] > 0).sum(), last["difference"]
    said = f"{rising} of {len(last)} networks are significantly better than after one"
    said = f"after {last['epochs'].iloc[0]:g} epochs {said}, by {values.min():.1f} to {values.max():.1f} points"
    return decided(bool(rising == len(last)), said)
