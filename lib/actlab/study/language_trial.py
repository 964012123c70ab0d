"""What trials of both kinds of language models have, and what their records and files have in common."""

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from actlab.errors import LIMITS
from actlab.models import count_parameters
from actlab.optimizers import build_optimizer
from actlab.study import timing
from actlab.study.fields import Batch, Betas, Device, Dtype, NotNegative, Steps, TextName, WindowsOrAll
from actlab.study.trial import Results, Settings, Task, Trial
from actlab.trainers import loop
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import generator
from actlab.trainers.windows import Windows


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
    def text_sha256(self) -> str:
        """Of a user's own text; empty for a built-in one."""
        return dict(self.parts).get("dataset", "")

    def validation_set(self) -> Windows:
        """The windows on which its loss is measured."""
        raise NotImplementedError

    def seconds(self, task: Task) -> float:  # noqa: D102
        return timing.seconds(self, task)

    @property
    def recipe(self) -> Recipe:
        """How it is trained."""
        values = self.model_dump()
        return Recipe(**{each.name: values[each.name] for each in fields(Recipe) if each.name in values})

    def optimizer_for(self, model: nn.Module, name: str, seed: int, settings: Settings) -> Optimizer:
        """The named one, over all weights of a model that is on its device. ``seed``: of its own random stream;
        ``settings``: what departs from its usual ones; none of them: its own."""
        self.part("optimizer", name)
        given = {key: value for key, value in settings.items() if value is not None}
        return build_optimizer(name, model.parameters(), generator(seed, "optimizer"), **given)

    def left(self, model: nn.Module, done: loop.Trial) -> Results:
        """What every trained language model leaves."""
        return {
            "label": self.label,
            "seed": self.seed,
            "n_parameters": count_parameters(model),
            "status": done.status,
            "final": done.final,
            "history": done.progress.history,
            "started": done.progress.started,
            "seconds": done.progress.seconds,
            "weights_sha256": done.weights_sha256,
        }


def without_vocabulary(size: Any) -> Settings:
    """The numbers behind a scale's name, without the vocabulary, which the text decides."""
    return {each.name: getattr(size, each.name) for each in fields(size) if each.name != "vocab_size"}


def weights(model: nn.Module, start: str = "weights/") -> dict[str, Tensor]:
    """A model's state under the names that a trial's file has for it."""
    return {f"{start}{name}": value for name, value in model.state_dict().items()}
