"""Tuning of learning rates: the arms that follow from the rule (``statistics.tuning``), and the rate that another study
has chosen."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.rates import Choice, choices, settled
from actlab.records.settings import text
from actlab.statistics.tuning import step
from actlab.study.fields import StudyName
from actlab.study.plan import Checked
from actlab.study.record import recorded
from actlab.study.trial import Arm

if TYPE_CHECKING:
    from actlab.study.language_study import LanguageStudy

BEAR_ON_RATE = (
    *("optimizer", "betas", "weight_decay", "iterations", "schedule", "warmup", "clip", "batch_size", "micro_batches"),
    *("scale", "dataset", "source"),
)
"""Settings that move the best rate; ``source``: of an own activation."""


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: StudyName
    """The study that chose them."""
    of: str = ""
    """The activation whose rate all arms of a model take; its own unless given."""
    beside: str = ""
    """Folder of the params file that names it; filled in when that is read."""


def tuned(cell: LanguageStudy) -> tuple[list[Arm], float | None]:
    """Of a cell of a study that chooses rates: its arms that are recorded or wanted next; the chosen rate, once none is
    wanted."""
    assert cell.tuning is not None
    if (several := len(list(cell.points()))) > 1:
        named = " ".join(cell.levels(name)[0] for name in cell.trial.named_by)
        raise BadInput(f"{named} has {several} settings: a study that chooses rates takes one")
    arms: list[Arm] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, cell.tuning)
        if not wanted:
            return arms, rate
        ones = [cell.replace(**{cell.tunes: tried, "seed": seed, "trials": 1}) for tried, seed in wanted]
        fresh = [one.arms_of(cell.recorded[0])[0] for one in ones]
        arms += fresh
        for tried, record in zip(wanted, map(recorded, fresh), strict=True):
            if record is None:
                return arms, rate
            (trial,) = record["trials"]
            losses[tried] = float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def chosen(study: LanguageStudy, rates: Rates, arm: Arm) -> Choice:
    """What another study has chosen for an arm of a study, by its records. Of several tunings the one whose settings
    are nearest to the arm's (``departures``).

    Raises:
        UnknownName: no such study.
        BadInput: it chooses no rates, or none for this cell yet.
    """
    asked = {name: str(getattr(arm.trials[0], name)) for name in study.tuned_by}
    if rates.of and "activation" in asked:
        asked["activation"] = rates.of
    path, tuning = _tuning_of(rates)
    first = {name: tuning.levels(name)[0] for name in tuning.trial.named_by} if tuning else {}
    wanted = (first | asked).items()
    every = choices(rates.study)
    own = [each for each in every if wanted <= each.cell.items()]
    if found := [each for each in own if each.rate is not None]:
        return min(found, key=lambda each: len(departures(each, arm)))
    named = " ".join(asked.values())
    if tuning is None:
        if rates.study not in (known := store.studies()):
            raise UnknownName("study", rates.study, known, "rates (no params file beside it or in params/, no record)")
        if not every:
            raise BadInput(f"{store.where(rates.study)} chooses no learning rates: its records hold no `tuning`")
        tried = f"{len(own[0].losses)} trials are recorded, which do not suffice" if own else "it has no such trial"
        raise BadInput(f"{store.where(rates.study)} has chosen no learning rate for {named}: {tried}")
    for name, level in asked.items():
        if level not in (levels := tuning.levels(name)):
            raise BadInput(
                f"{rates.study} tunes no {name} {level}, but {', '.join(map(str, levels))}: add it to {path}, tune it "
                "in a study of your own, or say `of` in `rates`"
            )
    raise BadInput(f"{rates.study} has chosen no learning rate for {named} yet: run {path}")


def departures(choice: Choice, arm: Arm) -> dict[str, tuple[str, str]]:
    """Setting that bears on a rate -> (its value where the rate was chosen, in this arm), where the two differ."""
    own = settled(arm.as_record)
    both = {name: (text(choice.settings.get(name)), text(own.get(name))) for name in BEAR_ON_RATE}
    if arm.config["activation"] != choice.cell["activation"]:  # another's rate, which `of` asks for
        del both["source"]
    return {name: values for name, values in both.items() if values[0] != values[1]}


def warn_of_departures(study: LanguageStudy, rates: Rates, arms: Sequence[Arm]) -> None:
    """One line for all arms that are to be trained: where the settings differ for which their rates were chosen."""
    there, here = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for arm in arms:
        for name, (tuned_with, own) in departures(chosen(study, rates, arm), arm).items():
            there[name].add(tuned_with)
            here[name].add(own)
    told = [f"{name} {' | '.join(sorted(there[name]))}, here {' | '.join(sorted(here[name]))}" for name in there]
    if told:
        logging.getLogger("actlab").warning(
            "rates that %s has chosen may not suit: it tuned with %s", rates.study, "; ".join(told)
        )


def _tuning_of(rates: Rates) -> tuple[str, LanguageStudy | None]:
    """(the params file of the study that chooses: beside the file that names it, else the project's, else actlab's;
    what it says: nothing where there is none, as ``--set study=NAME`` leaves it).

    Raises:
        BadInput: it chooses no rates.
    """
    from actlab.study.run import read_params

    path = Path(rates.beside) / f"{rates.study}.yaml"
    if not (rates.beside and path.is_file()):
        path = paths.params_file(rates.study)
    if not path.is_file():
        return "", None
    other = cast("LanguageStudy", read_params(path))
    if getattr(other, "tuning", None) is None:
        raise BadInput(f"{rates.study} chooses no learning rates: {paths.shown(path)} has no `tuning`")
    return paths.shown(path), other
