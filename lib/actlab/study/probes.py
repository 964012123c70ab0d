"""What the ablation measures on a trained model beside its loss: single batches, copying, and the alignment of keys
with bQ. Trains nothing."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab.models.gpt2 import GPT2, SymmetryBreakingAttention
from actlab.models.symmetry import distributions
from actlab.trainers.evaluation import logits_of
from actlab.trainers.recipes import BaseRecipe
from actlab.trainers.streams import generator
from actlab.trainers.windows import Windows, spread

BATCH_TOKENS = 4096
"""Tokens of one published validation batch: 8 x 512, side by side in the text."""
BATCHES = 128
"""Batches that are measured; the published runs saw 122, one an evaluation."""
KEYS = 4096
"""Tokens whose keys are compared with bQ."""
DIRECTIONS = 2000
"""Random directions of the alignment's null distribution."""


def analyse(model: GPT2, tokens: Tensor, recipe: BaseRecipe) -> dict[str, Any]:
    """Plain values for the record of a trained model; ``tokens`` (n,) is the whole validation split.

    ``batch_losses``: nats a token, of up to ``BATCHES`` spans of about ``BATCH_TOKENS`` tokens (``batch_tokens``)
    spread evenly over the split. ``copying``, ``alignment``: see the functions of these names.
    """
    windows, batch_tokens = batches(tokens, model.config.block_size)
    windows = windows.to(recipe.device)
    losses, ranks = per_token(model, windows, recipe)
    return {
        "batch_tokens": batch_tokens,
        "batch_losses": [round(value, 6) for value in losses.view(-1, batch_tokens).double().mean(dim=1).tolist()],
        "copying": copying(windows, losses, ranks),
        "alignment": alignment(model, windows.inputs[: max(1, KEYS // model.config.block_size)]),
    }


def batches(tokens: Tensor, block_size: int) -> tuple[Windows, int]:
    """Windows (W, T) of evenly spread batches, those of one batch in succession; and the tokens of a batch (all that
    there are, if fewer)."""
    batch_tokens = min(BATCH_TOKENS, len(tokens) - 1) // block_size * block_size
    whole = spread(tokens, max(batch_tokens, block_size), BATCHES)  # a split shorter than a window is an error there
    return Windows(whole.inputs.reshape(-1, block_size), whole.targets.reshape(-1, block_size)), batch_tokens


def per_token(model: GPT2, windows: Windows, recipe: BaseRecipe) -> tuple[Tensor, Tensor]:
    """Of every position, (W, T) each: cross-entropy in nats, and how many tokens the model holds more probable than the
    right one."""
    losses, ranks = [], []
    for logits, targets in logits_of(model, windows, recipe):
        losses.append(F.cross_entropy(logits, targets, reduction="none"))
        ranks.append((logits > logits.gather(1, targets[:, None])).sum(dim=1))
    return torch.cat(losses).view(windows.inputs.shape), torch.cat(ranks).view(windows.inputs.shape)


def copying(windows: Windows, losses: Tensor, ranks: Tensor) -> dict[str, dict[str, float]]:
    """Does the model complete a pattern that stands in its context? One item a window at most, so that items are
    independent.

    An item is the last position of a window whose token occurred in it before: ``repeated``, where the token that
    followed the last occurrence comes again; ``changed``, where another comes. Of each kind: ``items``, ``top1`` and
    ``top5`` (shares of items, higher is better), ``loss`` of the right token (nats) with its ``standard_error`` over
    items.
    """
    parts = zip(torch.split(windows.inputs, 256), torch.split(windows.targets, 256), strict=True)
    masks = zip(*(pattern(*part) for part in parts), strict=True)
    found = {}
    for name, mask in zip(("repeated", "changed"), map(torch.cat, masks), strict=True):
        rows = mask.any(dim=1)
        last = mask.shape[1] - 1 - mask.flip(1).int().argmax(dim=1)  # the last True of a row
        loss, rank = (tensor.gather(1, last[:, None])[rows, 0].double() for tensor in (losses, ranks))
        n = len(loss)
        found[name] = {
            "items": n,
            "top1": (rank < 1).double().mean().item(),  # NaN where there are none
            "top5": (rank < 5).double().mean().item(),
            "loss": loss.mean().item(),
            "standard_error": (loss.std() / math.sqrt(n)).item() if n > 1 else math.nan,
        }
    return found


def pattern(inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """(W, T) twice: where the token occurred before and the same token follows as then; where another one follows."""
    width = inputs.shape[1]
    earlier = (inputs[:, :, None] == inputs[:, None, :]).tril(-1)  # (W, T, S): the token at T stood at S < T
    steps = torch.arange(1, width + 1, device=inputs.device)
    latest = (earlier * steps).amax(dim=2) - 1  # (W, T), -1 where it is new
    again = targets.gather(1, latest.clamp(min=0)) == targets
    return (latest >= 0) & again, (latest >= 0) & ~again


@torch.no_grad()
def alignment(model: GPT2, tokens: Tensor) -> dict[str, dict[str, list[list[float]]]]:
    """Cosines between keys and the mean of bQ, for every layer and head, with the cosines of random directions.

    ``keys`` are those that enter the softmax, on the given text; ``embeddings`` are as published: W_K e of every
    token's embedding e, without layer norm and bias. Of each, (layers, heads): ``cosine``, the mean over keys; ``low``
    and ``high``, the middle 95% of the same mean for ``DIRECTIONS`` random directions in place of bQ; ``logit_spread``,
    the standard deviation over keys of bQ . k / sqrt(hs), the attention logit that bQ adds to a key. A model without bQ
    is measured with the same vector.
    """
    inputs: list[Tensor] = []
    layers = [module for module in model.modules() if isinstance(module, SymmetryBreakingAttention)]
    with ExitStack() as stack:
        stack.callback(model.train, model.training)
        for layer in layers:
            stack.enter_context(layer.register_forward_pre_hook(lambda _, args: inputs.append(args[0])))
        model.eval()(tokens)
        keys = [
            layer.heads(x)[1].transpose(0, 1).flatten(1, 2) for layer, x in zip(layers, inputs, strict=False)
        ]  # nh x (N, hs)
    heads, size = model.settings.n_head, model.settings.head_size
    raw = []
    for layer in layers:
        matrix = layer.qkv.weight.chunk(3)[1]  # W_K
        raw.append((model.tokens.weight @ matrix.T).view(-1, heads, size).transpose(0, 1))
    mean = distributions(size, 0.0)["query"][0].to(keys[0].device)
    random = torch.randn(DIRECTIONS, size, generator=generator(0, "alignment/null")).to(mean.device)
    return {
        name: _cosines(torch.stack(vectors), mean, random) for name, vectors in (("keys", keys), ("embeddings", raw))
    }


def _cosines(keys: Tensor, mean: Tensor, random: Tensor) -> dict[str, list[list[float]]]:
    """``alignment`` of keys (L, nh, N, hs)."""
    average = F.normalize(keys.double(), dim=-1).mean(
        dim=2
    )  # (L, nh, hs); its product with a unit vector is the mean cosine
    null = average @ F.normalize(random.double(), dim=-1).T  # (L, nh, DIRECTIONS)
    low, high = torch.quantile(null, torch.tensor([0.025, 0.975], dtype=torch.float64, device=null.device), dim=-1)
    spread_of = (keys.double() @ mean.double()).std(dim=-1) / math.sqrt(len(mean))
    return {
        name: [[round(value, 6) for value in row] for row in tensor.tolist()]
        for name, tensor in (
            ("cosine", average @ F.normalize(mean.double(), dim=0)),
            ("low", low),
            ("high", high),
            ("logit_spread", spread_of),
        )
    }
