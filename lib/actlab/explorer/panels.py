"""The live notebook's panels: a laboratory of activations, one training run with a stop, two trials side by side. They
need a kernel."""

import threading
import time
from typing import Any

import ipywidgets as widgets
import numpy as np
from numpy.typing import NDArray

from actlab.activations import ACTIVATIONS
from actlab.data.text import load_text
from actlab.errors import LIMITS, ActlabError
from actlab.explorer.catalogue import WORDS
from actlab.figures.primitives import Line, lines
from actlab.figures.style import as_html
from actlab.files import escaped
from actlab.models import MODELS
from actlab.study import activation_curves as curves
from actlab.study import sampling
from actlab.study.cache import run_task, tensors_of
from actlab.study.character_study import CharacterStudy
from actlab.study.characters import CharacterTrial
from actlab.study.trial import Task

SEEN = {" ": "␣", "\n": "⏎\n"}
EVERY = 2.0
"""Seconds between two pictures of a run that is being trained."""
BOX = '<div style="flex:1 1 20em"><b>{}</b><pre style="white-space:pre-wrap">{}</pre></div>'
MARK = '<mark style="background:#E69F00;color:#000">{}</mark>'


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Menus of model and activation beside other controls, and what is shown below them."""

    def __init__(self, params: CharacterStudy, activation: str, controls: list[Any], below: list[Any]) -> None:
        self.params = params
        self.model = widgets.Dropdown(options=list(MODELS), value="charlm", description="model")
        self.activation = widgets.Dropdown(options=list(ACTIVATIONS), value=activation, description="activation")
        row = widgets.HBox([self.model, self.activation, *controls], layout=widgets.Layout(flex_flow="row wrap"))
        for control in row.children:
            control.style.description_width = "initial"  # its label is not cut
        super().__init__([row, *below])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live panel, and what a page without a kernel shows of it."""
        pictures = [child.value for child in self.children if isinstance(child, widgets.HTML)]
        return {**super()._repr_mimebundle_(**kwargs), "text/html": "".join(pictures) or WORDS["said"]["live"]}

    def spec(self, seed: int) -> CharacterTrial:
        """The chosen trial."""
        own = {"model": self.model.value, "activation": self.activation.value, "seed": seed, "trials": 1}
        trial = self.params.replace(**own).arms()[0].trials[0]
        assert isinstance(trial, CharacterTrial)
        return trial


class Laboratory(Panel):
    """Move beta, change model or activation: function, slope, and what flows through a fresh model on real text."""

    def __init__(self, params: CharacterStudy) -> None:
        self.beta = widgets.FloatSlider(
            value=1.0, min=0.05, max=4.0, step=0.05, description="beta", continuous_update=False
        )
        self.picture, self.words = widgets.HTML(), widgets.HTML()
        super().__init__(params, "smelu_1", [self.beta], [self.picture, self.words])
        for control in (self.model, self.activation, self.beta):
            control.observe(lambda _: self.draw(), "value")
        self.draw()

    def draw(self) -> None:
        """Compute and show what is chosen."""
        name = self.activation.value
        self.beta.disabled = name not in curves.ADJUSTABLE
        beta = None if self.beta.disabled else self.beta.value
        flow = curves.flow(self.spec(self.params.seed), beta=beta)
        x, value, slope = curves.curve(name, beta)
        drawn = {
            ("f(x)", name): Line(x, value),
            ("slope f'(x)", name): Line(x, slope),
            ("density of pre-activations x", name): density(flow.inputs),
            ("density of log10 |gradient|, where it is not 0", name): density(
                np.log10(np.abs(flow.gradients[flow.gradients != 0]))
            ),
        }
        figure = lines(drawn, "", "", columns=2, share=False)
        self.picture.value = as_html(figure, f"{name}: function, slope, pre-activations and gradients")
        self.words.value = (
            f"{len(flow.inputs):,} pre-activations; the gradient of {flow.silent:.1%} of them is exactly 0."
        )


def density(values: NDArray[np.float64]) -> Line:
    """A histogram of 80 bins as a line; an empty one of no values."""
    if not len(values):
        return Line([], [])
    heights, edges = np.histogram(values, bins=80, density=True)
    return Line((edges[1:] + edges[:-1]) / 2, heights)


class Stopped(ActlabError):  # noqa: N818  # nothing went wrong
    """A run that its reader stopped: it goes on from its checkpoint when it is started again."""


class TrainOne(Panel):
    """Train one trial in the background, watch its loss, stop it; a stopped one goes on where its last evaluation left
    it."""

    def __init__(self, params: CharacterStudy) -> None:
        self.seed = widgets.BoundedIntText(value=params.seed, min=0, max=LIMITS["seed"], description="seed")
        self.start = widgets.Button(description="Train one now", button_style="primary")
        self.stop = widgets.Button(description="Stop", disabled=True)
        self.bar = widgets.IntProgress(max=params.levels("iterations")[0], description="iterations")
        self.words, self.picture = widgets.HTML(), widgets.HTML()
        self.runs: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self._asked = threading.Event()
        controls = [self.seed, self.start, self.stop, self.bar]
        super().__init__(params, "gelu", controls, [self.words, self.picture])
        self.start.on_click(lambda _: self.train())
        self.stop.on_click(lambda _: self._asked.set())

    def train(self) -> None:
        """Start the run that is chosen; returns at once."""
        self._asked.clear()
        self.start.disabled, self.stop.disabled = True, False
        self.thread = threading.Thread(target=self._run, args=(self.spec(self.seed.value),), daemon=True)
        self.thread.start()

    def _run(self, spec: CharacterTrial) -> None:
        label = f"{spec.model}, {spec.activation}, seed {spec.seed}"
        points: list[tuple[int, float]] = []
        drawn = time.monotonic()

        def watch(iteration: int, loss: float) -> None:
            nonlocal drawn
            points.append((iteration, loss))
            self.runs["", label] = points
            self.bar.value = iteration
            self.words.value = f"{label}: iteration {iteration} of {spec.iterations}, loss {loss:.3f} nats"
            if time.monotonic() - drawn > EVERY:
                self._draw()
                drawn = time.monotonic()
            if self._asked.is_set():
                raise Stopped(
                    f"{label} was stopped at iteration {iteration}; train it again to go on from its last evaluation"
                )

        try:
            (result,) = run_task(Task((spec,)), watch)
            ended = result.get("traceback", "").strip().rpartition("\n")[2]
            evaluated = [(one["iteration"], one["train_loss"]) for one in result.get("history", ())]
            if evaluated and not points:  # it came from the cache: no step was watched
                self.runs["", label] = evaluated
            if "final" in result:
                ended = f"validation loss {result['final']['val_loss']:.3f} nats"
            self.words.value = escaped(f"{label}: {result['status']}, {ended}")
            self.bar.value = spec.iterations
        except ActlabError as error:
            self.words.value = escaped(error)
        finally:
            self._draw()
            self.start.disabled, self.stop.disabled = False, True

    def _draw(self) -> None:
        """The loss of every run so far."""
        drawn = {name: Line(*zip(*run, strict=True)) for name, run in self.runs.items()}
        if drawn:
            figure = lines(drawn, "iteration", "training loss (nats)")
            self.picture.value = as_html(figure, "training loss against the iteration")


class SideBySide(Panel):
    """Two trials of one arm: what they read in the same text, and what they write after the same prompt with the same
    draws."""

    def __init__(self, params: CharacterStudy) -> None:
        self.prompt = widgets.Text(value="The ", description="prompt")
        self.start = widgets.Button(
            description="Train both and compare",
            button_style="primary",
            layout=widgets.Layout(width="auto", flex="0 0 auto"),  # else a narrow row cuts its label
        )
        self.out = widgets.HTML()
        super().__init__(params, "relu", [self.prompt, self.start], [self.out])
        self.start.on_click(lambda _: self.compare())

    def compare(self) -> None:
        """Train what is not in the cache (two trials), then show both texts."""
        self.start.disabled = True
        try:
            self.out.value = self._compared()
        except ActlabError as error:
            self.out.value = escaped(error)
        finally:
            self.start.disabled = False

    def _compared(self) -> str:
        specs = [self.spec(self.params.seed + i) for i in range(2)]
        for spec in specs:
            self.out.value = f"seed {spec.seed} is being trained"
            run_task(Task((spec,)))
        seeds = [f"seed {spec.seed}" for spec in specs]
        models = [spec.trained(tensors_of(spec)) for spec in specs]
        corpus = load_text(specs[0].dataset)
        window = specs[0].compared_on(self.params.prediction_windows).inputs[0]
        read = [sampling.reading(model, corpus, window) for model in models]
        written = [sampling.sample(model, corpus, self.prompt.value) for model in models]
        return (
            f"<h4>Most probable next character at each place of the same text</h4>{side_by_side(read, seeds)}"
            f"<h4>Written after the prompt, with the same draws</h4>{side_by_side(written, seeds)}"
        )


def side_by_side(texts: list[str], names: list[str]) -> str:
    """Two texts of one length as HTML, the places where they differ marked, also blanks; the share of such places
    stands above."""
    differ = [a != b for a, b in zip(*texts, strict=True)]
    boxes = ""
    for name, text in zip(names, texts, strict=True):
        marked = [MARK.format(SEEN.get(c, escaped(c))) if d else escaped(c) for c, d in zip(text, differ, strict=True)]
        boxes += BOX.format(escaped(name), "".join(marked))
    share = f"<p>They differ at {sum(differ) / max(len(differ), 1):.1%} of {len(differ)} places.</p>"
    return f'{share}<div style="display:flex;gap:2em;flex-wrap:wrap">{boxes}</div>'
