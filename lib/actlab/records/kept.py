"""Tables of large studies, kept in the cache as columns, so that a page need not read the records again: a kept table
counts for exactly the bytes of the records, and the code, that it was made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from actlab import paths
from actlab.errors import DiskError
from actlab.files import replacing
from actlab.records import store

LARGE = 1_000_000
"""Bytes of a study's records from which its tables are kept."""


def table(study: str, what: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The table as it is kept, where the records are those that it was made of; else as ``make`` makes it."""
    files = sorted(store.folder_of(study).glob("*.json")) if store.is_name(study) else []
    if sum(path.stat().st_size for path in files) < LARGE:
        return make()
    key = _code() + "".join(f" {path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)
    place = paths.cache() / "tables" / f"{study}-{what}.safetensors"
    with suppress(OSError, ValueError, SafetensorError):
        return _read(place, key)
    made = make()
    with suppress(DiskError):
        _write(place, key, made)
    return made


@cache
def _code() -> str:
    """Of the files that make tables."""
    files = [path for path in sorted(Path(__file__).parent.glob("*")) if path.suffix in (".py", ".yaml")]
    content = b"".join(path.read_bytes() for path in files)
    return f"pandas {pd.__version__} {hashlib.sha256(content).hexdigest()}"


def _write(place: Path, key: str, made: pd.DataFrame) -> None:
    """Numbers as they are; any other column as the places of its values in a list of them, -1 where it is empty."""
    arrays, about = {}, []
    for i, (name, column) in enumerate(made.items()):
        levels = None
        if column.dtype.kind in "bif":
            arrays[f"c{i}"] = column.to_numpy()
        else:
            arrays[f"c{i}"], found = pd.factorize(column)
            levels = list(found)
        about.append([name, str(column.dtype), levels])
    with replacing(place, int(made.memory_usage().sum())) as work:
        save_file(arrays, work, {"made_of": key, "columns": json.dumps(about)})


def _read(place: Path, key: str) -> pd.DataFrame:
    """The table; ``ValueError`` where it was made of something else."""
    with safe_open(place, "np") as file:
        about = file.metadata()
        if about["made_of"] != key:
            raise ValueError("made of other records")
        columns = {}
        for i, (name, dtype, levels) in enumerate(json.loads(about["columns"])):
            values = file.get_tensor(f"c{i}")
            if levels is not None:
                known = np.empty(len(levels) + 1, dtype=object)  # the last: -1
                known[:-1] = [tuple(level) if isinstance(level, list) else level for level in levels]
                known[-1] = np.nan
                values = known[values]
            columns[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns)
