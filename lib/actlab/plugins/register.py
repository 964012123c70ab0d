"""What a plug-in file calls: `register_activation`, `_model`, `_optimizer`, `_text`, `_metric`. Each tries the part at
once."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from actlab import metrics
from actlab.activations import Activation
from actlab.errors import BadInput
from actlab.models import LanguageModel, Model, ModelConfig
from actlab.optimizers import Optimizer, check_complete
from actlab.optimizers.steps import step
from actlab.plugins import PARTS, RUNNING, TABLES, Part
from actlab.plugins.guard import guarded
from actlab.trainers.seeds import generator

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
RESERVED = re.compile(
    "between|blocks|coded_pd|group|arm|level|label|metric|value|loss|accuracy|weight_distance|churn_.*|avg_.*"
)
"""What records, comparisons and `actlab measure` call their own numbers and groups, beside the tables' columns."""


def _also_as_decorator(register: Callable[..., None]) -> Callable[..., Any]:
    """Without a thing, ``register(name)`` gives a decorator that registers what it decorates and returns it; only a
    plug-in file registers, since nothing else can say what a result belongs to."""

    @functools.wraps(register)
    def either(name: str, thing: Any = None, **about: Any) -> Any:
        if not RUNNING:
            raise BadInput(
                f"actlab.{register.__name__}({name!r}) belongs in a plug-in file, by whose source results know a "
                "part: write it there (in a notebook: a cell that begins with `%%writefile my_parts.py`), and name the "
                "file in `plugins: [my_parts.py]`, with --plugin or in actlab.load_plugins"
            )
        if thing is None:
            return functools.partial(either, name, **about)
        register(name, thing, **about)
        return thing

    return either


def _add(kind: str, name: str, row: Any, **about: str) -> None:
    what = f"the {kind} {name!r}"
    for key, text in about.items():
        if not isinstance(text, str):
            raise BadInput(f"{what}: {key} is a text, not {text!r:.100}")
    if not NAME.fullmatch(name):
        raise BadInput(f"{what}: a name is a small letter and up to 39 small letters, digits and _")
    if before := PARTS.get((kind, name)):
        raise BadInput(f"{what} is already registered by {before.file.name}: choose another name")
    TABLES[kind][name] = row
    PARTS[kind, name] = Part(kind, name, RUNNING[-1], **about)


@_also_as_decorator
def register_activation(
    name: str, class_or_factory: Any, *, gated: bool = False, formula: str = "", source: str = ""
) -> None:
    """Add an activation to the table; also as a decorator, ``@actlab.register_activation("mine")``.

    Args:
        name: by which params files, notebooks and the command line call it; a built-in name is refused.
        class_or_factory: without arguments makes an ``nn.Module`` that maps (..., n) to (..., n), a gated one (...,
            2n), the gate first, to (..., n). If it takes ``features``, it is given n. A module that learns parameters
            has a method ``initialise(generator)`` that sets their start.
        gated: whether it multiplies two projections; models then give it both, at the plain arm's parameter count.
        formula: LaTeX.
        source: who defined it.

    Raises:
        BadInput: a name that is taken, a module of another shape, or a call outside of a plug-in file.
    """
    if re.fullmatch(r"(smelu|gelu|swish)_\d+", name):  # smelu_03, beside smelu_0.3
        raise BadInput(f"the activation {name!r} would be taken for one of a built-in family: choose another name")
    takes = "features" in inspect.signature(class_or_factory).parameters
    row = Activation(name, class_or_factory, formula, source, gated, takes)
    what = f"the activation {name!r}"
    size = 8 if gated else 4
    try:
        module = row.make(features=4)
        learned = ", ".join(key for key, _ in module.named_parameters())
        given = torch.linspace(-2, 2, 6 * size).view(2, 3, size).requires_grad_()
        value = module(given * 1)  # not a leaf of the graph, so that it may be changed in place
        (slope,) = torch.autograd.grad(value.sum(), given)
    except Exception as error:
        raise BadInput(
            f"{what} must be a class or function that makes an nn.Module without arguments, with a gradient: {error}"
        ) from None
    if (shape := value.shape) != (2, 3, 4):
        hint = " (one that halves its input needs gated=True)" if shape == (2, 3, 2) else ""
        raise BadInput(f"{what} must map (2, 3, {size}) to (2, 3, 4), but gives {tuple(shape)}{hint}")
    finite = value.isfinite().all() and slope.isfinite().all()
    if not learned and not finite:  # what it learns has no start yet
        raise BadInput(f"{what} or its derivative is not finite everywhere between -2 and 2")
    if learned and not hasattr(module, "initialise"):
        raise BadInput(f"{what} learns {learned}: give it a method initialise(generator) that sets their start")
    _add("activation", name, row, formula=formula)


@_also_as_decorator
def register_model(name: str, class_or_factory: Any, *, description: str = "", acts_in: str = "") -> None:
    """Add a language model to the table; also as a decorator.

    Args:
        name: as for an activation.
        class_or_factory: ``(config, activation, gated_width)`` -> ``actlab.models.LanguageModel``; ``activation`` is an
            entry of the table: ``activation.make(features=n)`` and ``actlab.models.layers.FeedForward`` make modules of
            it.
        description: what it is.
        acts_in: where its activation acts.
    """
    what = f"the model {name!r}"
    if isinstance(class_or_factory, type) and not issubclass(class_or_factory, LanguageModel):
        given = class_or_factory.__name__
        raise BadInput(f"{what} must be an actlab.models.LanguageModel, {given} is not")

    def made(config: ModelConfig, activation: Activation, gated_width: str) -> LanguageModel:
        with guarded(what):
            model = class_or_factory(config, activation, gated_width)
        if not isinstance(model, LanguageModel):
            raise BadInput(f"{what} must make an actlab.models.LanguageModel, not {type(model).__name__}")
        return model

    _add("model", name, Model(name, made, description, acts_in))


@_also_as_decorator
def register_optimizer(name: str, class_or_factory: Any, *, rate: float | None = None, source: str = "") -> None:
    """Add an optimizer of language models to the table; also as a decorator.

    Args:
        name: as for an activation.
        class_or_factory: ``(params, lr=..., weight_decay=...)`` -> ``torch.optim.Optimizer`` over all of ``params``,
            whose ``step`` calls the closure that it is given and returns its loss, and reads the rate from its groups.
            If it takes ``betas``, it is given those of a study; if it takes ``generator``, a random stream of its own.
            Its state is tensors, so that checkpoints hold it.
        rate: its usual learning rate; the default of its ``lr`` unless given.
        source: who defined it.

    Raises:
        BadInput: a name that is taken, an optimizer that breaks one of these, or a call outside of a plug-in file.
    """
    what = f"the optimizer {name!r}"
    taken = inspect.signature(class_or_factory).parameters
    if missing := sorted({"lr", "weight_decay"} - taken.keys()):
        raise BadInput(f"{what} must take (params, lr=..., weight_decay=...): {' and '.join(missing)} is missing")
    usual = {each: one.default for each, one in taken.items() if isinstance(one.default, int | float | tuple)}
    if rate is not None:
        usual["lr"] = rate
    if "lr" not in usual:
        raise BadInput(f"{what} has no usual learning rate: give its lr a default, or say rate=...")
    if "betas" in taken and "betas" not in usual:
        raise BadInput(f"{what} takes betas: give them a default")

    def made(params: Any, generator: torch.Generator, **settings: Any) -> torch.optim.Optimizer:
        own = {"generator": generator} if "generator" in taken else {}
        found: torch.optim.Optimizer = class_or_factory(params, **settings, **own)
        return found

    row = Optimizer(name, made, source, usual)
    _try_optimizer(row, what)
    _add("optimizer", name, row)


class Bowl(nn.Module):
    """A matrix and a vector, whose loss is half their squared distance from 0, or from a place that moves at random by
    ``noise``."""

    def __init__(self, noise: float = 0.0) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(4, 3)), nn.Parameter(torch.ones(3))
        self.noise, self.draw = noise, generator(1, "bowl")

    def forward(self) -> Tensor:
        """The loss, with its gradients."""
        self.zero_grad()
        at = self.position()
        loss = (at - self.noise * torch.randn(at.shape, generator=self.draw)).square().sum() / 2
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def position(self) -> Tensor:
        """All of its numbers (15,)."""
        return nn.utils.parameters_to_vector(self.parameters())


def _try_optimizer(row: Optimizer, what: str) -> None:
    """A few steps in a bowl: each calls its closure and returns the loss, the state is tensors."""
    bowl = Bowl()
    try:
        optimizer = row.factory(bowl.parameters(), generator(1, "optimizer"), **row.defaults)
        check_complete(optimizer, bowl)
        losses = [step(optimizer, bowl) for _ in range(3)]
    except Exception as error:
        hint = "; call the closure under torch.enable_grad()" if "require grad" in str(error) else ""
        raise BadInput(f"{what} cannot train a layer: {type(error).__name__}: {error}{hint}") from None
    if any(loss is None for loss in losses):
        raise BadInput(
            f"{what}: step(closure) must call the closure, which computes the gradients, and return its loss"
        )
    for state in optimizer.state_dict()["state"].values():
        for value in state.values():
            if not isinstance(value, Tensor):
                kind = type(value).__name__
                raise BadInput(f"{what} keeps a {kind} in its state: checkpoints hold tensors only")


@_also_as_decorator
def register_text(name: str, function: Callable[[], str], *, description: str = "") -> None:
    """Add a character text to the table; also as a decorator. A file of text needs none of this: its path is its name.

    Args:
        name: as for an activation.
        function: without arguments gives the text, each time the same; called once in a process.
        description: what it is.
    """

    @functools.cache
    def text() -> str:
        with guarded(f"the text {name!r}"):
            content = function()
        if not isinstance(content, str):
            raise BadInput(f"the text {name!r} must be a str, not {type(content).__name__}")
        return content

    _add("dataset", name, text, note=description)


@_also_as_decorator
def register_metric(name: str, function: Any, *, label: str = "", note: str = "") -> None:
    """Add a metric, which enters every pair of the records written from now on, and the tables; also as a decorator.
    It is tried at once on small predictions: a metric that raises does so before any training.

    Args:
        name: as for an activation; no column of the tables.
        function: of two (N, V) tensors of probabilities of the same N inputs, some of all at a time; gives (N,), one
            value an input, whatever the others are. It is given copies, which it may change.
        label: with unit and range, as tables and axes have it; the name unless given.
        note: what it means, and which direction is better.
    """
    from actlab.records.tables import COLUMNS  # needs pandas, which training does not

    what = f"the metric {name!r}"
    if name not in metrics.ROWS.built_in and (RESERVED.fullmatch(name) or name in COLUMNS):
        raise BadInput(f"{what} would hide a number or a column of the tables: choose another name")

    def rows(p: Tensor, q: Tensor) -> Tensor:
        with guarded(what):
            return _checked(what, function(p.clone(), q.clone()), p.shape)

    for p, q in small_predictions():
        alone, among = rows(p[-1:], q[-1:]), rows(p, q)[-1:]
        if not torch.allclose(alone.double(), among.double(), rtol=1e-3, atol=1e-6):
            raise BadInput(
                f"{what} gives an input {among.item():.6g} among others and {alone.item():.6g} alone: it must give "
                "one value an input, whatever the others are"
            )
    _add("metric", name, rows, label=label or name, note=note)


def _checked(what: str, values: object, shape: torch.Size) -> Tensor:
    """The values of a metric of two tensors of that shape; ``BadInput`` where they are not one real, finite number an
    input."""
    allowed = f"{what} must give one real, finite value an input, not"
    if not isinstance(values, Tensor):
        raise BadInput(f"{allowed} {type(values).__name__}")
    if values.shape != shape[:1] or values.is_complex():
        raise BadInput(f"{allowed} {tuple(values.shape)} {values.dtype} for two {tuple(shape)} tensors")
    wrong = values[~values.isfinite()]
    if len(wrong):
        raise BadInput(f"{allowed} {wrong[0].item()}")
    return values


def small_predictions() -> list[tuple[Tensor, Tensor]]:
    """Pairs of predictions as a study has them: among others certain ones and equal ones; of 64 and of 10 classes."""
    one, other = (torch.linspace(-1, end, 64).sin().softmax(0) for end in (1, 20))
    certain, elsewhere = torch.eye(2, 64)
    p = torch.stack([one, certain, one, other])
    q = torch.stack([other, elsewhere, one, one.flip(0)])
    return [(p, q), (p[:, :10].softmax(1), q[:, :10].softmax(1))]
