"""Live panels of a notebook: a laboratory of activations, one training run with a stop, two seeds side by side."""

import threading
import time
from html import escape
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import ACTIVATIONS, SmeLU, Swish, get_activation, slope
from actlab.data.text import load_text
from actlab.errors import ActlabError
from actlab.figures.plots import curves
from actlab.figures.style import as_html
from actlab.models import MODELS
from actlab.study.after.sampling import reading, sample
from actlab.study.cache import run_task, tensors_of
from actlab.study.characters.study import CharacterStudy
from actlab.study.characters.trial import CharacterTrial
from actlab.study.trial import Task

Array = NDArray[np.float64]
ADJUSTABLE = tuple(name for name in ACTIVATIONS if isinstance(get_activation(name), SmeLU | Swish))
"""Activations with a beta that can be moved."""
SECONDS = 2.0
"""Seconds between two pictures of a network that is trained."""
VISIBLE = {" ": "␣", "\n": "⏎\n"}
"""How a blank looks where two texts differ."""


def set_beta(model: nn.Module, beta: float | None) -> nn.Module:
    """Give every SmeLU and Swish of a model this beta; ``None`` leaves them as they are."""
    for module in model.modules():
        if beta is not None and isinstance(module, SmeLU | Swish):
            module.beta = beta
    return model


def curve(name: str, beta: float | None = None) -> tuple[Array, Array, Array]:
    """Return (x, f(x), f'(x)) of an activation at 601 points of [-3, 3]; of a gated one, of its gate."""
    module = get_activation(name).double()
    module = set_beta(getattr(module, "gate", module), beta)
    x = torch.linspace(-3, 3, 601, dtype=torch.float64)
    return x.numpy(), module(x).detach().numpy(), slope(module, x).numpy()


def flow(trial: CharacterTrial, beta: float | None = None, windows: int = 8) -> tuple[Array, Array]:
    """Return (n,) pre-activations of a trial's fresh network on validation text and (n,) gradients of the mean loss
    with respect to them; of a gated activation, those of its gates. Dropout is off."""
    text, model = trial.compared_on(windows), trial.fresh()
    set_beta(model, beta).eval()
    inputs: list[Any] = []

    def keep(module: nn.Module, arguments: tuple[Tensor]) -> None:
        arguments[0].retain_grad()
        inputs.append(arguments[0])

    for module in model.modules():
        if type(module) is type(get_activation(trial.activation)):
            module.register_forward_pre_hook(keep)
    logits = model(text.inputs)  # (windows, T, V)
    F.cross_entropy(logits.flatten(0, 1), text.targets.flatten()).backward()  # type: ignore[no-untyped-call]
    parts = 2 if ACTIVATIONS[trial.activation].gated else 1

    def joined(tensors: list[Tensor]) -> Array:
        return torch.cat([tensor.chunk(parts, dim=-1)[0].flatten() for tensor in tensors]).detach().double().numpy()

    return joined(inputs), joined([tensor.grad for tensor in inputs])


def density(values: Array) -> tuple[Array, Array]:
    """Return the places and heights of a histogram of 80 bins; none of no values."""
    if not len(values):
        return values, values
    heights, edges = np.histogram(values, bins=80, density=True)
    return (edges[1:] + edges[:-1]) / 2, heights


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Menus of model and activation beside other controls; words and a picture stand below them."""

    def __init__(self, params: CharacterStudy, activation: str, controls: list[Any]) -> None:
        self.params = params
        self.model = widgets.Dropdown(options=list(MODELS), value="charlm", description="model")
        self.activation = widgets.Dropdown(options=list(ACTIVATIONS), value=activation, description="activation")
        self.words, self.picture = widgets.HTML(), widgets.HTML()
        row = widgets.HBox([self.model, self.activation, *controls], layout=widgets.Layout(flex_flow="row wrap"))
        for control in row.children:
            control.style.description_width = "initial"  # else its label is cut
        super().__init__([row, self.words, self.picture])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Show the live panel; a page without a kernel shows its words and picture."""
        still = self.words.value + self.picture.value or "<p><em>Live in JupyterLab: make lab.</em></p>"
        return {**super()._repr_mimebundle_(**kwargs), "text/html": still}

    def trial(self, seed: int) -> CharacterTrial:
        """Return the trial of the chosen model and activation."""
        study = self.params.replace(model=self.model.value, activation=self.activation.value, seed=seed, trials=1)
        trial = study.arms()[0].trials[0]
        assert isinstance(trial, CharacterTrial)
        return trial


class Laboratory(Panel):
    """An activation, its slope, and what flows through a fresh network on real text, as beta moves."""

    def __init__(self, params: CharacterStudy) -> None:
        self.beta = widgets.FloatSlider(1.0, min=0.05, max=4.0, step=0.05, description="beta", continuous_update=False)
        super().__init__(params, "smelu_1", [self.beta])
        for control in (self.model, self.activation, self.beta):
            control.observe(lambda _: self.draw(), "value")
        self.draw()

    def draw(self) -> None:
        """Compute and show the chosen activation."""
        name = self.activation.value
        self.beta.disabled = name not in ADJUSTABLE
        beta = None if self.beta.disabled else self.beta.value
        x, value, rise = curve(name, beta)
        inputs, gradients = flow(self.trial(self.params.seed), beta)
        zero = gradients == 0
        panels = {
            "f(x)": (x, value),
            "slope f'(x)": (x, rise),
            "density of pre-activations x": density(inputs),
            "density of log10 |gradient|, where it is not 0": density(np.log10(np.abs(gradients[~zero]))),
        }
        lines = [pd.DataFrame({"panel": panel, "x": at, "y": height}) for panel, (at, height) in panels.items()]
        table = pd.concat(lines).assign(activation=name)
        figure = curves(table, "x", "y", ["", ""], "panel", columns=2, share=False)
        self.picture.value = as_html(figure, f"{name}: function, slope, pre-activations and gradients")
        self.words.value = (
            f"The activation receives {len(inputs):,} inputs here (pre-activations). "
            f"The gradient at {zero.mean():.1%} of them is exactly 0, so that nothing is learned through these."
        )


class Started(Panel):
    """A panel whose button starts work in the background; an error of it stands in the panel's words."""

    def __init__(self, params: CharacterStudy, activation: str, button: str, controls: list[Any]) -> None:
        layout = widgets.Layout(width="auto", flex="0 0 auto")  # else a narrow row cuts its label
        self.start = widgets.Button(description=button, button_style="primary", layout=layout)
        self.start.on_click(lambda _: self.begin())
        super().__init__(params, activation, [*controls, self.start])

    def begin(self) -> None:
        """Start the work; returns at once."""
        self.start.disabled = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.work()
        except ActlabError as error:
            self.words.value = escape(str(error))
        finally:
            self.start.disabled = False

    def work(self) -> None:
        """Do the work that the button starts."""
        raise NotImplementedError


class Stopped(ActlabError):  # noqa: N818  # nothing went wrong
    """A reader stopped the run."""


class TrainOne(Started):
    """One training run and its loss; a stopped one goes on from its last evaluation when it is started again."""

    def __init__(self, params: CharacterStudy) -> None:
        self.seed = widgets.BoundedIntText(params.seed, min=0, max=2**31 - 1, description="seed")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.losses: dict[str, list[tuple[int, float]]] = {}
        self._stopping = threading.Event()
        super().__init__(params, "gelu", "Train one now", [self.seed, self.stop])
        self.stop.on_click(lambda _: self._stopping.set())

    def work(self) -> None:
        """Train the chosen trial."""
        trial = self.trial(self.seed.value)
        label = f"{trial.model}, {trial.activation}, seed {trial.seed}"
        losses = self.losses[label] = []
        drawn = 0.0

        def watch(iteration: int, loss: float) -> None:
            nonlocal drawn
            losses.append((iteration, loss))
            self.words.value = f"{label}: iteration {iteration} of {trial.iterations}, loss {loss:.3f} nats"
            if time.monotonic() - drawn > SECONDS:
                self.draw()
                drawn = time.monotonic()
            if self._stopping.is_set():
                raise Stopped(f"{label} was stopped at iteration {iteration}; train it again to go on")

        self._stopping.clear()
        self.stop.disabled = False
        try:
            (result,) = run_task(Task((trial,)), watch)
            if not losses:  # it came from the cache
                losses += [(row["iteration"], row["train_loss"]) for row in result.get("history", ())]
            end = result.get("error", "")
            if "final" in result:
                end = f"validation loss {result['final']['val_loss']:.3f} nats"
            self.words.value = escape(f"{label}: {result['status']}, {end}")
        finally:
            self.stop.disabled = True
            self.draw()

    def draw(self) -> None:
        """Show the loss of every run until now."""
        rows = [("", run, *point) for run, losses in self.losses.items() for point in losses]
        table = pd.DataFrame(rows, columns=["panel", "run", "iteration", "loss"])
        figure = curves(table, "iteration", "loss", ["iteration", "training loss (nats)"], "panel", "run")
        self.picture.value = as_html(figure, "training loss against the iteration")


class SideBySide(Started):
    """Two seeds, trained where the cache has them not: they read one text, and write on after one prompt with the same
    draws."""

    def __init__(self, params: CharacterStudy) -> None:
        self.prompt = widgets.Text(value="The ", description="prompt")
        super().__init__(params, "relu", "Train both and compare", [self.prompt])

    def work(self) -> None:
        """Train both, then show their texts."""
        trials = [self.trial(self.params.seed + i) for i in range(2)]
        for trial in trials:
            self.words.value = f"seed {trial.seed} is being trained"
            run_task(Task((trial,)))
        models = [trial.trained(tensors_of(trial)) for trial in trials]
        text, seeds = load_text(trials[0].dataset), [f"seed {trial.seed}" for trial in trials]
        window = trials[0].compared_on(self.params.prediction_windows).inputs[0]
        read = side_by_side([reading(model, text, window) for model in models], seeds)
        written = side_by_side([sample(model, text, self.prompt.value) for model in models], seeds)
        self.words.value = (
            f"<h4>Most probable next character at each place of the same text</h4>{read}"
            f"<h4>Written after the prompt, with the same draws</h4>{written}"
        )


def side_by_side(texts: list[str], names: list[str]) -> str:
    """Write two texts of one length as HTML; the places where they differ are marked, and their share stands above."""
    differ = [first != second for first, second in zip(*texts, strict=True)]
    boxes = ""
    for name, text in zip(names, texts, strict=True):
        marked = ""
        for sign, other in zip(text, differ, strict=True):
            marked += f"<mark>{escape(VISIBLE.get(sign, sign))}</mark>" if other else escape(sign)
        boxes += f"<div><b>{escape(name)}</b><pre>{marked}</pre></div>"
    share = sum(differ) / max(len(differ), 1)
    return f'<p>They differ at {share:.1%} of {len(differ)} places.</p><div class="texts">{boxes}</div>'
