"""The published defects, which explain the published numbers: their names, as params files switch them on
(``protocol``) and records hold them. Data without torch.

Those of training change the trial (``study.characters.trial``). Those of measurement leave a record's own numbers
alone and add a block ``as_published`` beside them (``actlab_audit.defects``), so that one training is read both ways.
"""

from __future__ import annotations

IGNORED = "activation: ignored"
"""An activation that the factory does not recognise becomes ReLU; in charlm it is recognised."""
BOTH = "padding: both"
"""Convolutions of convlm are padded on both sides, so that a position sees the characters that it predicts."""
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
OF_TRAINING = (IGNORED, BOTH, DOUBLED)
OF_MEASUREMENT = (UNPAIRED, LAST, FINAL, BATCHES)
DEFECTS = (*OF_TRAINING, *OF_MEASUREMENT)
