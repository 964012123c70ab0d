"""What is decided before the runs: the registered plan of a confirmatory study, as data named by the hash of its params
file.

A record made under a plan carries the hash of the file that held it.  That the file was committed before the training
began is read from the repository's history (``actlab.plans.history``), not from memory.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from actlab.errors import LIMITS, check_name


class Checked(BaseModel):
    """Unknown keys and wrong types are refused; nothing changes after entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for name in values if isinstance(values, dict) else ():
            check_name("setting", name, cls.model_fields)
        return values


def _number(value: object) -> object:
    """1e-3 too, which PyYAML takes for text where no point is in it."""
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+e[+-]?\d{1,3}", value) else value


Number = Annotated[float, BeforeValidator(_number)]


class Hypothesis(Checked):
    """One statement that the runs can contradict, with the arms that it compares and when it counts as supported."""

    name: str
    """In tables."""
    says: str
    """The statement."""
    supported_if: str
    """When it counts as supported, in words."""
    activations: list[str] = []
    """Which it is about."""
    direction: Literal["lower", "higher", ""] = ""
    """Of the outcome's difference from the reference."""


class Outcome(Checked):
    """What is compared with the reference: a metric, where, its family of comparisons, and its margin of
    equivalence."""

    name: str
    """In tables."""
    metric: str
    """What is compared."""
    at: Literal["equal loss", "equal steps", "end"]
    """Where along training."""
    levels: list[float] = []
    """Equal loss: shares of the way from the primary level (0) to the loss at the first evaluation (1)."""
    margin: Number | None = Field(None, gt=0)
    """Of equivalence, by two one-sided tests; in the metric's unit."""
    primary: bool = False
    """The one that decides."""


class Plan(Checked):
    """What is decided before the runs. A later change makes a new ``version``; the old one stays in the history."""

    version: int = Field(ge=1, le=LIMITS["number"])
    """Rises with every change."""
    question: str
    """In one sentence."""
    reference: str = "relu"
    """The activation that the others are compared with."""
    alpha: float = Field(0.05, ge=0.05, le=0.05)
    """The level at which every page tests."""
    correction: Literal["holm"] = "holm"
    """For many comparisons."""
    outcomes: list[Outcome]
    """What is compared, each with name, metric, at and margin."""
    hypotheses: list[Hypothesis]
    """What the runs can contradict, each with name, says and supported_if."""
    excluded_if: str
    """When an arm is left out, in words."""
    sha256: str = Field("", pattern="^$|^[0-9a-f]{64}$")
    """Of the params file; filled in when it is read."""

    @property
    def mark(self) -> dict[str, int | str]:
        """What a record says of the plan that it was made under."""
        return self.model_dump(include={"version", "sha256"})
