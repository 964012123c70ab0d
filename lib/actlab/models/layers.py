"""What the language models share: base class, initialisation by parameter name, attention, feed-forward layer, blocks.

Shapes: B sequences, T positions, C features (``n_embd``), V characters, nh heads of size hs.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import Activation
from actlab.models.vocabulary import Vocabulary

Initialiser = Callable[..., object]
"""(tensor, generator=...): fills a tensor in place."""

GeneratorFor = Callable[[str], torch.Generator]
"""Parameter name -> the generator that fills it."""

GATED_WIDTHS = ("matched", "doubled")


@dataclass(frozen=True)
class ModelConfig:
    """Size of a language model. ``block_size`` is the context T; ``dropout`` a probability."""

    vocab_size: int
    n_layer: int
    n_embd: int
    n_head: int
    block_size: int
    dropout: float

    def __post_init__(self) -> None:
        assert self.n_embd % self.n_head == 0, f"n_embd ({self.n_embd}) is no multiple of n_head ({self.n_head})"


def normal(tensor: Tensor, generator: torch.Generator) -> None:
    """N(0, 0.02^2), as GPT-2."""
    nn.init.normal_(tensor, 0.0, 0.02, generator=generator)


def zeros(tensor: Tensor, generator: torch.Generator) -> None:
    """All 0; draws nothing."""
    nn.init.zeros_(tensor)


fan_in: Initialiser = partial(nn.init.kaiming_normal_, nonlinearity="linear")
"""N(0, 1 / fan_in): keeps the variance of its input. He et al. 2015, arXiv 1502.01852."""
xavier: Initialiser = nn.init.xavier_uniform_
"""Uniform in +-sqrt(6 / (fan_in + fan_out)). Glorot & Bengio 2010."""
orthogonal: Initialiser = nn.init.orthogonal_
"""Orthonormal columns (rows where there are fewer). Saxe et al. 2013, arXiv 1312.6120."""


def from_global_stream(parameter: str) -> torch.Generator:
    """A generator whose seed is drawn from torch's global stream, whatever the parameter."""
    return torch.Generator().manual_seed(int(torch.randint(2**62, ())))


class LanguageModel(nn.Module, ABC):
    """A causal character model: ``forward(tokens: (B, T) int64) -> logits (B, T, V)`` for T <= ``block_size``.

    Every parameter is initialised from a generator of its own, made from its name. So arms that differ in one layer
    start from the same numbers everywhere else (the paired design), and adding a layer changes no other layer.
    """

    special: ClassVar[tuple[tuple[str, Initialiser], ...]] = ()
    """Parameter-name endings that depart from the common rule: biases 0, LayerNorm 1, LSTM orthogonal, the rest N(0,
    0.02^2)."""

    vocabulary: Vocabulary | None = None
    """Of the characters that it was trained on, where ``actlab.load_model`` made it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    @abstractmethod
    def forward(self, tokens: Tensor) -> Tensor: ...

    def initialise(self, generator_for: GeneratorFor) -> None:
        """Fill every parameter; ``generator_for(parameter name)`` gives the randomness."""
        with torch.no_grad():
            for module_name, module in self.named_modules():
                own = dict(module.named_parameters(module_name, recurse=False))
                if own and module is not self and hasattr(module, "initialise"):  # an activation that learns
                    module.initialise(generator_for(next(iter(own))))
                    continue
                for name, parameter in own.items():
                    _rule(self.special, module, name)(parameter, generator=generator_for(name))


def _rule(special: Iterable[tuple[str, Initialiser]], module: nn.Module, name: str) -> Initialiser:
    for ending, initialiser in special:
        if name.endswith(ending):
            return initialiser
    if isinstance(module, nn.LayerNorm):
        return lambda tensor, generator: tensor.fill_(float(name.endswith("weight")))
    if "bias" in name.rsplit(".", 1)[-1]:
        return zeros
    return orthogonal if isinstance(module, nn.LSTM) else normal


def nearest_width(count: Callable[[int], int], target: int) -> int:
    """The width w >= 1 whose parameter count ``count(w)`` (increasing in w) is nearest to ``target``."""
    width = 1
    while count(width + 1) <= target:
        width += 1
    return width if target - count(width) <= count(width + 1) - target else width + 1


class FeedForward(nn.Module):
    """C -> hidden -> activation -> C with biases; gated arms pack both projections in ``up``.

    A gated arm has three matrices instead of two. ``matched`` gives it the width whose parameter count is nearest to
    the plain arm's (about 2/3 of ``hidden``, Shazeer 2020); ``doubled`` keeps ``hidden``, 1.5 times the parameters, as
    the reference study did.
    """

    def __init__(
        self, n_embd: int, hidden: int, activation: Activation, gated_width: str = "matched", dropout: float = 0.0
    ) -> None:
        super().__init__()
        width = hidden
        if activation.gated and gated_width == "matched":
            width = nearest_width(lambda w: w * (3 * n_embd + 2), hidden * (2 * n_embd + 1))
        self.up = nn.Linear(n_embd, width * (2 if activation.gated else 1))
        self.act = activation.make(features=width)
        self.drop = Dropout(dropout)
        self.down = nn.Linear(width, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.drop(self.act(self.up(x))))  # (B, T, C)


class CausalSelfAttention(nn.Module):
    """Multi-head attention in which position t sees positions <= t. One packed projection makes q, k and v."""

    def __init__(self, config: ModelConfig, qkv_bias: bool = True, out_bias: bool = True) -> None:
        super().__init__()
        self.n_head, self.dropout = config.n_head, config.dropout
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=qkv_bias)
        self.out = nn.Linear(config.n_embd, config.n_embd, bias=out_bias)

    def projections(self, x: Tensor) -> tuple[Tensor, ...]:
        """q, k and v, (B, T, C) each."""
        return self.qkv(x).chunk(3, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(attend(self.projections(x), self.n_head, self.dropout if self.training else 0.0))


def attend(projections: tuple[Tensor, ...], n_head: int, dropout: float) -> Tensor:
    """Causal scaled dot-product attention of q, k, v, each (B, T, C), split in ``n_head`` heads -> (B, T, C)."""
    batch, time, width = projections[0].shape
    q, k, v = (p.view(batch, time, n_head, width // n_head).transpose(1, 2) for p in projections)  # (B, nh, T, hs)
    slow = dropout or q.dtype == torch.bfloat16  # on CPUs the fused kernel has no fast bfloat16
    if slow and q.device.type == "cpu":
        mixed = _attend_openly(q, k, v, dropout)
    else:
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
    return mixed.transpose(1, 2).reshape(batch, time, width)


def _attend_openly(q: Tensor, k: Tensor, v: Tensor, dropout: float) -> Tensor:
    """What PyTorch's own CPU attention does when it drops weights, with the cheap mask of ``keep_mask``; without a mask
    where dropout is 0."""
    time, root = q.shape[-2], math.sqrt(q.shape[-1])
    future = torch.full((time, time), float("-inf"), dtype=q.dtype).triu_(1)
    # product, scale and mask in one pass: (B nh, T, T)
    scores = torch.baddbmm(future, q.flatten(0, 1), k.flatten(0, 1).mT, alpha=1 / root)
    weights = torch.softmax(scores.view(*q.shape[:3], time), dim=-1)  # (B, nh, T, T)
    return (weights * keep_mask(weights, dropout) if dropout else weights) @ v


def keep_mask(like: Tensor, dropout: float) -> Tensor:
    """A tensor of ``like``'s shape (CPU): 0 with probability ``dropout``, else 1 / (1 - dropout), from the global
    stream.

    Four 16-bit draws from each 64-bit word: a quarter of the generator's work, and of most of dropout's time on a CPU.
    The probability is rounded to a multiple of 2^-16, and the scale is exact for the rounded value. The draws are
    compared and scaled where they lie, as whole numbers: 0 or 1 times the scale's bits.
    """
    dropped = min(round(dropout * 65536), 65535)
    words = torch.empty((like.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    draws = words.view(torch.int16)[: like.numel()].view(like.shape)
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[like.element_size()]
    scale = torch.tensor(65536 / (65536 - dropped), dtype=like.dtype).view(whole)
    return draws.ge_(dropped - 32768).to(whole).mul_(scale).view(like.dtype)


class Dropout(nn.Module):
    """``nn.Dropout`` with a cheap mask on the CPU."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not (self.training and self.p):
            return x
        return x * keep_mask(x, self.p) if x.device.type == "cpu" else F.dropout(x, self.p)


class Block(nn.Module):
    """Pre-norm transformer block: x + attention(norm(x)), then x + feed-forward(norm(x))."""

    def __init__(
        self, attention: nn.Module, feed_forward: nn.Module, n_embd: int, residual_dropout: list[float]
    ) -> None:
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(n_embd), attention
        self.norm_2, self.feed_forward = nn.LayerNorm(n_embd), feed_forward
        self.drop_1, self.drop_2 = (Dropout(p) for p in residual_dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.drop_1(self.attention(self.norm_1(x)))
        return x + self.drop_2(self.feed_forward(self.norm_2(x)))


class Transformer(LanguageModel):
    """Pre-norm GPT with learned positions and a head without bias; subclasses choose dropout and attention."""

    residual_dropout: ClassVar[tuple[bool, bool]] = (False, False)
    """Whether there is dropout after attention, and after the feed-forward layer."""
    embedding_dropout: ClassVar[bool] = False
    """Whether there is dropout on the sum of the embeddings."""
    tied: ClassVar[bool] = False
    """Whether the token embedding stands in place of the head."""

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        super().__init__(config)
        width = config.n_embd
        self.tokens = nn.Embedding(config.vocab_size, width)
        self.positions = nn.Embedding(config.block_size, width)
        self.drop = Dropout(config.dropout * self.embedding_dropout)
        residual = [config.dropout * dropped for dropped in self.residual_dropout]
        self.blocks = nn.ModuleList(
            Block(self.make_attention(), FeedForward(width, 4 * width, activation, gated_width), width, residual)
            for _ in range(config.n_layer)
        )
        self.norm = nn.LayerNorm(width)
        self.head = None if self.tied else nn.Linear(width, config.vocab_size, bias=False)

    def make_attention(self) -> nn.Module:
        """Make the attention of a block, (B, T, C) -> (B, T, C)."""
        return CausalSelfAttention(self.config)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.drop(self.tokens(tokens) + self.positions.weight[: tokens.shape[1]])  # (B, T, C)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), (self.head or self.tokens).weight)  # (B, T, V)


class LSTMStack(nn.Module):
    """An ``n_layer`` LSTM of width C, dropout between its layers, (B, T, C) -> (B, T, hidden).

    One ``nn.LSTM`` a layer: its built-in dropout would fall back to a slow path on the CPU and draw from no stream that
    we name.
    """

    def __init__(self, n_embd: int, hidden: int, n_layer: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.LSTM(n_embd if i == 0 else hidden, hidden, batch_first=True) for i in range(n_layer)
        )
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(self.drop(x) if i else x)[0]
        return x
