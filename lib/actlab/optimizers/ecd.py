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

from actlab.optimizers.cached_passes import accumulate_and_move, numbers, pieces
from actlab.optimizers.without_compiler import Optimizer

INNER_PRODUCTS = ("per_tensor", "global")
SMALLEST_POTENTIAL = 1e-40
SMALLEST_UNIT = 1e-20
SHARED = ("eta", "F0", "nu", "conserve_energy", "inner_product", "seed")
"""Settings of the whole system: every parameter group has to agree on them. ``lr`` and ``weight_decay`` are a group's
own."""
SYSTEM: Any = "system"
"""Key of the state that belongs to no single parameter. ``units``: one number a group, by which its momenta are stored
divided, so that a step is one fused pass; ``turns``: the place in the turns' random stream."""


@final
class ECD(Optimizer):
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

    State: 4 bytes a parameter (float32), and what ``SYSTEM`` says.
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
        assert inner_product in INNER_PRODUCTS, f"inner_product is one of {INNER_PRODUCTS}, got {inner_product!r}"
        defaults = {
            "lr": lr,
            "eta": eta,
            "F0": F0,
            "nu": nu,
            "weight_decay": weight_decay,
            "conserve_energy": conserve_energy,
            "inner_product": inner_product,
            "seed": seed,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group as torch does; the settings that concern the whole system must be those of the other groups."""
        group = {**self.defaults, **param_group}
        for name in SHARED:
            assert group[name] == self.defaults[name], f"{name} concerns all parameters at once, got {group[name]!r}"
        super().add_param_group(param_group)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # which it cannot do without
        """Take one step. ``closure`` clears the gradients, computes the loss, calls backward and returns the loss: ECD
        needs its value, on which its force depends.
        """
        with torch.enable_grad():
            loss = closure()
        active = self._active()
        if not active:
            return loss
        if SYSTEM not in self.state:
            self._start(active)
        for group in self.param_groups:
            for p in group["params"]:
                if "momentum" not in self.state[p]:  # its first gradient comes late: it starts at rest
                    self.state[p]["momentum"] = torch.zeros_like(p, memory_format=torch.contiguous_format)
        potential = float(loss) + self._decay_energy() - self.param_groups[0]["F0"]
        if not potential <= SMALLEST_POTENTIAL:
            self._move(potential)
        return loss

    def _active(self) -> list[Any]:
        return [p for group in self.param_groups for p in with_gradients(group)]

    def _dimensions(self) -> int:
        """Count d."""
        return sum(p.numel() for group in self.param_groups for p in group["params"])

    def _start(self, active: list[Any]) -> None:
        """Set off along the steepest descent, at speed 1. Once."""
        turns = torch.Generator().manual_seed(self.defaults["seed"]).get_state()
        self.state[SYSTEM] = {"units": torch.ones(0, dtype=torch.float64), "turns": turns}
        gradients = [p.grad for p in active]
        norm = _norm(gradients)
        for parameter, gradient in zip(active, gradients, strict=True):
            self.state[parameter]["momentum"] = (-gradient / norm if norm else torch.zeros_like(parameter)).contiguous()

    def _decay_energy(self) -> float:
        energy = 0.0
        for group in self.param_groups:
            params = with_gradients(group)
            if group["weight_decay"] and params:
                energy += 0.5 * group["weight_decay"] * _norm(params) ** 2
        return energy

    def _move(self, potential: float) -> None:
        shared, system = self.param_groups[0], self.state[SYSTEM]
        d = self._dimensions()
        units = system["units"].tolist()
        units += [1.0] * (len(self.param_groups) - len(units))  # a group's first step
        overlaps, scale = self._overlaps(units)
        bend = shared["eta"] * d / (d - 1) / potential / 2 if d > 1 else 0.0
        for index, group in enumerate(self.param_groups):
            dt = float(group["lr"]) / math.sqrt(shared["eta"])
            kick = -dt * bend  # c
            unit = kick if abs(kick) > SMALLEST_UNIT else 1.0
            for p in group["params"]:
                momentum = self.state[p]["momentum"]
                if p.grad is None:  # it rests, and only its unit changes
                    momentum.mul_(units[index] / unit)
                    continue
                keep = scale * units[index] * (1 - kick * overlaps[p])
                if unit == kick:
                    accumulate_and_move(p, p.grad, momentum, group["weight_decay"], keep / kick, dt * kick)
                else:
                    p.add_(momentum.mul_(keep), alpha=dt)
            units[index] = unit
        turns = system["turns"]
        if shared["nu"]:
            turns, units = self._turn(units, turns), [1.0] * len(units)
        self.state[SYSTEM] = {"units": torch.tensor(units, dtype=torch.float64), "turns": turns}

    def _overlaps(self, units: list[float]) -> tuple[dict[Tensor, float], float]:
        """Compute for every tensor the p . g of its projection (its own, or for ``global`` the sum of all), and the
        factor that makes |p| = 1."""
        shared = self.param_groups[0]
        owners, products, squares = [], [], []
        for unit, group in zip(units, self.param_groups, strict=True):
            for p in with_gradients(group):
                force = p.grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else p.grad
                for momentum, gradient in pieces(self.state[p]["momentum"], force):
                    owners.append((p, unit))
                    products.append(torch.dot(momentum, gradient))
                    if shared["conserve_energy"]:
                        squares.append(torch.dot(momentum, momentum))
        lengths = [unit**2 * square for (_, unit), square in zip(owners, numbers(squares), strict=False)]
        scale = 1 / math.sqrt(math.fsum(lengths)) if any(lengths) else 1.0
        sums: dict[Tensor, float] = dict.fromkeys((p for p, _ in owners), 0.0)
        for (p, unit), product in zip(owners, numbers(products), strict=True):
            sums[p] += scale * unit * product
        if shared["inner_product"] == "global":
            sums = dict.fromkeys(sums, math.fsum(sums.values()))
        return sums, scale

    def _turn(self, units: list[float], turns: Tensor) -> Tensor:
        """Turn the momenta, which then have unit 1; return where the random stream stands."""
        generator = torch.Generator()
        generator.set_state(turns.cpu())
        momenta = [self.state[p]["momentum"] for p in self._active()]
        for unit, group in zip(units, self.param_groups, strict=True):
            for p in group["params"]:
                self.state[p]["momentum"].mul_(unit)
        if norm := _norm(momenta):
            noise = [torch.randn(p.shape, generator=generator, dtype=p.dtype).to(p.device) for p in momenta]
            torch._foreach_mul_(momenta, 1 / norm)
            torch._foreach_add_(momenta, noise, alpha=self.param_groups[0]["nu"] / math.sqrt(self._dimensions()))
            torch._foreach_mul_(momenta, norm / _norm(momenta))
        return generator.get_state()


def with_gradients(group: dict[str, Any]) -> list[Any]:
    """List the parameters of a group that take part in a step."""
    return [p for p in group["params"] if p.grad is not None]


def _norm(tensors: list[Tensor]) -> float:
    return math.hypot(*numbers([*torch._foreach_norm(tensors)]))
