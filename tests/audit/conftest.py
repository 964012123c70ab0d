"""Made-up records as the audit reads them."""

from itertools import count

import pytest
from tests.support import grids

from actlab_audit.evidence import gather


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Saves records as those of studies in a folder of their own (``lite`` for ``repro-lite``, else the study's name
    with ``_``)."""
    folders = count()

    def make(**studies):
        monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / str(next(folders))))
        for name, records in studies.items():
            grids.save(*records, study=name.replace("_", "-"))

    return make


@pytest.fixture
def gathered(saved):
    """Saves and gathers records (``lite`` for ``repro-lite``), a scale's or small ones, of ten iterations unless they
    say otherwise."""

    def filled(name, one):
        config = one["config"]
        recipe = {"iterations": 10, "batch_size": 1, "learning_rate": 1.0} | config["recipe"]
        scale = name if name in SCALES else "lite"
        return one | {"config": {"scale": scale, "dataset": "pydoc"} | config | {"recipe": recipe}}

    def make(**studies):
        saved(
            **{
                f"repro_{name}" if name in SCALES else name: [filled(name, one) for one in records]
                for name, records in studies.items()
            }
        )
        return gather()

    return make


SCALES = ("lite", "partial", "full")
