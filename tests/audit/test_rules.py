"""General rules that read records, on made-up grids with known answers."""

import numpy as np
import pytest
import yaml
from tests.support import grids

from actlab.records.arm_results import arms_of
from actlab_audit import rules
from actlab_audit.evidence import Evidence, by_flaw

LOSSES = (2.0, 2.1, 2.2)
OPEN = "excluded, cause open"
IGNORED, PADDED = "activation: ignored", "padding: both"


def arms(*records, scale="lite"):
    """Evidence of these records at one scale."""
    return Evidence({scale: arms_of(records)})


MEANS = yaml.safe_load("""
- [val_loss, 2.1, {}, lite, replicated]
- [val_loss, 2.5, {}, lite, contradicted]
- [val_accuracy, 48.9, {}, lite, replicated]  # read at 3,000 positions: 0.9 points more or less
- [val_accuracy, 52.0, {}, lite, contradicted]
- [val_loss, 2.1, {activations: [gelu]}, lite, not run]
- [val_loss, 2.5, {flaw: a flaw}, lite, "excluded, cause open"]
- [val_loss, 2.1, {claimed: [full]}, lite, not run]
- [val_loss, 2.5, {claimed: [full]}, lite, not run]
- [val_loss, 2.5, {claimed: [full]}, full, contradicted]
""")


@pytest.mark.parametrize(("metric", "published", "more", "scale", "verdict"), MEANS)
def test_a_published_mean(metric, published, more, scale, verdict):
    """Of five trials of ours at 2.1 nats and 47.9%; of another scale they decide nothing, whatever they give."""
    mine = arms(grids.record(losses=(2.05, 2.1, 2.15, 2.1, 2.1)), scale=scale)
    assert rules.mean(mine, ["charlm"], published={metric: published}, **more).verdict == verdict


def test_what_is_waited_for_and_what_was_read():
    """The missing arm and where; the largest scale that has records decides; the first of them dates the finding."""
    late, early = grids.record(), grids.record(losses=(1.09, 1.1, 1.11))
    late["provenance"]["date"] = "2026-02-02T00:00:00+00:00"
    evidence = Evidence({"lite": arms_of([late]), "full": arms_of([early])})
    found = rules.mean(evidence, ["charlm"], published={"val_loss": 1.1})
    assert (found.verdict, found.basis, found.since) == (
        "replicated",
        "records at full scale",
        "2026-01-01T00:00:00+00:00",
    )
    waiting = rules.mean(evidence, ["charlm"], ["gelu"], ["lite"], published={})
    assert (waiting.ours, waiting.since) == ("waits for records of charlm gelu at lite scale", "")


def identical(*lite, defect=IGNORED, iterations=10, flawed=None, **more):
    changed = {(defect, "lite", iterations): arms_of([flawed])} if flawed else {}
    names = list(dict.fromkeys(record["activation"] for record in lite))
    return rules.identical(Evidence({"lite": arms_of(lite)}, changed), ["minigpt"], names, flaw=IGNORED, **more)


def test_identical_needs_every_seed():
    """Equal to four decimals in each seed, or not; while ignored activations have no record that decides nothing."""
    for last, verdict in ((2.2, "replicated"), (2.20004, "replicated"), (2.2001, OPEN)):
        other = grids.record("minigpt", "gelu", losses=(2.0, 2.1, last))
        assert identical(grids.record("minigpt", losses=LOSSES), other).verdict == verdict


def test_a_flaw_makes_an_artefact_or_leaves_a_contradiction():
    """Identical where the activation is ignored, after as many iterations; another defect or length says nothing."""
    lite = [grids.record("minigpt", losses=LOSSES), grids.record("minigpt", "gelu", (2.5, 2.6, 2.7))]
    same, other = grids.record("minigpt", "gelu", LOSSES), grids.record("minigpt", "gelu", (2.4, 2.5, 2.6))
    found = identical(*lite, flawed=same)
    assert (found.verdict, found.defect) == ("artefact", IGNORED)
    assert identical(*lite, flawed=same, claimed=["full"]).verdict == "artefact", "it may be shown at a smaller scale"
    assert identical(*lite, flawed=other).verdict == "contradicted"
    assert identical(lite[0], same, flawed=same).verdict == "replicated"
    swish = grids.record("minigpt", "swish", LOSSES)
    undecided = [identical(*lite, flawed=same, iterations=9), identical(*lite, flawed=same, defect=PADDED)]
    undecided += [identical(*lite, swish, flawed=same)]  # swish's corrected arm says nothing of the flaw
    assert {each.verdict for each in undecided} == {OPEN}


def test_a_leak_spares_the_other_models():
    """convlm's loss is half of charlm's; padded on both sides it is a hundredth: charlm stands for itself. An arm
    stands under every defect that was on in it, and one that trained without any under the empty name."""
    charlm, convlm = grids.record(losses=(4.0, 4.01, 3.99)), grids.record("convlm", losses=(2.0, 2.01, 1.99))
    leaking = grids.record("convlm", losses=(0.04, 0.0401, 0.0399))
    leaking["config"] |= {"protocol": [PADDED, "pairing: unpaired"], "scale": "lite"}
    charlm["config"]["scale"] = "lite"
    flawed = by_flaw([leaking, charlm, grids.baseline()])
    assert list(flawed) == [("", "lite", 10), (PADDED, "lite", 10), ("pairing: unpaired", "lite", 10)]
    found = rules.number(
        Evidence({"lite": arms_of([charlm, convlm])}, flawed),
        ["charlm", "convlm"],
        what="charlm over convlm",
        of="ratio",
        metric="val_loss",
        published=[50, np.inf],
        flaw=PADDED,
    )
    assert (found.verdict, found.defect) == ("artefact", PADDED)


def number(evidence, published, of="ratio", **more):
    arguments = {"what": "", "metric": "val_loss", "activations": ["gelu", "relu"]} | more
    return rules.number(evidence, ["charlm"], of=of, published=published, **arguments).verdict


def test_a_number_made_of_means():
    """Loss of the second arm over the first's, about 1.5; two trials leave it open; a CV has noise of its own."""
    mine = arms(grids.record(activation="gelu", losses=(3.0, 3.01, 2.99)), grids.record(losses=(2.0, 2.01, 1.99)))
    assert [number(mine, p) for p in ((1.4, 1.6), (3.0, 4.0))] == ["replicated", "contradicted"]
    one = arms(grids.record(losses=(2.0,)), grids.record(activation="gelu", losses=(3.0,)))
    assert number(one, (3, 4)) == "undecided"
    skew = arms(grids.record(losses=(1.0, 3.0, 2.0)), grids.record(activation="gelu", losses=(3.0, 3.01, 2.99)))
    found = [number(skew, p) for p in ((4.0, 5.0), (0.0, 0.3))]  # 1.5 [0.39, 5.7]: [-0.5, 3.5] on a linear scale
    assert found == ["undecided", "contradicted"], "a quotient that may as well be 1 decides nothing"
    spread = arms(*grids.rising()[:2])
    means = [np.mean([pd + 0.01 * (i + j) for i in range(5) for j in range(i + 1, 5)]) for pd in (0.1, 0.3)]
    cv = float(100 * np.std(means) / np.mean(means))
    noisy = {"metric": "relative_pd", "trials": 3}
    assert [number(spread, (v, v), "cv", **noisy) for v in (cv, 0)] == ["compatible", "contradicted"]


def test_a_number_across_scales():
    """A loss that halves from one scale to the other: -50%; without one of the scales it waits."""
    small, large = grids.record(losses=(4.0, 4.01, 3.99)), grids.record(losses=(2.0, 2.01, 1.99))
    verdicts = [
        number(
            Evidence({"partial": arms_of(partial), "full": arms_of(full)}),
            (-51, -49),
            "change",
            activations=["relu"],
            scales=["partial", "full"],
            across=True,
        )
        for partial, full in (([small], [large]), ([large], [small]), ([small], []))
    ]
    assert verdicts == ["replicated", "contradicted", "not run"]


def test_formulas_of_two_models_with_two_activations():
    """By hand: 2 and 4 with the first, 4 and 10 with the second."""
    means = np.array([2.0, 4.0, 4.0, 10.0])
    expected = {
        "average": 5,
        "change": 100,
        "difference_of_averages": -4,
        "dominance": 2 / np.sqrt(5),  # means 3 and 7; variances 1 and 9
        "percent_below": 50,
        "range": 8,
    }
    assert {name: rules.FORMULAS[name](means) for name in expected} == pytest.approx(expected)


def test_order():
    """Losses 2, 3, 4: rising from neighbour to neighbour, the first the lowest; averaged over models; arms that overlap
    leave it open."""
    losses = {"charlm": (2.0, 2.11, 2.2), "minigpt": (3.0, 3.11, 3.21), "convlm": (4.0, 4.11, 4.22)}
    models = arms(*[grids.record(model, losses=values) for model, values in losses.items()])
    averaged = arms(*grids.rising())
    overlap = arms(grids.record(losses=(2.0, 2.4, 2.1)), grids.record("convlm", losses=(2.3, 2.0, 2.2)))
    rising, one = list(losses), ["charlm"]
    for evidence, chosen, activations, metric, neighbours, verdict in (
        (models, rising, ["relu"], "val_loss", True, "replicated"),
        (models, rising, ["relu"], "val_loss", False, "replicated"),
        (models, rising[::-1], ["relu"], "val_loss", True, "contradicted"),
        (averaged, one, ["relu", "gelu", "swish"], "relative_pd", False, "replicated"),
        (averaged, one, ["gelu", "relu", "swish"], "relative_pd", False, "contradicted"),
        (overlap, ["charlm", "convlm"], ["relu"], "val_loss", False, "undecided"),
    ):
        found = rules.ordered(evidence, chosen, activations, metric=metric, sign=-1, neighbours=neighbours)
        assert found.verdict == verdict


SETTINGS = yaml.safe_load("""
- [{trials: 3}, followed]
- [{trials: 4}, not run]
- [{trials: 3, seeds: ["42", "43"]}, followed]
- [{seeds: ["42", "45"]}, not run]
- [{trials: {from: 2, to: 4}}, followed]
- [{}, followed]
""")


@pytest.mark.parametrize(("stated", "verdict"), SETTINGS)
def test_settings_are_read_from_records(stated, verdict):
    """What was run as stated is followed, no replication; what was run otherwise decides nothing, and says how."""
    found = rules.as_stated(arms(grids.record()), ["charlm"], what="trials", says="{trials} ({seeds})", stated=stated)
    said = "recorded trials: 3 (42, 43, 44)"
    expected = said if verdict == "followed" else f"run otherwise than stated: {said}"
    assert (found.verdict, found.ours) == (verdict, expected)


def test_a_number_of_the_published_reading():
    """0.6 between two models and of one with itself, where correct pairs give 0.11: an artefact of unpaired inputs if
    read at the claim's scale; at another the reading decides nothing; another reading leaves a contradiction."""
    one = grids.record(losses=LOSSES)
    one["config"] |= {"protocol": ["pairing: unpaired"], "scale": "partial"}
    for two, alone, scale, verdict in (
        (0.6, 0.6, "partial", "artefact"),
        (0.6, 0.3, "partial", "contradicted"),
        (0.6, 0.6, "lite", OPEN),
    ):
        made = grids.read_as_published(one, two, alone)
        made["config"] = one["config"] | {"scale": scale}
        evidence = Evidence({"partial": arms_of([grids.record(losses=LOSSES)])}, by_flaw([made]))
        found = rules.mean(evidence, ["charlm"], published={"total_variation": 0.6}, flaw="pairing: unpaired")
        assert found.verdict == verdict, (two, alone, scale)
