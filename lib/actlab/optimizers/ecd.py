"""ECD: energy-conserving descent at q = 1, a particle of constant speed whose path bends downhill.

De Luca, Nachman, Silverstein & Zheng 2025, arXiv 2501.18419; the scaled form and its per-tensor inner product as in the
code of Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, final

import torch
from torch import Tensor
from torch.optim.optimizer import ParamsT

from actlab.errors import BadInput
from actlab.optimizers.cached_passes import accumulate_and_move, numbers, pieces

INNER_PRODUCTS = ("per_tensor", "global")
SMALLEST_POTENTIAL = 1e-40
SMALLEST_UNIT = 1e-20
SHARED = ("eta", "F0", "nu", "conserve_energy", "inner_product")
"""Settings of the whole system: every parameter group has to agree on them. ``lr`` and ``weight_decay`` are a group's
own."""


@final
class ECD(torch.optim.Optimizer):
    r"""One call of ``step``, with F the loss, Theta all d parameters, p their momentum, w the weight decay, dt = lr /
    sqrt(eta):

    .. math::
        V &= F + \tfrac{w}{2} |\Theta|^2 - F_0, \qquad \text{no move where } V \le 10^{-40} \\
        p &\leftarrow p / |p| \qquad \text{(conserve_energy)} \\
        g &= \nabla F + w \Theta, \quad c = -\tfrac{dt}{2} \tfrac{\eta d}{d - 1} \tfrac{1}{V} \\
        p &\leftarrow p + c\,(g - p\,(p \cdot g)) \\
        \Theta &\leftarrow \Theta + dt\, p \\
        p &\leftarrow |p|\, u / |u|, \quad u = p / |p| + \tfrac{\nu}{\sqrt d} z, \quad z \sim N(0, I)

    The first call sets ``p = -grad F / |grad F|``. Norms run over all groups. A parameter without a gradient takes no
    part in the step. With d = 1 there is nowhere to bend to: the particle goes straight on.

    Args:
        params: tensors or parameter groups; a group may have its own ``lr`` and ``weight_decay``, and schedulers may
            change them.
        lr: time of a step times sqrt(eta); the step is that time times the momentum.
        eta: how strongly the path concentrates at low loss (stationary density (F - F0)^(-eta d / 2)).
        F0: a loss below any that can be reached, in the loss's unit; near it the force diverges.
        nu: angle of the random turn after each step (before division by sqrt(d)); 0 for none.
        weight_decay: w >= 0, part of the potential (not decoupled).
        conserve_energy: keep ``|p| = 1``; without it the discretisation is unstable.
        inner_product: ``per_tensor`` takes p . g within each tensor, as published, which is no projection and depends
            on how the parameters are cut into tensors; ``global`` takes it over all parameters, as derived.
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
        self._units: list[float] = []
        """One number a group: its momenta are stored divided by it, so that a step is one fused pass."""
        self._dimensions = 0
        """d, counted at the first call; 0 before it."""
        assert inner_product in INNER_PRODUCTS, f"inner_product is one of {INNER_PRODUCTS}, got {inner_product!r}"
        self._turns = torch.Generator().manual_seed(seed)
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
        """Add a group as torch does; the settings that concern the whole system must be those of the other groups."""
        group = {**self.defaults, **param_group}
        for name in SHARED:
            assert group[name] == self.defaults[name], f"{name} concerns all parameters at once, got {group[name]!r}"
        super().add_param_group(param_group)
        self._units.append(1.0)
        if self._dimensions:
            self._dimensions += sum(p.numel() for p in self.param_groups[-1]["params"])

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step. ``closure`` clears the gradients, computes the loss, calls backward and returns the loss: ECD
        needs its value.

        Raises:
            BadInput: no closure.
        """
        if closure is None:
            raise BadInput("ECD.step needs a closure that returns the loss: its force depends on the loss's value")
        with torch.enable_grad():
            loss = closure()
        active = self._active()
        if not active:
            return loss
        if not self._dimensions:
            self._start(active)
        for parameter in active:
            if "momentum" not in self.state[parameter]:  # its first gradient comes late: it starts at rest
                self.state[parameter]["momentum"] = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
        value = loss.item() if isinstance(loss, Tensor) else float(loss)
        potential = value + self._decay_energy() - self.param_groups[0]["F0"]
        if not potential <= SMALLEST_POTENTIAL:
            self._move(potential)
        return loss

    def _active(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"] if p.grad is not None]

    def _start(self, active: list[Tensor]) -> None:
        """Count the dimensions and set off along the steepest descent, at speed 1. Once."""
        self._dimensions = sum(p.numel() for group in self.param_groups for p in group["params"])
        gradients = [p.grad for p in active if p.grad is not None]
        norm = _norm(gradients)
        for parameter, gradient in zip(active, gradients, strict=True):
            self.state[parameter]["momentum"] = (-gradient / norm if norm else torch.zeros_like(parameter)).contiguous()

    def _decay_energy(self) -> float:
        decayed = [
            (group["weight_decay"], [p for p in group["params"] if p.grad is not None]) for group in self.param_groups
        ]
        return sum(0.5 * decay * _norm(params) ** 2 for decay, params in decayed if decay and params)

    def _move(self, potential: float) -> None:
        shared, d = self.param_groups[0], self._dimensions
        overlaps, scale = self._overlaps(shared["conserve_energy"], shared["inner_product"])
        bend = shared["eta"] * d / (d - 1) / potential / 2 if d > 1 else 0.0
        for index, group in enumerate(self.param_groups):
            dt = float(group["lr"]) / math.sqrt(shared["eta"])
            kick = -dt * bend  # c
            unit = kick if abs(kick) > SMALLEST_UNIT else 1.0
            for p in group["params"]:
                momentum = self.state[p].get("momentum")
                if momentum is None:
                    continue
                if p.grad is None:  # it rests, and only its unit changes
                    momentum.mul_(self._units[index] / unit)
                    continue
                keep = scale * self._units[index] * (1 - kick * overlaps[p])
                if unit == kick:
                    accumulate_and_move(p, p.grad, momentum, group["weight_decay"], keep / kick, dt * kick)
                else:
                    p.add_(momentum.mul_(keep), alpha=dt)
            self._units[index] = unit
        if shared["nu"]:
            self._turn()

    def _overlaps(self, conserve_energy: bool, inner_product: str) -> tuple[dict[Tensor, float], float]:
        """Compute for every tensor the p . g of its projection (its own, or for ``global`` the sum of all), and the
        factor that makes |p| = 1."""
        owners, products, squares = [], [], []
        for unit, group in zip(self._units, self.param_groups, strict=True):
            for p in (p for p in group["params"] if p.grad is not None):
                force = p.grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else p.grad
                for momentum, gradient in pieces(self.state[p]["momentum"], force):
                    owners.append((p, unit))
                    products.append(torch.dot(momentum, gradient))
                    if conserve_energy:
                        squares.append(torch.dot(momentum, momentum))
        lengths = [unit**2 * square for (_, unit), square in zip(owners, numbers(squares), strict=False)]
        scale = 1 / math.sqrt(math.fsum(lengths)) if any(lengths) else 1.0
        sums: dict[Tensor, float] = dict.fromkeys((p for p, _ in owners), 0.0)
        for (p, unit), product in zip(owners, numbers(products), strict=True):
            sums[p] += scale * unit * product
        return (sums if inner_product == "per_tensor" else dict.fromkeys(sums, math.fsum(sums.values()))), scale

    def _turn(self) -> None:
        momenta = [self.state[p]["momentum"] for p in self._active()]
        for index, group in enumerate(self.param_groups):
            for momentum in (self.state[p]["momentum"] for p in group["params"] if "momentum" in self.state[p]):
                momentum.mul_(self._units[index])
            self._units[index] = 1.0
        norm = _norm(momenta)
        if not norm:
            return
        noise = [torch.randn(p.shape, generator=self._turns, dtype=p.dtype).to(p.device) for p in momenta]
        torch._foreach_mul_(momenta, 1 / norm)
        torch._foreach_add_(momenta, noise, alpha=self.param_groups[0]["nu"] / math.sqrt(self._dimensions))
        torch._foreach_mul_(momenta, norm / _norm(momenta))

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle what belongs to no single parameter too."""
        own = ("_dimensions", "_units", "_turns")
        return {**super().__getstate__(), **{name: getattr(self, name) for name in own}}

    def state_dict(self) -> dict[str, Any]:
        """Return torch's, with what belongs to no single parameter under ``global``: tensors ``dimensions``, ``units``
        and ``turns``."""
        system = {
            "dimensions": torch.tensor(self._dimensions),
            "units": torch.tensor(self._units, dtype=torch.float64),
            "turns": self._turns.get_state(),
        }
        return {**super().state_dict(), "global": system}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a saved state; the next step is bit for bit the one that the saved optimizer would have made."""
        system = state_dict["global"]
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "global"})
        self._dimensions, self._units = int(system["dimensions"]), system["units"].tolist()
        self._turns.set_state(system["turns"].cpu())


def _norm(tensors: list[Tensor]) -> float:
    return math.hypot(*numbers([*torch._foreach_norm(tensors)]))
