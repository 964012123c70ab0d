"""On a GPU: the kernels of a step, recorded once and replayed as one graph. Small networks spend most of a step on
launching kernels one by one."""

from collections.abc import Callable

import torch
from torch import Tensor

Batches = list[tuple[Tensor, Tensor]]
"""(inputs, targets) of the micro-batches of one step, (B, T) int64 each."""
WARM_UP = 3
"""Steps before the recording, in which libraries choose their kernels (PyTorch's notes on CUDA graphs ask for them)."""


class Replayed:
    """A function that fills the gradients of a model from batches of one shape and returns the loss, as a CUDA graph:
    the same kernels in the same order, so the same bits; random numbers go on where they were.

    What the function decides in Python is decided once, at the recording.
    """

    def __init__(self, gradients: Callable[[Batches], Tensor]) -> None:
        self.gradients = gradients
        self.graph: torch.cuda.CUDAGraph | None = None
        self.batches: Batches = []
        self.loss = torch.empty(0)

    def __call__(self, batches: Batches) -> Tensor:
        """The loss of these batches; the gradients of the model are theirs."""
        if self.graph is None:
            self.batches = [(inputs.clone(), targets.clone()) for inputs, targets in batches]
            self.graph = self.recorded()
        for here, given in zip(self.batches, batches, strict=True):
            for mine, now in zip(here, given, strict=True):
                mine.copy_(now)
        self.graph.replay()
        return self.loss.clone()

    def recorded(self) -> torch.cuda.CUDAGraph:
        """The graph of one call. It draws no random number that a step would miss."""
        random = torch.cuda.get_rng_state()
        beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UP):
                self.gradients(self.batches)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.loss = self.gradients(self.batches)
        torch.cuda.set_rng_state(random)
        return graph
