"""Numbers that the second reference study printed and that several claims share, each with its place.

README: its front page, in two versions. Report: its long text. Runs: the result files of its repository, as read when
the study was examined.
"""

from __future__ import annotations

CONSOLE_PD = {"gelu": 0.9051, "relu": 1.0739, "smelu_1": 1.0938, "swiglu": 0.5935, "swish": 1.0952}
"""README, console output: charlm's prediction difference."""
README_CV = {
    "charlm": 20.26,
    "minigpt": 25.02,
    "nanotransformer": 9.92,
    "convlm": 15.05,
    "hybridlm": 9.87,
    "tinylstm": 0.0,
}
"""README, models tested: CV% over activations."""
README_BEST = {
    "charlm": ("swiglu",),
    "minigpt": ("swish", "gelu"),
    "nanotransformer": ("swiglu",),
    "convlm": ("swiglu",),
    "hybridlm": ("relu", "swish"),
}
"""README, models tested: the most reproducible activation of each."""
README_AVERAGE = {"swiglu": 0.9706, "gelu": 0.9622, "swish": 0.9628, "relu": 1.1656, "smelu_1": 1.1320}
"""README, activations tested: mean prediction difference over five models."""
README_PARAMETERS = {
    "charlm": 430e3,
    "minigpt": 10.8e6,
    "nanotransformer": 430e3,
    "convlm": 430e3,
    "hybridlm": 430e3,
    "tinylstm": 176e3,
}
"""README, models tested."""

HEADER_MINUTES = {"all": 812.8, "partial": 129.1, "full": 683.8}
MODEL_MINUTES = {"nanotransformer": 192.5, "charlm": 231.1, "hybridlm": 124.7, "convlm": 66.6, "minigpt": 267.0}
"""Report, header: durations."""
ACTIVATIONS_TRAINED = {"nanotransformer": 3, "charlm": 3, "hybridlm": 3, "convlm": 3, "minigpt": 4}
"""Report, 7: activations of each model at full scale, three trials each."""

FULL = {
    "convlm": {"val_loss": 0.0077, "val_accuracy": 41.97, "total_variation": 0.8055},
    "charlm": {"val_loss": 1.4974, "val_accuracy": 58.77, "total_variation": 0.8965},
    "hybridlm": {"val_loss": 1.5539, "val_accuracy": 56.97, "total_variation": 0.8809},
    "minigpt": {"val_loss": 1.6049, "val_accuracy": 56.00, "total_variation": 0.9126},
    "nanotransformer": {"val_loss": 3.7070, "val_accuracy": 50.30, "total_variation": 0.9363},
}
"""Report, cross-model comparison at full scale (charlm with swish). Its difference, from 0 to 1, is a total
variation.
"""
CHARLM_FULL = {
    "swish": {"val_loss": 1.4974, "val_accuracy": 58.77, "total_variation": 0.8965},
    "gelu": {"val_loss": 1.5540, "val_accuracy": 59.87, "total_variation": 0.9051},
    "relu": {"val_loss": 1.5555, "val_accuracy": 58.57, "total_variation": 0.9061},
}
"""Report, 7.2."""
CHARLM_TRIALS = {
    "relu": (1.55377, 1.55269, 1.56011),
    "gelu": (1.55847, 1.52676, 1.57674),
    "swish": (1.47377, 1.51979, 1.49850),
}
"""Runs: charlm's validation loss at the last of 5,000 steps, seeds 42, 43, 44."""
CHARLM_BEST = {"relu": 1.4903, "gelu": 1.4736, "swish": 1.4817}
"""Runs: the mean over those seeds of the lowest of 11 validation losses."""
NANO_FINAL, NANO_BEST, NANO_PARTIAL = 3.7070, 1.567, 1.9717
"""nanotransformer's validation loss: report 7.1 (last step); runs (lowest, at step 1,000); report 7.1 (partial
scale).
"""
NANO_PAIRS = (0.9352, 0.9330, 0.9406)
"""Runs: nanotransformer's three pairs at full scale."""
NANO_TRAIN_ACCURACY = (39.7, 41.3, 42.5)
"""Runs: nanotransformer's training accuracy at partial scale."""

PARTIAL = {
    "tinylstm": {"total_variation": 0.028, "val_accuracy": 14.53},
    "minigpt": {"total_variation": 0.722, "val_accuracy": 33.13},
    "hybridlm": {"total_variation": 0.783, "val_accuracy": 43.20},
    "nanotransformer": {"total_variation": 0.773, "val_accuracy": 37.37},
}
"""Report, 1: partial scale."""
PARTIAL_RANGES = {"charlm": (27.47, 28.19), "convlm": (33.0, 34.0)}
"""Report, 1 and 4: accuracies given as a range."""
CHARLM_PARTIAL = {"swish": 0.648, "gelu": 0.655, "relu": 0.655, "smelu_05": 0.701, "smelu_1": 0.696}
"""Report, 2: charlm's prediction difference at partial scale."""
CHARLM_LIKE_FOR_LIKE = {"relu": 0.7097, "gelu": 0.7067, "smelu_05": 0.7013, "smelu_1": 0.6959, "swish": 0.6929}
"""Runs: the same, of the runs that share 500 iterations and width 256; the report's means also hold shorter runs of
smaller models.
"""
AVERAGE_ACCURACY = {"gelu": 30.03, "relu": 30.02, "swish": 29.96, "smelu_05": 29.66, "smelu_1": 29.65}
"""Report, 3: mean accuracy over the six models."""
CHARLM_SECONDS = {"gelu": (6, 45.9), "relu": (9, 121.6), "smelu_05": (3, 158.5)}
"""Report, 6: (trials, seconds a trial) of charlm at partial scale."""

INSENSITIVE = ("nanotransformer", "hybridlm", "convlm", "minigpt")
"""Report, summary: architectures without any difference between activations at full scale."""
TINYLSTM = {"total_variation": 0.028, "val_accuracy": 14.53, "val_loss": 3.3252}
"""Report, 1 and 6: at partial scale, under every activation."""
PD_AGAINST_LOSS = -0.96
"""Runs: Spearman's correlation of prediction difference and training loss over its 17 distinct arms, convlm apart."""
ANOVA = {"statistic": 8.32, "p_value": 0.024}
TUKEY = {("swish", "relu"): 0.019, ("swish", "gelu"): 0.031}
"""Report, 7.2: charlm's validation loss at full scale."""
REPORT_PARAMETERS = {"partial": 765e3, "full": 10.8e6}
"""Report, header: parameters of every model at a scale."""
MINIGPT_MINUTES = 1068
"""Report, key discovery 5: minigpt's minutes times its activations."""
SWIGLU_ITERATIONS = 200
"""Runs: of the run behind charlm's swiglu cell; the others have 500 or 5,000."""
TABLE_CELLS = {"total variation on different inputs": 8, "relative PD": 9, "no run": 8}
"""Runs: where the 25 cells of the README's table of prediction differences come from."""
