"""Ways to train one language model: ours, PyTorch Lightning, a nanoGPT-style loop, the plain reference; same start, batch size, steps.

Each way is set up in a process of its own (``timing.apart``) and has two works: ``training``, some iterations on random batches, and
``evaluation``, a piece of one evaluation.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.bench import reference, timing
from actlab.data.text import Corpus, load_text
from actlab.models import SCALES, LanguageModel, build_model
from actlab.statistics.intervals import mean_interval
from actlab.study import process
from actlab.training.loop import Recipe, evaluate, train
from actlab.training.streams import init_streams
from actlab.training.windows import SKIP, cover, spread
from actlab.wording import with_interval

RECIPE = Recipe(iterations=500, evaluate_every=50, batch_size=32)
"""The published recipe at lite scale."""
SOME_BATCHES = 2
"""Of each split, in one measured piece of an evaluation on ``reference.EVALUATION_BATCHES`` random batches."""
Works = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Setting:
    """What every way trains."""

    model: str = "charlm"
    dataset: str = "shakespeare"
    scale: str = "lite"
    activation: str = "gelu"
    steps: int = 8
    """Iterations in one measured piece of training."""

    def start(self) -> tuple[LanguageModel, Corpus]:
        """The freshly initialised model, and its text."""
        corpus = load_text(self.dataset)
        config = replace(SCALES[self.scale], vocab_size=corpus.vocab_size)
        return build_model(self.model, config, self.activation, generator_for=init_streams(0)), corpus


def ours(setting: Setting) -> Works:
    """``training.loop.train`` and its evaluation of every validation position, in a process set up as a study's."""
    process.prepare()
    model, corpus = setting.start()
    width = model.config.block_size
    validation, one = cover(corpus.validation, width), spread(corpus.validation, width, 1)
    recipe = replace(RECIPE, iterations=setting.steps, evaluate_every=setting.steps)
    return {"training": lambda: train(model, corpus.train, one, one, recipe, 0), "evaluation": lambda: evaluate(model, validation, recipe)}


def plain(setting: Setting) -> Works:
    """The reference loop (``reference.py``): its layers, its batches, its evaluation on random batches of both splits."""
    model, corpus = setting.start()
    net, sizes = reference.naive(model), (model.config.block_size, RECIPE.batch_size)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RECIPE.learning_rate, weight_decay=RECIPE.weight_decay)

    def training() -> None:
        for _ in range(setting.steps):
            reference.training_step(net, optimizer, corpus.train, *sizes)

    texts = (corpus.train, corpus.validation)
    return {"training": training, "evaluation": lambda: reference.evaluate(net, texts, *sizes, batches=SOME_BATCHES)}


def nanogpt(setting: Setting, layers: bool = False) -> Works:
    """A loop after nanoGPT's train.py: batches stacked from slices of an array, a scheduled rate, decay for matrices only, clipping at 1,
    losses estimated on random batches of both splits. ``layers``: PyTorch's own dropout and attention too, as nanoGPT's model has them.
    """
    model, corpus = setting.start()
    net: nn.Module = reference.naive(model, attention=reference.TorchAttention) if layers else model
    width, splits = model.config.block_size, [t.numpy().astype(np.uint16) for t in (corpus.train, corpus.validation)]
    matrices, rest = ([p for p in net.parameters() if (p.dim() >= 2) is wanted] for wanted in (True, False))
    groups = [{"params": matrices, "weight_decay": RECIPE.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RECIPE.learning_rate, betas=(0.9, 0.95))

    def batch(data: Any) -> tuple[Tensor, Tensor]:
        places = torch.randint(len(data) - width, (RECIPE.batch_size,))
        x = torch.stack([torch.from_numpy(data[i : i + width].astype(np.int64)) for i in places])
        y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + width].astype(np.int64)) for i in places])
        return x, y

    def loss_of(data: Any) -> Tensor:
        x, y = batch(data)
        logits = net(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1), ignore_index=-1)

    def training() -> None:
        for step in range(setting.steps):
            for group in optimizer.param_groups:
                group["lr"] = RECIPE.learning_rate * (0.55 + 0.45 * math.cos(math.pi * step / RECIPE.iterations))
            loss_of(splits[0]).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    @torch.no_grad()
    def evaluation() -> None:
        net.eval()
        for data in splits:
            losses = torch.zeros(SOME_BATCHES)
            for k in range(SOME_BATCHES):
                losses[k] = loss_of(data).item()
        net.train()

    return {"training": training, "evaluation": evaluation}


class _Random(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
    """Windows at random places of a text."""

    def __init__(self, text: Tensor, width: int, count: int) -> None:
        self.text, self.width, self.count = text.long(), width, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        start = int(torch.randint(len(self.text) - self.width, ()))
        return self.text[start : start + self.width], self.text[start + 1 : start + self.width + 1]


def lightning(setting: Setting) -> Works:
    """Our model as a ``LightningModule`` with a data loader, unfused AdamW, and our windows for validation; logger, bar, checkpoints, summary off."""
    import lightning as pl

    model, corpus = setting.start()
    width = model.config.block_size

    class Module(pl.LightningModule):  # type: ignore[misc,unused-ignore]  # Any where lightning is not installed
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
            return F.cross_entropy(self.net(batch[0]).flatten(0, 1), batch[1].flatten())

        def validation_step(self, batch: tuple[Tensor, Tensor], index: int) -> None:
            logits, targets = self.net(batch[0]).flatten(0, 1), batch[1].flatten()
            self.log("val_loss", F.cross_entropy(logits, targets, ignore_index=SKIP))
            self.log("val_accuracy", (logits.argmax(1) == targets).float().mean())

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.AdamW(self.parameters(), lr=RECIPE.learning_rate, weight_decay=RECIPE.weight_decay)

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    off: dict[str, Any] = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False, "enable_model_summary": False}
    whole = cover(corpus.validation, width)
    batches = torch.utils.data.DataLoader(_Random(corpus.train, width, setting.steps * RECIPE.batch_size), batch_size=RECIPE.batch_size)
    validation = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(whole.inputs, whole.targets), batch_size=RECIPE.batch_size)
    module = Module()

    def quietly(work: Callable[[Any], object]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(pl.Trainer(max_epochs=1, accelerator="cpu", **off))

    return {
        "training": lambda: quietly(lambda trainer: trainer.fit(module, batches)),
        "evaluation": lambda: quietly(lambda trainer: trainer.validate(module, validation, verbose=False)),
    }


@dataclass(frozen=True)
class Way:
    """One row of the table."""

    label: str
    make: Callable[[Setting], Works]
    pieces: int = 1
    """How many measured pieces make one evaluation."""


RANDOM = reference.EVALUATION_BATCHES // SOME_BATCHES
WAYS: dict[str, Way] = {
    "ours": Way("ours", ours),
    "lightning": Way("PyTorch Lightning, our model", lightning),
    "nanogpt": Way("nanoGPT-style loop, our model", nanogpt, RANDOM),
    "nanogpt_layers": Way("nanoGPT-style loop and layers", partial(nanogpt, layers=True), RANDOM),
    "reference": Way("plain reference", plain, RANDOM),
}


def measure(setting: Setting, names: Sequence[str] = tuple(WAYS), rounds: int = 3) -> dict[str, dict[str, Any]]:
    """Way -> CPU seconds of an iteration (``training``) and of an ``evaluation``, a list of rounds each, and ``peak_mb``."""
    found = timing.apart({name: partial(WAYS[name].make, setting) for name in names}, rounds)
    for name, way in found.items():
        spent = way.pop("seconds")
        way["training"] = [value / setting.steps for value in spent["training"]]
        way["evaluation"] = [value * WAYS[name].pieces for value in spent["evaluation"]]
    return found


def measure_all(rounds: int = 3, **setting: Any) -> dict[str, Any]:
    """Every way, charlm at lite scale unless told otherwise."""
    chosen = Setting(**setting)
    evaluations = RECIPE.iterations // RECIPE.evaluate_every + 1
    about = {"model": chosen.model, "scale": chosen.scale, "iterations": RECIPE.iterations, "evaluations": evaluations}
    return {**about, "ways": measure(chosen, rounds=rounds)}


def table(measured: dict[str, Any]) -> pd.DataFrame:
    """One row a way: a trial, an iteration, an evaluation in times ours, with a 95% interval over the rounds; the same in CPU time; peak memory."""
    trials = {
        name: np.array(way["training"]) * measured["iterations"] + np.array(way["evaluation"]) * measured["evaluations"]
        for name, way in measured["ways"].items()
    }
    rows = {}
    for name, way in measured["ways"].items():
        spent = {"trial": trials, **{part: {n: np.array(w[part]) for n, w in measured["ways"].items()} for part in ("training", "evaluation")}}
        ratios = {part: with_interval(mean_interval(times[name] / times["ours"]), 2) for part, times in spent.items()}
        if name == "ours":
            ratios = dict.fromkeys(ratios, "1")
        rows[WAYS[name].label] = {
            "trial, times ours": ratios["trial"],
            "iteration, times ours": ratios["training"],
            "evaluation, times ours": ratios["evaluation"],
            "trial, s": f"{np.median(trials[name]):.0f}",
            "iteration, ms": f"{1e3 * np.median(way['training']):.0f}",
            "evaluation, s": f"{np.median(way['evaluation']):.1f}",
            "peak memory, MB": f"{way['peak_mb']:.0f}",
            "rounds": str(len(way["training"])),
        }
    return pd.DataFrame.from_dict(rows, orient="index")
