"""Every published claim has one row, every row a rule, and no verdict is typed in or changes unseen."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.support import grids

from _ext.pages import load_pages
from actlab import paths
from actlab_audit import ledger
from actlab_audit.evidence import NOTHING, gather
from actlab_audit.verdicts import LACKS, Finding

SNAPSHOT = Path(__file__).with_name("verdicts.yaml")
ENTRIES = {"id", "source", "document", "section", "claim", "reported", "rule", "arguments", "why", "page", "reads"}
MODELS = [*ledger.claims().query("reads == 'models'").itertuples()]
FROM_RECORDS = [claim for claim in MODELS if {"model", "models"} & {*claim.arguments} and "text" not in claim.rule]


@pytest.fixture(scope="module")
def judged():
    """The committed records, judged."""
    return ledger.judge()


@pytest.mark.slow
def test_no_verdict_changes_unseen(judged):
    """Each row's verdict by the committed records is the one that is written down beside this test."""
    known = {
        id: verdict
        for verdict, ids in yaml.safe_load(SNAPSHOT.read_text(encoding="utf-8")).items()
        for id in ids.split()
    }
    assert judged["verdict"].to_dict() == known


def test_each_row_is_whole():
    """Its page is in the book, its id its own; it has every entry, and no other; no verdict stands in the file."""
    made, rows, verdicts = {page.page for page in load_pages()}, ledger.claims(), {*ledger.parts()["meanings"]}
    assert all(page in made or (paths.ROOT / "book" / f"{page}.md").exists() for page in rows["page"])
    assert not [value for given in rows["arguments"] for value in given.values() if str(value) in verdicts]
    assert {*rows} == ENTRIES | {"kind"}
    assert rows["id"].is_unique
    assert rows.notna().all(axis=None)
    assert {*rows["kind"]} == {*ledger.KINDS}


def test_without_records_a_claim_waits():
    """Nothing recorded, nothing judged; the text says what is waited for; what needs no record is judged."""
    found = {claim.id: ledger.finding(claim, NOTHING) for claim in MODELS}
    waiting = {claim.id for claim in FROM_RECORDS}
    no_rule_yet = {claim.id for claim in MODELS if claim.rule == "text_rules.not_run"}
    assert {id for id, each in found.items() if each.verdict == "not run"} == waiting | no_rule_yet
    assert len(waiting) > 75
    assert all(found[id].ours.startswith("waits for records of ") for id in waiting)


def world(monkeypatch, folder, *scales):
    """A grid of each scale with every model and activation, each activation 0.1 above the one before."""
    monkeypatch.setenv("ACTLAB_RESULTS", str(folder))
    models = ("charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm")
    activations = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")
    recipe = {"iterations": 5, "batch_size": 1, "learning_rate": 1.0}
    size = dict.fromkeys(("n_layer", "n_embd", "n_head", "block_size"), 1)
    noise = np.random.default_rng(0).normal(0, 0.01, (3, 6, 6, 5))
    for (s, scale), (i, m), (j, a) in product(*map(enumerate, (scales, models, activations))):
        losses, apart = 2 + 0.2 * i + 0.1 * j + noise[s, i, j], 0.1 + 0.03 * i + 0.1 * j + noise[s, i, j, 0]
        one = grids.record(m, a, tuple(losses), apart, scale=scale, dataset="pydoc", recipe=recipe, model_size=size)
        one["provenance"]["data"] |= {"validation_positions": 9, "vocab_size": 2}
        grids.save(one, study=f"repro-{scale}")
    return gather()


@pytest.mark.slow
def test_records_decide(subtests, tmp_path, monkeypatch):
    """With every arm recorded at every scale a rule is followed, and says its numbers."""
    everywhere = world(monkeypatch, tmp_path, "lite", "partial", "full")
    for claim in FROM_RECORDS:
        with subtests.test(claim=claim.id):
            assert ledger.finding(claim, everywhere).basis.startswith("records at ")


def test_no_claim_of_a_larger_scale_is_judged_by_lite_records(tmp_path, monkeypatch):
    """Nothing that partial or full models are said to do is contradicted, or replicated, by small ones."""
    larger = [c for c in FROM_RECORDS if "lite" not in c.arguments["scales"]]
    small = world(monkeypatch, tmp_path, "lite")
    assert len(larger) > 45
    assert {ledger.finding(claim, small).verdict for claim in larger} == {"not run"}


@pytest.mark.slow
def test_statements_are_counted_once(judged):
    """Every twin is a row, none stands in two groups, and a group has one verdict and counts once. An open row has one
    thing that would decide it, and no other row has one."""
    ids = [id for group in ledger.parts()["twins"] for id in group]
    assert len(ids) == len(set(ids))
    assert all(len(set(judged.loc[group, "verdict"])) == 1 for group in ledger.parts()["twins"])
    assert judged.loc["T21", "twins"] == "T20, T53, T84"
    assert len(ledger.statements(judged)) == len(judged) - len(ids) + len(ledger.parts()["twins"])
    assert ((judged["lacks"] != "") == judged["verdict"].isin([*LACKS])).all()


def test_a_changed_rule_has_its_date():
    """Each row has one; none is older than the last commit that changed a rule; a line tells what was recorded then."""
    dates = ledger.parts()["changed"]
    ids = [id for each in dates.values() for id in each]
    assert sorted(ids) == sorted([*ledger.claims()["id"], "shared"])
    others = [f":!lib/actlab_audit/{name}" for name in ("ledger.py", "page.*", "autopsy")]
    rules = ["lib/actlab_audit", *others, "lib/actlab/claims", ":!lib/actlab/claims/ledger.py"]
    last = paths.git("log", "-1", "--format=%cs", "--invert-grep", "--grep=^Rules: unchanged$", "--", *rules)
    assert (last or "").strip() <= max(dates)[:10]


def test_a_line_tells_what_was_recorded_when_a_rule_changed(monkeypatch):
    """In one time zone; ``shared`` counts for each row."""
    days = {"2026-01-01T00:00:00+00:00": ["M01"], "2026-01-02T00:30:00+02:00": ["shared"]}
    monkeypatch.setattr(ledger, "parts", lambda: {"changed": days})
    for since, verdict, expected in (
        ("2026-01-01T22:45:00+00:00", "replicated", "before its first record"),
        ("2026-01-01T21:45:00+00:00", "replicated", "after its first record"),
        ("", "self-contradiction", "needs no record"),
        ("", "not run", "before any record"),
    ):
        assert ledger.dated("M01", Finding(verdict, "", since=since)) == f"rule last changed 2026-01-02, {expected}"
