"""Comparing the pairs of ten trained networks at one moment of training: ours, beside SciPy's and NumPy's functions, a
pair at a time; processor seconds of one core."""

import os
import time
from itertools import combinations

import numpy as np
import torch
from scipy.spatial.distance import jensenshannon

from actlab import metrics

TRIALS, ROWS, LABELS = 10, 256 * 128, 65
"""Of an arm of the confirmatory study: its windows, each of so many positions, over the characters of its text."""


def scipy_and_numpy(p, q):
    """The four row-wise metrics, by their formulas."""
    difference = np.abs(p - q)
    return {
        "total_variation": difference.sum(axis=1).mean(dtype=float) / 2,
        "relative_pd": 2 * (difference / (p + q)).mean(dtype=float),
        "churn": (p.argmax(axis=1) != q.argmax(axis=1)).mean(),
        "jensen_shannon": (jensenshannon(p, q, base=2, axis=1) ** 2).mean(dtype=float),
    }


def measure_all(rounds=3):
    """Way -> processor seconds, one a round; and the largest difference of a metric between the two ways."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(TRIALS, ROWS, LABELS, generator=generator)
    predictions = {str(i): torch.softmax(each, dim=1) for i, each in enumerate(logits)}
    couples = list(combinations(predictions, 2))
    ways = {
        "actlab": lambda: metrics.pairwise(predictions, couples),
        "scipy and numpy": lambda: [scipy_and_numpy(*(predictions[each].numpy() for each in pair)) for pair in couples],
    }
    seconds, found = {way: [] for way in ways}, {}
    for way in [*ways] * rounds:
        since = time.process_time()
        found[way] = ways[way]()
        seconds[way].append(time.process_time() - since)
    off = max(abs(ours[name] - theirs[name]) for ours, theirs in zip(*found.values(), strict=True) for name in theirs)
    about = {"trials": TRIALS, "rows": ROWS, "labels": LABELS, "load_before": os.getloadavg()[0]}
    return {**about, "seconds": seconds, "largest_difference": float(off)}
