"""The autopsy of the published numbers: each anomaly (``anomalies.yaml``) beside the defect that causes it, with our
number under the defect and without it. Reads records; trains and draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from actlab.files import read_yaml
from actlab_audit.audited_numbers import numbers
from actlab_audit.autopsy import trained
from actlab_audit.readings import Autopsy


def anomalies(evidence: Autopsy) -> dict[str, dict[str, str]]:
    """Name -> one published anomaly, in the order of the page: ``title``, ``published``, ``source`` (place in the
    published texts), ``defect`` (what it does to the number), and our number with it ``on`` and ``off``, in words."""
    told = read_yaml(Path(__file__).with_name("anomalies.yaml"))
    return {
        name: {key: text.format(p=numbers) for key, text in texts.items()}
        | dict(zip(("on", "off"), getattr(trained, name)(evidence), strict=True))
        for name, texts in told.items()
    }


def table(found: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """One row an anomaly: what was published, what the defect does, our number with the defect and without."""
    told = pd.DataFrame.from_dict(found, orient="index").set_index("title").rename_axis(None)
    told["published"] += " (" + told.pop("source") + ")"
    return told.rename(columns={"defect": "what happens", "on": "ours, with the defect", "off": "ours, without"})
