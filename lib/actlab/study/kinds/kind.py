"""A kind of study: what its parameters plan, how what trains at once is trained, and what an arm's record measures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from actlab import paths
from actlab.models import LanguageModel
from actlab.records import store
from actlab.study import provenance
from actlab.study.params.yaml_file import StudyParams
from actlab.trainers import checkpoint
from actlab.trainers.windows import Windows

Results = dict[str, Any]
"""What a trial leaves for the record: plain values."""
Outcome = tuple[Results, dict[str, Tensor]]
"""Of a task: its results; its predictions and weights."""
Report = Callable[[int, float], None]
"""Called by a task with (iteration, loss)."""


class Kind(ABC):
    """A task is what trains at once: a trial, or a program of the image sweep, which holds many. What it leaves lies in
    the cache."""

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
    def train(self, task: Any, saved_at: Path | None, report: Report | None) -> Outcome:
        """``saved_at``: its checkpoint, gone on from if it exists."""

    @abstractmethod
    def measure(self, arm: Any, results: list[Results]) -> store.Record:
        """The arm's own part of its record, from the results of its trials and what they left in the cache."""

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

    def cached(self, task: Any, origin: Mapping[str, Any] | None = None) -> Path:
        """The file in which a task ends: its results, predictions and weights. ``origin``: a record's provenance, for
        the trial as it was trained then, by that code on that machine."""
        name, about = self.known_by(task)
        origin = origin or provenance.here()
        about = {**about, "code": origin["trial_code_sha256"], "machine": origin["machine"]}
        return paths.cache() / self.folder / f"{name}-{store.digest(about)[:16]}.safetensors"

    def tensors(
        self, task: Any, iteration: int | None = None, origin: Mapping[str, Any] | None = None
    ) -> dict[str, Tensor]:
        """Predictions and weights of a finished trial; ``iteration``: as they were at one of its ``snapshots``;
        ``origin``: as for ``cached``."""
        path = self.cached(task, origin)
        place = path if iteration is None else path.with_suffix(f".{iteration}.safetensors")
        return checkpoint.read_tensors(place, nameless=origin is not None)[0]

    def trained(self, task: Any, tensors: Mapping[str, Tensor]) -> LanguageModel:
        """A trial's model in evaluation mode, with the weights among these tensors."""
        model, start = self.model(task), "weights/"
        model.load_state_dict({name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)})
        return model.eval()

    def prepare(self, params: Any, missing: Sequence[Any]) -> str:
        """Before anything is trained: check what the missing arms need; a note for the display, if any."""
        return ""
