"""The paper quotes findings by name, and is not set where the records do not hold a number of its own."""

import re

import builder
import pytest

import actlab
import findings
from actlab import paths
from actlab.errors import NotHeld

PAPER = paths.ROOT / "paper"
PROSE = (PAPER / "paper.typ").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sources of a paper that has been set."""
    out = tmp_path_factory.mktemp("paper")
    assert all(path.read_bytes().startswith(b"%PDF") for path in builder.build_paper(out))
    return out


@pytest.mark.slow
def test_every_figure_and_table_is_quoted(built):
    """Six figures, a table, the ledger in the supplement; nothing is computed for nothing."""
    figures = re.findall(r'#picture\("(\w+)"', PROSE)
    assert sorted(figures) == sorted(path.stem for path in (built / "figures").iterdir())
    assert {path.stem for path in (built / "tables").iterdir()} == {"verdicts", "ledger"}


def test_a_number_that_the_records_do_not_hold_stops_the_paper(committed, monkeypatch, tmp_path):
    """Losses lie further apart than they did: the first statement is named, and nothing is written."""
    runs, pairs = actlab.load("answer")

    def changed(*asked):
        return runs.assign(val_loss=2 * runs["val_loss"]), pairs

    monkeypatch.setattr(actlab, "load", changed, raising=False)
    with pytest.raises(NotHeld, match=r"at most 0\.057 nats"):
        builder.build_paper(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_every_finding_that_the_paper_names_is_one(committed):
    """typst stops at another name; the paper quotes many."""
    named = re.findall(r'#(?:all|one)\("([\w-]+)"\)', PROSE)
    assert len(named) > 30
    assert {*named} <= {one.name for one in findings.every()}
