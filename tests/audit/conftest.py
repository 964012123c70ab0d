"""Made-up records as the audit gathers them."""

from itertools import count

import pytest
from tests.support import grids

from actlab_audit.evidence import gather


@pytest.fixture
def gathered(tmp_path, monkeypatch):
    """Saves records as those of studies (``lite`` for ``repro-lite``, else the study's name with ``_``), a scale's or
    small ones, of ten iterations unless they say otherwise, and gathers them."""
    folders = count()

    def make(**studies):
        monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / str(next(folders))))
        for name, records in studies.items():
            scale = name if name in ("lite", "partial", "full") else ""
            for one in records:
                config = one["config"]
                recipe = {"iterations": 10, "batch_size": 1, "learning_rate": 1.0} | config["recipe"]
                config = {"scale": scale or "lite", "dataset": "pydoc"} | config | {"recipe": recipe}
                grids.save(one | {"config": config}, study=f"repro-{scale}" if scale else name.replace("_", "-"))
        return gather()

    return make
