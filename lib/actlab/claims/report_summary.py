"""Claims T01 to T26: the header and the summary of the second reference study's report."""

from __future__ import annotations

import math

import numpy as np

from actlab.claims import Claim, row
from actlab.claims import published as p
from actlab.claims.checks import Conflict, Counted, Recomputed, Selected, size, words
from actlab.claims.recorded import ANY, FIVE, claimed, excused, identical, quantity, values
from actlab.claims.verdicts import FILES, Between, about, exactly, rounded
from actlab.statistics.tests import f_p_value, tukey

INSENSITIVE = ("nanotransformer", "hybridlm", "convlm", "minigpt")
FULL = ("full",)


def _p_value(statistic: float) -> float:
    """Of F with 2 and 6 degrees of freedom: three activations, three trials each."""
    return f_p_value(statistic, 2, 6)


def _tukey(first: str, second: str) -> float:
    """p of two activations among charlm's full-scale trials."""
    return tukey(p.CHARLM_TRIALS)[frozenset((first, second))]


def swish_leads(losses: dict[str, float]) -> tuple[bool, str]:
    """Whether swish has the lowest of charlm's losses, by how much, in words."""
    said = ", ".join(f"{a} {loss:.4f}" for a, loss in sorted(losses.items(), key=lambda item: item[1]))
    return min(losses, key=lambda a: losses[a]) == "swish", said


def spread(losses: dict[str, float]) -> float:
    """Of the losses, in percent of the lowest."""
    return 100 * (max(losses.values()) / min(losses.values()) - 1)


def _final() -> dict[str, float]:
    return {activation: float(np.mean(losses)) for activation, losses in p.CHARLM_TRIALS.items()}


def same_spread(losses: dict[str, float], published: float) -> tuple[bool, str]:
    """Whether the spread rounds to what was published."""
    found = spread(losses)
    return abs(found - published) <= 0.05, f"spread of charlm's losses over activations {found:.1f}%"


def leads_by_seed() -> tuple[bool, str]:
    """In how many seeds swish has the lowest loss at the last step."""
    table = np.array([p.CHARLM_TRIALS[a] for a in ("swish", "gelu", "relu")])
    wins = int((table[0] < table[1:].min(axis=0)).sum())
    return wins == table.shape[1], f"swish lowest in {wins} of {table.shape[1]} seeds at the last step"


SWISH = Selected(lambda: swish_leads(_final()), lambda: swish_leads(p.CHARLM_BEST))
"""Shared by the claims that swish is the best activation for charlm."""


BOTH_SCALES = ("full", "partial")
LEAKING = "convolutions padded on both sides, at the claim's scale"
LEAD = excused(
    LEAKING,
    claimed(
        BOTH_SCALES,
        quantity(
            "validation loss of charlm, the nearest of the others, over convlm's (195 at least)",
            (195.0, math.inf),
            [("charlm", "relu"), ("convlm", "relu")],
            "val_loss",
            lambda means: means[0] / means[1],
            ANY,
            "studies/repro-convlm",
            "padding: both",
        ),
    ),
)
"""Shared by the claims that convlm's loss is about 200 times lower."""
SCALE = Conflict(
    words("depends on scale"),
    "front of the report, 7.2, recommendation 2 (8.2%, of the prediction difference, against 3.9%, of the loss)",
    words("does not depend on scale"),
    "conclusion 1",
)
"""Shared by the claims that sensitivity to the activation falls with scale."""


CLAIMS: tuple[Claim, ...] = (
    row(
        "T01",
        "Header",
        "Total run time, from the parts",
        "812.8 min",
        Recomputed(
            rounded(812.8, 1),
            lambda: sum(p.MODEL_MINUTES.values()) + p.HEADER_MINUTES["partial"],
            "minutes of the five models and the partial study",
        ),
    ),
    row(
        "T02",
        "Header",
        "Duration of the partial study",
        "129.1 min (2.17 h)",
        Recomputed(
            rounded(2.17, 2), lambda: Between((129.1 - 0.05) / 60, (129.1 + 0.05) / 60), "129.1 minutes in hours"
        ),
    ),
    row(
        "T03",
        "Header",
        "Parameters of the partial models",
        "765K",
        Counted(size(765e3, 1e3), "partial", ("charlm", "hybridlm", "nanotransformer")),
    ),
    row(
        "T04",
        "Header",
        "Experiments of the partial study: six models with five activations",
        "30",
        Recomputed(exactly(30), lambda: 6 * 5, "models x activations"),
    ),
    row("T05", "Header", "Parameters of the full models", "10.8M", Counted(size(10.8e6, 0.1e6), "full", FIVE)),
    row(
        "T06",
        "Header; supplement",
        "Experiments at full scale",
        "48",
        Conflict(exactly(30 + 48), "both parts in the header", exactly(39), "in all, at the end"),
    ),
    row(
        "T07",
        "Header",
        "nanotransformer: activations give no variance at full scale",
        "192.5 min; 0%",
        claimed(FULL, identical(["nanotransformer"])),
    ),
    row(
        "T08",
        "Header",
        "charlm: activations give 3.9% variance of the loss at full scale",
        "231.1 min; 3.9%",
        Selected(lambda: same_spread(_final(), 3.9), lambda: same_spread(p.CHARLM_BEST, 3.9)),
    ),
    row(
        "T09",
        "Header",
        "hybridlm: activations give no variance at full scale",
        "124.7 min; 0%",
        claimed(FULL, identical(["hybridlm"])),
    ),
    row(
        "T10",
        "Header",
        "convlm: activations give no variance at full scale",
        "66.6 min; 0%",
        claimed(FULL, identical(["convlm"])),
    ),
    row(
        "T11",
        "Header",
        "minigpt: activations give no variance at full scale",
        "267.0 min; 0%",
        claimed(FULL, identical(["minigpt"])),
    ),
    row(
        "T12",
        "Executive summary",
        "Four of five architectures are insensitive to the activation",
        "80%",
        claimed(FULL, identical(INSENSITIVE)),
    ),
    row(
        "T13",
        "Executive summary 1",
        "Architecture matters a hundred times as much as the activation: differences run from 0.028 to 0.936",
        "100:1",
        Recomputed(about(100), lambda: 0.936 / 0.028, "0.936 / 0.028"),
    ),
    row("T14", "Executive summary 2", "Swish beats ReLU and GELU on charlm", "3.9%", SWISH),
    row(
        "T15",
        "Executive summary 2; 5; 7.2",
        "Analysis of variance of charlm's full-scale losses, F(2, 6)",
        "F = 8.32, p = 0.024",
        Recomputed(rounded(0.024, 3), lambda: Between(_p_value(8.325), _p_value(8.315)), "p of F(2, 6) = 8.32"),
    ),
    row(
        "T16",
        "7.2",
        "Tukey's test of Swish against ReLU on charlm",
        "p = 0.019",
        Recomputed(rounded(0.019, 3), lambda: _tukey("swish", "relu"), "p from the nine published runs", basis=FILES),
    ),
    row(
        "T17",
        "7.2",
        "Tukey's test of Swish against GELU on charlm",
        "p = 0.031",
        Recomputed(rounded(0.031, 3), lambda: _tukey("swish", "gelu"), "p from the nine published runs", basis=FILES),
    ),
    row(
        "T18",
        "Executive summary 2",
        "charlm's sensitivity falls with scale",
        "8.2% to 3.9%",
        SCALE,
    ),
    row(
        "T19",
        "Executive summary 3",
        "charlm is the best model and the slowest",
        "1.4974 nats; 1414 s",
        Conflict(
            exactly(1414), "seconds stated beside this loss", exactly(1622), "seconds in 7.2 of the arm with this loss"
        ),
    ),
    row(
        "T20",
        "Executive summary 4",
        "convlm reaches a validation loss of 0.0077 nats",
        "0.0077 nats",
        excused(
            LEAKING,
            claimed(
                BOTH_SCALES,
                quantity(
                    "validation loss of convlm (nats)",
                    (0.00765, 0.00775),
                    [("convlm", "relu")],
                    "val_loss",
                    lambda means: means[0],
                    ANY,
                    "studies/repro-convlm",
                    "padding: both",
                ),
            ),
        ),
    ),
    row(
        "T21",
        "Executive summary 4; conclusion 4",
        "convlm's loss is 200 times below that of other models",
        "200x",
        LEAD,
    ),
    row(
        "T22",
        "Executive summary 5",
        "Trying several activations wastes two thirds to three quarters of the time",
        "66-75%",
        claimed(FULL, identical(INSENSITIVE)),
    ),
    row(
        "T23",
        "Executive summary 5; conclusion 3",
        "Four activations of minigpt cost four times 267 minutes",
        "1068 min",
        Recomputed(
            rounded(1068, 0),
            lambda: Between(4 * 3 * 1286 / 60, 4 * 3 * 1335 / 60),
            "minutes of four activations with three trials of 1,286 to 1,335 s each",
        ),
    ),
    row(
        "T24",
        "Executive summary 5",
        "More than 800 minutes could have been saved",
        "800+ min",
        Recomputed(
            Between(800, math.inf),
            lambda: sum(p.MODEL_MINUTES[m] * (1 - 1 / p.ACTIVATIONS_TRAINED[m]) for m in INSENSITIVE),
            "minutes of the four models' other activations",
        ),
    ),
    row(
        "T25",
        "Executive summary 6",
        "Two runs of nanotransformer disagree on 93.6% of predictions",
        "93.6%",
        excused("pairing: unpaired", values("nanotransformer", ["relu"], {"churn": 0.936}, FULL)),
    ),
    row(
        "T26",
        "Executive summary 7; 7.5",
        "minigpt gives identical results with four activations",
        "1.6049 nats; 0.9126",
        claimed(FULL, identical(["minigpt"])),
    ),
)
