"""Labels of metrics (axis label with unit and range, decimals) and what levels, texts and defects are called in
sentences, from ``labels.yaml``; ``tables.COLUMNS`` says what each metric means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from actlab.files import read_yaml

if TYPE_CHECKING:
    import pandas as pd

UNITS = {"mnist": "image", "ablation": "token"}
"""Kind of record -> what its losses are of, where not of a character."""


@dataclass(frozen=True)
class Metric:
    """How to read one measured quantity."""

    name: str
    label: str
    """Axis label with unit and range."""

    @property
    def digits(self) -> int:
        """Return its decimals in a table."""
        return 2 if "(%)" in self.label else 4

    @property
    def short(self) -> str:
        """Name it for people, without unit and range."""
        return self.label.partition(" (")[0]

    def of_kind(self, kind: str) -> Metric:
        """Return the same with the unit of a kind of record: nats per character, image or token."""
        return replace(self, label=self.label.replace("nats per character", f"nats per {UNITS.get(kind, 'character')}"))


LABELS = read_yaml(Path(__file__).with_suffix(".yaml"))


PAIR_METRICS, TRIAL_METRICS = (
    {name: Metric(name, label) for name, label in labels.items()} for labels in LABELS["metrics"].values()
)
EVERY = PAIR_METRICS | TRIAL_METRICS


def of_trials(metric: str) -> bool:
    """Say whether a metric is one of trials; all others, a user's own ones too, are of pairs."""
    return metric in TRIAL_METRICS


SHARES = ("total_variation", "churn", "churn_win", "churn_loss", "churn_neutral")
"""Metrics of pairs that pages give in points, hundredths of a share."""


MOST: dict[str, float] = LABELS["most"]
"""Metric -> the end of its range, which begins at 0."""


def clipped(table: pd.DataFrame, metric: str, signed: bool = False) -> pd.DataFrame:
    """Keep the limits of a table of intervals of a metric, or (``signed``) of differences of it, inside the metric's
    range; those of a user's own metric are left as they are."""
    if metric not in MOST:
        return table
    least, most = -MOST[metric] if signed else 0.0, MOST[metric]
    return table.assign(low=table["low"].clip(least, most), high=table["high"].clip(least, most))


def in_points(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return a table of pairs with its shares in points."""
    return pairs.assign(**{name: 100 * pairs[name] for name in SHARES if name in pairs})


def with_unit(metric: str) -> str:
    """Name a metric for people, with its unit where it is in points."""
    name = metric.replace("_", " ")
    return f"{name} (points)" if metric in SHARES else name


WORDS: dict[str, str] = LABELS["words"]


def words(name: str) -> str:
    """Name a level, text or defect for people, each part of ``relu, averaged weights`` by itself; what has no other
    name stays as it is."""
    return ", ".join(WORDS.get(part, part) for part in name.split(", "))


def small(value: float) -> str:
    """Write two significant digits, as a plain number down to 0.0001 and in powers of ten below; whole from 100 on."""
    if value == 0:
        return "0"
    if abs(value) >= 99.5:
        return f"{value:,.0f}"
    return f"{value:#.2g}".rstrip(".") if abs(value) >= 1e-4 else f"{value:.1e}"
