"""Made-up records of the ablation with known effects. Not a test."""

from itertools import product

import numpy as np
from grids import template

from actlab_audit import numbers

OPTIMIZERS = ("ecd", "adamw", "sgdm", "soap")
GAIN = {"gelu": 0.1, "random_prelu": 0.3}
"""Of bQ+bV, by activation; GELU is 0.05 worse besides."""


def record(optimizer, symmetry, activation, factor=1.0, seeds=3, gain=GAIN, **config):
    """Loss = 4 + optimizer / 10 - gain + a luck that the arms of one seed share + a little of its own; rate 3 is 0.2
    better."""
    shared = np.random.default_rng(1).normal(0, 0.5, seeds)
    own = np.random.default_rng(sum(map(ord, optimizer + symmetry + activation))).normal(0, 0.002, seeds)
    text = np.random.default_rng(2).normal(0, 0.25, 130)  # easy and hard batches, the same for every model
    centre = (
        4
        + OPTIMIZERS.index(optimizer) / 10
        - (symmetry == "bQbV") * gain[activation]
        - 0.2 * (factor == 3)
        + 0.05 * (activation == "gelu")
    )
    made, settings = template("ablation"), template("optimizers")[optimizer]
    settings["lr"] *= factor
    made["config"] |= {"activation": activation, "optimizer_settings": settings, **config}
    return made | {
        "arm": f"{optimizer}-{symmetry}-{activation}",
        "optimizer": optimizer,
        "symmetry": symmetry,
        "activation": activation,
        "rate_factor": factor,
        "n_parameters": 169_728 + 512 * (activation == "random_prelu"),
        "trials": [
            trial(42 + i, float(centre + shared[i] + own[i]), text - text.mean(), symmetry) for i in range(seeds)
        ],
    }


def trial(seed, loss, text, symmetry):
    """One trial; under bQ+bV its keys point along bQ, and it copies better."""
    aligned, made = symmetry == "bQbV", template("trial of an ablation")
    heads = template("heads") | {"cosine": [[0.6 * aligned] * 4] * 2}
    items = template("items") | {"top1": 0.2 + 0.1 * aligned, "loss": loss - 0.5}
    final = made["final"] | {"val_loss": loss}
    made["analyses"] |= {
        "batch_losses": (loss + text).tolist(),
        "alignment": {"keys": heads, "embeddings": heads},
        "copying": {"repeated": items, "changed": items},
    }
    start = final | {"iteration": 0, "tokens": 0, "val_loss": loss + 2}
    return made | {"label": str(seed), "seed": seed, "final": final, "history": [start, final]}


def records(optimizers=OPTIMIZERS, **more):
    """Every arm of some optimizers."""
    return [record(*cell, **more) for cell in product(optimizers, ("symmetric", "bQbV"), ("gelu", "random_prelu"))]


def of_published_size(shift=None, **more):
    """Every arm in the published size and budget; ``shift``: PReLU's losses are the published ones, moved."""
    size = {"n_layer": 12, "n_embd": 768, "n_head": 12, "block_size": 512}
    made = records(scale="124m", recipe={"iterations": 122_071}, model_size=size, **more)
    for arm in made:
        arm["provenance"]["data"]["vocab_size"] = 50_304
        for i, one in enumerate(arm["trials"]):
            one["final"]["tokens"] = 500_002_816
            if shift is not None:
                broken = arm["symmetry"] == "bQbV"
                published = numbers.prelu_losses[arm["optimizer"]][broken]
                one["final"]["val_loss"] = published + shift + 0.001 * (1 + broken) * (i - 1)
    return made
