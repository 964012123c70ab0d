"""What is decided before the runs: how learning rates are tuned; the registered plan of a confirmatory study, as data
named by the hash of its params file.

A record made under a plan carries the hash of the file that held it.  That the file was committed before the training
began is read from the repository's history (``actlab.plans.history``), not from memory.
"""

import re
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from actlab.errors import LIMITS
from actlab.statistics.tuning import Rule

T = TypeVar("T")


class Checked(BaseModel):
    """Unknown keys and wrong types are refused; nothing changes after entry."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


def _number(value: object) -> object:
    """1e-3 too, which PyYAML takes for text where no point is in it."""
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+e[+-]?\d{1,3}", value) else value


def _each_once(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError("expected each once")
    return values


Number = Annotated[float, BeforeValidator(_number)]


class Tuning(Checked):
    """The grid and the seeds of a study that chooses learning rates (or multiples of the published ones)."""

    rates: Annotated[list[Number], AfterValidator(_each_once)] = Field(min_length=2)
    """The grid that is tried first."""
    seeds: Annotated[list[int], AfterValidator(_each_once)] = Field(min_length=1)
    """The first tries every rate, the others the best."""
    keep: int = Field(Rule.keep, ge=1, le=LIMITS["arms"])
    """How many of the best rates the other seeds try."""
    factor: float = Field(Rule.factor, gt=1, allow_inf_nan=False)
    """Between the edge of the grid and the next rate beyond it."""
    least: Number = Field(Rule.least, gt=0, allow_inf_nan=False)
    """No rate below this is tried."""
    most: Number = Field(Rule.most, gt=0, allow_inf_nan=False)
    """No rate above this is tried."""

    @property
    def rule(self) -> Rule:
        """What it means."""
        return Rule(**self.model_dump())


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
