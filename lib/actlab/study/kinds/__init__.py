"""The kinds of study, one class each: language models on characters, the ablation on tokens, the image sweep, twins in
lockstep."""

from collections.abc import Mapping
from typing import Any

from actlab.errors import RecordError, Table
from actlab.study.kinds.ablation import Ablation
from actlab.study.kinds.characters import Characters
from actlab.study.kinds.images import Sweep
from actlab.study.kinds.kind import Kind
from actlab.study.kinds.twins import Twins

KINDS: Table[Kind] = Table("kind", ((kind.name, kind) for kind in (Characters(), Sweep(), Ablation(), Twins())))
"""By their names in params files."""


def kind_of(thing: Any) -> Kind:
    """The kind of study that parameters, an arm, a task or a record belong to.

    Raises:
        RecordError: the trials of a record, if it has any, are of no kind that trains.
    """
    sign = thing.get("kind") if isinstance(thing, Mapping) else type(thing)
    for kind in KINDS.values():
        if sign in (kind.params, *kind.parts, *kind.records):
            return kind
    raise RecordError(f"a record of kind {sign!r} holds no trials that can be trained again")
