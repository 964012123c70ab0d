"""Trials and arms as data: a trial is one flat, frozen object of settings; an arm is the trials that share all of them
but `seed` and `change`. Trains nothing, and reads no file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from actlab.errors import LIMITS
from actlab.plugins import Parts
from actlab.records import store
from actlab.records.settings import by_content
from actlab.study.fields import Batch, Betas, Device, Dtype, NotNegative, Seed, Steps, TextName, WindowsOrAll

Results = dict[str, Any]
"""What a trial leaves for its arm's record: plain values."""
Outcome = tuple[Results, dict[str, Tensor]]
"""Of a trial: its results; its weights and predictions."""


class Trial(BaseModel):
    """What every trial has. Its fields are those of a params file, the slowest axis of a study first; what is only
    measured on it (``Measures``) is none of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    kind: ClassVar[str]
    """Of its study, as params files name it."""
    named_by: ClassVar[tuple[str, ...]]
    """The fields that its name begins with."""
    no_axis: ClassVar[tuple[str, ...]] = ("seed", "change", "parts")
    """Fields that the plan fills in, or of which a list is one value."""
    later: ClassVar[tuple[str, ...]] = ()
    """Fields that came after the first cached trials."""
    seed: Seed = 42
    change: str = ""
    """What it differs in from the plain trial of its seed: ``repeat``, ``nudge-100``, ``order``, ...; empty:
    nothing."""
    parts: Parts = ()
    """Hashes of the parts that are a user's own: (kind, sha256)."""

    @property
    def label(self) -> str:
        """Names the trial within its arm: ``42`` or ``42-nudge``."""
        return f"{self.seed}-{self.change}" if self.change else str(self.seed)

    @property
    def name(self) -> str:
        """``charlm-gelu-42``: begins its file in the cache."""
        return "-".join([*(str(getattr(self, name)) for name in self.named_by), self.label])

    @property
    def place(self) -> str:
        """The device on which it trains."""
        return "cpu"

    @property
    def length(self) -> int:
        """Steps of its training, where they are reported."""
        return 0

    def told(self, always: Iterable[str], later: Iterable[str] = ()) -> dict[str, Any]:
        """Its settings for a record: some ``always``; those that came ``later`` only where they are not at their
        defaults, so that the records of before keep their names."""
        fields = type(self).model_fields
        values = {name: getattr(self, name) for name in (*always, *later)}
        return {name: value for name, value in values.items() if name in always or value != fields[name].default}

    @property
    def key(self) -> dict[str, Any]:
        """Its settings for the cache, where what was trained before a field came keeps its place."""
        return self.told([name for name in type(self).model_fields if name not in self.later], self.later)


class LanguageTrial(Trial):
    """What trials of both kinds of language models have."""

    dataset: TextName = "pydoc"
    """The text: a known one, or the path of a file in UTF-8. pydoc needs no download."""
    iterations: Steps = 60
    """Optimizer steps."""
    evaluate_every: Steps = 30
    """Steps between evaluations."""
    validation: Literal["all", "first", "second"] = "all"
    """The part of the validation text that is measured on."""
    validation_windows: WindowsOrAll = 0
    """Evenly spread windows of that part on which the loss is measured; 0: all of it."""
    batch_size: Batch = 16
    """Windows in a batch."""
    device: Device = "cpu"
    """Where it trains."""
    dtype: Dtype = "float32"
    """Of the forward and backward pass; weights, losses and evaluations stay in float32."""
    compiled: bool = False
    """Run through torch.compile."""
    betas: Betas = None
    """Decays of the optimizer's averages of gradients and of their squares; none: its usual ones."""
    warmup: Annotated[int, Field(ge=0, le=LIMITS["iterations"])] = 0
    """Steps over which the rate rises linearly to its full value."""
    clip: NotNegative = 0.0
    """Largest L2 norm of the gradient of all weights; 0: not limited."""

    @property
    def place(self) -> str:  # noqa: D102
        return self.device

    @property
    def length(self) -> int:  # noqa: D102
        return self.iterations

    @property
    def text_sha256(self) -> str:
        """Of a user's own text; empty for a built-in one."""
        return dict(self.parts).get("dataset", "")


T = TypeVar("T", bound=Trial)


@dataclass(frozen=True)
class Measures:
    """What an arm's record measures on its trials, beside what each leaves: no part of a trial's identity."""

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
class Arm(Generic[T]):
    """The trials of one record."""

    study: str
    kind: str
    """Of its record: ``trials``; ``floor``: the first seed plain, repeated and with one bit moved; ``perturbed``: every
    seed plain and changed; ``twins``; ``mnist``; ``ablation``."""
    name: str
    trials: tuple[T, ...]
    config: Mapping[str, Any] = field(compare=False)
    """What its record says of its settings; their hash is in its id."""
    measures: Measures = Measures()
    plan: tuple[int, str] | None = None
    """Version and hash of the plan that it is run under; it changes no id."""
    tuning: Mapping[str, Any] | None = field(default=None, compare=False)
    """The rule of a study that chooses learning rates; it changes no id."""

    @cached_property
    def id(self) -> str:
        """``charlm-gelu-<hash>``: the name of its record, by which a recorded arm is found."""
        return f"{self.name}-{store.digest(by_content(self.config))[:10]}"


@dataclass(frozen=True)
class Task(Generic[T]):
    """What trains at once: one trial; the trials of a program of the image sweep; a leader and its followers."""

    trials: tuple[T, ...]
    measures: Measures = Measures()
    """What its arms ask for together: which snapshots and predictions are kept."""

    @property
    def first(self) -> T:
        """Names the task."""
        return self.trials[0]

    @property
    def label(self) -> str:
        """In messages."""
        return self.first.label


def together(arms: Sequence[Arm[T]]) -> dict[T, Measures]:
    """Each trial of some arms once, with what they ask for together."""
    found: dict[T, Measures] = {}
    for arm in arms:
        asked = arm.measures
        for trial in arm.trials:
            before = found.get(trial, Measures())
            found[trial] = Measures(
                max(asked.prediction_windows, before.prediction_windows),
                snapshots=tuple(sorted({*asked.snapshots, *before.snapshots})),
            )
    return found
