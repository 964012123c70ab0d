"""Studies to explore: a made-up one, and two committed ones with snapshots and with perturbed runs. Not a test."""

from functools import cache

import grids

from actlab.explorer import catalogue as explore

COMMITTED = ("sources", "extreme", "corner")


def made_up():
    """Two architectures; one arm with a noise floor and one with a diverged trial, one activation missing in one."""
    return [
        grids.record(),
        grids.record(activation="swiglu", pd=0.3),
        grids.record(model="tinylstm", status={2: "diverged"}),
        grids.floor(),
        grids.baseline(),
    ]


@cache
def folders():
    """Folder -> its records."""
    return {"repro-lite": made_up(), **{name: grids.committed(name) for name in COMMITTED}}


@cache
def catalogue():
    """What the explorer of these folders needs, with a made-up text."""
    found = explore.of_records(folders())
    study, names = found["studies"]["sources"], {"model_name": "charlm", "activation": "relu", "prompt": "h"}
    wrote = {"42": "hello world", "43": "hello <b>moon</b>", "44": "hello moon"}
    study["texts"] = explore.texts_of([names | {"texts": wrote}])
    study["views"]["texts"] = ["total_variation"]
    return found
