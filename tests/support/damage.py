"""Damage to a file's bytes, drawn at random: a flipped bit, a missing end, something after it. Not a test."""

import copy
from functools import partial

from hypothesis import strategies as st

DROP = object()


def changed(record, place, put):
    """A copy with another entry at a place (keys and indices), or without it."""
    made = inside = copy.deepcopy(record)
    for key in place[:-1]:
        inside = inside[key]
    if put is DROP:
        del inside[place[-1]]
    else:
        inside[place[-1]] = put
    return made


def damaged(content, place, bit, cut, extra):
    found = bytearray(content)
    found[place % len(found)] ^= 1 << bit
    return bytes(found[: len(found) - cut % len(found)]) + extra


cuts = st.just(0) | st.integers(0, 10**5)
ends = st.just(b"") | st.binary(max_size=9)
DAMAGE = st.builds(partial, st.just(damaged), place=st.integers(0, 10**6), bit=st.integers(0, 7), cut=cuts, extra=ends)
"""Called with bytes, each gives damaged ones."""
