"""Learning rates that another study has chosen: which of its choices an arm takes, and a warning where the arm's
settings are not those under which the rate was chosen. (A study that chooses rates: ``study.LanguageStudy.tried``.)"""

import logging
from collections.abc import Iterable, Sequence

from actlab.errors import BadInput, check_name
from actlab.records import store
from actlab.records.rates import Choice, choices, settled
from actlab.records.settings import text
from actlab.study.arm import Arm
from actlab.study.fields import Checked

BEAR_ON_RATE = (
    *("optimizer", "betas", "weight_decay", "iterations", "schedule", "warmup", "clip", "batch_size", "micro_batches"),
    *("scale", "dataset", "parts"),
)
"""Settings that move the best rate; ``parts``: versions of a user's own."""


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: str
    """The study that chose them."""
    of: str = ""
    """The activation whose rate all arms of a model take; its own unless given."""


def chosen(rates: Rates, tunings: Iterable[Choice], tuned_by: Sequence[str], arm: Arm) -> Choice:
    """Find what another study has chosen for an arm: of several ``tunings`` of its records the one whose settings are
    nearest to the arm's. ``tuned_by``: the factors for which a rate is chosen.

    Raises:
        UnknownName: no such study has records.
        BadInput: it has chosen no rate for this arm.
    """
    cell = {name: str(getattr(arm.trials[0], name)) for name in tuned_by}
    if rates.of and "activation" in cell:
        cell["activation"] = rates.of
    fitting = [choice for choice in tunings if choice.rate is not None and cell.items() <= choice.cell.items()]
    if not fitting:
        check_name("study", rates.study, store.studies(), "rates (known once it has records)")
        raise BadInput(
            f"{store.where(rates.study)} has chosen no learning rate for {' '.join(cell.values())}: run it to its end, "
            "tune this arm too, or say `of` in `rates`"
        )
    return min(fitting, key=lambda choice: len(departures(choice, arm)))


def departures(choice: Choice, arm: Arm) -> list[str]:
    """Name the settings that bear on a rate, and are others in this arm than where the rate was chosen."""
    before, now = settled(choice.record), settled(arm.as_record)
    return [name for name in BEAR_ON_RATE if text(before.get(name)) != text(now.get(name))]


def warn_of_departures(rates: Rates, tuned_by: Sequence[str], arms: Sequence[Arm]) -> None:
    """Warn in one line, for all arms that are to be trained, of the settings that were others where their rates were
    chosen."""
    tunings = choices(rates.study)
    names = dict.fromkeys(name for arm in arms for name in departures(chosen(rates, tunings, tuned_by, arm), arm))
    if names:
        logging.getLogger("actlab").warning(
            "rates that %s has chosen may not suit: it tuned with other values of %s", rates.study, ", ".join(names)
        )
