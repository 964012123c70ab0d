"""Rules that read records of language models, on made-up grids with known answers: other records, other verdicts."""

import numpy as np
import pytest
import yaml
from tests.support import grids

from actlab.records.defect_names import BOTH, IGNORED, UNPAIRED
from actlab_audit import language, rules
from actlab_audit.evidence import ALIKE
from actlab_audit.verdicts import Finding, explained

LOSSES = (2.0, 2.1, 2.2)
WAITS, OPEN = "undecided", "differs, cause not shown"


def flawed(model="minigpt", activation="gelu", losses=LOSSES, protocol=(IGNORED,), steps=10, **config):
    """An arm with published defects, after some steps."""
    made = grids.record(model, activation, losses, protocol=[*protocol], **config)
    made["config"]["recipe"] |= {"iterations": steps}
    return made


def reading(
    activation="relu", two=0.6, one=0.6, accuracy=30.0, model="charlm", steps=10, protocol=(UNPAIRED,), **config
):
    """An arm read as published: ``two`` between models, ``one`` of a model with itself; relative PD 0.9 in both."""
    made = flawed(model, activation, protocol=protocol, steps=steps, **config)
    for trial in made["trials"]:
        trial["final"] |= {"val_accuracy": accuracy}
        trial["history"] = [trial["final"] | {"iteration": steps}]
    accuracies = [{"label": trial["label"], "val_accuracy": accuracy} for trial in made["trials"]]
    return grids.read_as_published(made, two, one, accuracies)


MEANS = yaml.safe_load("""
- [val_loss, 2.1, {}, lite, replicated]
- [val_loss, 2.5, {}, lite, contradicted]
- [val_accuracy, 48.9, {}, lite, replicated]  # read at 3,000 positions: 0.9 points more or less
- [val_accuracy, 52.0, {}, lite, contradicted]
- [val_loss, 2.1, {activations: [gelu]}, lite, not run]
- [val_loss, 2.5, {flaw: a flaw}, lite, "differs, cause not shown"]
- [val_loss, 2.1, {scales: [full], others: [lite]}, lite, not run]
- [val_loss, 2.5, {scales: [full], others: [lite]}, lite, not run]
- [val_loss, 2.5, {scales: [full]}, full, contradicted]
""")


@pytest.mark.parametrize(("metric", "published", "more", "scale", "verdict"), MEANS)
def test_a_published_mean(gathered, metric, published, more, scale, verdict):
    """Of five trials of ours at 2.1 nats and 47.9%; of another scale they decide nothing, whatever they give."""
    mine = gathered(**{scale: [grids.record(losses=(2.05, 2.1, 2.15, 2.1, 2.1))]})
    assert rules.mean(mine, ["charlm"], published={metric: published}, **more).verdict == verdict


def test_claims_are_judged_at_the_settings_that_most_arms_share(gathered):
    """An arm that somebody adds under other settings moves no verdict."""
    other = grids.record(losses=(9.0, 9.1, 9.2))
    other["config"]["recipe"] |= {"iterations": 6}
    found = gathered(lite=[other, grids.record(), grids.record(activation="gelu")])
    assert {*found["iterations"]} == {10}


def test_what_is_waited_for_and_what_was_read(gathered):
    """The missing arm and where; the largest scale that has records decides; the first of them dates the finding."""
    late, early = grids.record(), grids.record(losses=(1.09, 1.1, 1.11))
    late["provenance"]["date"] = "2026-02-02T00:00:00+00:00"
    evidence = gathered(lite=[late], full=[early])
    found = rules.mean(evidence, ["charlm"], published={"val_loss": 1.1})
    expected = ("replicated", "records at full scale", "2026-01-01T00:00:00+00:00")
    assert (found.verdict, found.basis, found.since) == expected
    waiting = rules.mean(evidence, ["charlm"], ["gelu"], ["lite"], published={})
    assert (waiting.ours, waiting.since) == ("waits for records of charlm gelu at lite scale", "")


def test_identical_needs_every_seed(gathered):
    """Equal to four decimals in each seed that both arms have, or not; while ignored activations have no record that
    decides nothing."""
    for last, first, verdict in (
        (2.20004, 42, "replicated"),
        (2.2001, 42, OPEN),
        (2.2, 50, OPEN),
    ):
        gelu = grids.record("minigpt", "gelu", (2.0, 2.1, last), first=first)
        mine = gathered(lite=[grids.record("minigpt", losses=LOSSES), gelu])
        assert rules.identical(mine, ["minigpt"], ["relu", "gelu"], flaw=IGNORED).verdict == verdict


def test_runs_made_again_must_answer_alike(gathered):
    """The same arm with defects that changed nothing: its own answer, or none where the two answer differently; one of
    another length, or one whose training they changed, says nothing."""
    ours, higher = (2.09, 2.1, 2.11), (2.49, 2.5, 2.51)
    for other, verdict in (
        (flawed("minigpt", "relu", ours), "replicated"),
        (flawed("minigpt", "relu", higher), WAITS),
        (flawed("minigpt", "relu", higher, steps=9), "replicated"),
        (flawed("minigpt", "gelu", higher), "replicated"),
    ):
        mine = gathered(lite=[grids.record("minigpt", losses=ours)], autopsy=[other])
        assert rules.mean(mine, ["minigpt"], published={"val_loss": 2.1}).verdict == verdict


def test_a_number_without_a_run_has_ours_beside_it(gathered):
    """Whatever ours is, there is nothing that it could test; without records of ours it waits."""
    arguments = {"what": "ratio", "of": "ratio", "metric": "val_loss", "published": [9, 9], "reason": "no run"}
    mine = gathered(lite=[grids.record(), grids.record("convlm")])
    found = rules.number(mine, ["charlm", "convlm"], **arguments)
    assert (found.verdict, found.lacks) == ("no run behind it", "")
    assert found.ours.startswith("no run; ratio: 1.000")
    assert rules.number(mine, ["charlm", "tinylstm"], **arguments).verdict == "not run"


def test_a_flaw_makes_an_artefact_or_leaves_a_contradiction(gathered):
    """Identical where the activation is ignored, after as many iterations, at a smaller scale too; another defect,
    length or a corrected arm says nothing of the flaw."""
    lite = [grids.record("minigpt", losses=LOSSES), grids.record("minigpt", "gelu", (2.5, 2.6, 2.7))]
    swish = grids.record("minigpt", "swish", LOSSES)
    same, other = flawed(), flawed(losses=(2.4, 2.5, 2.6))
    for records, own, scales, verdict in (
        (lite, same, ["lite"], "artefact"),
        (lite, same, ["full"], "artefact"),
        (lite, other, ["lite"], "contradicted"),
        (lite, flawed(steps=9), ["lite"], OPEN),
        (lite, flawed(protocol=[BOTH]), ["lite"], OPEN),
        ([*lite, swish], same, ["lite"], OPEN),
    ):
        records = [record | {"config": record["config"] | {"protocol": []}} for record in records]
        found = rules.identical(
            gathered(lite=records, autopsy=[own]),
            ["minigpt"],
            [record["activation"] for record in records],
            flaw=IGNORED,
            scales=scales,
            others=["lite"],
        )
        assert (found.verdict, found.defect) == (verdict, IGNORED * (verdict == "artefact"))


def test_a_leak_spares_the_other_models(gathered):
    """convlm's loss is half of charlm's; padded on both sides it is a hundredth: charlm stands for itself. An arm
    stands under every defect that was on in it, and one whose training none changed apart."""
    lite = [grids.record(losses=(4.0, 4.01, 3.99)), grids.record("convlm", losses=(2.0, 2.01, 1.99))]
    leaking = flawed("convlm", "relu", (0.04, 0.0402, 0.0399), [BOTH])
    evidence = gathered(lite=lite, autopsy=[leaking, flawed("charlm", "relu", (4.0, 4.01, 3.99), [IGNORED])])
    assert evidence.groupby("flaw")["model"].unique().map(list).to_dict() == {
        "": ["charlm", "convlm"],
        BOTH: ["convlm"],
        IGNORED: ["charlm"],
        ALIKE: ["charlm"],
    }
    arguments = {"what": "", "of": "ratio", "metric": "val_loss", "published": [50, np.inf], "flaw": BOTH}
    found = rules.number(evidence, ["charlm", "convlm"], **arguments)
    assert (found.verdict, found.defect) == ("artefact", BOTH)


def number(evidence, published, of="ratio", **more):
    arguments = {"what": "", "metric": "val_loss", "activations": ["gelu", "relu"]} | more
    return rules.number(evidence, ["charlm"], of=of, published=published, **arguments).verdict


def test_a_number_made_of_means(gathered):
    """Loss of the second arm over the first's, about 1.5; one trial leaves it open, and so does a wide interval; a CV
    has noise of its own."""
    gelu, relu = grids.record(activation="gelu", losses=(3.0, 3.01, 2.99)), grids.record(losses=(2.0, 2.01, 1.99))
    mine = gathered(lite=[gelu, relu])
    assert [number(mine, p) for p in ((1.4, 1.6), (3.0, 4.0))] == ["replicated", "contradicted"]
    one = gathered(lite=[grids.record(losses=(2.0,)), grids.record(activation="gelu", losses=(3.0,))])
    assert number(one, (3, 4)) == WAITS
    skew = gathered(lite=[grids.record(losses=(1.0, 3.0, 2.0)), gelu])  # 1.5 [0.39, 5.7]
    assert number(skew, (4.0, 5.0)) == WAITS
    levels = (("relu", 0.1), ("gelu", 0.3))
    spread = gathered(lite=[grids.record(activation=name, pd=pd, losses=(2.0,) * 5) for name, pd in levels])
    means = [np.mean([pd + 0.01 * (i + j) for i in range(5) for j in range(i + 1, 5)]) for pd in (0.1, 0.3)]
    cv = float(100 * np.std(means) / np.mean(means))
    noisy = {"metric": "relative_pd", "trials": 3}
    assert [number(spread, (v, v), "cv", **noisy) for v in (cv, 0)] == ["compatible", "contradicted"]


def test_a_number_across_scales(gathered):
    """A loss that halves from one scale to the other: -50%; without one of the scales it waits."""
    small, large = grids.record(losses=(4.0, 4.01, 3.99)), grids.record(losses=(2.0, 2.01, 1.99))
    across = {"activations": ["relu"], "scales": ["partial", "full"], "across": True}
    worlds = ([small], [large]), ([large], [small]), ([small], [])
    found = [number(gathered(partial=a, full=b), (-51, -49), "change", **across) for a, b in worlds]
    assert found == ["replicated", "contradicted", "not run"]


def test_formulas_of_two_models_with_two_activations():
    """By hand: 2 and 4 with the first, 4 and 10 with the second."""
    means = np.array([2.0, 4.0, 4.0, 10.0])
    expected = {
        "average": 5,
        "change": 100,
        "difference_of_averages": -4,
        "dominance of 2": 4 / 5,  # means 3 and 7; variances 1 and 9
        "percent_below": 50,
    }
    assert {name: rules.FORMULAS[name](means) for name in expected} == pytest.approx(expected)
    assert rules._ranges(means, 2) == pytest.approx((7 / 3 - 1) / np.mean([4 / 2 - 1, 10 / 4 - 1]))


def test_order(gathered):
    """Losses 2, 3, 4: rising from neighbour to neighbour, the first the lowest; arms that overlap leave it open."""
    losses = {"charlm": (2.0, 2.11, 2.2), "minigpt": (3.0, 3.11, 3.21), "convlm": (4.0, 4.11, 4.22)}
    models = gathered(lite=[grids.record(model, losses=values) for model, values in losses.items()])
    overlap = gathered(lite=[grids.record(losses=(2.0, 2.4, 2.1)), grids.record("convlm", losses=(2.3, 2.0, 2.2))])
    for evidence, chosen, neighbours, verdict in (
        (models, [*losses], True, "replicated"),
        (models, [*losses], False, "replicated"),
        (models, [*losses][::-1], True, "contradicted"),
        (overlap, ["charlm", "convlm"], False, WAITS),
    ):
        found = rules.ordered(evidence, chosen, metric="val_loss", sign=-1, neighbours=neighbours)
        assert found.verdict == verdict


SETTINGS = yaml.safe_load("""
- [{every: arms == 1}, followed]
- [{every: arms == 2}, not run]
- [{every: arms == 1, among: {seed: [42, 43]}}, followed]
- [{among: {seed: [42, 45]}}, not run]
- [{every: 40 <= seed <= 44}, followed]
- [{every: 40 <= seed <= 43}, not run]
- [{}, followed]
""")


@pytest.mark.parametrize(("stated", "verdict"), SETTINGS)
def test_settings_are_read_from_records(gathered, stated, verdict):
    """What was run as stated is followed, no replication; what was run otherwise decides nothing, and says how."""
    mine = gathered(lite=[grids.record()])
    found = rules.as_stated(mine, ["charlm"], what="arms", says="{arms} ({seed})", **stated)
    said = "recorded arms: 1 (42, 43, 44)"
    expected = said if verdict == "followed" else f"run otherwise than stated: {said}"
    assert (found.verdict, found.ours) == (verdict, expected)


READINGS = yaml.safe_load("""
- [0.6, 0.6, 10, partial, artefact]
- [0.6, 0.3, 10, partial, contradicted]
- [0.8, 0.8, 10, partial, contradicted]
- [0.65, 0.65, 10, partial, contradicted]
- [0.6, 0.6, 9, partial, "differs, cause not shown"]
- [0.6, 0.6, 10, lite, "differs, cause not shown"]
- [0.0, 0.0, 0, "", "differs, cause not shown"]
""")


@pytest.mark.parametrize(("two", "one", "steps", "scale", "verdict"), READINGS)
def test_a_reading_explains_a_number(gathered, two, one, steps, scale, verdict):
    """0.6 was published and correct pairs give 0.12: an artefact of unpaired inputs, and no one set of inputs, only if
    0.6 is also what a model gives with itself, at the claim's scale and after as many iterations; 0.65 is near, but its
    interval does not hold 0.6."""
    read = [reading("relu", two, one, steps=steps, scale=scale)] if scale else []
    made = gathered(partial=[grids.record()], autopsy_partial=read)
    arguments = {"models": ["charlm"], "published": {"total_variation": 0.6}, "scales": ["partial"], "flaw": UNPAIRED}
    assert rules.mean(made, **arguments).verdict == verdict
    one_set = {"artefact": "contradicted", "contradicted": "not testable"}.get(verdict, OPEN)
    assert language.one_set(made, **arguments).verdict == one_set
    assert language.one_set(made, **arguments | {"scales": ["full"]}).verdict == "not run"


def test_a_reading_too_wide_to_test_leaves_the_cause_open():
    """A flaw whose interval holds the published number and much else neither explains the claim nor clears itself."""
    without = Finding("contradicted", "ours")
    assert [explained(without, found, "", UNPAIRED).verdict for found in ("compatible", "undecided")] == [OPEN, OPEN]


def test_a_trade_off_of_a_model_with_itself_is_none(gathered, monkeypatch):
    """Accuracy rises with the reading of six models: with themselves too, or not. What correct pairs leave open, no
    reading decides."""
    lite = [grids.record(), grids.record(activation="swiglu", losses=(1.0, 1.1, 1.2), pd=0.2)]

    def judged(alone):
        read = [
            reading("relu", 0.1 * i, 0.1 * (i if alone else i % 2), accuracy=10.0 * i, model=str(i)) for i in range(6)
        ]
        arms = {"models": ["charlm"], "activations": ["relu", "swiglu"]}
        return language.trade_off(gathered(lite=lite, autopsy=read), "total_variation", "val_accuracy", **arms).verdict

    assert judged(alone=True) == WAITS
    monkeypatch.setattr(language, "correlated", lambda *_, **__: Finding("contradicted", "it falls"))
    assert [judged(alone) for alone in (True, False)] == ["artefact", "contradicted"]


MODELS = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm"]
IN_ORDER = [grids.record(m, pd=0.1 + 0.1 * i, losses=(4.0 - 0.3 * i,) * 3) for i, m in enumerate(MODELS)]


@pytest.mark.parametrize(
    ("models", "second", "verdict"),
    [(MODELS, "val_accuracy", "replicated"), (MODELS, "val_loss", "contradicted"), (MODELS[:4], "val_accuracy", WAITS)],
)
def test_a_rank_correlation_is_exact(gathered, models, second, verdict):
    """Of six models in perfect order p = 2 / 720, of four 2 / 24; six need 0.886 (two-sided, 5%)."""
    found = language.correlated(gathered(lite=IN_ORDER), models, first="total_variation", second=second)
    assert found.verdict == verdict
    assert len(models) < 6 or "(significant from 0.886)" in found.ours


@pytest.mark.parametrize(
    ("losses", "activations", "verdict"),
    [
        ((2.0, 2.11, 2.2), ["gelu", "relu"], "contradicted"),
        ((2.0, 2.11, 2.2), ["relu", "gelu"], "replicated"),
        ((3.4, 2.5, 3.3), ["gelu", "relu"], WAITS),
    ],
)
def test_no_benefit_in_any_model(gathered, losses, activations, verdict):
    """Beside ReLU's losses of 3.0 to 3.2."""
    lite = [grids.record(losses=(3.0, 3.1, 3.2)), grids.record(activation="gelu", losses=losses)]
    found = language.never_lower(gathered(lite=lite), metric="val_loss", models=["charlm"], activations=activations)
    assert found.verdict == verdict


@pytest.mark.parametrize(("raised", "verdict"), [(0.0, "replicated"), (0.2, "contradicted")])
def test_two_metrics_that_are_one(gathered, raised, verdict):
    """Equal in every pair, or not."""
    made = grids.record(losses=(2.0,) * 5)
    for i, pair in enumerate(made["reproducibility_metrics"]):
        pair["churn"] += raised * (1 + 0.005 * i)
    found = language.same_metric(gathered(lite=[made]), models=["charlm"], first="total_variation", second="churn")
    assert found.verdict == verdict
