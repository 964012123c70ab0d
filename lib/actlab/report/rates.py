"""What a tuning study has chosen, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from actlab.records.rates import Choice, choices
from actlab.records.settings import text
from actlab.records.store import Record


def tables(study: str, records: list[Record]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Of the models and activations (or optimizers, symmetries and activations) among some records, both empty where
    the study chooses no rate:

    a row each: the chosen ``learning_rate`` (or ``rate_factor``), missing as long as trials are, and its mean
    ``val_loss``; how many ``rates`` and ``trials`` it rests on, the lowest and highest rate that were tried;

    a row a rate and seed that was tried: its ``val_loss`` at the end, infinite where it diverged; whether its rate was
    ``chosen``. A cell that was tuned under several settings has a column ``setting``.
    """
    arms = {record["arm"] for record in records}
    found = [choice for choice in choices(study) if arms & {*choice.arms}]
    differ = differing(found)
    chosen, tried = [], []
    for choice in found:
        setting = ", ".join(f"{name}={text(choice.settings[name])}" for name in differ)
        cell = choice.cell | ({"setting": setting} if differ else {})
        losses = sorted(choice.losses.items())
        rates = [rate for (rate, _), _ in losses]
        told = {"rates": len({*rates}), "lowest": rates[0], "highest": rates[-1], "trials": len(rates)}
        chosen.append({**cell, choice.field: choice.rate, "val_loss": choice.loss, **told})
        for (rate, seed), loss in losses:
            tried.append({**cell, choice.field: rate, "seed": seed, "val_loss": loss, "chosen": rate == choice.rate})
    return pd.DataFrame(chosen), pd.DataFrame(tried)


def differing(found: list[Choice]) -> list[str]:
    """The settings in which tunings of one cell differ."""
    names = dict[str, None]()
    for one, other in combinations(found, 2):
        if one.cell == other.cell:
            names |= dict.fromkeys(name for name in one.settings if one.settings[name] != other.settings.get(name))
    return list(names)


def lines(found: pd.DataFrame) -> Iterator[str]:
    """Each choice in a line."""
    for row in found.to_dict("records"):
        field = "rate_factor" if "rate_factor" in row else "learning_rate"
        cell = " ".join(str(row[name]) for name in found.columns[: found.columns.get_loc(field)] if row[name])
        rate, words = row[field], field.replace("_", " ")
        tried = f"{row['rates']} tried from {row['lowest']:g} to {row['highest']:g}, {row['trials']} trials"
        chosen = f"{words} {rate:g}, loss {row['val_loss']:.4f}" if pd.notna(rate) else f"no {words} chosen yet"
        yield f"{cell}: {chosen} ({tried})"
