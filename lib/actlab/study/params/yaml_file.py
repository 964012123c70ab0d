"""What the params of every kind of study share: a YAML file, checked on entry."""

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import ValidationError, model_validator

from actlab.errors import LIMITS, BadInput, brief, check_name
from actlab.files import parse_yaml, read_bytes
from actlab.study.params.field_types import BEFORE, Plugins, Seed, StudyName, Trials
from actlab.study.params.plan import Checked

SHOWN = 3
"""Wrong fields that one message names."""
RENAMED = {
    "activations": "activation",
    "scales": "scale",
    "optimizers": "optimizer",
    "rate_factors": "rate_factor",
    "arms": "network",
    "learning_rates": "learning_rate",
    "batch_sizes": "batch_size",
}
"""Fields of older params files -> what they are called now."""


class StudyParams(Checked):
    """What every kind of study's parameters share: unknown keys and wrong types are refused, nothing changes after
    entry."""

    plugins: Plugins = ()
    """Python files with parts of your own, seen from the current folder."""
    study: StudyName
    """Folder of the records below results/."""
    trials: Trials
    """Independently seeded training runs of each arm."""
    seed: Seed = 42
    """Of the first trial; the others follow it."""
    factors: ClassVar[tuple[str, ...]]
    """Fields whose levels make the arms."""

    @property
    def seeds(self) -> range:
        """Of the trials."""
        return range(self.seed, self.seed + self.trials)

    @classmethod
    def parse(cls, values: Mapping[str, Any], where: str = "the parameters") -> Self:
        """Checked parameters from plain values (a list may stand for a tuple).

        Raises:
            BadInput: with every field that is wrong, what it was given and what is allowed.
        """
        for key in values:
            if (now := RENAMED.get(key)) in cls.model_fields:
                raise BadInput(f"{where}: {key} is called {now} now; write `{now}: ...`, one value or a list")
            check_name("parameter", key, cls.model_fields, where)
        try:
            if values.get("plugins"):  # none of them runs for a file that is wrong otherwise
                cls.model_validate(values, context=BEFORE)
            return cls.model_validate(values)
        except ValidationError as error:
            wrong = error.errors()
            first = [item for item in wrong if item["loc"][:1] == ("plugins",)]  # others may follow from it
            told = [_explain(item) for item in (first or wrong)[:SHOWN]]
            more = f"; and {len(wrong) - SHOWN} more" if len(first or wrong) > SHOWN else ""
            raise BadInput(f"{where}: {'; '.join(told)}{more}") from None

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        levels = [getattr(self, name) for name in self.factors]
        if (arms := math.prod(len(each) or 1 for each in levels if isinstance(each, tuple))) > LIMITS["arms"]:
            raise BadInput(f"{' x '.join(self.factors)} make {arms:,} arms: {LIMITS['arms']:,} at most")
        return self

    @classmethod
    def load(cls, path: Path) -> Self:
        """Checked parameters from a YAML file of this kind."""
        return cls.parse({name: value for name, value in read_mapping(path).items() if name != "kind"}, str(path))

    def replace(self, where: str = "the parameters", /, **changes: Any) -> Self:
        """A checked copy with some fields changed."""
        return self.parse({**self.model_dump(), **changes}, where)


def _explain(item: Any) -> str:
    place = ".".join(map(str, item["loc"]))
    message = item["msg"].removeprefix("Value error, ")
    return f"{place}={brief(item['input'])}: {message}" if place else message


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; ``BadInput`` names a file that holds none."""
    try:
        content = read_bytes(path, "params file")
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    values, names = parse_yaml(text, str(path))
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise BadInput(f"{path} must hold one `name: value` mapping, found {type(values).__name__}")
    if len(names) > len(values):
        raise BadInput(f"{path} gives {max(names, key=names.count):.100} more than once")
    if isinstance(values.get("plan"), dict):
        values["plan"]["sha256"] = hashlib.sha256(content).hexdigest()
    return values
