"""Tables of large studies, kept in the cache, so that a page need not read the records again: a kept table counts for
exactly the bytes of the records, and the code, that it was made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from actlab import paths
from actlab.errors import DiskError
from actlab.files import contents, state_of, write_text
from actlab.records import store

LARGE = 1_000_000
"""Bytes of a study's records from which its tables are kept."""


def table(study: str, what: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The table as it is kept, where the records are those that it was made of; else as ``make`` makes it."""
    files = sorted(store.folder_of(study).glob(paths.RECORDS)) if store.is_name(study) else []
    if sum(state_of(path).st_size for path in files) < LARGE:
        return make()
    made_of = [f"pandas {pd.__version__}", *_code(), *contents(files, store.folder_of(study))]
    place = paths.cache() / "tables" / f"{study}-{what}.json"
    with suppress(OSError, ValueError):  # it is not there, or no text
        sha256, _, text = place.read_text(encoding="utf-8").partition("\n")
        kept = json.loads(text) if sha256 == _sha256(text) else {}
        if kept and kept["made_of"] == made_of:
            return pd.DataFrame({name: _column(dtype, values) for name, (dtype, values) in kept["columns"].items()})
    made = make()
    columns = {name: (str(column.dtype), column.tolist()) for name, column in made.items()}
    text = json.dumps({"made_of": made_of, "columns": columns})
    with suppress(DiskError):
        write_text(place, f"{_sha256(text)}\n{text}")
    return made


def _sha256(text: str) -> str:
    """A bit that flips on a disk would be another number."""
    return hashlib.sha256(text.encode()).hexdigest()


def _column(dtype: str, values: list[Any]) -> pd.Series[Any]:
    """With tuples where JSON has lists."""
    return pd.Series([tuple(value) if isinstance(value, list) else value for value in values], dtype=dtype)


@cache
def _code() -> list[str]:
    """The files that make tables."""
    here = Path(__file__).parent
    return contents((path for path in sorted(here.glob("*")) if path.suffix in (".py", ".yaml")), here)
