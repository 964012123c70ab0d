"""General rules that read records, on made-up grids with known answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.support import grids

from actlab.claims import tests as rules
from actlab.claims.evidence import Evidence, by_defect
from actlab.claims.verdicts import Finding
from actlab.records.repro import read
from actlab.records.store import Record

LOSSES = (2.0, 2.1, 2.2)
IGNORED = "activation: ignored"


def arms(*records: Record, scale: str = "lite") -> Evidence:
    """Evidence of these records at one scale."""
    return Evidence({scale: read(records)})


def mean(evidence: Evidence, published: dict[str, float], **more: Any) -> Finding:
    return rules.mean(evidence, ["charlm"], published=published, **more)


def test_published_means() -> None:
    """A mean of ours is replicated, one far away contradicted; one without records waits and says for what."""
    mine = arms(grids.record(losses=(2.0, 2.1, 2.2, 2.1, 2.1)))
    assert [mean(mine, {"val_loss": v}).verdict for v in (2.1, 2.5)] == ["replicated", "contradicted"]
    waiting = mean(mine, {"val_loss": 2.1}, activations=["gelu"], scales=["lite"])
    assert (waiting.verdict, waiting.ours) == ("not yet tested", "waits for records of charlm gelu at lite scale")


def test_an_accuracy_read_at_few_positions_is_judged_less_strictly() -> None:
    """48.9% against our 47.9 +- 0.1: within the error of 3,000 positions (0.9 points), where 52% is not."""
    mine = arms(grids.record(losses=(2.05, 2.1, 2.15, 2.1, 2.1)))
    assert [mean(mine, {"val_accuracy": v}).verdict for v in (48.9, 52.0)] == ["replicated", "contradicted"]


def test_the_largest_scale_decides() -> None:
    """A claim that may be judged at two scales is judged at the larger one that has records."""
    evidence = Evidence({"lite": read([grids.record()]), "full": read([grids.record(losses=(1.09, 1.1, 1.11))])})
    found = mean(evidence, {"val_loss": 1.1})
    assert (found.verdict, found.basis) == ("replicated", "records at full scale")


def test_records_of_another_scale_decide_nothing() -> None:
    """A claim of full scale, records at lite scale: neither for it nor against it, whatever they give."""
    for losses, verdict in (((2.09, 2.1, 2.11), "replicated"), ((4.0, 4.1, 4.2), "contradicted")):
        small = mean(arms(grids.record(losses=losses)), {"val_loss": 2.1}, claimed=["full"])
        assert small.verdict == "not yet tested"
        assert "the claim is of full scale" in small.ours
        assert (
            mean(arms(grids.record(losses=losses), scale="full"), {"val_loss": 2.1}, claimed=["full"]).verdict
            == verdict
        )
    assert mean(arms(grids.record()), {"val_loss": 2.1}, unmade="lite (split 80/20)").verdict == "not yet tested"


def test_a_number_that_an_untried_flaw_could_have_given_is_not_contradicted() -> None:
    """Far from ours, but with a known flaw of the published work that nothing has tried."""
    found = mean(arms(grids.record()), {"relative_pd": 0.9}, untried="pairing: unpaired")
    assert found.verdict == "not yet tested"
    assert found.ours.endswith("a flaw that could explain it has no record: predictions on different inputs")


def identical(
    *lite: Record, model: str = "minigpt", defect: str = IGNORED, flawed: Record | None = None, **more: Any
) -> Finding:
    changed = {(defect, more.pop("iterations", 10)): read([flawed])} if flawed else {}
    return rules.identical(Evidence({"lite": read(lite)}, changed), [model], ["relu", "gelu"], flaw=IGNORED, **more)


def test_identical_needs_every_seed() -> None:
    """Equal to four decimals in each seed, or not; as long as ignored activations have no record that decides nothing."""
    for last, verdict in ((2.2, "replicated"), (2.20004, "replicated"), (2.2001, "not yet tested")):
        other = grids.record("minigpt", "gelu", losses=(2.0, 2.1, last))
        assert identical(grids.record("minigpt", losses=LOSSES), other).verdict == verdict


def test_a_flaw_makes_an_artefact_or_leaves_a_contradiction() -> None:
    """Identical where the activation is ignored, after as many iterations; of another defect or length it says nothing."""
    lite = [grids.record("minigpt", losses=LOSSES), grids.record("minigpt", "gelu", (2.5, 2.6, 2.7))]
    same, other = grids.record("minigpt", "gelu", LOSSES), grids.record("minigpt", "gelu", (2.4, 2.5, 2.6))
    found = identical(*lite, flawed=same)
    assert (found.verdict, found.defect) == ("artefact", IGNORED)
    assert identical(*lite, flawed=same, claimed=["full"]).verdict == "artefact", "it may be shown at a smaller scale"
    assert identical(*lite, flawed=other).verdict == "contradicted"
    assert identical(*lite, flawed=same, iterations=9).verdict == "not yet tested"
    assert identical(*lite, flawed=same, defect="padding: both").verdict == "not yet tested"
    swish = [*lite, grids.record("minigpt", "swish", LOSSES)]
    evidence = Evidence({"lite": read(swish)}, {(IGNORED, 10): read([same])})
    three = rules.identical(evidence, ["minigpt"], ["relu", "gelu", "swish"], flaw=IGNORED)
    assert three.verdict == "not yet tested", "swish's corrected arm says nothing of the flaw"


def test_a_leak_spares_the_other_models() -> None:
    """convlm's loss is half of charlm's; padded on both sides it is a hundredth: charlm stands for itself."""
    charlm, convlm = grids.record(losses=(4.0, 4.01, 3.99)), grids.record("convlm", losses=(2.0, 2.01, 1.99))
    leaking = read([grids.record("convlm", losses=(0.04, 0.0401, 0.0399))])
    for iterations, verdict in ((10, "artefact"), (9, "not yet tested")):
        evidence = Evidence({"lite": read([charlm, convlm])}, {("padding: both", iterations): leaking})
        found = rules.number(
            evidence,
            ["charlm", "convlm"],
            what="",
            of="ratio",
            metric="val_loss",
            published=[50, np.inf],
            flaw="padding: both",
        )
        assert found.verdict == verdict


def test_each_defect_has_the_arms_that_it_changed() -> None:
    """An arm stands under every defect that was on in it, and one that trained without any under the empty name."""
    flawed = grids.record()
    flawed["config"] |= {"protocol": [IGNORED, "pairing: unpaired"]}
    found = by_defect([flawed, grids.record(activation="gelu"), grids.baseline()])
    assert {key: list(grid.arms) for key, grid in found.items()} == {
        ("", 10): [("charlm", "gelu")],
        (IGNORED, 10): [("charlm", "relu")],
        ("pairing: unpaired", 10): [("charlm", "relu")],
    }


def test_a_finding_is_dated_by_its_first_record() -> None:
    """Of the records that it read; of none where it waits."""
    early, late = grids.record(), grids.record(activation="gelu")
    late["provenance"] = late["provenance"] | {"date": "2026-02-02T00:00:00+00:00"}
    assert identical(late, early, model="charlm").since == "2026-01-01T00:00:00+00:00"
    assert identical(early, model="charlm").since == ""


def test_a_number_made_of_means() -> None:
    """Loss of the second arm over the first's, about 1.5; two trials leave it open; a CV has noise of its own."""
    cells = [grids.record(activation="gelu", losses=(3.0, 3.01, 2.99)), grids.record(losses=(2.0, 2.01, 1.99))]

    def verdict(records: list[Record], published: tuple[float, float], of: str = "ratio", **more: Any) -> str:
        arguments: dict[str, Any] = {"what": "", "of": of, "metric": "val_loss", "published": published} | more
        return rules.number(arms(*records), ["charlm"], ["gelu", "relu"], **arguments).verdict

    assert [verdict(cells, p) for p in ((1.4, 1.6), (3.0, 4.0))] == ["replicated", "contradicted"]
    assert (
        verdict([grids.record(losses=(2.0,)), grids.record(activation="gelu", losses=(3.0,))], (3, 4))
        == "not yet tested"
    )
    spread = [grids.record(pd=0.1, losses=(2.0,) * 5), grids.record(activation="gelu", pd=0.3, losses=(2.0,) * 5)]
    means = [np.mean([pd + 0.01 * (i + j) for i in range(5) for j in range(i + 1, 5)]) for pd in (0.1, 0.3)]
    cv = 100 * np.std(means) / np.mean(means)
    assert verdict(spread, (cv, cv), "cv", metric="relative_pd", trials=3) == "compatible"
    assert verdict(spread, (0, 0), "cv", metric="relative_pd", trials=3) == "contradicted"


FORMULAS: dict[str, Callable[[np.ndarray], float]] = {
    "average": np.mean,
    "change": lambda m: 100 * (m[1] - m[0]) / m[0],
    "difference_of_averages": lambda m: (m[0] + m[1]) / 2 - (m[2] + m[3]) / 2,
    "dominance": lambda m: (
        np.std([(m[0] + m[2]) / 2, (m[1] + m[3]) / 2]) / np.sqrt((np.var([m[0], m[2]]) + np.var([m[1], m[3]])) / 2)
    ),
    "percent_below": lambda m: 100 * (m[1] - m[0]) / m[1],
    "range": lambda m: max(m) - min(m),
    "spread_over_sizes": lambda m: (
        np.std([(m[0] + m[2]) / 2, (m[1] + m[3]) / 2])
        / np.sqrt(np.mean([(m[2] - m[0]) ** 2 / 4, (m[3] - m[1]) ** 2 / 4]))
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str) -> None:
    """Each by hand, of two models with two activations."""
    means = np.array([2.0, 3.0, 2.5, 7.0])
    assert rules.FORMULAS[name](means[:, None]) == pytest.approx(FORMULAS[name](means))


def test_a_number_across_scales() -> None:
    """A loss that halves from one scale to the other: -50%; without one of the scales it waits."""
    small, large = grids.record(losses=(4.0, 4.01, 3.99)), grids.record(losses=(2.0, 2.01, 1.99))

    def verdict(partial: Record, *full: Record) -> str:
        evidence = Evidence({"partial": read([partial]), "full": read(full)})
        arguments: dict[str, Any] = {"what": "", "of": "change", "metric": "val_loss", "published": (-51, -49)}
        return rules.number(evidence, ["charlm"], scales=["partial", "full"], across=True, **arguments).verdict

    assert [verdict(small, large), verdict(large, small), verdict(small)] == [
        "replicated",
        "contradicted",
        "not yet tested",
    ]


def test_order() -> None:
    """Losses 2, 3, 4: rising from neighbour to neighbour, the first the lowest; arms that overlap leave it open."""
    levels = {"charlm": 2.0, "minigpt": 3.0, "convlm": 4.0}
    records = [grids.record(m, losses=(v, v + 0.11, v + 0.2 + 0.01 * i)) for i, (m, v) in enumerate(levels.items())]
    for neighbours in (True, False):
        for models, verdict in ((list(levels), "replicated"), (list(levels)[::-1], "contradicted")):
            found = rules.ordered(arms(*records), models, metric="val_loss", sign=-1, neighbours=neighbours)
            assert found.verdict == verdict
    shares = {"relu": 0.1, "gelu": 0.3, "swish": 0.5}
    averaged = arms(*[grids.record(activation=a, pd=pd, losses=(2.0,) * 5) for a, pd in shares.items()])
    for activations, verdict in ((list(shares), "replicated"), (["gelu", "relu", "swish"], "contradicted")):
        found = rules.ordered(averaged, ["charlm"], activations, metric="relative_pd", sign=-1)
        assert found.verdict == verdict
        assert found.ours.startswith(f"mean relative PD over 1 models: {activations[0]} minus {activations[1]}")
    equal = arms(grids.record(losses=(2.0, 2.4, 2.1)), grids.record(activation="gelu", losses=(2.3, 2.0, 2.2)))
    assert rules.ordered(equal, ["charlm"], ["relu", "gelu"], metric="val_loss", sign=-1).verdict == "not yet tested"


def test_settings_are_read_from_records() -> None:
    """What was run as stated is replicated; what was run otherwise is only untested, and it is said how it was run."""
    stated: list[tuple[dict[str, Any], str]] = [
        ({"trials": 3}, "replicated"),
        ({"trials": 4}, "not yet tested"),
        ({"trials": 3, "seeds": ["42", "43"]}, "replicated"),
        ({"seeds": ["42", "45"]}, "not yet tested"),
        ({"trials": {"from": 2, "to": 4}}, "replicated"),
        ({}, "replicated"),
    ]
    for wanted, verdict in stated:
        found = rules.as_stated(
            arms(grids.record()), ["charlm"], what="trials", says="{trials} ({seeds})", stated=wanted
        )
        assert found.verdict == verdict
        said = "recorded trials: 3 (42, 43, 44)"
        assert found.ours == (said if verdict == "replicated" else f"run otherwise than stated: {said}")
