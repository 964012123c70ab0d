"""Rules of the claims on image networks: GeGLU against ReLU by width, best of k, one epoch. Each reads the runs of the
sweep, a row a run; accuracies in %."""

from __future__ import annotations

import pandas as pd

import actlab
from actlab.records.defect_names import DOUBLED
from actlab.records.labels import words
from actlab_audit.evidence import joined, recorded
from actlab_audit.verdicts import Finding, decided, measured

STUDY, LONGER = "mnist", "mnist-epochs"
EQUAL_WIDTH, EQUAL_PARAMETERS = "geglu_equal_width", "geglu_equal_parameters"
PUBLISHED = "learning_rate == 0.001 and batch_size == 64"
"""What the study fixed in its sweep of widths."""
CELLS = 12
"""Of it: three networks of four widths."""


def read() -> pd.DataFrame | None:
    """The sweep; None unless every published cell is there, on the published images."""
    runs = recorded(STUDY)
    if runs.empty or {*runs["dataset"]} != {"mnist"}:
        return None
    return runs if runs.query(PUBLISHED).groupby(["network", "hidden"]).ngroups == CELLS else None


def _told(differences: pd.DataFrame) -> str:
    """Each with its network and width."""
    return ", ".join(
        f"{words(e['network'])} h={e['hidden']:g}: {measured(e, '+.1f')}" for _, e in differences.iterrows()
    )


def _over_relu(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Accuracy minus ReLU's by rising width, at equal width and at equal parameters, at the published rate and batch,
    paired by seed; the same in words."""
    found = actlab.contrasts(runs.query(PUBLISHED).sort_values("hidden"), "val_accuracy", "hidden", "network")
    wide, fair = (found[found["network"] == network] for network in (EQUAL_WIDTH, EQUAL_PARAMETERS))
    return wide, fair, f"points over ReLU: {_told(wide)} (the study's own arms); {_told(fair)}"


def geglu_wins(runs: pd.DataFrame) -> Finding:
    """M01: an artefact if GeGLU wins at three widths when it is as wide, but not with as many parameters."""
    *both, said = _over_relu(runs)
    widely, fairly = (bool((found["low"] > 0).sum() > 2) for found in both)
    return Finding("artefact", said, defect=DOUBLED) if widely and not fairly else Finding(decided(fairly), said)


def relu_wins(runs: pd.DataFrame) -> Finding:
    """M02: at every width, as it says; the study's own arms (equal width) can refute it."""
    wide, fair, said = _over_relu(runs)
    if (wide["low"] > 0).all():
        return Finding("contradicted", said)
    everywhere = (fair["high"] < 0).all() and not (wide["low"] > 0).any()
    return Finding(decided(everywhere, refuted=False), said)


def small_widths_favour_relu(runs: pd.DataFrame) -> Finding:
    """M11: in the study's own arms there must be an advantage of ReLU to explain, and it must shrink with width."""
    wide, _, said = _over_relu(runs)
    if not (wide["high"] < 0).any():
        return Finding("not testable", f"{said}: at equal width, the study's, ReLU has none to explain")
    shrinks = wide["high"].iloc[0] < min(0, wide["low"].iloc[-1])
    return Finding(decided(shrinks, refuted=False), said)


def rises_after_one_epoch(runs: pd.DataFrame) -> Finding:
    """M13: accuracy after the longest training minus that after one epoch, for each network and width published."""
    every = joined([runs, recorded(LONGER)]).query(PUBLISHED).query("network != @EQUAL_PARAMETERS")
    gains = actlab.contrasts(every.sort_values("epochs"), "val_accuracy", ["network", "hidden"], "epochs", 1)
    last = gains[gains["status"] != "missing"].groupby(["network", "hidden"]).tail(1)
    if len(last) < CELLS - 4:
        return Finding("not run", "nothing beyond one epoch at every width")
    said = f"points after {last['epochs'].iloc[0]:g} epochs over those after one: {_told(last)}"
    return Finding(decided(bool((last["low"] > 0).all())), said)
