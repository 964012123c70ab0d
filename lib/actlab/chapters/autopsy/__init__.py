"""The autopsy of the published numbers: each anomaly beside the defect that causes it, with our number under the defect
and without it.

Read from records (``results/autopsy-*``, ``results/repro-lite``) and from the published numbers
(``claims/published.py``); trains and draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

WAITING = "no record yet"


@dataclass(frozen=True)
class Anomaly:
    """One published anomaly. ``on`` and ``off``: our number with the defect switched on and off, in words; ``WAITING``
    where records are missing."""

    title: str
    published: str
    source: str
    """Place in the published texts."""
    defect: str
    """In one sentence."""
    on: str
    off: str
    labels: tuple[str, str] = ("ours, defect on", "ours, defect off")
    """Of these two in the anomaly's own table, where nothing can be switched."""


ROWS = {
    "published": "published",
    "source": "where",
    "defect": "the defect",
    "on": "ours, defect on",
    "off": "ours, defect off",
}


def shown(anomaly: Anomaly) -> pd.DataFrame:
    """One anomaly as a table of two columns."""
    names = ROWS | dict(zip(("on", "off"), anomaly.labels, strict=True))
    return pd.DataFrame({anomaly.title: {words: getattr(anomaly, name) for name, words in names.items()}})


def overview(anomalies: list[Anomaly]) -> pd.DataFrame:
    """One row an anomaly: what was published, and the first of our numbers with the defect and without; the anomaly's
    own table has them all."""
    rows = {
        a.title: {ROWS["published"]: a.published, ROWS["on"]: headline(a.on), ROWS["off"]: headline(a.off)}
        for a in anomalies
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def headline(text: str) -> str:
    """The first of the parts that semicolons divide; dots say that there is more."""
    first, _, more = text.partition("; ")
    return f"{first}; ..." if more else first


def or_waiting(says: Callable[[], str]) -> str:
    """What ``says`` returns, or ``WAITING`` where a record that it reads is missing (a ``KeyError``)."""
    try:
        return says()
    except KeyError:
        return WAITING
