"""The kinds of study: which class checks a params file, and what runs it. A file says its own `kind`; `repro` where it
is silent."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actlab.errors import BadInput, RecordError, UnknownName
from actlab.study import again
from actlab.study.ablation import AblationParams
from actlab.study.ablation_run import load_ablation, run_ablation
from actlab.study.engine import load_study, run_study
from actlab.study.mnist import MnistParams
from actlab.study.mnist_run import load_mnist, run_mnist
from actlab.study.params import Params, StudyParams, read_yaml


@dataclass(frozen=True)
class Kind:
    """One row of the table. ``load(params)`` and ``run(params, workers, watch, scheduler)`` return a
    ``records.Outcome``."""

    name: str
    params: type[StudyParams]
    load: Callable[..., Any]
    run: Callable[..., Any]
    records: tuple[str, ...]
    """What its records with trials call their own ``kind``."""
    trial: Callable[[again.Record, str], Any]
    """The specification of a record's trial, by its label."""
    again: Callable[..., again.Again]
    """``again(trial, record, report)`` trains it anew."""


_ROWS = (
    Kind(
        "repro", Params, load_study, run_study, ("trials", "floor", "perturbed"), again.language_trial, again.language
    ),
    Kind("mnist", MnistParams, load_mnist, run_mnist, ("mnist",), again.mnist_trial, again.mnist),
    Kind("ablation", AblationParams, load_ablation, run_ablation, ("ablation",), again.ablation_trial, again.ablation),
)
KINDS: dict[str, Kind] = {row.name: row for row in _ROWS}


def load(path: Path, own: Sequence[str] = ()) -> StudyParams:
    """Checked parameters from a YAML file, of the kind that it names; ``own``: plug-in files beside those that it
    names.

    Raises:
        BadInput: no such file, not a mapping, or a wrong value (the message names the field and what is allowed).
    """
    kind = read_yaml(path).get("kind", "repro")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownName("kind", kind, KINDS, str(path))
    return KINDS[kind].params.load(path, own)


def load_repro(path: Path) -> Params:
    """The same, for a study of language models only."""
    params = load(path)
    if not isinstance(params, Params):
        raise BadInput(f"{path} is not a study of language models")
    return params


def kind_of(params: StudyParams) -> Kind:
    """The row of the table that these parameters belong to."""
    return next(kind for kind in KINDS.values() if kind.params is type(params))


def of_record(record: again.Record) -> Kind:
    """The kind of study that a record with trials belongs to.

    Raises:
        RecordError: its trials, if it has any, are of no kind that trains.
    """
    found = [kind for kind in KINDS.values() if record.get("kind") in kind.records]
    if not found:
        raise RecordError(f"a record of kind {record.get('kind')!r} holds no trials that can be trained again")
    return found[0]


def run(params: StudyParams, workers: int = 1, watch: Callable[[Any], None] | None = None, scheduler: str = "") -> Any:
    """Bring a study of any kind to its end; see ``engine.run_study`` for what comes back."""
    return kind_of(params).run(params, workers, watch, scheduler)


def bring(params: StudyParams, train_missing: bool, workers: int = 0) -> Any:
    """A study for a notebook: trained where records are missing, or only loaded. ``workers`` = 0 takes one process a
    core."""
    return run(params, workers or os.cpu_count() or 1) if train_missing else kind_of(params).load(params)
