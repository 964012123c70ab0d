"""A kind of study: what its parameters plan, how what trains at once is trained, and what an arm's record measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from actlab.models import LanguageModel
from actlab.records import store
from actlab.study.kinds.measure import Results
from actlab.study.params.yaml_file import StudyParams
from actlab.study.workers.pool import Report
from actlab.trainers.windows import Windows


class Kind(ABC):
    """A task is what trains at once: a trial, or a program of the image sweep, which holds many."""

    name: ClassVar[str]
    """In params files."""
    folder: ClassVar[str]
    """Of its tasks in the cache."""
    params: ClassVar[type[StudyParams]]
    parts: ClassVar[tuple[type, ...]]
    """Its arms and its tasks."""
    records: ClassVar[tuple[str, ...]]
    """What its records call their own ``kind``."""

    @abstractmethod
    def plan(self, params: Any) -> list[Any]:
        """The arms of a study in the order in which they run."""

    @abstractmethod
    def train(self, task: Any, saved_at: Path | None, report: Report | None) -> tuple[Results, dict[str, Tensor]]:
        """Its results; its predictions and weights. ``saved_at``: its checkpoint, gone on from if it exists."""

    @abstractmethod
    def measure(
        self,
        arm: Any,
        results: list[Results],
        tensors: Callable[[Any, int | None], dict[str, Tensor]],
        model: Callable[[Any, int | None], LanguageModel],
    ) -> store.Record:
        """The arm's own part of its record; ``tensors`` and ``model`` of a trial, at its end or at a snapshot."""

    @abstractmethod
    def known_by(self, task: Any) -> tuple[str, dict[str, Any]]:
        """(the start of its name in the cache, what identifies it there beside code and machine)."""

    @abstractmethod
    def data(self, task: Any) -> dict[str, Any]:
        """What a record says of its data."""

    @abstractmethod
    def task_of(self, record: store.Record, label: str) -> Any:
        """What trains a recorded trial alone."""

    def model(self, task: Any) -> LanguageModel:
        """The task's model before training, where weights are kept."""
        raise NotImplementedError

    def compared_on(self, task: Any) -> Windows:
        """The windows on which predictions of two trials are compared, where weights are kept."""
        raise NotImplementedError

    def tasks(self, params: Any, arms: Sequence[Any]) -> Mapping[Any, Sequence[Any]]:
        """Arm -> what has to be trained for it, a task a trial; what is started first comes first."""
        return {arm: arm.trials for arm in arms}

    def own(self, arm: Any, task: Any, results: Results) -> list[Results]:
        """The arm's trials among the results of a task."""
        return [results]

    def size(self, task: Any) -> int:
        """How many trials a task trains."""
        return 1

    def path(self, task: Any) -> str:
        """Of training, as records call it."""
        return "compiled" if task.recipe.compiled else "loop"

    def device(self, task: Any) -> str:
        """On which it trains."""
        return str(task.recipe.device)

    def prepare(self, params: Any, missing: Sequence[Any]) -> str:
        """Before anything is trained: check what the missing arms need; a note for the display, if any."""
        return ""
