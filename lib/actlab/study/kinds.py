"""The kinds of study: one module each, with the same functions."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from actlab.errors import RecordError, Table, brief
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study.fields import BEFORE
from actlab.study.study import Study as AnyStudy
from actlab.study.trial import Arm, Outcome, Results, Task, Trial
from actlab.trainers.windows import Windows

T = TypeVar("T", bound=Trial)
S = TypeVar("S", bound=AnyStudy, contravariant=True)


class Kind(Protocol[T, S]):
    """What the module of a kind of study gives; ``T``: its trials, ``S``: its studies."""

    PATH: str
    """Of training, as records call it."""
    Study: type[AnyStudy]
    """What its params files hold."""

    def plan(self, study: S) -> list[Arm[T]]:
        """The arms of a study in the order in which they run."""

    def train(self, task: Task[T], place: Path | None, report: Callable[[int, float], None] | None) -> list[Outcome]:
        """An outcome a trial; ``place``: as of ``cache.train_afresh``."""

    def measure(self, arm: Arm[T], results: list[Results]) -> store.Record:
        """The arm's own part of its record, from what its trials left."""

    def load(self, record: store.Record, label: str) -> T:
        """A recorded trial."""

    def prepare(self, study: S, missing: Sequence[Arm[T]]) -> str:
        """Before anything is trained: check what the missing arms need; a note for the display, if any."""

    def tasks(self, trials: Sequence[T]) -> list[tuple[T, ...]]:
        """The trials, those together that train at once; what is started first comes first."""

    def data(self, trial: T, prediction_windows: int = 0) -> dict[str, Any]:
        """What a record says of its data, and of the windows on which predictions are compared."""

    def content(self, trial: T) -> str:
        """The hash of its data."""

    def network(self, trial: T, vocab_size: int = 0) -> LanguageModel:
        """Its model before training, where weights are kept: where names become objects. ``vocab_size``: that of its
        data, which need not be here then."""

    def compared_on(self, trial: T, prediction_windows: int) -> Windows:
        """The windows on which predictions of two trials are compared, where weights are kept."""

    def seconds(self, task: Task[T]) -> float:
        """What a task takes here, by a few steps that are timed now."""


KINDS: Table[str] = Table(
    "kind", [("repro", "characters"), ("mnist", "images"), ("ablation", "tokens"), ("twins", "twins")]
)
"""Kind in a params file -> its module."""
RECORDED = {"trials": "repro", "floor": "repro", "perturbed": "repro"} | {
    name: name for name in KINDS if name != "repro"
}
"""Kind of a record -> kind of the study that makes it."""


def kind_named(name: str, where: str = "") -> Kind[Any, Any]:
    """The module of a kind of study, loaded when it is asked for; ``where``: of the name, for the message."""
    module: Any = import_module(f"actlab.study.{KINDS.find(name, where)}")
    found: Kind[Any, Any] = module
    return found


def kind_of(trial: T) -> Kind[T, AnyStudy]:
    """The module that trains and measures a trial."""
    return kind_named(trial.kind)


def plan(study: AnyStudy) -> list[Arm[Trial]]:
    """The arms of a study of any kind, in the order in which they run."""
    return kind_named(study.kind).plan(study)


def load(record: store.Record, label: str) -> Trial:
    """A trial of a record of any kind.

    Raises:
        RecordError: a record of a kind that holds none, or with settings that no trial has.
    """
    check_trains(record)
    trial: Trial = kind_named(RECORDED[record["kind"]]).load(record, label)
    try:
        type(trial).model_validate(trial.model_dump(), strict=True, context=BEFORE)  # its own parts need not be here
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        said = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']:.300}, found {brief(fault['input'])}"
        raise RecordError(f"{record['arm']} has settings that no trial has: {said}") from None
    return trial


def check_trains(record: Mapping[str, Any]) -> None:
    """``RecordError`` where a record is of a kind that holds no trials."""
    if record.get("kind") not in RECORDED:
        raise RecordError(f"a record of kind {record.get('kind')!r} holds no trials that can be trained again")
