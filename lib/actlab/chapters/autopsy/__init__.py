"""The autopsy of the published numbers: each anomaly (``anomalies.yaml``) beside the defect that causes it, with our
number under the defect and without it. Reads records; trains and draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from actlab.chapters.autopsy import trained
from actlab.chapters.template import frame
from actlab.claims.audited_numbers import numbers
from actlab.figures.style import NO_RECORD
from actlab.files import read_yaml
from actlab.records.autopsy import Autopsy
from actlab.records.wording import measured


@dataclass(frozen=True)
class Anomaly:
    """One published anomaly. ``on`` and ``off``: our number with the defect switched on and off, in words, or that
    there is no record."""

    title: str
    published: str
    source: str
    """Place in the published texts."""
    defect: str
    """What it does to the number, in one sentence."""
    on: str
    off: str


def anomalies(evidence: Autopsy) -> dict[str, Anomaly]:
    """Name -> anomaly, in the order of the page."""
    told = read_yaml(Path(__file__).with_name("anomalies.yaml"))
    found = {}
    for name, texts in told.items():
        sides = {side: _or_waiting(f"{name}_{side}", evidence) for side in ("on", "off")}
        found[name] = Anomaly(**{key: text.format(p=numbers) for key, text in texts.items()} | sides)
    return found


def _or_waiting(function: str, evidence: Autopsy) -> str:
    """What a function of ``trained`` says; ``NO_RECORD`` where a record that it reads is missing (a ``KeyError``)."""
    try:
        return str(getattr(trained, function)(evidence))
    except KeyError:
        return NO_RECORD


def table(found: dict[str, Anomaly]) -> pd.DataFrame:
    """One row an anomaly: what was published, what the defect does, our number with the defect and without."""
    rows = {}
    for a in found.values():
        rows[a.title] = {"published": f"{a.published} ({a.source})", "what happens": a.defect}
        rows[a.title] |= {"ours, defect on": a.on, "ours, defect off": a.off}
    return frame(rows)


def answer(evidence: Autopsy) -> str:
    """The published difference in one sentence: a model against itself, two seeds, and two seeds on the same inputs."""
    reading = evidence.on.get(("charlm", "relu"))
    if reading is None:
        return NO_RECORD
    return (
        f"Compared on different inputs, as published, one network (charlm, relu, {reading.end} iterations) differs "
        f"from itself by {measured(reading.itself())}, and two seeds by {reading.between().value:.3f}. On the same "
        f"inputs two seeds differ by {reading.paired().value:.3f} only. Other anomalies come from an activation that "
        "never reached the network and a convolution that saw the next character"
    )
