"""SOAP: Adam in the slowly moving eigenbasis of Shampoo's preconditioner.

Vyas et al. 2024, arXiv 2409.11321. A tensor of more than two axes is treated as the matrix of its first axis and the
rest.
"""

from collections.abc import Callable
from typing import Any, final

import torch
from torch import Tensor
from torch.optim.optimizer import ParamsT

from actlab.optimizers.without_compiler import Optimizer

SIDES = ("left", "right")


@final
class SOAP(Optimizer):
    r"""Per matrix W (m, n) with gradient G, at update t (the first call makes none):

    .. math::
        G' &= Q_L^T G Q_R \\
        M' &\leftarrow \beta_1 M' + (1 - \beta_1) G', \qquad V' \leftarrow \beta_2 V' + (1 - \beta_2) G'^2 \\
        W &\leftarrow W - lr \frac{\sqrt{1 - \beta_2^t}}{1 - \beta_1^t}\, Q_L \frac{M'}{\sqrt{V'} + \epsilon} Q_R^T \\
        W &\leftarrow W - lr\, w\, W \\
        L &\leftarrow \beta_2 L + (1 - \beta_2) G G^T, \qquad R \leftarrow \beta_2 R + (1 - \beta_2) G^T G

    Every ``precondition_frequency`` updates Q_L and Q_R follow the eigenvectors of L and R by one power iteration and a
    QR decomposition. The first call builds L, R and their eigenvectors from the first gradient and leaves the
    parameters as they are. A vector, and a side longer than ``max_precondition_dim``, keeps the identity as its basis.

    Args:
        params: tensors or parameter groups; every setting is a group's own.
        lr: step size, about the change of a weight per update.
        betas: decay of M' and V'; the second also of L and R.
        eps: added to the square root of V' before bias correction.
        weight_decay: w, decoupled and applied after the step.
        precondition_frequency: updates between two refreshes of the bases.
        max_precondition_dim: longest side that gets a basis (memory: 8 bytes times the side squared).

    State: 8 bytes a parameter (float32), and 8 bytes times the square of each preconditioned side.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 3e-3,
        betas: tuple[float, float] = (0.95, 0.95),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        precondition_frequency: int = 10,
        max_precondition_dim: int = 10_000,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "precondition_frequency": precondition_frequency,
            "max_precondition_dim": max_precondition_dim,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns what ``closure`` returns."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state, gradient = self.state[parameter], as_matrix(parameter.grad)
                if state:
                    _update(parameter, gradient, state, group)
                else:
                    _start(parameter, gradient, state, group)
        return loss


State = dict[str, Tensor]


def as_matrix(tensor: Tensor) -> Tensor:
    """Return a tensor as a matrix, (m, ...) -> (m, n); a vector (m,) -> (m, 1), a number -> (1, 1)."""
    return tensor.reshape(tensor.shape[0] if tensor.dim() else 1, -1)


def _start(parameter: Tensor, gradient: Tensor, state: State, group: dict[str, Any]) -> None:
    state["step"] = torch.zeros((), dtype=torch.float32)
    state["mean"], state["square"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
    for side, length in zip(SIDES, gradient.shape, strict=True):
        if parameter.dim() > 1 and length <= group["max_precondition_dim"]:
            state[f"gram_{side}"] = gradient.new_zeros(length, length)
    _update_grams(gradient, state, group)
    for side in SIDES:
        if f"gram_{side}" in state:
            state[f"basis_{side}"] = torch.linalg.eigh(state[f"gram_{side}"]).eigenvectors.flip(1).contiguous()


def _update(parameter: Tensor, gradient: Tensor, state: State, group: dict[str, Any]) -> None:
    beta_1, beta_2 = group["betas"]
    state["step"] += 1
    t = int(state["step"])
    rotated = _into_basis(gradient, state)  # G'
    state["mean"].lerp_(rotated, 1 - beta_1)
    state["square"].mul_(beta_2).addcmul_(rotated, rotated, value=1 - beta_2)
    size = group["lr"] * ((1 - beta_2**t) ** 0.5 / (1 - beta_1**t))
    direction = _out_of_basis(state["mean"] / state["square"].sqrt().add_(group["eps"]), state)
    parameter.sub_(direction.view(parameter.shape), alpha=size)
    if group["weight_decay"]:
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
    _update_grams(gradient, state, group)
    if t % group["precondition_frequency"] == 0:
        _refresh(state)


def _into_basis(x: Tensor, state: State) -> Tensor:
    if "basis_left" in state:
        x = state["basis_left"].T @ x
    return x @ state["basis_right"] if "basis_right" in state else x


def _out_of_basis(x: Tensor, state: State) -> Tensor:
    if "basis_left" in state:
        x = state["basis_left"] @ x
    return x @ state["basis_right"].T if "basis_right" in state else x


def _update_grams(gradient: Tensor, state: State, group: dict[str, Any]) -> None:
    beta = group["betas"][1]
    for side, g in zip(SIDES, (gradient, gradient.T), strict=True):
        if f"gram_{side}" in state:
            state[f"gram_{side}"].addmm_(g, g.T, beta=beta, alpha=1 - beta)


def _refresh(state: State) -> None:
    """Sort the bases by estimated eigenvalue and turn them towards the eigenvectors. V' is sorted along, not rotated;
    M' is rotated."""
    mean = _out_of_basis(state["mean"], state)
    for axis, side in enumerate(SIDES):
        if f"basis_{side}" not in state:
            continue
        gram, basis = state[f"gram_{side}"], state[f"basis_{side}"]
        turned = gram @ basis
        order = torch.argsort((basis * turned).sum(dim=0), descending=True)  # diag(Q^T P Q)
        state["square"] = state["square"].index_select(axis, order)
        state[f"basis_{side}"] = torch.linalg.qr(turned[:, order]).Q
    state["mean"] = _into_basis(mean, state)
