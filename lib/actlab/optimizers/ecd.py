"""ECD: energy-conserving descent at q = 1, a particle of constant speed whose path bends downhill. No learning-rate schedule is built in.

De Luca, Nachman, Silverstein & Zheng 2025, arXiv 2501.18419; the scaled form and its per-tensor inner product as in the code of
Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, final

import torch
from torch import Tensor
from torch.optim.optimizer import ParamsT

from actlab.errors import BadInput

INNER_PRODUCTS = ("per_tensor", "global")
SMALLEST_POTENTIAL = 1e-40
SHARED = ("eta", "F0", "nu", "conserve_energy", "inner_product")
"""Settings of the whole system: every parameter group has to agree on them. ``lr`` and ``weight_decay`` are a group's own."""


@final
class ECD(torch.optim.Optimizer):
    r"""One call of ``step``, with F the loss, Theta all d parameters, p their momentum, w the weight decay, dt = lr / sqrt(eta):

    .. math::
        V &= F + \tfrac{w}{2} |\Theta|^2 - F_0, \qquad \text{no move where } V \le 10^{-40} \\
        p &\leftarrow p / |p| \qquad \text{(conserve_energy)} \\
        g &= \nabla F + w \Theta, \quad c = -\tfrac{dt}{2} \tfrac{\eta d}{d - 1} \tfrac{1}{V} \\
        p &\leftarrow p + c\,(g - p\,(p \cdot g)) \\
        \Theta &\leftarrow \Theta + dt\, p \\
        p &\leftarrow |p|\, u / |u|, \quad u = p / |p| + \tfrac{\nu}{\sqrt d} z, \quad z \sim N(0, I)

    The first call sets p = -grad F / |grad F|. Norms run over all groups. A parameter without a gradient takes no part in the step.
    With d = 1 there is nowhere to bend to: the particle goes straight on.

    Args:
        params: tensors or parameter groups; a group may have its own ``lr`` and ``weight_decay``, and schedulers may change them.
        lr: length of a step times sqrt(eta), in units of the parameters.
        eta: how strongly the path concentrates at low loss (stationary density (F - F0)^(-eta d / 2)).
        F0: a loss below any that can be reached, in the loss's unit; near it the force diverges.
        nu: angle of the random turn after each step (before division by sqrt(d)); 0 for none.
        weight_decay: w >= 0, part of the potential (not decoupled).
        conserve_energy: keep |p| = 1; without it the discretisation is unstable.
        inner_product: ``per_tensor`` takes p . g within each tensor, as published, which is no projection and depends on how the
            parameters are cut into tensors; ``global`` takes it over all parameters, as derived.
        seed: of the turns.

    State: 4 bytes a parameter (float32), and d and the turns' random stream under ``state_dict()["global"]``.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1.0,
        eta: float = 100.0,
        F0: float = 0.0,
        nu: float = 0.0,
        weight_decay: float = 0.0,
        conserve_energy: bool = True,
        inner_product: Literal["per_tensor", "global"] = "per_tensor",
        seed: int = 0,
    ) -> None:
        self._dimensions = 0
        """d, counted at the first call; 0 before it."""
        self._turns: torch.Generator | None = None
        self._stream: int | Tensor = seed
        defaults = {
            "lr": lr,
            "eta": eta,
            "F0": F0,
            "nu": nu,
            "weight_decay": weight_decay,
            "conserve_energy": conserve_energy,
            "inner_product": inner_product,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """As torch's; the settings that concern the whole system must be those of the other groups."""
        group = {**self.defaults, **param_group}
        for name in ("lr", "eta", "nu", "weight_decay"):
            if not group[name] >= 0 or (name == "eta" and group[name] == 0):
                raise BadInput(f"ECD needs {name} {'>' if name == 'eta' else '>='} 0, got {group[name]}")
        if group["inner_product"] not in INNER_PRODUCTS:
            raise BadInput(f"inner_product must be one of {', '.join(INNER_PRODUCTS)}, got {group['inner_product']!r}")
        for name in SHARED:
            if group[name] != self.defaults[name]:
                raise BadInput(f"{name} concerns all parameters at once: a group has {group[name]!r} where the others have {self.defaults[name]!r}")
        super().add_param_group(param_group)
        if self._dimensions:
            self._dimensions += sum(p.numel() for p in self.param_groups[-1]["params"])

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step. ``closure`` clears the gradients, computes the loss, calls backward and returns the loss: ECD needs its value.

        Raises:
            BadInput: no closure.
        """
        if closure is None:
            raise BadInput("ECD.step needs a closure that returns the loss: its force depends on the loss's value, not only on its gradient")
        with torch.enable_grad():
            loss = closure()
        parts = [part for group in self.param_groups if (part := _Part(group)).params]
        if not parts:
            return loss
        if not self._dimensions:
            self._start(parts)
        for part in parts:
            part.attach(self.state)
        value = loss.item() if isinstance(loss, Tensor) else float(loss)
        potential = value + sum(part.decay_energy() for part in parts) - self.param_groups[0]["F0"]
        if not potential <= SMALLEST_POTENTIAL:
            self._move(parts, potential)
        return loss

    def _start(self, parts: list[_Part]) -> None:
        """Count the dimensions and set off along the steepest descent, at speed 1. Once."""
        self._dimensions = sum(p.numel() for group in self.param_groups for p in group["params"])
        norm = _norm(gradient for part in parts for gradient in part.gradients)
        for part in parts:
            for parameter, gradient in zip(part.params, part.gradients, strict=True):
                self.state[parameter]["momentum"] = (-gradient / norm if norm else torch.zeros_like(parameter)).contiguous()

    def _move(self, parts: list[_Part], potential: float) -> None:
        group, d = self.param_groups[0], self._dimensions
        forces = [part.forces() for part in parts]
        norm = _norm(p for part in parts for p in part.momenta) if group["conserve_energy"] else 1.0
        scale = 1 / norm if norm else 1.0
        overlaps = _overlaps(parts, forces, scale, group["inner_product"])  # p . g
        bend = group["eta"] * d / (d - 1) / potential / 2 if d > 1 else 0.0
        for part, force, overlap in zip(parts, forces, overlaps, strict=True):
            kick = -part.dt * bend
            torch._foreach_mul_(part.momenta, [scale * (1 - kick * dot) for dot in overlap])
            torch._foreach_add_(part.momenta, force, alpha=kick)
            torch._foreach_add_(part.params, part.momenta, alpha=part.dt)
        if group["nu"]:
            self._turn([p for part in parts for p in part.momenta], group["nu"] / math.sqrt(d))

    def _turn(self, momenta: list[Tensor], angle: float) -> None:
        norm = _norm(momenta)
        if not norm:
            return
        generator = self._generator(momenta[0].device)
        noise = [torch.randn(p.shape, generator=generator, device=p.device, dtype=p.dtype) for p in momenta]
        torch._foreach_mul_(momenta, 1 / norm)
        torch._foreach_add_(momenta, noise, alpha=angle)
        torch._foreach_mul_(momenta, norm / _norm(momenta))

    def _generator(self, device: torch.device) -> torch.Generator:
        if self._turns is None:
            self._turns = torch.Generator(device)
            if isinstance(self._stream, int):
                self._turns.manual_seed(self._stream)
            else:
                self._turns.set_state(self._stream.cpu())
        return self._turns

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_dimensions": self._dimensions, "_turns": self._turns, "_stream": self._stream}

    def state_dict(self) -> dict[str, Any]:
        """As torch's, with what belongs to no single parameter under ``global``: tensors ``dimensions`` and ``turns``."""
        turns = self._turns.get_state() if self._turns is not None else self._stream
        return {**super().state_dict(), "global": {"dimensions": torch.tensor(self._dimensions), "turns": torch.as_tensor(turns)}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a saved state; the next step is bit for bit the one that the saved optimizer would have made."""
        system = state_dict["global"]
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "global"})
        self._dimensions = int(system["dimensions"])
        turns = system["turns"]
        self._turns, self._stream = None, turns if turns.dim() else int(turns)


class _Part:
    """What one parameter group contributes to a step: the parameters that have a gradient, and their momenta."""

    def __init__(self, group: dict[str, Any]) -> None:
        self.params = [p for p in group["params"] if p.grad is not None]
        self.gradients: list[Tensor] = [p.grad for p in self.params]
        self.momenta: list[Tensor] = []
        self.dt = float(group["lr"]) / math.sqrt(group["eta"])
        self.weight_decay = group["weight_decay"]

    def attach(self, state: dict[Tensor, dict[str, Tensor]]) -> None:
        """Find the momenta; a parameter that had no gradient so far starts at rest."""
        for p in self.params:
            if "momentum" not in state[p]:
                state[p]["momentum"] = torch.zeros_like(p, memory_format=torch.contiguous_format)
        self.momenta = [state[p]["momentum"] for p in self.params]

    def decay_energy(self) -> float:
        return 0.5 * self.weight_decay * _norm(self.params) ** 2 if self.weight_decay else 0.0

    def forces(self) -> list[Tensor]:
        """grad F + w Theta."""
        return list(torch._foreach_add(self.gradients, self.params, alpha=self.weight_decay)) if self.weight_decay else self.gradients


def _norm(tensors: Iterable[Tensor]) -> float:
    norms = torch._foreach_norm(list(tensors))
    return math.hypot(*torch.stack([n.double() for n in norms]).tolist())


def _overlaps(parts: list[_Part], forces: list[list[Tensor]], scale: float, inner_product: str) -> list[list[float]]:
    """p . g for each tensor of each part: its own, or for ``global`` the sum of all, with p = ``scale`` times the momentum."""
    pairs = [(p, g) for part, force in zip(parts, forces, strict=True) for p, g in zip(part.momenta, force, strict=True)]
    dots = [scale * dot for dot in torch.stack([torch.dot(p.reshape(-1), g.reshape(-1)).double() for p, g in pairs]).tolist()]
    if inner_product == "global":
        dots = [math.fsum(dots)] * len(dots)
    rest = iter(dots)
    return [[next(rest) for _ in force] for force in forces]
