"""What a study's page rests on: how many different trials, which repeat the primary study's, and when its rule was
written."""

from __future__ import annotations

from typing import Any

from actlab import paths
from actlab.records import store
from actlab.records.families import FAMILIES, PRIMARY, extent
from actlab.records.registration import of_rule
from actlab.wording import bullets


def sentences(study: str) -> list[str]:
    """In this order: trials, rule, the questions whose primary family is this study's."""
    records = store.load_study(study)
    others = store.load_study(PRIMARY) if study != PRIMARY and (paths.results() / PRIMARY).exists() else []
    path = paths.ROOT / "params" / f"{study}.yaml"
    ruled = path.exists() and "ecision rule" in path.read_text(encoding="utf-8")
    rule = of_rule(f"params/{study}.yaml", records, others) if ruled else ""
    asked = [f"{family.question} (Holm over {family.over})" for family in FAMILIES if family.study == study]
    primary = f"The primary family of comparisons with relu is this study's for: {' '.join(asked)}" if asked else ""
    return [extent(records, others), rule, primary]


def listed(study: str) -> Any:
    """The sentences as a bulleted list for a notebook; "no record yet" without records."""
    found = [text for text in sentences(study) if text]
    return bullets(found or ["no record yet"])
