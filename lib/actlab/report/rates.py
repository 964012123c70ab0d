"""What a tuning study has chosen, as tables and in words."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import pandas as pd

from actlab.records.rates import Choice, choices
from actlab.records.settings import text
from actlab.records.store import Record


class Rates(NamedTuple):
    """The rates of the models and activations (or optimizers, symmetries and activations) among some records; all empty
    where the study chooses none. A cell that was tuned under several settings has a column ``setting``."""

    chosen: pd.DataFrame
    """A row each: the chosen ``learning_rate`` (or ``rate_factor``), missing as long as trials are, and its mean
    ``val_loss``; how many ``rates`` and ``trials`` it rests on, the lowest and highest rate that were tried."""
    tried: pd.DataFrame
    """A row a rate and seed that was tried: its ``val_loss`` at the end, infinite where it diverged; whether its rate
    was ``chosen``."""
    lines: list[str]
    """Each choice in words."""


def rates_of(study: str, records: list[Record]) -> Rates:
    """What a study has chosen for the arms among some of its records."""
    arms = {record["arm"] for record in records}
    found = [choice for choice in choices(study) if arms & {*choice.arms}]
    differ = differing(found)
    chosen, tried, lines = [], [], []
    for choice in found:
        setting = ", ".join(f"{name}={text(choice.settings[name])}" for name in differ)
        cell = choice.cell | ({"setting": setting} if differ else {})
        losses = sorted(choice.losses.items())  # the lowest rate first
        for (rate, seed), loss in losses:
            tried.append({**cell, choice.field: rate, "seed": seed, "val_loss": loss, "chosen": rate == choice.rate})
        rates = [rate for (rate, _), _ in losses]
        told = {"rates": len({*rates}), "lowest": rates[0], "highest": rates[-1], "trials": len(rates)}
        chosen.append({**cell, choice.field: choice.rate, "val_loss": choice.loss, **told})
        words = choice.field.replace("_", " ")
        what = f"no {words} chosen yet" if choice.rate is None else f"{words} {choice.rate:g}, loss {choice.loss:.4f}"
        rest = "{rates} tried from {lowest:g} to {highest:g}, {trials} trials".format(**told)
        name = " ".join(filter(None, map(str, cell.values())))
        lines.append(f"{name}: {what} ({rest})")
    return Rates(pd.DataFrame(chosen), pd.DataFrame(tried), lines)


def differing(found: list[Choice]) -> list[str]:
    """The settings in which tunings of one cell differ."""
    names = dict[str, None]()
    for one, other in combinations(found, 2):
        if one.cell == other.cell:
            names |= dict.fromkeys(name for name in one.settings if one.settings[name] != other.settings.get(name))
    return list(names)
