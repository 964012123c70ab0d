"""Claims T58 to T99: the full-scale studies, conclusions and notes of the second reference study's report."""

from __future__ import annotations

import numpy as np

from actlab.claims import Claim, row
from actlab.claims import published as p
from actlab.claims.checks import ONE_METRIC, Conflict, Counted, Judged, Recomputed, Selected, Untestable, size, words
from actlab.claims.recorded import (
    ANY,
    FIVE,
    SIX,
    AcrossScales,
    Recorded,
    claimed,
    excused,
    identical,
    ordered,
    same_metric,
    setting,
    values,
)
from actlab.claims.report_summary import FULL, LEAD, LEAKING, SCALE, leads_by_seed, swish_leads
from actlab.claims.sizes import parameters
from actlab.claims.unpaired import UNPAIRED
from actlab.claims.verdicts import FILES, Between, about, exactly, rounded
from actlab.records.repro import ArmResults
from actlab.statistics.power import power_two_sample

TV = "total_variation"
IGNORED = "activation: ignored"
PARTIAL = ("partial",)
PUBLISHED_ORDER = ("convlm", "hybridlm", "charlm", "minigpt", "nanotransformer")
NANO_SECONDS, NANO_SECONDS_PARTIAL = 1238.6, 73.0
"""A trial of nanotransformer at full and at partial scale."""
STEP_TIMES = (NANO_SECONDS / 5000) / (NANO_SECONDS_PARTIAL / 500)
"""How many times as long a step takes at full scale."""


def _charlm(activation: str) -> Recorded:
    return excused(UNPAIRED, values("charlm", [activation], p.CHARLM_FULL[activation], FULL))


def _table(model: str, *metrics: str) -> Recorded:
    return excused(
        IGNORED, values(model, ["relu", "gelu", "swish"], {metric: p.FULL[model][metric] for metric in metrics}, FULL)
    )


def _least(largest: bool = False) -> str:
    """The model with the lowest (highest) difference in the published table."""
    return (max if largest else min)(p.FULL, key=lambda model: p.FULL[model][TV])


def _worse(loss: float) -> tuple[bool, str]:
    change = 100 * (loss / p.NANO_PARTIAL - 1)
    return abs(change - 88) <= 0.5, f"{change:+.0f}% against partial scale"


def _enough_trials(effect: float = 1.0, power: float = 0.8) -> tuple[bool, str]:
    needed = next(n for n in range(2, 1000) if power_two_sample(effect, n) >= power)
    return (
        10 <= needed <= 20,
        f"trials an arm that show a difference of one standard deviation with power 80%: {needed}",
    )


def _recipe_of_partial(arm: ArmResults) -> tuple[object, ...]:
    size_, recipe = arm.record["config"]["model_size"], arm.record["config"]["recipe"]
    return (
        size_["n_layer"],
        size_["n_embd"],
        size_["n_head"],
        size_["block_size"],
        recipe["batch_size"],
        recipe["learning_rate"],
    )


def _recipe_in_words(arm: ArmResults) -> str:
    layers, width, heads, context, batch, rate = _recipe_of_partial(arm)
    return f"{layers} layers, width {width}, {heads} heads, context {context}, batch {batch}, rate {rate}"


def _characters(arm: ArmResults) -> tuple[int, int]:
    """Of the validation split and of the vocabulary."""
    data = arm.record["provenance"]["data"]
    return int(data["validation_positions"]) + 1, int(data["vocab_size"])


CLAIMS: tuple[Claim, ...] = (
    row(
        "T58",
        "7, overview",
        "Full models have 14 times the parameters of partial ones",
        "14x",
        Judged(
            lambda: (
                13.5 <= (ratio := parameters("charlm", "full") / parameters("charlm", "partial")) <= 14.5,
                f"charlm's parameters, full over partial: {ratio:.1f}",
            ),
            "replicated if charlm's two sizes, built, have that ratio as rounded",
        ),
    ),
    row(
        "T59",
        "7, overview",
        "The GPU was at 95% with 4 GB in use",
        "95%; ~4 GB",
        Untestable("a measurement of a machine that is not at hand"),
    ),
    row(
        "T60",
        "7.1",
        "Parameters of nanotransformer at full scale",
        "10,784,128",
        Counted(size(10_784_128, 1), "full", ("nanotransformer",)),
    ),
    row(
        "T61",
        "7.1, table",
        "nanotransformer's loss after 5,000 steps",
        "0.1868; 3.7070 nats",
        _table("nanotransformer", "val_loss"),
    ),
    row(
        "T62",
        "7.1, table",
        "nanotransformer's accuracy after 5,000 steps",
        "96.20%; 50.30%",
        _table("nanotransformer", "val_accuracy"),
    ),
    row(
        "T63",
        "7.1, table",
        "nanotransformer's difference does not vary between trials",
        "0.9363 +- 0.0000",
        Recomputed(
            rounded(0.0, 4), lambda: float(np.std(p.NANO_PAIRS)), "standard deviation of its three pairs", basis=FILES
        ),
    ),
    row(
        "T64",
        "7.1",
        "nanotransformer's training curves are identical for all activations",
        "11 checkpoints",
        claimed(FULL, identical(["nanotransformer"])),
    ),
    row(
        "T65",
        "7.1, comparison",
        "Training accuracy of nanotransformer at partial scale",
        "~95%",
        Conflict(
            about(95),
            "%, report",
            Between(min(p.NANO_TRAIN_ACCURACY), max(p.NANO_TRAIN_ACCURACY)),
            "%, its result file",
            basis=FILES,
        ),
    ),
    row(
        "T66",
        "7.1, comparison",
        "nanotransformer's validation loss gets worse with scale",
        "1.9717 to 3.7070 (+88%)",
        Selected(lambda: _worse(p.NANO_FINAL), lambda: _worse(p.NANO_BEST)),
    ),
    row(
        "T67",
        "7.1, comparison",
        "nanotransformer's runs differ more at full scale",
        "0.7733 to 0.9363 (+21%)",
        AcrossScales(
            "change of total variation from partial to full scale (%)",
            (20.5, 21.5),
            [("nanotransformer", "relu")],
            TV,
            lambda means: 100 * (means[1] / means[0] - 1),
            page="studies/repro-nanotransformer",
            untried=UNPAIRED,
        ),
    ),
    row(
        "T68",
        "7.1",
        "Training time grows nearly in proportion to parameters: 17 times as long for 14 times as many",
        "17x for 14x",
        Conflict(
            about(14),
            "times as long for a step, if time grew with the parameters stated; a trial takes "
            f"{NANO_SECONDS / NANO_SECONDS_PARTIAL:.0f} times as long, "
            "as said",
            exactly(STEP_TIMES),
            "times, by the same text's times of a trial and its ten times as many iterations",
        ),
    ),
    row(
        "T69",
        "7.1",
        "Skipping two of three activations would have saved 2.1 hours of GPU time",
        "2.1 h; 87 Wh",
        Recomputed(
            rounded(2.1, 1),
            lambda: 2 * 3 * NANO_SECONDS / 3600,
            "hours of two activations with three trials (the energy cannot be checked)",
        ),
    ),
    row("T70", "7.2, table", "charlm with Swish after 5,000 steps", "1.4974 nats; 58.77%; 0.8965", _charlm("swish")),
    row("T71", "7.2, table", "charlm with GELU after 5,000 steps", "1.5540 nats; 59.87%; 0.9051", _charlm("gelu")),
    row("T72", "7.2, table", "charlm with ReLU after 5,000 steps", "1.5555 nats; 58.57%; 0.9061", _charlm("relu")),
    row(
        "T73",
        "7.2",
        "charlm is a simple feed-forward network",
        "feedforward",
        Conflict(words("feed-forward network"), "report", words("transformer"), "front page"),
    ),
    row(
        "T74",
        "6; 7.2",
        "Swish is the best activation for charlm in all three trials",
        "3/3",
        Selected(
            leads_by_seed,
            lambda: swish_leads(p.CHARLM_BEST),
            rule="artefact if swish is lowest in every seed at the last step, and not even on average at the lowest "
            "validation loss of the same published runs: who is lowest in every seed has the lowest mean",
        ),
    ),
    row(
        "T75",
        "7.3",
        "hybridlm is the most reproducible of all models",
        "0.8809",
        Conflict(words("hybridlm"), "named the best", words(_least()), "lowest difference in the same report's table"),
    ),
    row(
        "T76",
        "7.3",
        "Parameters of hybridlm at full scale",
        "10,795,776",
        Counted(size(10_795_776, 1), "full", ("hybridlm",)),
    ),
    row(
        "T77",
        "7.3",
        "hybridlm joins convolutions, a transformer and recurrence",
        "CNN+Transformer+RNN",
        Conflict(words("CNN", "Transformer", "RNN"), "report, 7.3", words("CNN", "Transformer"), "front page"),
    ),
    row(
        "T78",
        "7.4",
        "convlm: a loss of 0.0077 nats with an accuracy of 42%",
        "0.0077 nats; 41.97%",
        excused(LEAKING, values("convlm", ["relu"], {"val_loss": 0.0077, "val_accuracy": 41.97}, FULL)),
    ),
    row("T79", "7.4", "Parameters of convlm at full scale", "~10.8M", Counted(size(10.8e6, 1e6), "full", ("convlm",))),
    row("T80", "7.4", "Pooling makes convlm insensitive to the activation", "0%", claimed(FULL, identical(["convlm"]))),
    row(
        "T81",
        "7.5",
        "minigpt is the least reproducible of the models tested",
        "0.9126",
        Conflict(
            words("minigpt"),
            "named the worst",
            words(_least(largest=True)),
            "highest difference in the same report's table",
        ),
    ),
    row(
        "T82",
        "Cross-model table",
        "Reproducibility falls from convlm over hybridlm, charlm and minigpt to nanotransformer",
        "0.8055-0.9363",
        claimed(FULL, ordered(PUBLISHED_ORDER, TV, "relu", ANY)),
    ),
    row(
        "T83",
        "6, finding 3",
        "At partial scale each model's loss is the same for all activations",
        "1.9328; 2.2155; 1.9717; 3.3252 nats",
        claimed(PARTIAL, identical(["hybridlm", "minigpt", "nanotransformer", "tinylstm"])),
    ),
    row("T84", "Conclusion 4", "convlm's loss is 195 to 481 times below that of the other models", "195-481x", LEAD),
    row(
        "T85",
        "Recommendations 1",
        "Comparisons of activations are superfluous above 5M parameters",
        "5M",
        Conflict(
            words("skip them above 5M"),
            "recommendation 1",
            words("test each architecture before large runs"),
            "conclusion 1",
        ),
    ),
    row(
        "T86",
        "Recommendations 1; practitioners 2",
        "Learning rate matters more than the activation by a large factor",
        "100x; 10-50x",
        Conflict(exactly(100), "recommendation 1", Between(10, 50), "advice to practitioners, not tested there"),
    ),
    row(
        "T87",
        "Recommendations 2",
        "Sensitivity to the activation falls steadily with scale",
        "stated",
        SCALE,
    ),
    row(
        "T88",
        "Recommendations 3",
        "Model scale has 14 times the effect of the activation: accuracy rises from 37% to 50%",
        "100 / 14 / 1",
        Recomputed(about(14), lambda: 50.30 / 37.37, "50.30% over 37.37%"),
    ),
    row(
        "T89",
        "Practitioners 3",
        "One activation instead of three saves 200 of 300 GPU hours",
        "200 h",
        Recomputed(exactly(200), lambda: 3 * 100 - 100, "300 - 100"),
    ),
    row(
        "T90",
        "Limitations 4",
        "Ten to twenty trials are needed",
        "10-20",
        Judged(
            _enough_trials,
            "replicated if the number that shows one standard deviation (power 80% at 5%) is one of them",
            "methods",
        ),
    ),
    row(
        "T91",
        "Methodology",
        "Settings of the partial study: layers, width, heads, context, batch, rate",
        "2; 256; 4; 256; 64; 3e-4",
        setting(
            "settings",
            [("charlm", "relu")],
            lambda arm: _recipe_of_partial(arm) == (2, 256, 4, 256, 64, 3e-4),
            _recipe_in_words,
            PARTIAL,
        ),
    ),
    row(
        "T92",
        "Methodology",
        "The text: 1,115,394 characters, 111,540 of them for validation, 65 different ones",
        "1,115,394; 111,540; 65",
        setting(
            "text",
            [(model, "relu") for model in SIX],
            lambda arm: _characters(arm) == (1_115_394 - 1_003_854, 65),
            lambda arm: "{:,} characters for validation, {} different ones".format(*_characters(arm)),
            ("lite",),
        ),
    ),
    row(
        "T93",
        "Methodology",
        "The difference runs from 0 to 1",
        "0-1",
        ONE_METRIC,
    ),
    row(
        "T94",
        "Methodology",
        "A difference of 0.936 means that two runs disagree on 93.6% of predictions",
        "93.6%",
        same_metric("churn", TV, FIVE, "relu", ANY),
    ),
    row(
        "T95",
        "Reproducibility statement",
        "Parameters of the lite models",
        "430K",
        Counted(size(430e3, 10e3), "lite", ("charlm",)),
    ),
    row(
        "T96",
        "Results location; supplement",
        "Result files in all",
        "42",
        Conflict(exactly(42), "results location", exactly(39), "supplement"),
    ),
    row(
        "T97",
        "Supplement",
        "Total time of the study",
        "5.38 h",
        Conflict(rounded(5.38, 2), "hours, end", rounded(13.5, 1), "hours, header"),
    ),
    row(
        "T98",
        "Citation",
        "The models range from 430K to 10.8M parameters",
        "25x",
        Conflict(size(430e3, 10e3), "smallest, citation", size(765e3, 1e3), "smallest, title"),
    ),
    row(
        "T99",
        "Citation",
        "Above 5M parameters activations have no measurable effect",
        "0",
        Conflict(exactly(0), "% effect stated", rounded(3.9, 1), "% effect reported for charlm at 10.8M"),
    ),
)
