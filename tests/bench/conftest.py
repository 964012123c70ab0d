"""One small measurement that several tests read."""

from __future__ import annotations

from typing import Any

import pytest

from actlab.bench import language


@pytest.fixture(scope="session")
def measured() -> dict[str, Any]:
    """charlm at the quick size, one round."""
    return language.measure_all("pydoc", "quick", names=("charlm",), rounds=1, steps=1)
