"""Tuning of learning rates: the arms that follow from the rule (``statistics.tuning``), and the rate that another study
has chosen."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.rates import choices
from actlab.statistics.tuning import step
from actlab.study.record import recorded
from actlab.study.study import LanguageStudy, Rates
from actlab.study.trial import Arm, T

S = TypeVar("S", bound=LanguageStudy)


def tuned(study: S, field: str, arm: Callable[[S], Arm[T]]) -> tuple[list[Arm[T]], float | None]:
    """Of a study of one cell that chooses ``field``, a learning rate: its arms that are recorded or wanted next; the
    chosen rate, once none is wanted. ``arm(study)`` makes the arm of a study of one."""
    assert study.tuning is not None
    arms: list[Arm[T]] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, study.tuning.rule)
        fresh = [arm(study.replace(**{field: rate, "seed": seed, "trials": 1})) for rate, seed in wanted]
        arms += fresh
        records = [recorded(arm) for arm in fresh]
        if not wanted or None in records:
            return arms, rate
        losses |= {trial: _loss(record["trials"][0]) for trial, record in zip(wanted, records, strict=True) if record}


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def chosen(rates: Rates, kind: type[S], choice: Callable[[S], tuple[list[Arm[T]], float | None]], **cell: str) -> float:
    """The rate that a study chose for a cell.

    Its params file decides which trials count: the one beside the file that names it, else the project's, else a
    recorded study's. A study without one, as ``--set study=NAME`` makes them, is known by its records.

    Args:
        rates: name the study.
        kind: of the study.
        choice: of its parameters, what ``tuned`` says of the cell.
        cell: whose rate is asked for: model and activation, or optimizer.

    Raises:
        UnknownName: no such study.
        BadInput: it chooses no rates, or none for this cell yet.
    """
    beside = Path(rates.beside) / f"{rates.study}.yaml"
    path = beside if rates.beside and beside.is_file() else paths.params_file(rates.study)
    if not path.is_file():
        return _recorded_choice(rates, cell)
    params = kind.load(path)
    if params.tuning is None:
        raise BadInput(f"{rates.study} chooses no learning rates: {paths.shown(path)} has no `tuning`")
    arms, rate = choice(params)
    if rate is not None:
        return rate
    for name, level in cell.items():
        if level not in (levels := params.levels(name)):
            raise BadInput(
                f"{rates.study} tunes no {name} {level}, but {', '.join(map(str, levels))}: add it to "
                f"{paths.shown(path)}, tune it in a study of your own, or say `of` in `rates`"
            )
    raise BadInput(
        f"{rates.study} has chosen no learning rate for {arms[0].name} yet ({len(arms)} trials are planned): "
        f"run {paths.shown(path)}"
    )


def _recorded_choice(rates: Rates, cell: Mapping[str, str]) -> float:
    """Of a study that has records and no params file."""
    if rates.study not in (known := store.studies()):
        raise UnknownName("study", rates.study, known, "rates (no params file beside it or in params/, no record)")
    of_study = choices(rates.study)
    if not of_study:
        raise BadInput(f"{store.where(rates.study)} chooses no learning rates: its records hold no `tuning`")
    own = [each for each in of_study if all(each.cell.get(name) == level for name, level in cell.items())]
    found = [each.rate for each in own if each.rate is not None]
    if not found:
        named = " ".join(cell.values())
        tried = f"{len(own[0].losses)} trials are recorded, which do not suffice" if own else "it has no such trial"
        raise BadInput(f"{store.where(rates.study)} has chosen no learning rate for {named}: {tried}")
    return found[0]
