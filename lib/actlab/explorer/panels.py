"""The live notebook's panels: a laboratory of activations, one training run with a stop, two trials side by side. They
need a kernel."""

import threading
import time
from typing import Any

import ipywidgets as widgets
import numpy as np
import traitlets
from numpy.typing import NDArray

from actlab.activations import ACTIVATIONS
from actlab.data.text import load_text
from actlab.errors import LIMITS, ActlabError
from actlab.explorer.catalogue import WORDS, boxed
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


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Menus of model and activation beside other controls, and what is shown below them: words and a picture."""

    def __init__(self, params: CharacterStudy, activation: str, controls: list[Any]) -> None:
        self.params = params
        self.model = widgets.Dropdown(options=list(MODELS), value="charlm", description="model")
        self.activation = widgets.Dropdown(options=list(ACTIVATIONS), value=activation, description="activation")
        self.words, self.picture = widgets.HTML(), widgets.HTML()
        row = widgets.HBox([self.model, self.activation, *controls], layout=widgets.Layout(flex_flow="row wrap"))
        for control in row.children:
            control.style.description_width = "initial"  # its label is not cut
        super().__init__([row, self.words, self.picture])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The live panel, and what a page without a kernel shows of it."""
        shown = self.words.value + self.picture.value
        return {**super()._repr_mimebundle_(**kwargs), "text/html": shown or WORDS["said"]["live"]}

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
        super().__init__(params, "smelu_1", [self.beta])
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
            f"The activation receives {len(flow.inputs):,} inputs here (pre-activations). "
            f"The gradient at {flow.silent:.1%} of them is exactly 0, so that nothing is learned through these."
        )


def density(values: NDArray[np.float64]) -> Line:
    """A histogram of 80 bins as a line; an empty one of no values."""
    if not len(values):
        return Line([], [])
    heights, edges = np.histogram(values, bins=80, density=True)
    return Line((edges[1:] + edges[:-1]) / 2, heights)


class Started(Panel):
    """Something that a button starts, and that works in the background; what stops it is said in words."""

    def __init__(self, params: CharacterStudy, activation: str, button: str, controls: list[Any]) -> None:
        layout = widgets.Layout(width="auto", flex="0 0 auto")  # else a narrow row cuts its label
        self.start = widgets.Button(description=button, button_style="primary", layout=layout)
        self.start.on_click(lambda _: self.begin())
        super().__init__(params, activation, [*controls, self.start])

    def begin(self) -> None:
        """Start what is chosen; returns at once."""
        self.start.disabled = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.work()
        except ActlabError as error:
            self.words.value = escaped(error)
        finally:
            self.start.disabled = False

    def work(self) -> None:
        """What the button starts."""
        raise NotImplementedError


class Stopped(ActlabError):  # noqa: N818  # nothing went wrong
    """A run that its reader stopped: it goes on from its checkpoint when it is started again."""


class TrainOne(Started):
    """Train one trial, watch its loss, stop it; a stopped one goes on where its last evaluation left it."""

    def __init__(self, params: CharacterStudy) -> None:
        self.seed = widgets.BoundedIntText(value=params.seed, min=0, max=LIMITS["seed"], description="seed")
        self.stop = widgets.Button(description="Stop")
        self.bar = widgets.IntProgress(max=params.levels("iterations")[0], description="iterations")
        self.runs: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self._drawn, self._asked = 0.0, threading.Event()
        super().__init__(params, "gelu", "Train one now", [self.seed, self.stop, self.bar])
        self.stop.on_click(lambda _: self._asked.set())
        traitlets.dlink((self.start, "disabled"), (self.stop, "disabled"), lambda running: not running)

    def work(self) -> None:
        """Train the chosen trial."""
        self._asked.clear()
        spec = self.spec(self.seed.value)
        label = f"{spec.model}, {spec.activation}, seed {spec.seed}"
        points = self.runs["", label] = []

        def watch(iteration: int, loss: float) -> None:
            points.append((iteration, loss))
            self.bar.value = iteration
            self.words.value = f"{label}: iteration {iteration} of {spec.iterations}, loss {loss:.3f} nats"
            if time.monotonic() - self._drawn > EVERY:
                self._draw()
            if self._asked.is_set():
                raise Stopped(
                    f"{label} was stopped at iteration {iteration}; train it again to go on from its last evaluation"
                )

        try:
            (result,) = run_task(Task((spec,)), watch)
            if not points:  # it came from the cache: no step was watched
                points += [(one["iteration"], one["train_loss"]) for one in result.get("history", ())]
            ended = result.get("traceback", "").strip().rpartition("\n")[2]
            if "final" in result:
                ended = f"validation loss {result['final']['val_loss']:.3f} nats"
            self.words.value = escaped(f"{label}: {result['status']}, {ended}")
            self.bar.value = spec.iterations
        finally:
            self._draw()

    def _draw(self) -> None:
        """The loss of every run so far."""
        drawn = {name: Line(*zip(*run, strict=True)) for name, run in self.runs.items() if run}
        figure = lines(drawn, "iteration", "training loss (nats)")
        self.picture.value = as_html(figure, "training loss against the iteration")
        self._drawn = time.monotonic()


class SideBySide(Started):
    """Two trials of one arm: what they read in the same text, and what they write after the same prompt with the same
    draws. What is not in the cache is trained first."""

    def __init__(self, params: CharacterStudy) -> None:
        self.prompt = widgets.Text(value="The ", description="prompt")
        super().__init__(params, "relu", "Train both and compare", [self.prompt])

    def work(self) -> None:
        """Train both, then show both texts."""
        specs = [self.spec(self.params.seed + i) for i in range(2)]
        for spec in specs:
            self.words.value = f"seed {spec.seed} is being trained"
            run_task(Task((spec,)))
        seeds = [f"seed {spec.seed}" for spec in specs]
        models = [spec.trained(tensors_of(spec)) for spec in specs]
        corpus = load_text(specs[0].dataset)
        window = specs[0].compared_on(self.params.prediction_windows).inputs[0]
        read = [sampling.reading(model, corpus, window) for model in models]
        written = [sampling.sample(model, corpus, self.prompt.value) for model in models]
        self.words.value = (
            f"<h4>Most probable next character at each place of the same text</h4>{side_by_side(read, seeds)}"
            f"<h4>Written after the prompt, with the same draws</h4>{side_by_side(written, seeds)}"
        )


def side_by_side(texts: list[str], names: list[str]) -> str:
    """Two texts of one length as HTML, the places where they differ marked, also blanks; the share of such places
    stands above."""
    same = [one == other for one, other in zip(*texts, strict=True)]
    boxes = ""
    for name, text in zip(names, texts, strict=True):
        parts = [(sign if alike else SEEN.get(sign, sign), alike) for sign, alike in zip(text, same, strict=True)]
        boxes += boxed(name, parts)
    share = f"<p>They differ at {same.count(False) / max(len(same), 1):.1%} of {len(same)} places.</p>"
    return f'{share}<div style="display:flex;gap:2em;flex-wrap:wrap">{boxes}</div>'
