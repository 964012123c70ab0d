"""Rules of single claims follow the records: other records, other verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.records.test_mnist import LIFT, longer
from tests.records.test_mnist import made_up as swept
from tests.support import grids
from tests.support.ablations import made_up, record, records

from actlab.claims import ledger
from actlab.claims.evidence import Evidence
from actlab.claims.special import ablation, language
from actlab.claims.verdicts import Finding, decided
from actlab.models import count_parameters
from actlab.models.gpt2 import GPT2, GPT2_SCALES, find_activation
from actlab.records import ablation as ablation_records
from actlab.records import mnist as mnist_records
from actlab.records.ablation import PUBLISHED, Factorial
from actlab.records.autopsy import Reading
from actlab.records.mnist import Sweep
from actlab.records.repro import ArmResults, read

UNPAIRED, MIXED = language.UNPAIRED, language.MIXED


def verdicts(reads: str, evidence: object, *ids: str) -> dict[str, str]:
    """Of these claims, or of all that are read so."""
    chosen = [claim for claim in ledger.claims() if claim.reads == reads and (not ids or claim.id in ids)]
    return {claim.id: ledger.finding(claim, evidence).verdict for claim in chosen}


@pytest.mark.parametrize(
    ("equal_width", "equal_parameters", "expected"),
    [
        (3.0, -1.0, ("artefact", "contradicted", "not testable")),
        (3.0, 2.0, ("replicated", "contradicted", "not testable")),
        (-3.0, -1.0, ("contradicted", "replicated", "not yet tested")),
    ],
)
def test_geglu_against_relu(equal_width: float, equal_parameters: float, expected: tuple[str, ...]) -> None:
    """M01, M02, M11: GeGLU better at equal width only, everywhere, nowhere."""
    lift = LIFT | {"geglu_equal_width": equal_width, "geglu_equal_parameters": equal_parameters}
    assert tuple(verdicts("mnist", swept(lift=lift), "M01", "M02", "M11").values()) == expected


def test_an_advantage_that_shrinks_with_the_width() -> None:
    """ReLU leads at 2, 4 and 8 units and trails at 16, in the study's own arms: low widths may explain it (M11)."""
    sizes = {h: swept(lift={**LIFT, "geglu_equal_width": -3.0 if h < 16 else 1.0}).trials for h in (2, 4, 8, 16)}
    trials = pd.concat([table[table["hidden"] == h] for h, table in sizes.items()])
    assert verdicts("mnist", Sweep(trials, mnist_records.read([]).longer), "M11") == {"M11": "replicated"}


def test_more_epochs() -> None:
    """M13: better after ten epochs than after one, in every published network; some missing; worse."""
    lower = {name: lift - 5 for name, lift in LIFT.items()}
    for more, verdict in (
        (longer(3) + longer(10), "replicated"),
        (longer(3)[:-5], "not yet tested"),
        (longer(3, lift=lower), "contradicted"),
    ):
        found = Sweep(swept().trials, mnist_records.read([], more).longer)
        assert verdicts("mnist", found, "M13") == {"M13": verdict}


def test_settings_and_counts_of_the_sweep() -> None:
    """What ran is replicated; the best of one epoch's values is a maximum of one."""
    found = verdicts("mnist", swept(), *(f"M{n:02}" for n in range(3, 15) if n not in (9, 11, 13)))
    assert (found.pop("M08"), found.pop("M12")) == ("self-contradiction", "not testable")
    assert set(found.values()) == {"replicated"}


def test_no_verdict_without_the_published_images() -> None:
    """Records of other images, or none, judge no claim but the one that simulation decides."""
    recorded = [claim.id for claim in ledger.claims() if claim.reads == "mnist" and claim.id != "M09"]
    for results in (swept(dataset="digits"), mnist_records.read([])):
        assert set(verdicts("mnist", results, *recorded).values()) == {"not yet tested"}
    assert verdicts("mnist", mnist_records.read([]), "M09") == {"M09": "contradicted"}


def of_published_size(shift: float | None = None, **more: object) -> Factorial:
    """Made-up records of the published size and budget; ``shift``: PReLU's losses are the published ones, moved."""
    size = {"n_layer": 12, "n_embd": 768, "n_head": 12, "block_size": 512}
    made = records(scale="124m", recipe={"iterations": 122_071}, model_size=size, **more)
    for r in made:
        for i, trial in enumerate(r["trials"]):
            trial["final"] = trial["final"] | {"tokens": 500_002_816}
            if shift is not None:
                loss = PUBLISHED[r["optimizer"]][r["symmetry"] == "bQbV"] + shift + 0.001 * (i - 1)
                trial["final"] = trial["final"] | {"val_loss": loss}
    return ablation_records.read(made)


def test_the_formula_counts_the_models_parameters() -> None:
    """124,082,688, and the small model of the records."""
    with torch.device("meta"):
        big = GPT2(GPT2_SCALES["124m"], find_activation("gelu"))
        small = GPT2(GPT2_SCALES["quick"], find_activation("gelu"))
    assert ablation.gpt2_parameters(ablation.PUBLISHED_VOCABULARY) == count_parameters(big) == 124_082_688
    assert ablation.gpt2_parameters(512, 2, 64, 64) == count_parameters(small)


def test_small_records_settle_settings_and_no_loss() -> None:
    """What was run is replicated; losses of 124 million parameters stay untested; without records all do."""
    found = verdicts("ablation", made_up())
    assert {id for id, v in found.items() if v == "replicated"} == {
        *(f"S{n:02}" for n in (1, 2, 3, 6, 8, 9, 10, 11, 22, 23))
    }
    assert {id for id, v in found.items() if v == "not testable"} == {"S07", "S24"}
    empty = verdicts("ablation", ablation_records.read([]))
    assert {id for id, v in empty.items() if v != "not yet tested"} == {"S02", "S03"}


def test_symmetric_means_between_features() -> None:
    """S23: a GELU with one slope a feature would tell features apart."""
    slopes = [r | {"n_parameters": r["n_parameters"] + 512 * (r["activation"] == "gelu")} for r in records()]
    assert verdicts("ablation", ablation_records.read(slopes), "S23") == {"S23": "contradicted"}


def test_the_hypothesis_follows_the_interaction() -> None:
    """S21: larger under PReLU, smaller, equal, or not all arms there; a small model says nothing of the published one."""
    smaller = {"gelu": 0.3, "random_prelu": 0.1}
    for f, verdict in (
        (of_published_size(), "replicated"),
        (of_published_size(gain=smaller), "contradicted"),
        (made_up(gain=smaller), "not yet tested"),
        (made_up(seeds=1), "not yet tested"),
        (ablation_records.read(records(("ecd",))[:3]), "not yet tested"),
    ):
        assert verdicts("ablation", f, "S21") == {"S21": verdict}


def test_published_losses_are_judged_at_the_published_size() -> None:
    """The published values themselves are replicated, others contradicted, one seed says nothing; S20 is of differences."""
    ids = [f"S{n}" for n in range(12, 20)]
    for f, losses, effects in (
        (of_published_size(0.0), "replicated", "replicated"),
        (of_published_size(0.3), "contradicted", "replicated"),
        (of_published_size(0.0, seeds=1), "not yet tested", "not yet tested"),
    ):
        found = verdicts("ablation", f, *ids, "S20", "S04", "S05")
        assert {found[id] for id in ids} == {losses}
        assert (found["S20"], found["S04"], found["S05"]) == (effects, "replicated", "replicated")
    assert verdicts("ablation", of_published_size(), "S20") == {"S20": "contradicted"}


def test_another_setting_is_not_the_published_one() -> None:
    """ECD with another eta leaves S08 open, and says which it ran with."""
    other = {"lr": 1.0, "eta": 10.0, "F0": 2.0, "weight_decay": 0.0}
    f = ablation_records.read([record("ecd", "symmetric", "gelu", optimizer_settings=other)])
    claim = next(claim for claim in ledger.claims() if claim.id == "S08")
    found = ledger.finding(claim, f)
    assert found.verdict == "not yet tested"
    assert found.ours.startswith("run otherwise than stated: 1 arms ran with learning rate 1, eta 10, F0 2")


def reading(activation: str, two: float, one: float, accuracy: float = 30.0, model: str = "charlm") -> Reading:
    """An arm of three trials, 200 iterations: ``two`` between models, ``one`` of a model with itself; relative PD 0.9."""
    made = grids.record(model, activation)
    pairs = [pair | {"coded_pd": two, "relative_pd": 0.9} for pair in made["reproducibility_metrics"]]
    itself = [{"between": [t["label"]] * 2, "coded_pd": one, "relative_pd": 0.9} for t in made["trials"]]
    for trial in made["trials"]:
        trial["final"]["val_accuracy"] = accuracy
    made["config"] |= {"protocol": [UNPAIRED], "recipe": {"iterations": 200}}
    return Reading(ArmResults(made | {"as_published": {"pairs": pairs, "itself": itself, "trials": []}}))


def with_readings(*found: Reading) -> Evidence:
    """Corrected arms of charlm with relu and swiglu, and these as published."""
    lite = read([grids.record(activation=a, losses=(2.0,) * 5) for a in ("relu", "swiglu")])
    return Evidence({"lite": lite}, readings={(r.arm.model, r.arm.activation): r for r in found})


@pytest.mark.parametrize(
    ("two", "one", "number", "set_"),
    [
        (0.6, 0.6, "artefact", "contradicted"),
        (0.6, 0.3, "contradicted", "not yet tested"),
        (0.8, 0.8, "contradicted", "not yet tested"),
    ],
)
def test_a_reading_explains_a_number(two: float, one: float, number: str, set_: str) -> None:
    """0.6 was published and correct pairs give 0.13: an artefact, and no one set of inputs, only if 0.6 is also what a
    model gives with itself, after as many iterations."""
    made = with_readings(reading("relu", two, one))
    for rule, verdict in ((language.read_unpaired, number), (language.one_set, set_)):
        assert rule(made, "charlm", "relu", 0.6, 200).verdict == verdict
        for evidence, stated in ((made, 500), (with_readings(), 200)):
            assert rule(evidence, "charlm", "relu", 0.6, stated).verdict == "not yet tested"


def test_a_number_may_be_one_of_single_characters() -> None:
    """Of the published reading's two metrics the claim's own is taken: 0.9 is its relative PD, 0.6 its total
    variation."""
    made = with_readings(reading("relu", 0.6, 0.6))
    assert language.read_unpaired(made, "charlm", "relu", 0.9, 200, "coded_pd").verdict == "contradicted"


@pytest.mark.parametrize(("swiglu", "verdict"), [(0.6, "artefact"), (0.4, "contradicted"), (0.75, "contradicted")])
def test_one_table_with_two_metrics(swiglu: float, verdict: str) -> None:
    """swiglu's coded value below relu's element-wise 0.9: an artefact if relu's own coded value (0.6) is no larger."""
    made = with_readings(reading("relu", 0.6, 0.6), reading("swiglu", swiglu, swiglu))
    arguments: dict[str, Any] = {"what": "", "of": "percent_below", "metric": "val_loss", "published": (44.5, 45.5)}
    for stated, expected in ((200, verdict), (500, "not yet tested")):
        found = language.mixed_metrics(made, ["charlm"], ["swiglu", "relu"], gain=0.33, stated=stated, **arguments)
        assert (found.verdict, found.defect) == (expected, MIXED if expected == "artefact" else "")


def test_a_trade_off_of_a_model_with_itself_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accuracy rises with the reading of six models: with themselves too, or not; a leaking model is no point. What
    correct pairs leave open, no reading decides."""

    def judged(*readings: Reading) -> Finding:
        return language.trade_off(with_readings(*readings), "total_variation", "val_accuracy", models=["charlm"])

    rising = [reading("relu", 0.1 * i, 0.1 * i, accuracy=10.0 * i, model=str(i)) for i in range(6)]
    flat = [reading("relu", 0.1 * i, 0.1 * (i % 2), accuracy=10.0 * i, model=str(i)) for i in range(6)]
    assert judged(*rising).verdict == "not yet tested"
    assert "of a model with itself 1.00" in judged(*rising).ours
    monkeypatch.setattr(language, "correlated", lambda *_, **__: decided(False, "it falls"))
    assert [judged(*found).verdict for found in (rising, flat, rising[:5])] == [
        "artefact",
        "contradicted",
        "contradicted",
    ]
    rising[5].arm.record["config"]["protocol"].append("padding: both")
    assert judged(*rising).verdict == "contradicted"


def test_correlation_over_models_is_exact() -> None:
    """Six models in perfect order: p = 2 / 720; four of them: p = 2 / 24, which decides nothing."""
    models = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm"]
    made = [grids.record(m, pd=0.1 + 0.1 * i, losses=(4.0 - 0.3 * i,) * 3) for i, m in enumerate(models)]
    for second, names, verdict in (
        ("val_accuracy", models, "replicated"),
        ("val_loss", models, "contradicted"),
        ("val_accuracy", models[:4], "not yet tested"),
    ):
        found = language.correlated(Evidence({"lite": read(made)}), names, first="total_variation", second=second)
        assert found.verdict == verdict
        assert f"exact p = {2 / (720 if len(names) == 6 else 24):.3f}" in found.ours


def test_lowest_of_those_named() -> None:
    """R24: relu's PD is far below the others': it is the lowest, and another that is named instead is beaten."""
    made = [
        grids.record(activation=a, pd=pd, losses=(2.0,) * 5) for a, pd in (("relu", 0.1), ("gelu", 0.3), ("swish", 0.5))
    ]
    for named, verdict in (
        (["relu"], "replicated"),
        (["gelu", "swish"], "contradicted"),
        (["gelu", "relu"], "replicated"),
    ):
        found = language.lowest(
            Evidence({"lite": read(made)}),
            ["charlm"],
            ["relu", "gelu", "swish"],
            named={"charlm": named},
            metric="relative_pd",
        )
        assert found.verdict == verdict


def test_no_benefit() -> None:
    """R47: significantly below the reference in one model is a benefit; where it may be 10% below, that is open."""
    relu = grids.record(losses=(3.0, 3.1, 3.2))
    for losses, order, verdict in (
        ((2.0, 2.11, 2.2), ["gelu", "relu"], "contradicted"),
        ((2.0, 2.11, 2.2), ["relu", "gelu"], "replicated"),
        ((3.4, 2.5, 3.3), ["gelu", "relu"], "not yet tested"),
    ):
        evidence = Evidence({"lite": read([relu, grids.record(activation="gelu", losses=losses)])})
        assert language.never_lower(evidence, ["charlm"], order, metric="val_loss").verdict == verdict


def test_two_metrics_are_not_one() -> None:
    """T94: churn raised by 0.2 in every pair is not total variation; untouched it is."""
    made = grids.record(losses=(2.0,) * 5)
    for raised, verdict in ((0.0, "replicated"), (0.2, "contradicted")):
        for i, pair in enumerate(made["reproducibility_metrics"]):
            pair["churn"] += raised * (1 + 0.005 * i)
        found = language.same_metric(
            Evidence({"lite": read([made])}), ["charlm"], first="churn", second="total_variation"
        )
        assert found.verdict == verdict


def test_an_artefact_of_selection_needs_the_best_checkpoint_to_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """T08, T14, T39, T66, T74: if the lowest losses said the same, there would be no artefact."""
    ids = ("T08", "T14", "T39", "T66", "T74")
    assert set(verdicts("models", Evidence({}), *ids).values()) == {"artefact"}
    trials = language.numbers.charlm_trials
    monkeypatch.setattr(language.numbers, "charlm_best", {a: float(np.mean(v)) for a, v in trials.items()})
    assert set(verdicts("models", Evidence({}), "T08", "T14", "T74").values()) == {"replicated"}
