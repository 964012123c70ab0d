"""A study as data: a params file, checked on entry. Its fields are those of a trial, where a list is an axis, and those
of the study itself."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import ValidationError, create_model, model_validator

from actlab.errors import LIMITS, BadInput, brief, check_name
from actlab.files import parse_yaml, read_bytes
from actlab.study.fields import BEFORE, Axis, Plugins, Seed, StudyName, Trials
from actlab.study.plan import Checked
from actlab.study.trial import Arm, Settings, Trial

SHOWN = 3
"""Wrong fields that one message names."""


class Study(Checked):
    """What studies of every kind have: unknown keys and wrong types are refused, nothing changes after entry."""

    kind: ClassVar[str]
    """As a params file names it."""
    trial: ClassVar[type[Trial]]
    """Its trials, whose fields are axes here (``with_axes``)."""

    plugins: Plugins = ()
    """Python files with parts of your own, seen from the current folder."""
    study: StudyName
    """Folder of the records below results/."""
    trials: Trials
    """Independently seeded training runs of each arm."""
    seed: Seed = 42
    """Of the first trial; the others follow it."""
    single: ClassVar[tuple[str, ...]] = ()
    """Fields of a trial that have one value in a study, since a list is one."""
    axes: ClassVar[tuple[str, ...]] = ()
    """The fields that may have several levels, the slowest first."""

    def arms(self) -> list[Arm]:
        """Its arms in the order in which they run."""
        raise NotImplementedError

    @property
    def of_each(self) -> tuple[str, ...]:
        """Settings in which its arms differ though its params file names one value, or none."""
        return ()

    def check_named(self, where: str) -> None:
        """``UnknownName`` where a part of its params file is about an arm that it lacks."""

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Check, before anything is trained, what the missing arms need."""

    @property
    def seeds(self) -> range:
        """Of the trials."""
        return range(self.seed, self.seed + self.trials)

    def levels(self, name: str) -> tuple[Any, ...]:
        """Of one axis."""
        return tuple(getattr(self, name))

    def points(self) -> Iterator[Settings]:
        """The settings at every combination of levels, by name."""
        same = {name: getattr(self, name) for name in self.single}
        for levels in product(*map(self.levels, self.axes)):
            yield same | dict(zip(self.axes, levels, strict=True))

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str = "the parameters") -> Self:
        """Checked parameters from plain values (a list may stand for a tuple).

        Raises:
            BadInput: with every field that is wrong, what it was given and what is allowed.
        """
        for key in values:
            check_name("parameter", key, cls.model_fields, where)
        try:
            if values.get("plugins"):  # none of them runs for a file that is wrong otherwise
                cls.model_validate(values, context=BEFORE)
            return cls.model_validate(values)
        except ValidationError as error:
            wrong = error.errors()
            of_plugins = [item for item in wrong if item["loc"][:1] == ("plugins",)]
            shown = of_plugins or wrong  # others may follow from them
            told = [explained(item, values) for item in shown[:SHOWN]]
            more = f"; and {len(wrong) - SHOWN} more" if len(shown) > SHOWN else ""
            raise BadInput(f"{where}: {'; '.join(told)}{more}") from None

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if (last := self.seeds[-1]) > LIMITS["seed"]:
            raise BadInput(f"seed={self.seed}, trials={self.trials}: the last seed is {last}, {LIMITS['seed']} at most")
        several = [name for name in self.axes if len(self.levels(name)) > 1]
        if (arms := math.prod(len(self.levels(name)) for name in several)) > LIMITS["arms"]:
            raise BadInput(f"{' x '.join(several)} make {arms:,} arms: {LIMITS['arms']:,} at most")
        return self

    def replace(self, where: str = "the parameters", /, **changes: Any) -> Self:
        """A checked copy with some fields changed."""
        return self.parse({**self.model_dump(), **changes}, where)


S = TypeVar("S", bound=Study)


def with_axes(**usual: Any) -> Callable[[type[S]], type[S]]:
    """Gives a class of studies the fields of its ``trial``, each an axis; ``usual``: levels that they have unless
    given, where these are not the trial's own."""

    def widened(study: type[S]) -> type[S]:
        fields: Settings = {}
        axes = []
        for name, info in study.trial.model_fields.items():
            annotated: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
            if name in study.single:
                fields[name] = annotated, info.default
            elif name not in study.trial.no_axis:
                fields[name] = Axis[annotated], usual.get(name, (info.default,))
                axes.append(name)
        made: type[S] = create_model(study.__name__, __base__=study, __module__=study.__module__, **fields)
        made.axes = tuple(axes)
        made.__doc__ = study.__doc__
        return made

    return widened


def read_mapping(path: Path) -> Settings:
    """The mapping in a YAML file; ``BadInput`` names a file that holds none."""
    try:
        content = read_bytes(path, "params file")
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    values = parse_yaml(text, str(path))
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise BadInput(f"{path} must hold one `name: value` mapping, found {type(values).__name__}")
    if isinstance(values.get("plan"), dict):
        values["plan"]["sha256"] = hashlib.sha256(content).hexdigest()
    return values


def explained(item: Any, values: Mapping[str, Any]) -> str:
    """One of pydantic's errors. ``values``: as they were given."""
    loc = item["loc"]
    given = values.get(loc[0]) if loc else None
    if loc[1:2] == (0,) and not isinstance(given, list | tuple) and not str(given).startswith("["):
        loc = (loc[0], *loc[2:])  # one value, which was read as a list of one
    place = ".".join(str(each) for each in loc if "(" not in str(each))  # of a choice of two, pydantic's own name
    message = item["msg"].removeprefix("Value error, ")
    return f"{place}={brief(item['input'])}: {message}" if place else message
