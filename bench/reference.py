"""The plain way to do what our loop does: the peer of the measurements, and a slow reference of the models for the
tests.

Written as a first implementation would be: one head of attention at a time with a mask, PyTorch's own dropout and
stacked LSTM, batches cut out of the text one by one, random batches of each split at every evaluation: 50, as the
reference study had it on CPUs (200 on GPUs).
"""

import copy
import sys

import torch
from torch import nn
from torch.nn import functional as F

from actlab.data.text import load_text
from actlab.models import SCALES, build_model
from actlab.models.charlm import SeparateAttention
from actlab.models.layers import CausalSelfAttention, Dropout, LSTMStack
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams

RATE, DECAY = 3e-4, 0.01
"""Of AdamW, as published."""
EVALUATION_BATCHES = 50


class NaiveAttention(nn.Module):
    """Causal attention head by head: softmax(q k^T / sqrt(hs) + mask), dropout, times v."""

    def __init__(self, attention, n_head, dropout):
        super().__init__()
        self.attention, self.n_head, self.drop = attention, n_head, nn.Dropout(dropout)

    def _projections(self, x):
        if isinstance(self.attention, SeparateAttention):
            return self.attention.query(x), self.attention.key(x), self.attention.value(x)
        return self.attention.qkv(x).chunk(3, dim=-1)

    def forward(self, x):
        """(B, T, C) -> (B, T, C)."""
        time = x.shape[1]
        allowed = torch.tril(torch.ones(time, time, dtype=torch.bool, device=x.device))
        heads = []
        for q, k, v in zip(*(p.chunk(self.n_head, dim=-1) for p in self._projections(x)), strict=True):
            scores = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5  # (B, T, T)
            weights = self.drop(torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=-1))
            heads.append(weights @ v)
        return self.attention.out(torch.cat(heads, dim=-1))


class TorchAttention(NaiveAttention):
    """Causal attention as nanoGPT calls it: PyTorch's own, all heads at once, with its dropout."""

    def forward(self, x):
        """(B, T, C) -> (B, T, C)."""
        batch, time, width = x.shape
        q, k, v = (p.view(batch, time, self.n_head, width // self.n_head).transpose(1, 2) for p in self._projections(x))
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop.p if self.training else 0.0, is_causal=True)
        return self.attention.out(mixed.transpose(1, 2).reshape(batch, time, width))


class StackedLSTM(nn.Module):
    """PyTorch's own multi-layer LSTM with its built-in dropout."""

    def __init__(self, stack):
        super().__init__()
        first = stack.layers[0]
        self.lstm = nn.LSTM(
            first.input_size, first.hidden_size, len(stack.layers), batch_first=True, dropout=stack.drop.p
        )
        for i, layer in enumerate(stack.layers):
            for name, value in layer.named_parameters():
                getattr(self.lstm, name.replace("_l0", f"_l{i}")).data.copy_(value)

    def forward(self, x):
        """(B, T, C) -> (B, T, hidden)."""
        return self.lstm(x)[0]


def naive(model, attention=NaiveAttention):
    """A copy of a model with the same weights whose attention, dropout and LSTM are the plain ones."""
    plain = copy.deepcopy(model)
    for parent in list(plain.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, SeparateAttention | CausalSelfAttention):
                setattr(parent, name, attention(child, child.n_head, child.dropout))
            elif isinstance(child, LSTMStack):
                setattr(parent, name, StackedLSTM(child))
            elif isinstance(child, Dropout):
                setattr(parent, name, nn.Dropout(child.p))
    return plain


def random_batch(text, block_size, batch_size):
    """Inputs and targets (B, T), cut out one window at a time."""
    starts = torch.randint(len(text) - block_size, (batch_size,))
    inputs = torch.stack([text[i : i + block_size].long() for i in starts])
    targets = torch.stack([text[i + 1 : i + block_size + 1].long() for i in starts])
    return inputs, targets


class Learner:
    """A plain model with its optimizer, and its dice for batches: steps and evaluations as the reference study made
    them."""

    def __init__(self, model, corpus, recipe, attention=NaiveAttention):
        self.net, self.corpus = naive(model, attention), corpus
        self.sizes = model.config.block_size, recipe.batch_size
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=RATE, weight_decay=DECAY)

    def batch_loss(self, text):
        """Mean loss on a random batch of a text."""
        inputs, targets = random_batch(text, *self.sizes)
        return F.cross_entropy(self.net(inputs).flatten(0, 1), targets.flatten())

    def step(self):
        """One step on a random batch."""
        self.optimizer.zero_grad()
        self.batch_loss(self.corpus.train).backward()
        self.optimizer.step()

    @torch.no_grad()
    def loss(self, text, batches=EVALUATION_BATCHES):
        """Mean loss on random batches of a text."""
        self.net.eval()
        found = sum(self.batch_loss(text).item() for _ in range(batches)) / batches
        self.net.train()
        return found

    @torch.no_grad()
    def predictions(self):
        """(N, V) probabilities on random batches of its own, as published: two trials are asked about different
        text."""
        self.net.eval()
        inputs = (random_batch(self.corpus.validation, *self.sizes)[0] for _ in range(EVALUATION_BATCHES))
        return torch.cat([self.net(x).flatten(0, 1).softmax(-1) for x in inputs])


def main(name, iterations, every):
    """The published command: trials one after the other, losses of both splits every so often, predictions, their
    difference."""
    corpus = load_text("shakespeare")
    asked = []
    for seed in range(2):
        torch.manual_seed(seed)
        model = build_model(name, SCALES["lite"], "gelu", generator_for=init_streams(seed))
        learner = Learner(model, corpus, Recipe(iterations, every, batch_size=32))
        for iteration in range(iterations + 1):
            if iteration % every == 0 or iteration == iterations:
                print(iteration, learner.loss(corpus.train), learner.loss(corpus.validation))
            if iteration < iterations:
                learner.step()
        asked.append(learner.predictions())
    p, q = asked
    print("relative PD", (2 * (p - q).abs() / (p + q)).mean().item())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
