"""The parameters of the performance notebook, checked like any study's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from actlab.data.text import TEXTS
from actlab.errors import UnknownName
from actlab.models import SCALES
from actlab.study import inject
from actlab.study.params import StudyParams


class BenchParams(StudyParams):
    """What can be measured."""

    study: str = "performance"
    dataset: str = "shakespeare"
    scale: str = "lite"
    rounds: int = Field(5, ge=1, le=100)

    @field_validator("dataset")
    @classmethod
    def _dataset(cls, name: str) -> str:
        TEXTS.find(name)
        return name

    @field_validator("scale")
    @classmethod
    def _scale(cls, name: str) -> str:
        if name not in SCALES:
            raise UnknownName("scale", name, SCALES)
        return name


def checked(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook's settings for ``language.measure_all``; a mistake is a ``BadInput`` that says what is allowed."""
    return inject.checked(namespace, BenchParams, extra={"measure": bool}).model_dump(exclude={"study"})
