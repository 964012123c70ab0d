"""Settings that came after the first records: a record without them has their defaults, so that no old arm is named by
them."""

from __future__ import annotations

from actlab.records.settings import DEFAULTS
from actlab.study.arms import LATER, LATER_OF_RECIPE


def test_readers_know_every_later_default() -> None:
    planned = {**LATER, **LATER_OF_RECIPE}
    del planned["fixed"]  # the first seed, where one stream varies
    assert {name: list(v) if isinstance(v, tuple) else v for name, v in planned.items()} == {
        name: DEFAULTS[name] for name in planned
    }
