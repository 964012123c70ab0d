"""Learning rates that another study has chosen: which of its choices an arm takes, and a warning where the arm's
settings are not those under which the rate was chosen. (A study that chooses rates: ``study.LanguageStudy.tried``.)"""

import logging
from collections import defaultdict
from collections.abc import Sequence

from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.records.rates import Choice, choices, settled
from actlab.records.settings import text
from actlab.study.arm import Arm
from actlab.study.fields import Checked

BEAR_ON_RATE = (
    *("optimizer", "betas", "weight_decay", "iterations", "schedule", "warmup", "clip", "batch_size", "micro_batches"),
    *("scale", "dataset", "source"),
)
"""Settings that move the best rate; ``source``: of an own activation."""


class Rates(Checked):
    """Learning rates that another study has chosen: each arm's own, or for all arms of a model that of one
    activation."""

    study: str
    """The study that chose them."""
    of: str = ""
    """The activation whose rate all arms of a model take; its own unless given."""


def chosen(rates: Rates, tuned_by: Sequence[str], arm: Arm) -> Choice:
    """Find what another study has chosen for an arm, by its records: of several tunings the one whose settings are
    nearest to the arm's. ``tuned_by``: the factors for which a rate is chosen.

    Raises:
        UnknownName: no such study has records.
        BadInput: it has chosen no rate for this arm.
    """
    wanted = {name: str(getattr(arm.trials[0], name)) for name in tuned_by}
    if rates.of and "activation" in wanted:
        wanted["activation"] = rates.of
    chosen_rates = [choice for choice in choices(rates.study) if choice.rate is not None]
    fitting = [choice for choice in chosen_rates if wanted.items() <= choice.cell.items()]
    if not fitting:
        if not store.folder_of(rates.study).exists():
            raise UnknownName("study", rates.study, store.studies(), "rates (known once it has records)")
        cells = dict.fromkeys(" ".join(choice.cell[name] for name in tuned_by) for choice in chosen_rates)
        raise BadInput(
            f"{store.where(rates.study)} has chosen no learning rate for {' '.join(wanted.values())}, but for "
            f"{', '.join(cells) or 'none'}: run it to its end, tune this arm too, or say `of` in `rates`"
        )
    return min(fitting, key=lambda choice: len(departures(choice, arm)))


def departures(choice: Choice, arm: Arm) -> dict[str, tuple[str, str]]:
    """Map each setting that bears on a rate, and is another in this arm than where the rate was chosen, to the two
    values, the latter first."""
    settings = settled(arm.as_record)
    both = {name: (text(choice.settings.get(name)), text(settings.get(name))) for name in BEAR_ON_RATE}
    if arm.config["activation"] != choice.cell["activation"]:  # another's rate, which `of` asks for
        del both["source"]
    return {name: values for name, values in both.items() if values[0] != values[1]}


def warn_of_departures(rates: Rates, tuned_by: Sequence[str], arms: Sequence[Arm]) -> None:
    """Warn in one line, for all arms that are to be trained, of the settings that were others where their rates were
    chosen."""
    differing = defaultdict[str, dict[tuple[str, str], None]](dict)
    for arm in arms:
        for name, values in departures(chosen(rates, tuned_by, arm), arm).items():
            differing[name][values] = None
    texts = [f"{name} {', '.join(f'{tuned}, here {own}' for tuned, own in pairs)}" for name, pairs in differing.items()]
    if texts:
        logging.getLogger("actlab").warning(
            "rates that %s has chosen may not suit: it tuned with %s", rates.study, "; ".join(texts)
        )
