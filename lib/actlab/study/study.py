"""A study as data: a params file, checked on entry. Its fields are those of a trial, where a list is an axis, and those
of the study itself: seeds, measures, learning rates that it chooses or takes, a registered plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, ValidationError, create_model, model_validator

from actlab.errors import BadInput, brief
from actlab.optimizers import OPTIMIZERS
from actlab.records.rates import Choice, choices, final_loss
from actlab.statistics.tuning import Rule, step
from actlab.study.arm import Arm
from actlab.study.fields import Axis, Checked, Count, CountOrNone, Plugins, StudyName
from actlab.study.record import recorded
from actlab.study.trial import Settings, Trial
from actlab.study.tuning import Rates, chosen, warn_of_departures


class Study(Checked):
    """What studies of every kind have."""

    trial: ClassVar[type[Trial]]
    """The class of its trials, whose fields are axes here (``with_axes``)."""
    single: ClassVar[tuple[str, ...]] = ()
    """Fields of a trial that have one value in a study, since a list is one."""
    axes: ClassVar[tuple[str, ...]] = ()
    """The fields that may have several levels, the slowest first."""

    plugins: Plugins = ()
    """Python files with parts of your own, seen from the current folder."""
    study: StudyName
    """Folder of the records below results/."""
    trials: Count
    """Independently seeded training runs of each arm."""
    seed: CountOrNone = 42
    """Of the first trial; the others follow it."""

    def arms(self) -> list[Arm]:
        """Plan its arms, in the order in which they run."""
        raise NotImplementedError

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Check what the missing arms need, before anything is trained."""

    @property
    def seeds(self) -> range:
        """Return the seeds of the trials."""
        return range(self.seed, self.seed + self.trials)

    def levels(self, name: str) -> tuple[Any, ...]:
        """Return the levels of one axis."""
        return tuple(getattr(self, name))

    def points(self) -> Iterator[Settings]:
        """Yield the settings at every combination of levels, by name."""
        single = {name: getattr(self, name) for name in self.single}
        for levels in product(*map(self.levels, self.axes)):
            yield single | dict(zip(self.axes, levels, strict=True))

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str = "the parameters") -> Self:
        """Check plain values, in which a list may stand for a tuple, and make parameters of them.

        Raises:
            BadInput: with the fields that are wrong, what each was given and what is allowed.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            faults = error.errors()
            of_plugins = [fault for fault in faults if "plugins" in fault["loc"]]
            faults = of_plugins or faults  # the names that such a file would register are unknown too
            raise BadInput(f"{where}: {'; '.join(explained(fault, values) for fault in faults)}") from None

    def replace(self, where: str = "the parameters", /, **changes: Any) -> Self:
        """Return a checked copy with some fields changed."""
        return self.parse({**self.model_dump(), **changes}, where)


S = TypeVar("S", bound=Study)


def with_axes(**usual: Any) -> Callable[[type[S]], type[S]]:
    """Give a class of studies the fields of its ``trial``, each an axis; ``usual``: the levels that an axis has unless
    given, where these are not the trial's own."""

    def widened(study: type[S]) -> type[S]:
        added: Settings = {}
        for name, info in study.trial.model_fields.items():
            annotated: Any = info.rebuild_annotation()
            if name in study.single:
                added[name] = annotated, info.default
            elif name in study.trial.identifying():
                added[name] = Axis[annotated], usual.get(name, (info.default,))
        made: type[S] = create_model(study.__name__, __base__=study, __module__=study.__module__, **added)
        made.axes = tuple(name for name in added if name not in study.single)
        made.__doc__ = study.__doc__
        return made

    return widened


def explained(fault: Any, values: Mapping[str, Any]) -> str:
    """Put one of pydantic's errors into words. ``values``: as they were given."""
    place = [str(part) for part in fault["loc"] if "(" not in str(part)]  # of a union, pydantic names the branch
    if place[1:2] == ["0"] and not isinstance(values.get(place[0]), list | tuple):
        del place[1]  # one value, which was read as a list of one
    message = fault["msg"].removeprefix("Value error, ")
    return f"{'.'.join(place)}={brief(fault['input'])}: {message}" if place else message


# The registered plan of a confirmatory study, which its records know by the hash of the params file that holds it.
# That it was committed before the training began is read from the repository's history (``plans.history``).


class Plan(Checked):
    """What is decided before the runs. A later change makes a new ``version``; the old one stays in the history."""

    version: Count
    """Rises with every change."""
    question: str
    """In one sentence."""
    reference: str = "relu"
    """The activation that the others are compared with."""
    alpha: float = Field(0.05, ge=0.05, le=0.05)
    """The level at which every page tests."""
    correction: Literal["holm"] = "holm"
    """For many comparisons."""
    outcomes: list[dict[str, Any]]
    """What is compared with the reference: each with its name, its metric, where (``at``: equal loss, equal steps, end)
    and its margin of equivalence; the ``primary`` one decides."""
    hypotheses: list[dict[str, Any]]
    """What the runs can contradict: each with its name, the statement (``says``) and when it counts (``supported_if``),
    in words."""
    excluded_if: str
    """When an arm is left out, in words."""
    sha256: str = Field("", pattern="^$|^[0-9a-f]{64}$")
    """Of the params file; filled in when it is read."""


class LanguageStudy(Study):
    """What studies of both kinds of language models have. A study falls into cells, one for each combination of the
    factors that name its trials; each cell may have a learning rate of its own."""

    recorded: ClassVar[tuple[str, ...]]
    """The kinds of its records: first that of its plain trials."""
    tunes: ClassVar[str]
    """The field that a tuning chooses."""
    tuned_by: ClassVar[tuple[str, ...]]
    """The factors of a cell for which a rate is chosen."""
    rates: Rates | None = None
    """Take the learning rates (or factors) that another study has chosen."""
    tuning: Rule | None = None
    """Choose a learning rate (or factor) for each arm."""
    plan: Plan | None = None
    """What was decided before the runs."""

    @model_validator(mode="after")
    def _betas_fit(self) -> Self:
        for name in self.levels("optimizer") if getattr(self, "betas", None) else ():
            if name in OPTIMIZERS and "betas" not in OPTIMIZERS[name].defaults:
                raise BadInput(f"betas: optimizer {name!r} takes none")
        return self

    @property
    def decided(self) -> Settings:
        """Return what a record says of the plan, and of the tuning."""
        plan = {"plan": self.plan.model_dump(include={"version", "sha256"})} if self.plan else {}
        return plan | ({"tuning": asdict(self.tuning)} if self.tuning else {})

    def arms_of(self, kind: str) -> Iterable[Arm]:
        """Plan the arms of a cell whose records are of a kind."""
        raise NotImplementedError

    def settings_of_cell(self, cell: Mapping[str, str]) -> Settings:
        """Return the settings that a cell has of its own."""
        return {}

    def cells(self) -> Iterator[Self]:
        """Yield the study of each cell alone; of each of its points, where another study has chosen the rates."""
        factors = self.trial.cell[::-1] if getattr(self, "order", "") == "activation" else self.trial.cell
        tunings = choices(self.rates.study) if self.rates else []
        for levels in product(*map(self.levels, factors)):
            cell = dict(zip(factors, levels, strict=True))
            alone = self.replace(**self.settings_of_cell(cell), **cell, rates=None)
            yield from alone.at_chosen_rates(self.rates, tunings) if self.rates else [alone]

    def at_chosen_rates(self, rates: Rates, tunings: Sequence[Choice]) -> Iterator[Self]:
        """Yield the study of each point of a cell, with the rate that another study has chosen for its settings."""
        for point in self.points():
            study = self.replace(**point)
            (arm,) = study.arms_of(self.recorded[0])
            yield study.replace(**{self.tunes: chosen(rates, tunings, self.tuned_by, arm).rate})

    def arms(self) -> list[Arm]:
        """Plan its arms kind by kind. Those of a study that chooses learning rates depend on what is recorded."""
        if self.tuning is not None:
            return [arm for cell in self.cells() for arm in cell.tried(self.tuning)]
        cells = list(self.cells())
        return list(dict.fromkeys(arm for kind in self.recorded for cell in cells for arm in cell.arms_of(kind)))

    def tried(self, rule: Rule) -> Iterator[Arm]:
        """Plan the arms of a cell that the rule has tried, or wants next: one a rate and seed."""
        if (several := len(list(self.points()))) > 1:
            named = " ".join(str(self.levels(name)[0]) for name in self.trial.cell)
            raise BadInput(f"{named} has {several} settings: a study that chooses rates takes one")
        losses: dict[tuple[float, int], float] = {}
        while wanted := step(losses, rule)[0]:
            for rate, seed in wanted:
                (arm,) = self.replace(**{self.tunes: rate, "seed": seed, "trials": 1}).arms_of(self.recorded[0])
                yield arm
                if record := recorded(arm):
                    losses[rate, seed] = final_loss(record["trials"][0])
            if any(trial not in losses for trial in wanted):
                return

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Warn where the rates were chosen under other settings."""
        if self.rates is not None:
            warn_of_departures(self.rates, self.tuned_by, missing)
