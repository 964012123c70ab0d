"""What the records of language models allow to conclude, scale by scale, beside the published tables; every number is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from actlab import findings
from actlab.claims import published as p
from actlab.claims.evidence import STUDIES, Evidence
from actlab.claims.sizes import parameters
from actlab.claims.verdicts import signs
from actlab.grid import METRICS, ArmResults, Grid
from actlab.statistics.crossed import crossed_shares
from actlab.statistics.estimate import Estimate
from actlab.statistics.power import detectable_paired, detectable_two_sample
from actlab.wording import with_interval

SMALLEST_FIRST = tuple(reversed(STUDIES))
WAITS = "no record; waits for a GPU"
COLUMNS = ("val_loss", "val_accuracy", "total_variation")
"""Of the published tables."""


def extent(evidence: Evidence) -> pd.DataFrame:
    """One row a published scale: how large its models are, how much of it is recorded."""
    rows = {}
    for scale in SMALLEST_FIRST:
        grid = evidence.grids.get(scale)
        sizes = [parameters(model, scale) for model in ("tinylstm", "convlm", "hybridlm", "nanotransformer", "minigpt", "charlm")]
        rows[scale] = {
            "parameters": f"{min(sizes):,} to {max(sizes):,}",
            "params file": f"params/{grid.study if grid else STUDIES[scale]}.yaml",
            "arms recorded": len(grid.arms) if grid else 0,
            "trials": sum(len(arm.done) for arm in grid.arms.values()) if grid else 0,
            "state": "recorded" if grid else WAITS,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _beside(published: Mapping[str, float], arm: ArmResults | None) -> dict[str, str]:
    row = {}
    for metric in COLUMNS:
        name = METRICS[metric].label.split(" (")[0]
        row[f"{name}, published"] = f"{published[metric]:g}" if metric in published else "not given"
        row[f"{name}, ours"] = with_interval(arm.estimate(metric), METRICS[metric].digits) if arm else WAITS
    return row | {"n": str(len(arm.done)) if arm else "0"}


def beside(evidence: Evidence, scale: str) -> pd.DataFrame:
    """The report's table of a scale beside our arms there: nats, %, and its difference (from 0 to 1) beside total variation.

    Args:
        evidence: the recorded grids.
        scale: ``partial`` or ``full``.
    """
    full = [(m, "swish" if m == "charlm" else "relu", v) for m, v in p.FULL.items()]
    full += [("charlm", a, v) for a, v in p.CHARLM_FULL.items() if a != "swish"]
    partial = [(m, "relu", v) for m, v in p.PARTIAL.items()]
    partial += [("charlm", a, {"total_variation": v}) for a, v in p.CHARLM_PARTIAL.items()]
    grid = evidence.grids.get(scale)
    rows = {(m, a): _beside(v, grid.arms.get((m, a)) if grid else None) for m, a, v in {"full": full, "partial": partial}[scale]}
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=("model", "activation")))


def front_page(evidence: Evidence) -> pd.DataFrame:
    """The front page's sensitivities (CV% of the difference over activations) beside ours at lite scale."""
    grid = evidence.grids.get("lite")
    rows = {}
    for model, value in p.README_CV.items():
        names = [arm.activation for arm in grid.of_model(model)] if grid else []
        ours = with_interval(grid.sensitivity(model, "relative_pd"), 1) if grid and len(names) > 1 else "no record"
        rows[model] = {"CV%, published": f"{value:.2f}", "ours": ours, "over": ", ".join(names)}
    return pd.DataFrame.from_dict(rows, orient="index")


def shares(evidence: Evidence, metric: str = "val_loss") -> pd.DataFrame:
    """How much of the variance of a metric is due to architecture, activation, their interaction and the seed, at each scale with records."""
    rows = {scale: _shares(grid, metric) for scale in SMALLEST_FIRST if (grid := evidence.grids.get(scale))}
    return pd.DataFrame.from_dict(rows, orient="index")


def _shares(grid: Grid, metric: str) -> dict[str, str]:
    complete = [a for a in grid.activations if all((m, a) in grid.arms for m in grid.models)]
    values = np.array([[grid.arms[m, a].values(metric) for a in complete] for m in grid.models])
    if min(values.shape[:2], default=0) < 2:
        return {"over": "fewer than two activations recorded for every model"}
    found = crossed_shares(values)
    cells = {name: _percent(getattr(found, name)) for name in ("architecture", "activation", "interaction", "seed")}
    return cells | {"over": f"{len(grid.models)} models, {', '.join(complete)}; n = {found.seed.n} seeds"}


def _percent(share: Estimate) -> str:
    return with_interval(Estimate(100 * share.value, 100 * share.low, 100 * share.high, share.n, share.level, share.method), 1) + "%"


def _against_relu(grid: Grid) -> list[tuple[ArmResults, Estimate, Estimate, int, int]]:
    """Every arm against relu: differences in loss and in total variation, and their signs where sure (Holm over all, each metric apart)."""
    pairs = [(arm, grid.arms[arm.model, "relu"]) for arm in grid.arms.values() if arm.activation != "relu" and (arm.model, "relu") in grid.arms]
    loss, tv = ([arm.minus(relu, metric) for arm, relu in pairs] for metric in ("val_loss", "total_variation"))
    if not pairs:
        return []
    return [(arm, one, two, a, b) for (arm, _), one, two, a, b in zip(pairs, loss, tv, signs(loss), signs(tv), strict=True)]


def _names(found: list[tuple[ArmResults, Estimate, Estimate, int, int]]) -> str:
    return ", ".join(f"{arm.model} {arm.activation} ({e.value:+.3f} nats, {t.value:+.3f} total variation)" for arm, e, t, *_ in found) or "none"


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
        f"Try the activation on your own architecture: {len(changed)} of {len(found)} comparisons with relu surely change the loss (Holm, 5%), "
        f"{len(better)} of them for the better: {_names(better)}"
    )
    both, costly = [f for f in better if f[4] < 0], [f for f in better if f[4] > 0]
    yield (
        f"Do not expect a better loss and better agreement at once: of the {len(better)} activations that surely lower the loss, {len(both)} surely "
        f"lower the difference between seeds as well ({_names(both)}) and {len(costly)} surely raise it ({_names(costly)})"
    )
    steadier = [f for f in found if f[4] < 0 and f[3] >= 0]
    yield f"Where agreement is all that counts, it was bought with no gain in loss by: {_names(steadier)}"
    yield trials_needed(grid)
    yield findings.baselines(grid)


def trials_needed(grid: Grid) -> str:
    """How small a difference of losses 3, 5 and 10 trials show, from the recorded spread between seeds."""
    spread = float(np.median([np.nanstd(arm.values("val_loss"), ddof=1) for arm in grid.arms.values()]))
    said = ", ".join(f"{n} trials {detectable_two_sample(n) * spread:.3f}" for n in (3, 5, 10))
    paired = detectable_paired(5)
    return (
        f"Run more than three seeds: the median standard deviation of the loss between seeds is {spread:.4f} nats, so the smallest difference of two "
        f"arms that shows with power 80% is {said} nats; five shared seeds show {paired:.2f} standard deviations of the paired difference"
    )


def sentences(evidence: Evidence) -> dict[str, str]:
    """Name -> sentence, for other pages."""
    recorded = [scale for scale in SMALLEST_FIRST if scale in evidence.grids]
    missing = [scale for scale in SMALLEST_FIRST if scale not in evidence.grids]
    waits = f"; without any record, and so without a verdict, is the scale of {' and of '.join(missing)}" if missing else ""
    return {"scales": f"There are records at {' and '.join(recorded) or 'no'} scale{waits}"}
