"""A record with another entry somewhere. Not a test."""

import copy

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
