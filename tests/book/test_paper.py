"""The paper's numbers are typed: each is held to the records, and the paper is not set where one is not."""

import ast
import re

import pytest
from prose import numbers, statements

import actlab
from actlab import paths
from actlab.book import paper
from actlab.errors import NotHeld

PAPER = paths.ROOT / "paper"
PROSE = (PAPER / "paper.typ").read_text(encoding="utf-8")
SETTINGS = {"1", "2", "5", "95", "100"}
"""Levels, and the steps that a decay of 0.99 remembers: no result."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sources of a paper that has been set."""
    out = tmp_path_factory.mktemp("paper")
    assert all(path.read_bytes().startswith(b"%PDF") for path in paper.build_paper(out))
    return out


def test_every_figure_and_table_is_quoted(built):
    """Six figures, a table, the ledger in the supplement; nothing is computed for nothing."""
    figures = re.findall(r'#picture\("(\w+)"', PROSE)
    assert sorted(figures) == sorted(path.stem for path in (built / "figures").iterdir())
    assert {path.stem for path in (built / "tables").iterdir()} == {"verdicts", "ledger"}


def test_a_number_that_the_records_do_not_hold_stops_the_paper(committed, monkeypatch, tmp_path):
    """relu's runs agree more than they did: the first statement is named, and nothing is written."""
    runs, pairs = actlab.load("answer")

    def changed(*asked):
        return runs, pairs.assign(total_variation=pairs["total_variation"] / 2)

    monkeypatch.setattr(actlab, "load", changed, raising=False)
    with pytest.raises(NotHeld, match="about 20% of its next character's probability moves"):
        paper.build_paper(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_every_number_of_the_prose_is_in_a_statement_that_is_held():
    """Formulas, citations, code, names of files and levels aside."""
    code = (
        r"(?m)^#(import|let|set|counter|picture).*$|^//.*$|\$[^$]*\$|@\w+|<\w+>|\"[^\"]*\"|`[^`]*`|\(\d?\.?\d*fr.*?\)"
    )
    code += r"|SmeLU-\d|width: \d+%|slice\(\d\)|GPT-2"
    prose = re.sub(code, "", PROSE[: PROSE.index("= The registered hypotheses")])
    scripts = [PAPER / "held.py", paths.ROOT / "book" / "front.py"]
    held = [one for script in scripts for one in statements(ast.parse(script.read_text(encoding="utf-8")))]
    assert numbers(prose) - SETTINGS - set().union(*map(numbers, map(ast.unparse, held))) == set()
