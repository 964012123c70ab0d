"""What a running study tells whoever watches it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from actlab.records import store


@dataclass(frozen=True)
class Event:
    """Something that a display may show."""

    kind: Literal["start", "arm", "progress", "trial", "note"]
    arm: Any
    """Of any kind of study: it has an ``id``."""
    trial: Any = None
    """With ``progress`` and ``trial``: it has a ``label``."""
    iteration: int = 0
    loss: float = math.nan
    record: store.Record | None = None
    """With ``arm``: its record."""
    total: int = 0
    """With ``start``: how many trials are to be trained or taken from the cache."""
    note: str = ""
    """With ``note``: a line to print."""


Watch = Callable[[Event], None]
