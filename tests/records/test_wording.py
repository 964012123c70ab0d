"""A measured value carries its n."""

import math

from actlab.records.wording import measured
from actlab.statistics.estimate import Estimate


def test_a_measured_value_carries_its_n():
    """With its interval, or with the word that there is none."""
    assert measured(Estimate(0.5971, 0.59, 0.604, 3, "m"), 2, " nats") == "0.60 nats [0.59, 0.60], n = 3"
    assert measured(Estimate(0.5, math.nan, math.nan, 2, "m")) == "0.500 [no interval], n = 2"
    assert measured(Estimate(math.nan, math.nan, math.nan, 0, "m")) == "no value, n = 0"
