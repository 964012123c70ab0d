"""What levels and metrics are called for people, and the unit that a page gives a share in."""

import pandas as pd
import pytest

from actlab.figures.style import known
from actlab.records.labels import WORDS, in_points, with_unit, words


def test_shares_are_given_in_points():
    """Hundredths of total variation and churn; any other metric stays as it is."""
    pairs = pd.DataFrame({"total_variation": [0.2], "churn": [0.1], "jensen_shannon": [0.3]})
    assert in_points(pairs).iloc[0].tolist() == pytest.approx([20, 10, 0.3])
    assert pairs["churn"].tolist() == [0.1]
    assert [with_unit(name) for name in ("total_variation", "label_pd")] == ["total variation (points)", "label pd"]


def test_a_level_has_one_name_for_people():
    """Alone or beside what changed; a level of one's own keeps its name."""
    assert words("smelu_1") == "SmeLU-1"
    assert words("relu, averaged weights") == "ReLU, averaged weights"
    assert words("squareplus") == "squareplus"


def test_a_name_for_people_has_the_look_of_its_level():
    """A picture may be given either."""
    for name in ("relu", "swiglu", "smelu_05", "smelu_1", "bQbV"):
        assert known(WORDS[name]) == known(name)
