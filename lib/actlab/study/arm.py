"""An arm: the trials of one record, its name, and what that record measures on them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from actlab.plugins import Parts
from actlab.records import store
from actlab.records.settings import by_content, differing, named
from actlab.study.trial import Results, Trial


@dataclass(frozen=True)
class Measures:
    """What an arm's record measures on its trials, beside their own results: no part of a trial's identity."""

    prediction_windows: int = 0
    """Frozen validation windows on which predictions are compared."""
    training_windows: int = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    snapshots: tuple[int, ...] = ()
    """Steps at which the weights are kept and the trials compared as well."""
    protocol: tuple[str, ...] = ()
    """Names of the defects that are on."""
    ensembles: tuple[int, ...] = ()
    """Sizes of the ensembles that are compared, beside single trials."""
    equal_compute: tuple[int, ...] = ()
    """The same, each network after an equal share of the steps: two networks of half of them."""
    metrics: Parts = ()
    """A user's own metrics: (name, sha256)."""


@dataclass(frozen=True)
class Arm:
    """The trials of one record."""

    study: str
    kind: str
    """The kind of its record: ``trials``; ``floor``: the first seed plain, repeated and with one bit moved;
    ``perturbed``: every seed plain and changed; ``twins``; ``mnist``; ``ablation``."""
    name: str
    trials: tuple[Trial, ...]
    config: Mapping[str, Any] = field(compare=False)
    """What its record says of its settings; their hash is in its id."""
    measures: Measures = Measures()
    decided: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What its record says of its ``plan``, and of the ``tuning`` of learning rates; its id does not depend on it."""

    @cached_property
    def id(self) -> str:
        """Name its record, by which a recorded arm is found: ``charlm-gelu-<hash>``."""
        return f"{self.name}-{store.digest(by_content(self.config))[:10]}"

    @property
    def as_record(self) -> store.Record:
        """Return what its record will say of its settings."""
        about = {"kind": self.kind, "arm": self.id, "model_name": self.config.get("model", "")}
        return {**self.config, **about, "config": self.config}

    def measured(self, results: list[Results]) -> store.Record:
        """Make the part of its record that arms of its kind alone have. ``results``: of its trials, in their order."""
        raise NotImplementedError


def names_of(arms: Iterable[Arm]) -> dict[Arm, str]:
    """Name the arms of a study while it runs, with the settings in which they differ: ``charlm-gelu,
    learning_rate=0.002``."""
    records = {arm: arm.as_record for arm in arms}
    settings = differing(records.values())
    return {arm: ", ".join(filter(None, [arm.name, named(record, settings)])) for arm, record in records.items()}


def together(arms: Sequence[Arm]) -> dict[Trial, tuple[int, ...]]:
    """List each trial of some arms once, with the snapshots that they want of it."""
    snapshots: dict[Trial, tuple[int, ...]] = {}
    for arm in arms:
        for trial in arm.trials:
            snapshots[trial] = tuple(sorted({*arm.measures.snapshots, *snapshots.get(trial, ())}))
    return snapshots


def means(names: Iterable[str], trials: Iterable[Results], pairs: Iterable[Results] = ()) -> dict[str, float]:
    """Average a record's trials that are done, by their last evaluations, and its pairs; NaN of nothing."""
    rows = [*(trial.get("final", trial) for trial in trials if trial["status"] == "done"), *pairs]
    values = {name: [row[name] for row in rows if name in row] for name in names}
    return {f"avg_{name}": fmean(column) if column else math.nan for name, column in values.items()}
