"""What the records of language models allow to conclude, scale by scale, beside the published tables; every number is
computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from actlab.chapters import repro
from actlab.claims.evidence import ON_CPU, STUDIES, Evidence
from actlab.claims.published import numbers as p
from actlab.claims.published import parameters
from actlab.claims.verdicts import signs
from actlab.figures.style import NO_RECORD
from actlab.records.families import comparisons
from actlab.records.labels import METRICS
from actlab.records.repro import ArmResults, Grid
from actlab.records.wording import normal_tails, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.power import detectable_paired
from actlab.statistics.variance import crossed_shares

SMALLEST_FIRST = tuple(reversed(STUDIES))
NOT_GIVEN = "not given"
HEADERS = {"total_variation": "total variation", "val_loss": "loss (nats)", "val_accuracy": "accuracy (%)"}
"""Column of the published tables, the prediction difference first -> its header here."""
ORDER = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")


def waits(scale: str) -> str:
    """What a cell says where a scale has no record: not every scale can be trained on a CPU in reasonable time."""
    return NO_RECORD if STUDIES[scale] in ON_CPU else "no record; waits for a GPU"


def _files(scale: str) -> str:
    study = STUDIES[scale]
    on_cpu = f" (on a CPU: params/{ON_CPU[study]}.yaml)" if study in ON_CPU else ""
    return f"params/{study}.yaml{on_cpu}"


def extent(evidence: Evidence) -> pd.DataFrame:
    """One row a published scale: how large its models are, how much of it is recorded."""
    rows = {}
    for scale in SMALLEST_FIRST:
        grid = evidence.grids.get(scale)
        sizes = [
            parameters(model, scale)
            for model in ("tinylstm", "convlm", "hybridlm", "nanotransformer", "minigpt", "charlm")
        ]
        rows[scale] = {
            "parameters": f"{min(sizes):,} to {max(sizes):,}",
            "params file": f"params/{grid.study}.yaml" if grid else _files(scale),
            "arms recorded": len(grid.arms) if grid else 0,
            "trials": sum(len(arm.done) for arm in grid.arms.values()) if grid else 0,
            "state": "recorded" if grid else waits(scale),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


Cell = tuple[str, str]
"""Model and activation."""


def published_at(scale: str) -> dict[Cell, Mapping[str, float]]:
    """(model, activation) -> what the report's table of a scale gives, the activations of one model together."""
    if scale == "full":
        cells = {(m, "relu"): values for m, values in p.full.items() if m != "charlm"} | {
            ("charlm", a): v for a, v in p.charlm_full.items()
        }
        models = list(p.full)
    else:
        cells = {(m, "relu"): values for m, values in p.partial.items()}
        cells |= {("charlm", a): {"total_variation": v} for a, v in p.charlm_partial.items()}
        models = ["charlm", *p.partial]
    return {cell: cells[cell] for cell in sorted(cells, key=lambda cell: (models.index(cell[0]), ORDER.index(cell[1])))}


def _decimals(values: list[float]) -> int:
    """Of the number that was printed with the most."""
    return max(len(f"{value:g}".partition(".")[2]) for value in values)


def beside(evidence: Evidence, scale: str) -> pd.DataFrame:
    """The report's table of a scale beside our arms there: its difference (from 0 to 1) beside total variation, then
    what else it gives.

    Args:
        evidence: the recorded grids.
        scale: ``partial`` or ``full``.
    """
    table, grid = published_at(scale), evidence.grids.get(scale)
    rows = {}
    for cell, values in table.items():
        arm, row = grid.arms.get(cell) if grid else None, {}
        for metric, header in HEADERS.items():
            given = [other[metric] for other in table.values() if metric in other]
            if given:
                row[f"{header}, published"] = (
                    f"{values[metric]:.{_decimals(given)}f}" if metric in values else NOT_GIVEN
                )
                if grid:
                    row[f"{header}, ours"] = (
                        with_interval(arm.shown(metric), METRICS[metric].digits) if arm else waits(scale)
                    )
        rows[cell] = row | ({"n": str(len(arm.done)) if arm else "0"} if grid else {"ours": waits(scale)})
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=("model", "activation")))


def shares(evidence: Evidence, metric: str = "val_loss") -> pd.DataFrame:
    """How much of the variance of a metric is due to architecture, activation, their interaction and the seed, at each
    scale with records."""
    rows = {scale: _shares(grid, metric) for scale in SMALLEST_FIRST if (grid := evidence.grids.get(scale))}
    return pd.DataFrame.from_dict(rows, orient="index").fillna("not known")


def _shares(grid: Grid, metric: str) -> dict[str, str]:
    complete = [a for a in grid.activations if all((m, a) in grid.arms for m in grid.models)]
    values = np.array([[grid.arms[m, a].values(metric) for a in complete] for m in grid.models])
    if min(values.shape[:2], default=0) < 2:
        return {"over": "fewer than two activations recorded for every model"}
    found = crossed_shares(values)
    cells = {name: _percent(share) for name, share in found.items()}
    return cells | {"over": f"{len(grid.models)} models, {', '.join(complete)}; n = {found['seed'].n} seeds"}


def _percent(share: Estimate) -> str:
    return (
        with_interval(
            Estimate(100 * share.value, 100 * share.low, 100 * share.high, share.n, share.level, share.method), 1
        )
        + "%"
    )


Compared = tuple[ArmResults, Estimate, Estimate, int, int]
"""An arm, its differences from relu in loss and in total variation, and their signs where sure."""


def _against_relu(grid: Grid) -> list[Compared]:
    """Every arm against relu: differences in loss and in total variation, and their signs where sure (Holm over all,
    each metric apart)."""
    pairs = [
        (arm, grid.arms[arm.model, "relu"])
        for arm in grid.arms.values()
        if arm.activation != "relu" and (arm.model, "relu") in grid.arms
    ]
    loss, tv = ([arm.minus(relu, metric) for arm, relu in pairs] for metric in ("val_loss", "total_variation"))
    if not pairs:
        return []
    return [
        (arm, one, two, a, b) for (arm, _), one, two, a, b in zip(pairs, loss, tv, signs(loss), signs(tv), strict=True)
    ]


def _names(found: list[Compared]) -> str:
    """``: charlm gelu (+0.080 nats, -0.010 total variation)`` and so on; nothing for none."""
    named = ", ".join(
        f"{arm.model} {arm.activation} ({e.value:+.3f} nats, {t.value:+.3f} total variation)" for arm, e, t, *_ in found
    )
    return f": {named}" if named else ""


def _number(found: list[Compared]) -> str:
    return str(len(found) or "none")


def _verb(plural: str, found: list[Compared]) -> str:
    return plural if len(found) > 1 else f"{plural}s"


def recommendations(evidence: Evidence) -> Iterator[str]:
    """What the records support, one sentence each; without records one sentence that says so."""
    grid = evidence.grids.get("lite")
    found = _against_relu(grid) if grid else []
    if not grid or not found:
        yield "No record compares an activation with relu yet"
        return
    better = [f for f in found if f[3] < 0]
    changed = [f for f in found if f[3]]
    yield (
        f"Try the activation on your own architecture: {_number(changed)} of {len(found)} comparisons with relu "
        f"significantly {_verb('change', changed)} the loss (Holm-adjusted, 5%), {_number(better)} of them for the "
        f"better{_names(better)}"
    )
    if better:
        both, costly = [f for f in better if f[4] < 0], [f for f in better if f[4] > 0]
        yield (
            f"Look at loss and agreement apart: of the arms that significantly lower the loss ({len(better)}), "
            f"{_number(both)} also "
            f"{_verb('lower', both)} the difference between seeds significantly{_names(both)}; {_number(costly)} "
            f"significantly {_verb('raise', costly)} it{_names(costly)}"
        )
    steadier = [f for f in found if f[4] < 0]
    yield (
        "Where agreement is all that counts: "
        f"{_number(steadier)} of {len(found)} arms significantly {_verb('agree', steadier)} more than "
        f"relu{_names(steadier)}"
        + (
            f"; {_number([f for f in steadier if f[3] < 0])} of them with a significantly better loss"
            if steadier
            else ""
        )
    )
    yield trials_needed(grid)
    yield repro.baselines(grid)


def trials_needed(grid: Grid) -> str:
    """How small a difference from relu 5, 10 and 20 shared seeds find, at Holm's first step and by the recorded spread
    of differences."""
    tests = {metric: [e for _, e, _ in comparisons(grid, metric)] for metric in ("val_loss", "total_variation")}
    loss, tv = (float(np.median([e.deviation() for e in found])) for found in tests.values())
    family = len(tests["val_loss"])

    def found(n: int) -> str:
        smallest = detectable_paired(n, 0.05 / family)
        return f"{n} find {smallest:.2f} ({smallest * loss:.3f} nats, {smallest * tv:.3f} total variation)"

    return (
        "Run more than five seeds: the smallest difference that shared seeds find with 80% power at Holm's first "
        f"step of {family} comparisons, in "
        f"standard deviations of the paired difference (median {loss:.4f} nats, {tv:.4f} total variation): "
        f"{found(5)}, {found(10)}, {found(20)}; "
        f"for one comparison alone five find {detectable_paired(5):.2f}; {normal_tails(5)}"
    )


def sentences(evidence: Evidence) -> dict[str, str]:
    """Name -> sentence, for other pages."""
    recorded = [scale for scale in SMALLEST_FIRST if scale in evidence.grids]
    missing = [scale for scale in SMALLEST_FIRST if scale not in evidence.grids]
    none = (
        f"; the {' and the '.join(missing)} scale {'have' if len(missing) > 1 else 'has'} no record, and so no verdict"
        if missing
        else ""
    )
    return {"scales": f"There are records at {' and '.join(recorded) or 'no'} scale{none}"}
