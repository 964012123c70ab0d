"""Statistics that know what is independent: trials are, pairs of trials are not.  Arrays in, small frozen results out;
no files, no plots.

NaN marks a missing or diverged trial: it is left out, ``n`` counts the rest, and where too few remain the value or its
interval is NaN.
"""

from actlab.statistics.coverage import interval_coverage
from actlab.statistics.crossed import CrossedShares, crossed_shares
from actlab.statistics.equal_loss import Curves, EqualLoss, decide, equal_loss, equivalence_p
from actlab.statistics.estimate import Estimate
from actlab.statistics.foils import bootstrap_maximum
from actlab.statistics.means import few_differ, mean_interval, pair_mean, pair_mean_difference, paired_difference
from actlab.statistics.permutation import permutation_f, sign_flip_floor
from actlab.statistics.power import detectable_paired, detectable_two_sample, power_paired, power_two_sample
from actlab.statistics.best_of_k import best_of_k, best_of_k_curve, random_search
from actlab.statistics.summaries import coefficient_of_variation
from actlab.statistics.tests import Comparison, Outcome, holm, one_way_anova, tukey, welch
from actlab.statistics.variance import block_share

__all__ = [
    "Comparison",
    "CrossedShares",
    "Curves",
    "EqualLoss",
    "Estimate",
    "Outcome",
    "best_of_k",
    "best_of_k_curve",
    "block_share",
    "bootstrap_maximum",
    "coefficient_of_variation",
    "crossed_shares",
    "decide",
    "detectable_paired",
    "detectable_two_sample",
    "equal_loss",
    "equivalence_p",
    "few_differ",
    "holm",
    "interval_coverage",
    "mean_interval",
    "one_way_anova",
    "pair_mean",
    "pair_mean_difference",
    "paired_difference",
    "permutation_f",
    "power_paired",
    "power_two_sample",
    "random_search",
    "sign_flip_floor",
    "tukey",
    "welch",
]
