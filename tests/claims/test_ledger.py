"""Every published claim has a row, every row a test, and no verdict is typed in."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support import grids

from actlab import paths
from actlab.book.pages import load_pages
from actlab.claims import Claim, ledger, readme, report_findings, report_scale, report_summary
from actlab.claims import published as p
from actlab.claims.checks import Conflict, Counted, Judged, Recomputed, Selected, Untestable
from actlab.claims.evidence import Evidence, gather
from actlab.claims.recorded import AcrossScales, Recorded
from actlab.claims.unpaired import MixedMetrics, OneSet, ReadUnpaired, TradeOff
from actlab.claims.verdicts import FLAWS, Between, counted, exactly
from actlab.claims.verdicts import KINDS as KINDS_IN_WORDS
from actlab.records import store
from actlab.records.repro import Grid, read
from actlab.study.protocol import DEFECTS

ROWS = (readme, report_summary, report_findings, report_scale)
LANGUAGE = [claim for module in ROWS for claim in module.CLAIMS]
ALL = [claim for source in ledger.SOURCES for claim in source.claims]
BY_ID = {claim.id: claim for claim in ALL}
EXPECTED = {
    *(f"M{i:02}" for i in range(1, 15)),
    *(f"S{i:02}" for i in range(1, 25)),
    *(f"R{i:02}" for i in (*range(1, 26), *range(31, 37), *range(41, 66))),
    *(f"T{i:02}" for i in range(1, 100)),
}
FROM_RECORDS = (Recorded, AcrossScales, ReadUnpaired, TradeOff, MixedMetrics, OneSet)
KINDS = (*FROM_RECORDS, Recomputed, Conflict, Selected, Judged, Counted, Untestable)


def of_kind(*kinds: type) -> list[Claim]:
    """The claims whose test is of one of these kinds."""
    return [claim for claim in LANGUAGE if isinstance(claim.test, kinds)]


def test_every_claim_has_one_row() -> None:
    """All claims that were collected, each once."""
    assert len(ALL) == len(BY_ID)
    assert set(BY_ID) == EXPECTED
    assert len(EXPECTED) == 193


def test_a_row_is_complete(subtests: pytest.Subtests) -> None:
    """Statement, place, what was reported, rule and test are there, and its page is one of the book's."""
    for claim in ALL:
        with subtests.test(claim=claim.id):
            assert all((claim.statement, claim.reported, claim.rule, claim.section))
            assert callable(claim.test)
            assert claim not in LANGUAGE or isinstance(claim.test, KINDS), "nothing else gives a verdict"
            assert claim.page in pages() | {""} or (paths.ROOT / "book" / f"{claim.page}.md").exists()


def test_no_verdict_is_typed_in(subtests: pytest.Subtests) -> None:
    """The modules of rows never name a verdict as a value, nor make a finding."""
    for module in [*ROWS, p]:
        with subtests.test(module=str(module)):
            tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
            texts = {
                node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            assert not texts & set(ledger.VERDICTS)
            assert "Finding" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


NOTHING = Evidence({})


def test_without_records_a_claim_waits(subtests: pytest.Subtests) -> None:
    """Nothing recorded, nothing judged; and the text says what is waited for."""
    for claim in of_kind(*FROM_RECORDS):
        with subtests.test(claim=claim.id):
            found = claim.test(NOTHING)
            assert found.verdict == "not yet tested"
            assert found.ours.startswith("waits for records of ") or "scale" in found.ours


def other(stated: Between) -> Between:
    """A statement that cannot be meant."""
    return exactly(stated.low - 1000 - 10 * abs(stated.low))


def test_arithmetic_decides(subtests: pytest.Subtests) -> None:
    """Had the text stated what follows, it would be right; had it stated something else, wrong."""
    for claim in of_kind(Recomputed):
        with subtests.test(claim=claim.id):
            check = claim.test
            assert isinstance(check, Recomputed)
            follows = check.follows()
            right = follows if isinstance(follows, Between) else exactly(follows)
            assert replace(check, stated=right)(NOTHING).verdict == "replicated"
            assert replace(check, stated=other(right))(NOTHING).verdict == "arithmetic error"


def test_statements_decide(subtests: pytest.Subtests) -> None:
    """Two equal statements are no contradiction; of two that cannot both be true, one is."""
    for claim in of_kind(Conflict):
        with subtests.test(claim=claim.id):
            check = claim.test
            assert isinstance(check, Conflict)
            assert replace(check, second=check.first)(NOTHING).verdict == "replicated"
            away = other(check.first) if isinstance(check.first, Between) else frozenset({"something else"})
            assert replace(check, second=away)(NOTHING).verdict == "self-contradiction"


def test_an_artefact_of_selection_needs_the_best_checkpoint_to_say_otherwise(subtests: pytest.Subtests) -> None:
    """If the lowest losses said the same, there would be no artefact."""
    for claim in of_kind(Selected):
        with subtests.test(claim=claim.id):
            check = claim.test
            assert isinstance(check, Selected)
            assert check(NOTHING).verdict == "artefact"
            assert replace(check, best=check.last)(NOTHING).verdict == "replicated"


def test_counting_decides(subtests: pytest.Subtests) -> None:
    """Any count is right for a range that holds it, and none for an empty one."""
    for claim in of_kind(Counted):
        with subtests.test(claim=claim.id):
            check = claim.test
            assert isinstance(check, Counted)
            assert replace(check, stated=Between(0, 1e12))(NOTHING).verdict == "replicated"
            assert replace(check, stated=exactly(0))(NOTHING).verdict == "contradicted"


def test_what_cannot_be_tested_says_why(subtests: pytest.Subtests) -> None:
    """A reason, and nothing else."""
    for claim in of_kind(Untestable):
        with subtests.test(claim=claim.id):
            found = claim.test(NOTHING)
            assert found.verdict == "not testable"
            assert len(found.ours) > 20


@cache
def pages() -> frozenset[str]:
    """The names of the book's executed pages."""
    return frozenset(page.name for page in load_pages())


@cache
def world(effect: float, seed: int = 0) -> Grid:
    """A grid with every model and activation; ``effect`` is what one activation does more than the one before."""
    models = ("charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm")
    activations = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")
    noise = np.random.default_rng(seed).normal(0, 0.01, (6, 6, 5))
    records = []
    for i, m in enumerate(models):
        for j, a in enumerate(activations):
            luck = noise[i, j if effect else 0]
            one = grids.record(m, a, tuple(2 + 0.2 * i + effect * j + luck), pd=0.1 + 0.03 * i + effect * j + luck[0])
            one["config"] |= {
                "recipe": {"iterations": 5, "batch_size": 1, "learning_rate": 1.0},
                "model_size": dict.fromkeys(SIZE, 1),
            }
            one["provenance"]["data"] |= {"validation_positions": 9, "vocab_size": 2}
            records.append(one)
    return read(records)


SIZE = ("n_layer", "n_embd", "n_head", "block_size")


def test_records_decide(subtests: pytest.Subtests) -> None:
    """With every arm recorded at every scale a test is made, and says its numbers."""
    for claim in of_kind(*FROM_RECORDS):
        with subtests.test(claim=claim.id):
            found = claim.test(
                Evidence({scale: world(0.1, seed) for seed, scale in enumerate(("lite", "partial", "full"))})
            )
            assert not found.ours.startswith("waits")
            assert found.basis.startswith("records at ")


def test_claims_of_identity_depend_on_the_records(subtests: pytest.Subtests) -> None:
    """At the claim's scale: where the activation does nothing they are replicated, else they wait for the flaw's
    records."""
    ignored = {("activation: ignored", 10): world(0.0), ("activation: ignored", 9): world(0.1)}
    for id in ["T07", "T09", "T11", "T12", "T26", "T41", "T83", "R05"]:
        with subtests.test(id=id):
            check = BY_ID[id].test
            assert isinstance(check, Recorded)
            scale = (check.stated or check.scales)[0]
            verdicts = [check(Evidence({scale: world(effect)})).verdict for effect in (0.0, 0.1)]
            verdicts += [check(Evidence({scale: world(0.1)}, {key: grid})).verdict for key, grid in ignored.items()]
            assert verdicts == ["replicated", "not yet tested", "artefact", "contradicted"]


def test_no_claim_of_a_larger_scale_is_judged_by_lite_records() -> None:
    """Nothing that partial or full models are said to do is contradicted, or replicated, by small ones."""
    found: dict[tuple[str, float], str] = {}
    for claim in of_kind(Recorded, TradeOff):
        check = claim.test.correct if isinstance(claim.test, TradeOff) else claim.test
        assert isinstance(check, Recorded)
        if "lite" not in (check.stated or check.scales):
            verdicts = {
                (claim.id, effect): claim.test(Evidence({"lite": world(effect)})).verdict for effect in (0.05, 0.1)
            }
            found |= verdicts
    assert len(found) > 80
    assert {key: verdict for key, verdict in found.items() if verdict != "not yet tested"} == {}
    assert {id for id, _ in found} >= {
        "T33",
        "T43",
        "T49",
        "T51",
        "T52",
        "T54",
        "T55",
        "T71",
        "T82",
        "R11",
        "R19",
        "R41",
    }


def recomputed(id: str) -> float:
    """What a claim's test finds."""
    check = BY_ID[id].test
    assert isinstance(check, Recomputed)
    found = check.follows()
    return (found.low + found.high) / 2 if isinstance(found, Between) else found


def test_statistics_are_scipys() -> None:
    """ANOVA, Tukey: as SciPy gives them from the same numbers."""
    assert recomputed("T15") == pytest.approx(stats.f.sf(8.32, 2, 6), rel=1e-3)
    assert recomputed("T15") == pytest.approx(0.0186, abs=5e-5)
    table = [p.CHARLM_TRIALS[a] for a in ("swish", "relu", "gelu")]
    assert stats.f_oneway(*table).statistic == pytest.approx(
        8.32, abs=0.03
    )  # so these are the runs that the text speaks of
    tukey = stats.tukey_hsd(*table).pvalue
    assert (recomputed("T16"), recomputed("T17")) == pytest.approx((tukey[0, 1], tukey[0, 2]), rel=1e-6)
    assert (recomputed("T16"), recomputed("T17")) == pytest.approx((0.0269, 0.0301), abs=5e-5)


def test_arithmetic_by_hand(subtests: pytest.Subtests) -> None:
    """The sums, worked out apart."""
    for id, value, tolerance in [
        ("T01", 192.5 + 231.1 + 124.7 + 66.6 + 267.0 + 129.1, 1e-9),
        ("T02", 2.1517, 1e-3),
        ("T13", 33.43, 0.01),
        ("T23", 262.1, 0.1),
        ("T24", (192.5 + 124.7 + 66.6) * 2 / 3 + 267.0 * 3 / 4, 1e-9),
        ("T44", (14.53 + 27.83 + 33.5 + 33.13 + 43.20 + 37.37) / 6, 1e-9),
        ("T63", 0.0032, 5e-5),
        ("T88", 1.346, 1e-3),
        ("R16", 0.952286, 1e-4),
        ("R52", (55 + 250) / 60, 1e-9),
    ]:
        with subtests.test(id=id, value=value, tolerance=tolerance):
            assert recomputed(id) == pytest.approx(value, abs=tolerance)


def test_a_loss_bounds_the_accuracy() -> None:
    """Where the most probable character is wrong, the right one has at most 1/2: each error costs ln 2 at least, so
    accuracy >= 1 - loss / ln 2."""
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(1000, 5)) * 5
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    right = np.where(generator.random(1000) < 0.97, probabilities.argmax(axis=1), generator.integers(5, size=1000))
    loss = -np.log(probabilities[np.arange(1000), right]).mean()
    assert (probabilities.argmax(axis=1) == right).mean() >= 1 - loss / np.log(2)


@pytest.fixture
def real_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """This test reads the committed records."""
    monkeypatch.delenv("ACTLAB_RESULTS")


@pytest.mark.usefixtures("real_records")
def test_the_committed_records_are_judged() -> None:
    """The front page's sentence counts every row; verdicts from records say at which scale."""
    sources = tuple(source for source in ledger.SOURCES if source.evidence is gather)
    judged = ledger.judge(sources)
    assert len(judged) == len(LANGUAGE)
    assert set(judged["verdict"]) <= set(ledger.VERDICTS)
    assert ledger.apart(judged) == []
    by_record = judged.loc[[claim.id for claim in of_kind(*FROM_RECORDS)]]
    assert (by_record["basis"].str.contains(" scale") | (by_record["verdict"] == "not yet tested")).all()
    total = ledger.counts(judged)
    assert total["all"].sum() == len(judged)
    said = ledger.sentences(judged)["claims_counts"]
    assert said.startswith(f"Of {len(judged)} published claims: ")
    assert all(counted(str(verdict), n) in said for verdict, n in total["all"].items())
    parts = re.search(r"(\d+) replicated \((.*?)\)", said)
    assert parts
    assert sum(int(part.split()[0]) for part in parts[2].split(", ")) == int(parts[1])


NAMED = {
    "R22": "compatible",
    "R47": "not yet tested",
    "R48": "replicated",
    "R52": "replicated",
    "R55": "not yet tested",
    "R03": "not yet tested",
    "R14": "not yet tested",
    "R24": "not yet tested",
    "R56": "self-contradiction",
    "M02": "contradicted",
    "M11": "not testable",
    "M12": "not testable",
    "S23": "replicated",
    "T18": "self-contradiction",
    "T20": "not yet tested",
    "T50": "not testable",
    "T53": "not yet tested",
    "T78": "not yet tested",
    "T84": "not yet tested",
    "R65": "replicated",
    "T21": "not yet tested",
    "T27": "compatible",
    "T29": "not yet tested",
    "T33": "not yet tested",
    "T68": "self-contradiction",
    "T93": "self-contradiction",
    **dict.fromkeys(("R11", "R12", "R13", "R15", "R17", "R60"), "not yet tested"),
}


@pytest.mark.usefixtures("real_records")
def test_the_rows_that_an_audit_questioned() -> None:
    """Their verdicts by today's records; a row leaves this list when new records change it, with an entry in the
    log."""
    judged = ledger.judge()
    assert {id: judged.loc[id, "verdict"] for id in NAMED} == NAMED
    assert "17 times as long, as said" in judged.loc["T68", "ours"]
    assert "one model can contradict it" in judged.loc["R47", "rule"]
    assert "needs no second model" in judged.loc["T33", "ours"]
    assert "equal parameters h=2: -14" in judged.loc["M02", "ours"]
    from_files = ["T08", "T14", "T16", "T17", "T39", "T63", "T65", "T66", "T74"]
    assert set(judged.loc[from_files, "basis"]) == {"the text's own numbers and its result files"}


def test_a_row_can_change_or_says_why_not() -> None:
    """R19 is decided by records of full scale; rows for which no study makes records say which would decide them."""
    assert "only records of full" in BY_ID["R19"].rule
    assert "full scale" in BY_ID["R19"].test(Evidence({"full": world(0.1), "lite": world(0.1)})).basis
    for id in ("R04", *(f"R{n}" for n in range(41, 46)), "R60", "R61"):
        assert BY_ID[id].rule.endswith("which no study here makes: until one does, this row cannot change"), id


def test_twins_are_claims_and_can_come_apart() -> None:
    """Every twin is a row, none stands in two groups, and two verdicts in one group are found."""
    ids = [id for group in ledger.TWINS for id in group]
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(BY_ID)
    verdicts = pd.DataFrame({"verdict": dict.fromkeys(ids, "artefact")})
    assert ledger.apart(verdicts) == []
    verdicts.loc["T21", "verdict"] = "contradicted"
    assert ledger.apart(verdicts) == [("T20", "T21", "T53", "T78", "T84")]
    assert ledger.twins_of("T21") == ("T20", "T53", "T78", "T84")


def judged_as(*rows: tuple[str, str, str]) -> pd.DataFrame:
    """A ledger of rows (verdict, kind, defect)."""
    return pd.DataFrame(rows, columns=["verdict", "kind", "defect"]).assign(changed="")


def test_what_is_replicated_is_told_by_kind() -> None:
    """The parts add up; one is told in the singular; flaws are told in words."""
    several = [
        ("replicated", "setting", ""),
        ("replicated", "setting", ""),
        ("replicated", "outcome", ""),
        ("contradicted", "outcome", ""),
    ]
    said = ledger.sentences(
        judged_as(*several, ("artefact", "outcome", "padding: both"), ("artefact", "count", "a flaw in words"))
    )
    assert said["claims_counts"] == (
        "Of 6 published claims: 3 replicated (2 settings that we ran as stated, 1 outcome of training), 1 contradicted, 2 artefacts"
    )
    assert said["claims_defects"].endswith(
        "only with a flaw: convolutions padded on both sides (1), a flaw in words (1)"
    )
    assert ledger.sentences(judged_as(several[3]))["claims_counts"] == "Of 1 published claims: 1 contradicted"


SETTINGS = {"M03", "M04", "M05", "M06", "M07", "M14", *(f"S{n:02}" for n in (1, 4, 5, 6, 7, 8, 9, 10, 11))}
SETTINGS |= {"R01", "R09", "R10", "R49", "R53", "R57", "R62", "T91", "T92"}


def test_every_claim_is_of_a_kind() -> None:
    """Settings are the ones that only say what was run; a replicated claim is of one of three kinds."""
    assert {claim.id for claim in ALL if claim.kind == "setting"} == SETTINGS
    assert {claim.kind for claim in ALL} == set(KINDS_IN_WORDS)
    assert all(claim.kind == "count" for claim in of_kind(Recomputed, Conflict, Judged, Counted))
    assert {BY_ID[id].kind for id in ("M10", "S02", "S03", "S22", "M09")} == {"count"}
    assert {BY_ID[id].kind for id in ("M13", "R22", "S12", "T33")} == {"outcome"}


def test_every_switch_of_the_ledger_has_words() -> None:
    """No raw name of a switch is left to be read."""
    assert all(flaw in DEFECTS for flaw in FLAWS)
    assert not {claim.test.defect for claim in of_kind(Recorded, Selected)} & set(DEFECTS) - set(FLAWS)  # type: ignore[attr-defined]


def test_a_rule_covers_what_it_gives() -> None:
    """A rule that says when a claim fails also says when it does not."""
    for claim in (*of_kind(Recomputed, Conflict), BY_ID["M08"]):
        assert claim.rule.endswith("replicated otherwise"), claim.id


def test_the_cpus_records_stand_in_where_the_gpu_has_none() -> None:
    """Partial scale: read from one study or from the other, never from both."""
    for study, losses in (("repro-partial-cpu", (2.0, 2.1, 2.2)), ("repro-partial", (1.0, 1.1, 1.2))):
        store.save(store.path_of(study, "charlm-relu"), {**grids.record(losses=losses), "study": study})
        grid = gather().grids["partial"]
        assert (grid.study, list(grid.arms)) == (study, [("charlm", "relu")])
        assert grid.arms["charlm", "relu"].values("val_loss").tolist() == list(losses)


def test_judging_without_any_record() -> None:
    """All that needs records waits, and the sentences still count every row."""
    judged = ledger.judge(tuple(replace(s, evidence=lambda: NOTHING) for s in ledger.SOURCES if s.evidence is gather))
    waiting = {claim.id for claim in of_kind(*FROM_RECORDS)}
    assert set(judged.index[judged["verdict"] == "not yet tested"]) == waiting
