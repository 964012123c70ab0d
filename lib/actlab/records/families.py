"""One primary family of comparisons for each question; a study that repeats trials of a family's study quotes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actlab import paths
from actlab.records import store
from actlab.records.estimates import REFERENCE, against
from actlab.records.repeats import repeats
from actlab.records.repro import ArmResults, Grid, read
from actlab.statistics.estimate import Estimate

PRIMARY = "repro-lite"
"""The study whose families decide wherever another study has the same trials."""


@dataclass(frozen=True)
class Family:
    """The comparisons that answer a question together: significance is adjusted by Holm over them, at 5%."""

    question: str
    study: str
    metric: str
    over: str
    reference: str = REFERENCE


FAMILIES = {
    "reproducibility": Family(
        "Does the activation change how far two seeds differ after the same steps, at lite scale?",
        PRIMARY,
        "total_variation",
        "every other activation in every architecture",
    ),
    "loss": Family(
        "Does the activation change the validation loss after the same steps, at lite scale?",
        PRIMARY,
        "val_loss",
        "every other activation in every architecture",
    ),
    "streams": Family(
        "Which random stream does an activation amplify?",
        "sources",
        "total_variation",
        "every other activation under every stream, one family an architecture; all streams together are quoted",
    ),
    "extremes": Family(
        "Does an extreme activation matter to charlm?",
        "extreme",
        "val_loss",
        "every other activation; what the primary study has is quoted",
    ),
    "size": Family(
        "Do differences of loss change with the number of parameters?",
        "scale",
        "val_loss",
        "every other activation at every size; what the primary study has is quoted",
    ),
}


def primary(study: str) -> Grid | None:
    """The grid whose families pages quote, of the records that are there; None where there are none or ``study`` is
    that one."""
    if study == PRIMARY or not (paths.results() / PRIMARY).exists():
        return None
    return read(store.load_study(PRIMARY))


def quoting(grid: Grid) -> Grid:
    """The grid with the primary one that it quotes; a part of the primary study with the whole of it."""
    return replace(grid, primary=primary("")) if grid.arms else grid


def comparisons(grid: Grid, metric: str) -> list[tuple[ArmResults, Estimate, float]]:
    """Every arm minus the reference of the same model, paired by seed, and its p-value after Holm over all of them."""
    arms = [arm for arm in grid.arms.values() if arm.activation != REFERENCE and (arm.model, REFERENCE) in grid.arms]
    tested = against([(arm, grid.arms[arm.model, REFERENCE]) for arm in arms], metric)
    return [(arm, *found) for arm, found in zip(arms, tested, strict=True)]


def quoted(arm: ArmResults, grid: Grid | None, metric: str) -> tuple[Estimate, float] | None:
    """What the primary family says of an arm whose trials are also there; None where they are not."""
    other = grid.arms.get((arm.model, arm.activation)) if grid else None
    if grid is None or other is None or not repeats(arm.record, other.record):
        return None
    return next(((e, p) for found, e, p in comparisons(grid, metric) if found is other), None)


Tested = tuple[ArmResults, Estimate, float, bool]
"""An arm, its difference from the reference, the p-value after Holm over its family, and whether another study's family
is quoted."""


def tested(grid: Grid, metric: str) -> list[Tested]:
    """Every arm minus the reference of the same model, each in its primary family: the grid's own, or the one that it
    quotes."""
    found = [(arm, e, p, quoted(arm, grid.primary, metric)) for arm, e, p in comparisons(grid, metric)]
    own = grid.primary is None or grid.primary.study == grid.study
    return [(arm, *(other or (e, p)), other is not None and not own) for arm, e, p, other in found]


def family_size(grid: Grid) -> int:
    """How many comparisons the grid's own family has: of the whole study where the grid is a part of the primary
    one."""
    whole = grid.primary if grid.primary and grid.primary.study == grid.study else grid
    return len(comparisons(whole, "val_loss"))


def told(found: dict[str, tuple[Estimate, float]], grid: Grid | None) -> str:
    """A sentence's part on what is quoted: whose family decides, and what it says; nothing without anything."""
    if not found or grid is None:
        return ""
    size = len(comparisons(grid, "val_loss"))
    named = "; ".join(f"{name} {e.value:+.3f}, p = {p:.3f}" for name, (e, p) in found.items())
    return f"repeat trials of results/{grid.study}, whose family of {size} comparisons decides: {named}"
