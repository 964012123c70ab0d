"""What is decided before the runs: how learning rates are tuned; the registered plan of a confirmatory study, as data
named by the hash of its params file.

A record made under a plan carries the hash of the file that held it.  That the file was committed before the training
began is read from the repository's history (``actlab.plans.history``), not from memory.
"""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from actlab.statistics.tuning import Rule


class Checked(BaseModel):
    """Unknown keys and wrong types are refused; nothing changes after entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _number(value: object) -> object:
    """1e-3 too, which PyYAML takes for text where no point is in it."""
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+e[+-]?\d{1,3}", value) else value


Number = Annotated[float, BeforeValidator(_number)]


class Tuning(Checked):
    """The grid and the seeds of a study that chooses learning rates (or multiples of the published ones)."""

    rates: list[Number] = Field(min_length=2)
    seeds: list[int] = Field(min_length=1)
    keep: int = Field(Rule.keep, ge=1)
    factor: float = Field(Rule.factor, gt=1)
    least: Number = Field(Rule.least, gt=0)
    most: Number = Field(Rule.most, gt=0)

    @property
    def rule(self) -> Rule:
        """What it means."""
        return Rule(**self.model_dump())


class Hypothesis(Checked):
    """One statement that the runs can contradict, with the arms that it compares and when it counts as supported."""

    name: str
    says: str
    supported_if: str
    activations: list[str] = []
    direction: Literal["lower", "higher", ""] = ""
    """Of the outcome's difference from the reference."""


class Outcome(Checked):
    """What is compared with the reference: a metric, where, its family of comparisons, and its margin of
    equivalence."""

    name: str
    metric: str
    at: Literal["equal loss", "equal steps", "end"]
    levels: list[float] = []
    """Equal loss: shares of the way from the primary level (0) to the loss at the first evaluation (1)."""
    margin: Number | None = Field(None, gt=0)
    """Of equivalence, by two one-sided tests; in the metric's unit."""
    primary: bool = False


class Plan(Checked):
    """What is decided before the runs. A later change makes a new ``version``; the old one stays in the history."""

    version: int = Field(ge=1)
    question: str
    reference: str = "relu"
    alpha: float = Field(0.05, ge=0.05, le=0.05, description="the level at which every page tests")
    correction: Literal["holm"] = "holm"
    outcomes: list[Outcome]
    hypotheses: list[Hypothesis]
    excluded_if: str
    sha256: str = Field("", pattern="^$|^[0-9a-f]{64}$", description="of the params file; filled in when it is read")

    @property
    def mark(self) -> tuple[int, str]:
        """(version, hash of the params file): what a record says of the plan that it was made under."""
        return self.version, self.sha256
