"""The image sweep read from records: pairing by seed, sentences that count."""

import pytest
from sweeps import longer, made_up

from actlab.records import mnist as mnist_records


def test_differences_are_paired_by_seed():
    """The effect of the seed that arms share cancels: the interval is far narrower than the scatter."""
    found = mnist_records.differences(made_up(), "geglu_equal_width")[8, 0.001, 64]
    assert found.value == pytest.approx(3.0, abs=0.2)
    assert found.high - found.low < 0.5


def test_more_epochs_stand_for_themselves():
    """Longer trainings are compared with the first epoch seed by seed, and enter no other number."""
    both = made_up(longer(3) + longer(10))
    found = mnist_records.gains(both, "relu", 8)
    assert {epochs: round(e.value, 6) for epochs, e in found.items()} == {3: 2.0, 10: 9.0}
