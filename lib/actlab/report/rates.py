"""What a tuning study has chosen, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from actlab.records.rates import Choice, choices
from actlab.records.settings import text
from actlab.records.store import Record


def table(study: str, records: list[Record]) -> pd.DataFrame:
    """A row a model and activation (or optimizer, symmetry and activation) among some records: the chosen
    ``learning_rate`` (or ``rate_factor``), missing as long as trials are, and its mean ``val_loss``; how many ``rates``
    and ``trials`` it rests on, the lowest and highest rate that were tried; empty where the study chooses none."""
    rows = []
    for choice, cell in _named(study, records):
        rates = sorted({rate for rate, _ in choice.losses})
        tried = {"rates": len(rates), "lowest": rates[0], "highest": rates[-1], "trials": len(choice.losses)}
        rows.append({**cell, choice.field: choice.rate, "val_loss": choice.loss, **tried})
    return pd.DataFrame(rows)


def tried(study: str, records: list[Record]) -> pd.DataFrame:
    """A row a rate and seed that was tried: its ``val_loss`` at the end, infinite where it diverged; whether its rate
    was ``chosen``."""
    return pd.DataFrame(
        {**cell, choice.field: rate, "seed": seed, "val_loss": loss, "chosen": rate == choice.rate}
        for choice, cell in _named(study, records)
        for (rate, seed), loss in sorted(choice.losses.items())
    )


def lines(found: pd.DataFrame) -> Iterator[str]:
    """Each choice in a line."""
    for row in found.to_dict("records"):
        field = "rate_factor" if "rate_factor" in row else "learning_rate"
        cell = " ".join(str(row[name]) for name in found.columns[: found.columns.get_loc(field)] if row[name])
        rate, words = row[field], field.replace("_", " ")
        tried = f"{row['rates']} tried from {row['lowest']:g} to {row['highest']:g}, {row['trials']} trials"
        chosen = f"{words} {rate:g}, loss {row['val_loss']:.4f}" if pd.notna(rate) else f"no {words} chosen yet"
        yield f"{cell}: {chosen} ({tried})"


def _named(study: str, records: list[Record]) -> Iterator[tuple[Choice, dict[str, object]]]:
    """Each choice among some records, and the columns that name it: with a ``setting`` where a cell was tuned under
    several."""
    arms = {record["arm"] for record in records}
    found = [each for each in choices(study) if arms & {*each.arms}]
    differ = {
        name: None
        for one, other in combinations(found, 2)
        if one.cell == other.cell
        for name in one.settings
        if one.settings[name] != other.settings.get(name)
    }
    for choice in found:
        setting = ", ".join(f"{name}={text(choice.settings[name])}" for name in differ)
        yield choice, {**choice.cell, **({"setting": setting} if differ else {})}
