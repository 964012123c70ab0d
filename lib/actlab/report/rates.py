"""What a tuning study has chosen, as a table and in words."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from actlab.records.rates import Choice, choices
from actlab.records.store import Record


def table(study: str, records: list[Record]) -> pd.DataFrame:
    """A row a model and activation (or optimizer, symmetry and activation) among some records: the chosen
    ``learning_rate`` (or ``rate_factor``), missing as long as trials are; how many ``rates`` and ``trials`` it rests
    on, the lowest and highest rate that were tried; empty where the study chooses none."""
    arms = {record["arm"] for record in records}
    return pd.DataFrame([_row(each) for each in choices(study) if arms & {*each.arms}])


def _row(choice: Choice) -> dict[str, object]:
    rates = sorted({rate for rate, _ in choice.losses})
    tried = {"rates": len(rates), "lowest": rates[0], "highest": rates[-1], "trials": len(choice.losses)}
    return {**choice.cell, choice.field: choice.rate, **tried}


def lines(found: pd.DataFrame) -> Iterator[str]:
    """Each choice in a line."""
    for row in found.to_dict("records"):
        field = "rate_factor" if "rate_factor" in row else "learning_rate"
        cell = " ".join(str(row[name]) for name in found.columns[: found.columns.get_loc(field)])
        rate, words = row[field], field.replace("_", " ")
        tried = f"{row['rates']} tried from {row['lowest']:g} to {row['highest']:g}, {row['trials']} trials"
        yield f"{cell}: {f'{words} {rate:g}' if pd.notna(rate) else f'no {words} chosen yet'} ({tried})"
