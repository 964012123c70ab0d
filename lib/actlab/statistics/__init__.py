"""Statistics that know what is independent: trials are, pairs of trials are not.  Arrays in, small frozen results out; no files, no plots."""

from actlab.statistics.estimate import Estimate
from actlab.statistics.intervals import mean_interval, pair_mean, pair_mean_difference, paired_difference

__all__ = ["Estimate", "mean_interval", "pair_mean", "pair_mean_difference", "paired_difference"]
