"""The autopsy of the published numbers: each anomaly (``anomalies.yaml``) beside the defect that causes it, with our
number under the defect and without it. Reads records; trains and draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from actlab.chapters.autopsy import printed, trained
from actlab.claims.published import numbers
from actlab.figures.style import NO_RECORD
from actlab.records.autopsy import Autopsy

WAITING = NO_RECORD
ROWS = {
    "published": "published",
    "source": "where",
    "defect": "the defect",
    "on": "ours, defect on",
    "off": "ours, defect off",
}


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
    labels: tuple[str, str] = (ROWS["on"], ROWS["off"])
    """Of these two in the anomaly's own table, where nothing can be switched."""


def anomalies(evidence: Autopsy) -> dict[str, Anomaly]:
    """Name -> anomaly, in the order of the page."""
    told: dict[str, dict[str, Any]] = yaml.safe_load(
        Path(__file__).with_name("anomalies.yaml").read_text(encoding="utf-8")
    )
    derived = printed.derived() | {"p": numbers}
    functions = vars(trained) | vars(printed)
    return {
        name: Anomaly(
            **texts
            | {key: texts[key].format(**derived) for key in ("published", "defect")}
            | {side: printed.or_waiting(functions[f"{name}_{side}"], evidence) for side in ("on", "off")},
        )
        for name, texts in told.items()
    }


def shown(anomaly: Anomaly) -> pd.DataFrame:
    """One anomaly as a table of two columns."""
    names = ROWS | dict(zip(("on", "off"), anomaly.labels, strict=True))
    return pd.DataFrame({anomaly.title: {words: getattr(anomaly, name) for name, words in names.items()}})


def overview(found: dict[str, Anomaly]) -> pd.DataFrame:
    """One row an anomaly: what was published, and the first of our numbers with the defect and without; the anomaly's
    own table has them all."""
    rows = {
        a.title: {ROWS["published"]: a.published, ROWS["on"]: headline(a.on), ROWS["off"]: headline(a.off)}
        for a in found.values()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def headline(text: str) -> str:
    """The first of the parts that semicolons divide; dots say that there is more."""
    first, _, more = text.partition("; ")
    return f"{first}; ..." if more else first
