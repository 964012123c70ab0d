"""What studies of both kinds of language models have: cells, each with settings of its own and a learning rate that it
chooses or takes from a study that has chosen it (``tuning``); a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from itertools import product
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, BeforeValidator, model_validator

from actlab.errors import BadInput, brief, check_name
from actlab.optimizers import OPTIMIZERS
from actlab.statistics.tuning import Rule
from actlab.study.fields import each_once
from actlab.study.plan import Plan
from actlab.study.study import Study
from actlab.study.trial import Arm, Settings
from actlab.study.tuning import Rates, chosen, tuned, warn_of_departures


def _known(rule: object) -> object:
    """The rule as it was given, if its keys are a rule's and its seeds are whole numbers."""
    if isinstance(rule, dict):
        for name in rule:
            check_name("setting of tuning", name, [each.name for each in fields(Rule)])
        seeds = rule.get("seeds")
        if isinstance(seeds, list) and any(type(seed) is not int for seed in seeds):
            raise BadInput(f"seeds={brief(seeds)}: expected whole numbers")
    return rule


def _each_once(rule: Rule) -> Rule:
    each_once(rule.rates)
    each_once(rule.seeds)
    return rule


class LanguageStudy(Study):
    """A study falls into cells, one for each combination of the levels that its trials are named by."""

    recorded: ClassVar[tuple[str, ...]]
    """Kinds of its records: first that of its plain trials."""
    tunes: ClassVar[str]
    """The field that a tuning chooses."""
    tuned_by: ClassVar[tuple[str, ...]]
    """What of a cell has a rate of its own."""
    rates: Rates | None = None
    """Take the learning rates (or factors) that another study has chosen."""
    tuning: Annotated[Rule, BeforeValidator(_known), AfterValidator(_each_once)] | None = None
    """Choose a learning rate (or factor) for each arm."""
    plan: Plan | None = None
    """What was decided before the runs."""

    @model_validator(mode="after")
    def _betas_fit(self) -> Self:
        if not getattr(self, "betas", None):
            return self
        having = sorted(name for name, row in OPTIMIZERS.items() if row.has_betas)
        for name in self.levels("optimizer"):
            if name in OPTIMIZERS and name not in having:
                raise BadInput(f"betas: optimizer {name!r} takes none; those that do are {', '.join(having)}")
        return self

    @property
    def decided(self) -> Settings:
        """What a record says of the plan, and of the tuning."""
        found: Settings = {}
        if self.plan:
            found["plan"] = self.plan.mark
        if self.tuning:
            found["tuning"] = asdict(self.tuning)
        return found

    @property
    def of_each(self) -> tuple[str, ...]:
        """The rate that is tried and its seed, where one is chosen here."""
        return (self.tunes, "seed") if self.tuning else ()

    def arms_of(self, kind: str) -> list[Arm]:
        """The arms of a cell's own settings whose records are of a kind."""
        raise NotImplementedError

    @property
    def slowest_first(self) -> tuple[str, ...]:
        """What a cell is named by, in the order in which cells run."""
        return self.trial.named_by

    def own_settings(self, cell: Mapping[str, str]) -> Settings:
        """What a cell has of its own."""
        return {}

    def arms(self) -> list[Arm]:
        """Kind by kind. Those of a study that chooses learning rates, or takes the chosen ones, depend on what is
        recorded."""
        cells = self.cells()
        arms: list[Arm] = []
        if self.tuning is not None:
            for cell in cells:
                arms += tuned(cell)[0]
            return arms
        for kind in self.recorded:
            for cell in cells:
                arms += cell.arms_of(kind)
        return list(dict.fromkeys(arms))

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Warn where the rates were chosen under other settings."""
        if self.rates is not None:
            warn_of_departures(self, self.rates, missing)

    def cells(self) -> list[Self]:
        """The study of each cell alone."""
        names = self.slowest_first
        return [self.cell(dict(zip(names, levels, strict=True))) for levels in product(*map(self.levels, names))]

    def cell(self, cell: Mapping[str, str]) -> Self:
        """The study of one cell, with its own settings and its chosen rate."""
        one = self.replace(**{**self.own_settings(cell), **cell, "rates": None})
        if self.rates is None:
            return one
        first = one.arms_of(self.recorded[0])[0]
        return one.replace(**{self.tunes: chosen(one, self.rates, first).rate})
