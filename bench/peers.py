"""`python -m bench.peers`: speed at equal protocol, ours, PyTorch Lightning and the plain reference on the same model,
batches and evaluated positions; a record below results/performance.

Each way is set up in a process of its own (``timing.apart``) and has two works: ``training``, some iterations on random
batches, and ``evaluation`` of some positions. What a trial costs at any protocol follows from seconds an iteration and
seconds a position.
"""

import logging
import warnings
from dataclasses import dataclass, replace
from functools import partial

import torch
from bench import reference, timing
from bench.records import save
from torch.nn import functional as F
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from actlab.data.text import load_text
from actlab.models import MODELS, SCALES, build_model
from actlab.trainers import setup
from actlab.trainers.evaluation import evaluate
from actlab.trainers.loop import Training, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import RandomWindows, cover, spread

RECIPE = Recipe(iterations=500, evaluate_every=50, batch_size=32)
RATE, DECAY = reference.RATE, reference.DECAY
"""The published recipe at lite scale."""
SOME_BATCHES = 4
"""Evaluated in one measured piece by the ways that evaluate random batches."""


@dataclass(frozen=True)
class Setting:
    """What every way trains."""

    model: str = "charlm"
    dataset: str = "shakespeare"
    scale: str = "lite"
    activation: str = "gelu"
    steps: int = 4
    """Iterations in one measured piece of training."""

    def start(self):
        """The freshly initialised model, and its text."""
        corpus = load_text(self.dataset)
        config = replace(SCALES[self.scale], vocab_size=corpus.vocab_size)
        return build_model(self.model, config, self.activation, generator_for=init_streams(0)), corpus


def ours(setting, dtype="float32"):
    """``trainers.loop.train`` and its evaluation of every validation position, in a process set up as a study's."""
    setup.prepare()
    model, corpus = setting.start()
    width = model.config.block_size
    validation, one = cover(corpus.validation, width), spread(corpus.validation, width, 1)
    recipe = replace(RECIPE, iterations=setting.steps, evaluate_every=setting.steps, dtype=dtype)
    return {
        "training": lambda: train(
            Training(
                model,
                torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY, fused=True),
                RandomWindows(corpus.train, width, recipe, 0).batch,
                lambda net, _: evaluate(net, one),
                recipe,
                0,
            )
        ),
        "evaluation": lambda: evaluate(model, validation),
    }


def plain(setting):
    """The reference's loop: its layers, its batches, its evaluation on random batches."""
    made = reference.Learner(*setting.start(), RECIPE)
    return {
        "training": lambda: [made.step() for _ in range(setting.steps)],
        "evaluation": lambda: made.loss(made.corpus.validation, SOME_BATCHES),
    }


def lightning(setting):
    """Our model as a ``LightningModule`` with a data loader, and our windows for validation; all off that a measurement
    does not need: logger, bar, checkpoints, summary."""
    import lightning as pl

    model, corpus = setting.start()
    width, size = model.config.block_size, RECIPE.batch_size

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = model

        def _loss(self, batch):
            return F.cross_entropy(self.net(batch[0]).flatten(0, 1), batch[1].flatten())

        def training_step(self, batch, index):
            return self._loss(batch)

        def validation_step(self, batch, index):
            self.log("val_loss", self._loss(batch))

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=RATE, weight_decay=DECAY)

    def trainer():
        off = dict.fromkeys(("logger", "enable_progress_bar", "enable_checkpointing", "enable_model_summary"), False)
        return pl.Trainer(max_epochs=1, accelerator="cpu", **off)

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")  # the process is this way's own
    whole, module = cover(corpus.validation, width), Module()
    windows = corpus.train.long().unfold(0, width, 1)
    data = TensorDataset(windows[:-1], windows[1:])
    batches = DataLoader(data, size, sampler=RandomSampler(data, replacement=True, num_samples=setting.steps * size))
    validation = DataLoader(TensorDataset(whole.inputs, whole.targets), size)
    return {
        "training": lambda: trainer().fit(module, batches),
        "evaluation": lambda: trainer().validate(module, validation, verbose=False),
    }


WAYS = {
    "ours": (ours, True),
    "ours in bfloat16": (partial(ours, dtype="bfloat16"), True),
    "plain reference": (plain, False),
    "PyTorch Lightning, our model": (lightning, True),
}
"""Way -> (what sets it up, whether its piece of evaluation is the whole validation split; else ``SOME_BATCHES``
batches)."""


def measure(setting, names, rounds):
    """Way -> CPU seconds of an iteration and of a million evaluated positions, a list of rounds each, and ``peak_mb``;
    the ways take turns."""
    found = timing.apart({name: partial(WAYS[name][0], setting) for name in names}, rounds)
    width = SCALES[setting.scale].block_size
    whole = cover(load_text(setting.dataset).validation, width).positions
    for name, way in found.items():
        positions = whole if WAYS[name][1] else SOME_BATCHES * RECIPE.batch_size * width
        way["iteration"] = [value / setting.steps for value in way.pop("training")]
        way["million_positions"] = [value / positions * 1e6 for value in way.pop("evaluation")]
    return found, whole, RECIPE.batch_size * width


def measure_all(rounds=3, models=tuple(MODELS), others=True, **setting):
    """Ours and the reference for every model, in both dtypes where this processor has bfloat16 arithmetic; the other
    ways for the first model."""
    fast, found = timing.bfloat16_arithmetic(), {}
    usual = [way for way in list(WAYS)[:3] if fast or "bfloat16" not in way]
    for name in models:
        one = Setting(model=name, **setting)
        ways = [*usual, *(list(WAYS)[3:] if others and name == models[0] else [])]
        measured, whole, batch = measure(one, ways, rounds)
        found[name] = {"ways": measured}
    return {
        "scale": one.scale,
        "activation": one.activation,
        "bfloat16": fast,
        "iterations": RECIPE.iterations,
        "evaluations": RECIPE.iterations // RECIPE.evaluate_every + 1,
        "positions": whole,
        "published_positions": 2 * reference.EVALUATION_BATCHES * batch,
        "models": found,
    }


if __name__ == "__main__":
    save("performance", "peers", name="peers", measured=measure_all())
