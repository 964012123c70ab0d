"""Damage to a file's bytes, drawn at random: a flipped bit, a missing end, something after it. Not a test."""

import copy
import functools
import operator
from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Damage:
    """Called with bytes, it gives damaged ones."""

    place: int
    bit: int
    cut: int
    extra: bytes

    def __call__(self, content):
        changed = bytearray(content)
        changed[self.place % len(changed)] ^= 1 << self.bit
        return bytes(changed[: len(changed) - self.cut % len(changed)]) + self.extra


cuts = st.just(0) | st.integers(0, 10**5)
DAMAGE = st.builds(Damage, st.integers(0, 10**6), st.integers(0, 7), cuts, st.just(b"") | st.binary(max_size=9))
DROP = object()


def changed(record, place, put):
    """A copy with the entry at a place (keys and indices) replaced, or removed where ``put`` is ``DROP``."""
    found = copy.deepcopy(record)
    *way, last = place
    inside = functools.reduce(operator.getitem, way, found)
    if put is DROP:
        del inside[last]
    else:
        inside[last] = put
    return found
