"""Claims R01 to R65: the front page of the second reference study, six language models and five activations, in two
versions.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from actlab.claims import Claim, row
from actlab.claims import published as p
from actlab.claims.checks import ONE_METRIC, Conflict, Counted, Judged, Recomputed, Untestable, size, words
from actlab.claims.recorded import (
    AMONG_OTHERS,
    FIVE,
    SIX,
    AcrossScales,
    Means,
    Recorded,
    average_lowest,
    claimed,
    excused,
    identical,
    lowest,
    never_lower,
    quantity,
    sensitivity,
    setting,
    unmade,
    values,
)
from actlab.claims.unpaired import MIXED, MixedMetrics, OneSet, ReadUnpaired
from actlab.claims.verdicts import Between, about, exactly, rounded
from actlab.records.repro import ArmResults
from actlab.statistics.power import detectable_two_sample

LITE = ("lite",)
"""The front page's models, all but minigpt: 430K parameters, 500 iterations."""
FULL = ("full",)
"""Its minigpt: 10.8M parameters, 5,000 iterations."""
MANY = "lite (minigpt: full)"
"""Of what takes in all of its models: no records of one scale are made so."""
SPLIT = "lite (split 80/20)"
"""Of its example run, which splits the text 80/20: ours, as the report, keep 10% for validation."""
ITERATIONS = 500
SMALL = ("charlm", "nanotransformer", "convlm", "hybridlm")
"""The models of its table at lite scale whose activations are told apart there."""
ACTIVATIONS = ("relu", "gelu", "swish", "swiglu", "smelu_1")
RELU = tuple((model, "relu") for model in SIX)
PD = "relative_pd"


def _most(means: Means) -> Means:
    """How far architectures lie apart, over how far the two sizes of each do."""
    small, large = means[: len(FIVE)], means[len(FIVE) :]
    return np.asarray(((small + large) / 2).std(axis=0) / np.sqrt(((large - small) ** 2 / 4).mean(axis=0)))


def _average(activation: str) -> Recorded:
    value = p.README_AVERAGE[activation]
    arms = [(model, activation) for model in FIVE]
    found = quantity(
        f"mean relative PD of {activation} over five models",
        (value, value),
        arms,
        PD,
        lambda means: means.mean(axis=0),
        LITE,
    )
    return unmade(MANY, excused(MIXED, found))


def _charlm(activation: str, metric: str = PD) -> ReadUnpaired:
    value = p.CONSOLE_PD[activation]
    return ReadUnpaired(
        values("charlm", [activation], {PD: value}, LITE), "charlm", activation, value, ITERATIONS, metric
    )


def _cv(model: str, scales: tuple[str, ...] = LITE) -> Recorded:
    return excused(MIXED, sensitivity(model, p.README_CV[model], ACTIVATIONS, scales))


def _best() -> Recorded:
    found = lowest({model: p.README_BEST[model] for model in SMALL}, ACTIVATIONS, PD, LITE)
    return excused(MIXED, replace(found, rule=f"{found.rule}; minigpt, of full scale in the text, is left out"))


def _counted(model: str, scale: str, rounding: float) -> Counted:
    return Counted(size(p.README_PARAMETERS[model], rounding), scale, (model,))


def _recipe(arm: ArmResults) -> dict[str, object]:
    return dict(arm.record["config"]["recipe"])


def _characters(arm: ArmResults) -> int:
    """Of the text: a tenth is the validation split, where every character but the last is a position."""
    return 10 * (int(arm.record["provenance"]["data"]["validation_positions"]) + 1)


def _three_trials() -> tuple[bool, str]:
    share, smallest = 3**-0.5, detectable_two_sample(3)
    said = f"a mean of three independent trials has {100 * share:.0f}% of one trial's standard error"
    return (
        share < 1,
        f"{said}; that is not yet enough: the smallest difference that three an arm show is {smallest:.2f} standard "
        "deviations",
    )


CLAIMS: tuple[Claim, ...] = (
    row(
        "R01",
        "Overview",
        "Six architectures are compared",
        "6",
        setting("models", RELU, lambda arm: True, lambda arm: arm.model, LITE, AMONG_OTHERS),
    ),
    row(
        "R02",
        "Overview; design principles 3",
        "One prediction difference is used throughout, the one that Shamir et al. published in 2021",
        "one metric",
        ONE_METRIC,
    ),
    row(
        "R03",
        "Key findings",
        "With SwiGLU two runs of charlm agree 45% better than with ReLU",
        "45%",
        MixedMetrics(
            quantity(
                "relative PD of charlm with swiglu below that with relu, in %",
                (44.5, 45.5),
                [("charlm", "swiglu"), ("charlm", "relu")],
                PD,
                lambda means: 100 * (1 - means[0] / means[1]),
                LITE,
                "studies/repro-charlm",
            ),
            "charlm",
            "swiglu",
            "relu",
        ),
    ),
    row(
        "R04",
        "Key findings",
        "Averaged over the models, GELU is the most reproducible activation",
        "0.9622",
        unmade(MANY, average_lowest("gelu", ACTIVATIONS, FIVE, PD, LITE)),
    ),
    row(
        "R05",
        "Key findings",
        "Activations make no difference at all to tinylstm",
        "CV 0.00%",
        identical(["tinylstm"], ("relu", "gelu", "swiglu")),
    ),
    row(
        "R06",
        "Key findings; console output",
        "ReLU is the least reproducible activation of every model but hybridlm",
        "worst",
        Conflict(
            words("relu"),
            "named worst",
            words(max(p.CONSOLE_PD, key=lambda a: p.CONSOLE_PD[a])),
            "largest difference printed for charlm",
        ),
    ),
    row(
        "R07",
        "Key findings",
        "Architecture matters more than the number of parameters",
        "stated",
        AcrossScales(
            "spread of total variation over architectures, over the spread from lite to partial size",
            (1.0, math.inf),
            [(model, "relu") for model in FIVE],
            "total_variation",
            _most,
            ("lite", "partial"),
        ),
    ),
    row(
        "R08",
        "Quick start; quick CPU runs; expected runtime",
        "Training a model takes 5 to 10 minutes a trial",
        "5-10 min",
        Conflict(
            Between(3 * 5, 3 * 10),
            "minutes of three trials at that pace",
            Between(1, 2),
            "minutes stated for three trials of one activation",
        ),
    ),
    row(
        "R09",
        "Quick CPU runs",
        "The quick runs have 500 iterations and three trials",
        "500; 3",
        setting(
            "iterations and trials",
            RELU,
            lambda arm: _recipe(arm)["iterations"] == 500 and len(arm.labels) == 3,
            lambda arm: f"{_recipe(arm)['iterations']} and {len(arm.labels)}",
            LITE,
        ),
    ),
    row(
        "R10",
        "GPU runs",
        "minigpt trains for 5,000 iterations",
        "5000",
        setting(
            "iterations",
            [("minigpt", "relu")],
            lambda arm: _recipe(arm)["iterations"] == 5000,
            lambda arm: _recipe(arm)["iterations"],
            ("full",),
        ),
    ),
    row(
        "R11",
        "Console output",
        "Difference of two charlm runs with GELU",
        "0.9051",
        values("charlm", ["gelu"], {"total_variation": p.CHARLM_FULL["gelu"]["total_variation"]}, FULL),
    ),
    row("R12", "Console output", "Difference of two charlm runs with ReLU", "1.0739", _charlm("relu")),
    row("R13", "Console output", "Difference of two charlm runs with SmeLU, beta 1", "1.0938", _charlm("smelu_1")),
    row("R14", "Console output", "Difference of two charlm runs with SwiGLU", "0.5935", _charlm("swiglu", "coded_pd")),
    row("R15", "Console output", "Difference of two charlm runs with Swish", "1.0952", _charlm("swish")),
    row(
        "R16",
        "Console output",
        "Mean of charlm's five differences",
        "0.9523",
        Recomputed(rounded(0.9523, 4), lambda: float(np.mean(list(p.CONSOLE_PD.values()))), "mean of the five"),
    ),
    row("R17", "Console output", "charlm is highly sensitive to the activation", "CV 20.26%", _cv("charlm")),
    row(
        "R18",
        "Results location",
        "Thirty result files are there",
        "30 files",
        Untestable("the result files named are not published with the text"),
    ),
    row(
        "R19",
        "Models tested",
        "minigpt is the most sensitive to the activation",
        "CV 25.02%",
        claimed(FULL, _cv("minigpt", (*FULL, *LITE))),
    ),
    row("R20", "Models tested", "Sensitivity of nanotransformer to the activation", "CV 9.92%", _cv("nanotransformer")),
    row("R21", "Models tested", "Sensitivity of convlm to the activation", "CV 15.05%", _cv("convlm")),
    row("R22", "Models tested", "Sensitivity of hybridlm to the activation", "CV 9.87%", _cv("hybridlm")),
    row(
        "R23",
        "Models tested",
        "All activations are tied for tinylstm",
        "CV 0.00%",
        identical(["tinylstm"], ("relu", "gelu", "swiglu")),
    ),
    row(
        "R24",
        "Models tested",
        "The most reproducible activation is SwiGLU for charlm, nanotransformer and convlm, Swish or GELU for "
        "minigpt, ReLU or Swish for hybridlm",
        "stated",
        _best(),
    ),
    row(
        "R25",
        "Models tested",
        "hybridlm joins convolutions and a transformer",
        "CNN+Transformer",
        Conflict(words("CNN", "Transformer"), "front page", words("CNN", "Transformer", "RNN"), "report, 7.3"),
    ),
    row("R31", "Models tested", "Parameters of charlm", "430K", _counted("charlm", "lite", 10e3)),
    row("R32", "Models tested", "Parameters of minigpt", "10.8M", _counted("minigpt", "full", 0.1e6)),
    row("R33", "Models tested", "Parameters of nanotransformer", "430K", _counted("nanotransformer", "lite", 10e3)),
    row("R34", "Models tested", "Parameters of convlm", "430K", _counted("convlm", "lite", 10e3)),
    row("R35", "Models tested", "Parameters of hybridlm", "430K", _counted("hybridlm", "lite", 10e3)),
    row("R36", "Models tested", "Parameters of tinylstm", "176K", _counted("tinylstm", "lite", 1e3)),
    row("R41", "Activation table", "Mean difference with SwiGLU", "0.9706; wins 3/5", _average("swiglu")),
    row("R42", "Activation table", "Mean difference with GELU", "0.9622; wins 0/5", _average("gelu")),
    row("R43", "Activation table", "Mean difference with Swish", "0.9628; wins 1/5", _average("swish")),
    row("R44", "Activation table", "Mean difference with ReLU", "1.1656; wins 1/5", _average("relu")),
    row("R45", "Activation table", "Mean difference with SmeLU, beta 1", "1.1320; wins 0/5", _average("smelu_1")),
    row(
        "R46",
        "Recommendations",
        "SwiGLU is to be used below 1M parameters, Swish above 10M",
        "1M; 10M",
        Conflict(words("swish"), "front page, above 10M", words("relu", "gelu"), "report, above 5M"),
    ),
    row(
        "R47",
        "Recommendations",
        "SmeLU with beta 1 brings no gain in reproducibility",
        "stated",
        never_lower("smelu_1", "relu", SIX, PD, LITE),
    ),
    row(
        "R48",
        "Architecture",
        "The transformer of 6 layers and width 384 has 10 to 15 million parameters",
        "~10-15M",
        Counted(Between(10e6, 15e6), "full", ("charlm",)),
    ),
    row(
        "R49",
        "Dataset",
        "The text has about a million characters",
        "~1 MB",
        setting(
            "characters, ten times the validation split's",
            RELU,
            lambda arm: abs(_characters(arm) / 1e6 - 1) < 0.15,
            lambda arm: f"about {_characters(arm) / 1e6:.3f} million",
            LITE,
        ),
    ),
    row(
        "R50",
        "Expected runtime",
        "Five models with five activations take 55 minutes on a CPU",
        "~55 min",
        Conflict(
            exactly(5 + 35 + 5),
            "minutes of charlm, convlm and hybridlm, as the 55 count them",
            about(30),
            "minutes given for the same three models and five activations",
        ),
    ),
    row(
        "R51",
        "Expected runtime",
        "minigpt takes 50 minutes of GPU time for one activation",
        "~50 min",
        Conflict(
            about(50),
            "stated",
            exactly(p.MODEL_MINUTES["minigpt"] / 4),
            "the report's 267 minutes for four activations",
        ),
    ),
    row(
        "R52",
        "Expected runtime",
        "The whole suite takes 5 hours",
        "~5 h",
        Recomputed(
            about(5),
            lambda: (55 + 5 * 50) / 60,
            "hours of its own parts, 55 minutes and five times 50 (the pace is R51's)",
        ),
    ),
    row(
        "R53",
        "Activation list",
        "SmeLU is tried with beta 0.5 and 1",
        "0.5; 1.0",
        setting(
            "SmeLU",
            [("charlm", "smelu_05"), ("charlm", "smelu_1")],
            lambda arm: True,
            lambda arm: arm.activation,
            LITE,
            AMONG_OTHERS,
        ),
    ),
    row(
        "R54",
        "Key files",
        "Scripts that process and fill in results, and two reports, are part of the project",
        "4 files",
        Untestable("the project's files are not published with the text"),
    ),
    row(
        "R55",
        "Design principles 3",
        "Predictions are compared on fixed evaluation sets",
        "stated",
        OneSet(_charlm("swiglu", "coded_pd")),
    ),
    row(
        "R56",
        "Design principles 3",
        "The difference is 2|p - q| / |p + q| for each character, from 0 to 2",
        "0 to 2",
        ONE_METRIC,
    ),
    row(
        "R57",
        "Design principles 3",
        "Each configuration has three independent trials",
        "3",
        setting("trials of each arm", RELU, lambda arm: len(arm.labels) == 3, lambda arm: len(arm.labels), LITE),
    ),
    row(
        "R58",
        "Data flow",
        "The text is split 80/20 into training and validation",
        "80/20",
        Conflict(
            exactly(80), "% trained on, front page", rounded(100 * 1_003_854 / 1_115_394, 0), "% by the report's counts"
        ),
    ),
    row(
        "R59",
        "Data flow",
        "The three pairs of charlm with SwiGLU average to its difference",
        "0.5931; 0.5945; 0.5929",
        Recomputed(rounded(0.5935, 4), lambda: (0.5931 + 0.5945 + 0.5929) / 3, "mean of the three pairs"),
    ),
    row(
        "R60",
        "Data flow",
        "Validation loss of charlm with SwiGLU",
        "2.34; 2.31; 2.35 nats",
        unmade(SPLIT, values("charlm", ["swiglu"], {"val_loss": (2.34 + 2.31 + 2.35) / 3}, LITE)),
    ),
    row(
        "R61",
        "Data flow",
        "Mean validation loss and accuracy of charlm with SwiGLU",
        "2.33 nats; 42.1%",
        unmade(SPLIT, values("charlm", ["swiglu"], {"val_loss": 2.33, "val_accuracy": 42.1}, LITE)),
    ),
    row(
        "R62",
        "Data flow",
        "The seeds are 42, 43, 44",
        "42; 43; 44",
        setting(
            "seeds",
            RELU,
            lambda arm: {"42", "43", "44"} <= set(arm.labels),
            lambda arm: ", ".join(arm.labels),
            LITE,
            AMONG_OTHERS,
        ),
    ),
    row(
        "R63",
        "Design principles 2",
        "SwiGLU keeps the number of features",
        "dimension-preserving",
        Conflict(
            words("d features"),
            "stated",
            words("d / 2 features"),
            "its code: gate and value are the halves of the d inputs",
        ),
    ),
    row(
        "R64",
        "Why this design works",
        "A new model takes fewer than 50 lines",
        "50 lines",
        Untestable("the model files are not published with the text"),
    ),
    row(
        "R65",
        "Why this design works",
        "Three trials reduce noise",
        "3",
        Judged(
            _three_trials,
            "replicated if the mean of three independent trials has a smaller standard error than one; that it is "
            "enough is not said",
            "methods",
        ),
    ),
)
