"""The published defects: the names that switch them on (``study.defects``) and stand in records. Data without torch."""

from __future__ import annotations

IGNORED = "activation: ignored"
"""An activation that the factory does not recognise becomes ReLU."""
BOTH = "padding: both"
"""Convolutions are padded on both sides, so that a position sees the characters that it predicts."""
DOUBLED = "gated_width: doubled"
"""A gated layer keeps the plain width, with 1.5 times the parameters."""
UNPAIRED = "pairing: unpaired"
"""Each model predicts 1000 freshly drawn windows, at their last position: two models never see one input."""
LAST = "accuracy: last_1000"
"""Accuracy is taken at the last position of 1000 random windows."""
FINAL = "selection: final"
"""The last weights are reported, however far past the lowest validation loss."""
BATCHES = "evaluation: 200 random batches"
"""The validation loss is the mean over 200 random batches."""
