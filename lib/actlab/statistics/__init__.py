"""Statistics that know what is independent: trials are, pairs of trials are not.  Arrays in, small frozen results out; no files, no plots.

NaN marks a missing or diverged trial: it is left out, ``n`` counts the rest, and where too few remain the value or its interval is NaN.
"""

from actlab.statistics.coverage import interval_coverage
from actlab.statistics.crossed import CrossedShares, crossed_shares
from actlab.statistics.equal_loss import Curves, EqualLoss, decide, equal_loss, equivalence_p
from actlab.statistics.estimate import Estimate
from actlab.statistics.foils import bootstrap_maximum, naive_pair_interval
from actlab.statistics.intervals import mean_interval, pair_mean, pair_mean_difference, paired_difference
from actlab.statistics.permutation import (
    block_floor,
    f_floor,
    permutation_blocks,
    permutation_f,
    permutation_paired,
    permutation_two_sample,
    sign_flip_floor,
    two_sample_floor,
)
from actlab.statistics.power import (
    detectable_anova,
    detectable_paired,
    detectable_two_sample,
    power_anova,
    power_paired,
    power_two_sample,
)
from actlab.statistics.ranking import best_of_k, best_of_k_curve, best_of_k_with_replacement, random_search
from actlab.statistics.resampling import pair_bootstrap, pair_mean_blocks
from actlab.statistics.summaries import (
    coefficient_of_variation,
    interquartile_mean,
    interquartile_mean_interval,
    probability_of_improvement,
    probability_of_improvement_interval,
    spearman,
)
from actlab.statistics.tests import Comparison, Outcome, block_anova, holm, kruskal_wallis, one_way_anova, tukey, welch, welch_pairs
from actlab.statistics.variance import omega_squared, variance_share

__all__ = [
    "Comparison",
    "CrossedShares",
    "Curves",
    "EqualLoss",
    "Estimate",
    "Outcome",
    "best_of_k",
    "best_of_k_curve",
    "best_of_k_with_replacement",
    "block_anova",
    "block_floor",
    "bootstrap_maximum",
    "coefficient_of_variation",
    "crossed_shares",
    "decide",
    "detectable_anova",
    "detectable_paired",
    "detectable_two_sample",
    "equal_loss",
    "equivalence_p",
    "f_floor",
    "holm",
    "interquartile_mean",
    "interquartile_mean_interval",
    "interval_coverage",
    "kruskal_wallis",
    "mean_interval",
    "naive_pair_interval",
    "omega_squared",
    "one_way_anova",
    "pair_bootstrap",
    "pair_mean",
    "pair_mean_blocks",
    "pair_mean_difference",
    "paired_difference",
    "permutation_blocks",
    "permutation_f",
    "permutation_paired",
    "permutation_two_sample",
    "power_anova",
    "power_paired",
    "power_two_sample",
    "probability_of_improvement",
    "probability_of_improvement_interval",
    "random_search",
    "sign_flip_floor",
    "spearman",
    "tukey",
    "two_sample_floor",
    "variance_share",
    "welch",
    "welch_pairs",
]
