"""Tuning of learning rates: the arms that follow from the rule (``statistics.tuning``), and the rate that another study
has chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.rates import choices
from actlab.statistics.tuning import step
from actlab.study.fields import StudyName
from actlab.study.plan import Checked
from actlab.study.record import recorded
from actlab.study.trial import Arm, Trial

if TYPE_CHECKING:
    from actlab.study.language_study import LanguageStudy


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: StudyName
    """The study that chose them."""
    of: str = ""
    """The activation whose rate all arms of a model take; its own unless given."""
    beside: str = ""
    """Folder of the params file that names it; filled in when that is read."""


def tuned(cell: LanguageStudy) -> tuple[list[Arm[Trial]], float | None]:
    """Of a cell of a study that chooses rates: its arms that are recorded or wanted next; the chosen rate, once none is
    wanted."""
    assert cell.tuning is not None
    if (several := len(list(cell.points()))) > 1:
        named = " ".join(cell.levels(name)[0] for name in cell.trial.named_by)
        raise BadInput(f"{named} has {several} settings: a study that chooses rates takes one")
    arms: list[Arm[Trial]] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, cell.tuning.rule)
        ones = [cell.replace(**{cell.tunes: rate, "seed": seed, "trials": 1}) for rate, seed in wanted]
        fresh = [one.plain()[0] for one in ones]
        arms += fresh
        records = [recorded(arm) for arm in fresh]
        if not wanted or None in records:
            return arms, rate
        losses |= {tried: _loss(record["trials"][0]) for tried, record in zip(wanted, records, strict=True) if record}


def chosen(study: LanguageStudy, rates: Rates, cell: Mapping[str, str]) -> float:
    """The rate that another study chose for a cell of a study.

    Its params file decides which trials count: the one beside the file that names it, else the project's, else a
    recorded study's. A study without one, as ``--set study=NAME`` makes them, is known by its records.

    Raises:
        UnknownName: no such study.
        BadInput: it chooses no rates, or none for this cell yet.
    """
    asked = {name: cell[name] for name in study.tuned_by}
    if rates.of and "activation" in asked:
        asked["activation"] = rates.of
    beside = Path(rates.beside) / f"{rates.study}.yaml"
    path = beside if rates.beside and beside.is_file() else paths.params_file(rates.study)
    if not path.is_file():
        return _recorded_choice(rates.study, asked)
    other = study.load(path)
    if other.tuning is None:
        raise BadInput(f"{rates.study} chooses no learning rates: {paths.shown(path)} has no `tuning`")
    first = {name: other.levels(name)[0] for name in other.trial.named_by}
    arms, rate = tuned(other.cell(first | asked))
    if rate is not None:
        return rate
    for name, level in asked.items():
        if level not in (levels := other.levels(name)):
            raise BadInput(
                f"{rates.study} tunes no {name} {level}, but {', '.join(map(str, levels))}: add it to "
                f"{paths.shown(path)}, tune it in a study of your own, or say `of` in `rates`"
            )
    raise BadInput(
        f"{rates.study} has chosen no learning rate for {arms[0].name} yet ({len(arms)} trials are planned): "
        f"run {paths.shown(path)}"
    )


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def _recorded_choice(study: str, cell: Mapping[str, str]) -> float:
    """Of a study that has records and no params file."""
    if study not in (known := store.studies()):
        raise UnknownName("study", study, known, "rates (no params file beside it or in params/, no record)")
    of_study = choices(study)
    if not of_study:
        raise BadInput(f"{store.where(study)} chooses no learning rates: its records hold no `tuning`")
    own = [each for each in of_study if all(each.cell.get(name) == level for name, level in cell.items())]
    found = [each.rate for each in own if each.rate is not None]
    if not found:
        named = " ".join(cell.values())
        tried = f"{len(own[0].losses)} trials are recorded, which do not suffice" if own else "it has no such trial"
        raise BadInput(f"{store.where(study)} has chosen no learning rate for {named}: {tried}")
    return found[0]
