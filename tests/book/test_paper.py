"""The paper is set from the records, holds no number of its own, and stops where a sentence is not borne by them."""

import json
import re
import shutil

import pytest

from actlab import paths
from actlab.book import paper
from actlab.book.execute import BookError
from actlab.figures import style

PROSE = (paths.ROOT / "paper" / "paper.typ").read_text(encoding="utf-8")
SETTINGS = {"0", "1", "2", "4", "5", "10", "95", "0.5", "-1", "-4"}
"""Numbers of formulas, names and levels, none of them a result."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the sources of a paper that has been set; figures are drawn by the tests of theirs."""
    out = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        blank = style.svg(style.words_alone())
        patch.setattr(paper, "svg", lambda figure: blank)
        assert all(path.read_bytes().startswith(b"%PDF") for path in paper.build_paper(out))
    return out


def test_every_figure_and_table_is_quoted(built):
    """Seven figures, three tables, the ledger in the supplement; nothing is computed for nothing."""
    figures = re.findall(r'#picture\("(\w+)"', PROSE)
    assert sorted(figures) == sorted(path.stem for path in (built / "figures").iterdir())
    assert len(figures) == 7
    assert {path.stem for path in (built / "tables").iterdir()} == {"studies", "anomalies", "verdicts", "ledger"}


def test_a_statement_that_the_records_do_not_bear_stops_the_paper(built, tmp_path):
    """relu and gelu exchanged after the perturbation: the typesetter names the sentence."""
    changed = shutil.copytree(built, tmp_path / "changed")
    values = json.loads((changed / "values.json").read_text())
    values["floors"]["relu"] = values["floors"]["gelu"]
    (changed / "values.json").write_text(json.dumps(values))
    with pytest.raises(BookError, match=r"paper.typ cannot be set: .*do not bear this statement: after one ULP"):
        paper.typeset(changed / "paper.typ")


def test_no_result_is_typed_in():
    """Numbers stand in code, citations and formulas; in the prose only those that are no result."""
    code = (
        r"^#(import|holds|let|set|counter).*$|\(\d?\.?\d*fr.*?\)|slice\([\d, -]*\)|d: \d|, \d\)|width: \d+%|colspan: \d"
    )
    prose = re.sub(rf"(?m)^//.*$|@\w+|<\w+>|\"[^\"]*\"|`[^`]*`|{code}", "", PROSE)
    found = set(re.findall(r"(?<![\w.])-?\d+(?:[.,]\d+)*(?![\w.]*\w)", prose))
    assert found - SETTINGS == set()
