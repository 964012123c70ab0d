"""The confirmatory analysis, on made-up records whose truth is known (``test_answer_recomputed`` recomputes it from the
raw JSON)."""

import grids
import numpy as np
import pytest
import yaml

from actlab import paths
from actlab.chapters import answer as chapter
from actlab.chapters import companions as pages
from actlab.figures import answer as figures
from actlab.records import companions, repro
from actlab.records.answer import RULES, Answer
from actlab.records.companions import Companion
from actlab.records.preregistration import plan_of

PLAN = yaml.safe_load((paths.ROOT / "params" / "answer.yaml").read_text())["plan"]
SEEDS, STEPS = 10, (50, 100, 150, 200, 250)


def record(model, activation, speed, shift, base, random):
    """An arm that learns at ``speed`` and whose TV is ``base`` + 0.05 (2.5 - loss) + ``shift``, with noise that belongs
    to the seeds."""
    luck, apart = random.normal(0, 0.01, SEEDS), random.normal(0, 0.002, SEEDS)

    def at(step):
        losses = 1.8 + 1.2 * np.exp(-speed * step / 100) + luck
        tv = base + 0.05 * (2.5 - losses.mean()) + shift
        return grids.record(model, activation, losses, tv + np.add.outer(apart, apart))

    def moment(step):
        made = at(step)
        trials = [{"label": trial["label"], **trial["final"]} for trial in made["trials"]]
        return {"iteration": step, "trials": trials, "pairs": made["reproducibility_metrics"]}

    made = at(STEPS[-1])
    made["config"]["recipe"] |= {"iterations": STEPS[-1], "learning_rate": 0.001}
    singles = [
        {"between": [[a] for a in pair["between"]], "total_variation": pair["total_variation"]}
        for pair in made["reproducibility_metrics"]
    ]
    halved = [{**pair, "total_variation": 0.5 * pair["total_variation"]} for pair in singles]
    labels = made["config"]["trials"]
    disjoint = [labels[i : i + 2] for i in range(0, SEEDS, 2)]
    return made | {
        "study": "answer",
        "trajectory": [moment(step) for step in STEPS[:-1]],
        "equal_compute": [
            {"size": 1, "pairs": singles, "losses": [{"of": [label], "loss": 1.8} for label in labels]},
            {"size": 2, "pairs": halved, "losses": [{"of": pair, "loss": 1.82} for pair in disjoint]},
        ],
    }


def records(shifts, seed=0, models=("charlm", "convlm", "minigpt")):
    """relu and other activations, each with its own speed, in models of different total variation, and a bigram
    baseline."""
    random = np.random.default_rng(seed)
    arms = [
        record(model, activation, 0.8 + 0.1 * i, shift, 0.05 + 0.04 * m, random)
        for m, model in enumerate(models)
        for i, (activation, shift) in enumerate({"relu": 0.0, **shifts}.items())
    ]
    return [grids.baseline() | {"bigram": {"val_loss": 2.48, "val_accuracy": 30.0}}, *arms]


def answer(found):
    return Answer(repro.read(found), PLAN)


def judged(study):
    """The outcome of each hypothesis."""
    return [hypothesis.outcome for hypothesis in study.hypotheses()]


SMOOTH = ("gelu", "swish", "smelu_05", "smelu_1")
TRUE = {"gelu": 0.0, "smelu_1": -0.02, "swiglu": 0.02}


def test_known_differences_are_found_and_speed_alone_is_none():
    """An arm that is only faster does not differ at equal loss, though it does at equal steps; arms 0.02 lower or
    higher do."""
    found = answer(records(TRUE))
    words = {cell: d.outcome for cell, d in found.comparisons().items()}
    assert {words[m, "smelu_1"] for m in found.grid.models} == {"more reproducible"}
    assert {words[m, "swiglu"] for m in found.grid.models} == {"less reproducible"}
    assert "less reproducible" not in {words[m, "gelu"] for m in found.grid.models}
    assert found.pooled("smelu_1").value == pytest.approx(-0.02, abs=0.004)


def test_a_part_of_the_family_is_judged_no_more_mildly_than_the_whole():
    """Thirty comparisons are planned (six models, five activations): those without a record count as p = 1."""
    assert (chapter.read().planned, chapter.read(pages.DOUBLE).planned) == (30, 1)
    found = records({"gelu": -0.008}, models=("charlm",))
    alone, planned = answer(found), Answer(repro.read(found), PLAN, 30)
    (one,), (thirty,) = (part.comparisons().values() for part in (alone, planned))
    assert 0 < one.adjusted < 1 / 30
    assert thirty.adjusted == pytest.approx(30 * one.adjusted)
    assert thirty.equivalence_adjusted == pytest.approx(min(1, 30 * one.equivalence_adjusted))
    (p_alone,), (p_planned,) = ([p for _, p in part.at_the_end("val_loss").values()] for part in (alone, planned))
    assert p_planned == pytest.approx(min(1, 30 * p_alone))


def test_an_arm_at_the_bigram_table_is_told_and_left_out():
    """It would set the level for all others."""
    found = records({"gelu": 0.0})
    for trial in next(r for r in found if r.get("arm") == "charlm-gelu")["trials"]:
        trial["final"]["val_loss"] = 2.6
    read = answer(found)
    assert chapter.sentences(read)["outcomes"] == "left out by the plan: gelu in charlm"
    assert ("charlm", "gelu") not in read.at_the_end("val_loss")
    assert ("charlm", "gelu") not in read.comparisons()
    assert ("convlm", "gelu") in read.comparisons()


def test_each_hypothesis_is_judged_by_its_rule():
    """Supported where the truth is as stated, contradicted where it is the opposite or nothing."""
    assert set(RULES) == {entry["name"] for entry in PLAN["hypotheses"]}
    as_stated, opposite = (
        judged(answer(records(dict.fromkeys(SMOOTH, -shift) | {"swiglu": shift}))) for shift in (0.02, -0.02)
    )
    assert as_stated == ["supported"] * 4
    assert opposite[:2] == ["contradicted", "contradicted"]


def test_the_page_says_what_the_comparisons_say():
    """Sentences and tables name the planted differences; each arm is drawn; without a record both say so."""
    found = answer(records(TRUE))
    told = chapter.sentences(found)
    assert told["answer"].startswith("of 9 differences from relu")
    assert told["answer"].endswith("Two seeds agree significantly more in 3, less in 3 (Holm-adjusted, 5%)")
    assert "more reproducible: smelu_1 in charlm, minigpt and convlm; less" in told["outcomes"]
    table = chapter.comparison_table(found)
    assert set(table.loc[[f"{m}, swiglu" for m in found.grid.models], "outcome at equal loss"]) == {"less reproducible"}
    assert table.loc["charlm, smelu_1", "total variation at equal loss"].endswith("*")
    wide = [outcome | ({"margin": 0.02} if "margin" in outcome else {}) for outcome in PLAN["outcomes"]]
    row = chapter.comparison_table(Answer(found.grid, PLAN | {"outcomes": wide})).loc["charlm, gelu"]
    assert row["total variation at equal loss"].endswith("=")
    assert row["churn at equal loss"].endswith("]"), "no margin is registered"
    assert set(pages.hypothesis_table(found, {})["recorded"]) == {"3 of 6"}
    pooled = chapter.pooled(found)
    assert [(a, p < 0.05) for (_, a), (_, p) in pooled.items()] == [
        ("gelu", False),
        ("smelu_1", True),
        ("swiglu", True),
    ]
    assert len(figures.against_loss(found.arms(), found.levels()).axes[0].lines) == 5  # four arms and the level
    assert "no record yet" in chapter.comparison_table(answer([])).to_string()


def companion(study, own, main=TRUE):
    """A companion beside a main study whose differences are ``TRUE``."""
    return Companion(Answer(repro.read(own), plan_of(study)), answer(records(main)))


def scaled(factor):
    """Records of the main study whose total variation at the end is multiplied."""
    found = records(TRUE)
    for pair in (pair for record in found for pair in record.get("reproducibility_metrics", [])):
        pair["total_variation"] *= factor
    return found


def test_every_rule_of_a_companion_is_coded():
    """The plans of the companions name no hypothesis without code, and the code none without a plan."""
    named = {entry["name"] for study in pages.EVERY for entry in plan_of(study)["hypotheses"]}
    assert named == set(companions.RULES)


@pytest.mark.parametrize("study", [pages.NOVELS, pages.COMMON, pages.LONG])
def test_signs_that_carry_over_support_and_opposite_ones_contradict(study):
    """Two studies with the same truth, with the opposite one, and with too little that is significant."""

    def words(shifts, main=TRUE):
        return judged(companion(study, records(shifts, seed=1), main))

    assert words(TRUE) == ["supported"]
    assert words({"gelu": 0.0, "smelu_1": 0.02, "swiglu": -0.02}) == ["contradicted"]
    none = dict.fromkeys(TRUE, 0.0)
    mixed = {"gelu": 0.02, "smelu_1": -0.001, "swiglu": -0.001}
    assert words({}) == ["undecided"], "relu alone is compared with nothing"
    assert words(*((mixed, {**none, "swiglu": 0.02}) if study == pages.NOVELS else (none, none))) == ["undecided"]


def test_a_falling_rate_is_held_against_the_largest_difference():
    """Half of relu's total variation is more than any planted difference; an unchanged one is not."""
    for factor, word in ((0.5, "supported"), (1.0, "contradicted")):
        assert judged(companion(pages.DECAY, scaled(factor))) == [word]
    one = [r for r in scaled(0.5) if r.get("model_name") == "charlm"]
    assert judged(companion(pages.DECAY, one)) == ["undecided"], "the plan asks for both"


def test_remedies_are_measured_against_one_network():
    """Ensembles at half the total variation and 0.02 more loss, a falling rate at a tenth; the page tells both."""
    found = companion(pages.DECAY, scaled(0.1))
    shown = companions.remedied(found.main, found.own, found.own.grid.arms)
    every = shown["charlm", "relu"]
    single = found.main.grid.arms["charlm", "relu"].estimate("total_variation").value
    two, falling = every["ensemble of 2"], every["falling rate"]
    assert (two.variation.value, falling.variation.value) == pytest.approx((-0.5 * single, -0.9 * single))
    assert (two.loss.value, two.loss.n) == (pytest.approx(0.02), SEEDS // 2)
    assert two.variation.low < two.variation.value
    said = pages.remedy_sentences(shown, found.main)[0]
    assert said.startswith("in charlm, minigpt and convlm the largest")
    assert said.endswith("that of falling rate")
    assert len(pages.remedy_table(pages.of_reference(shown, found.main))) == 2 * 3
    assert len(figures.remedies(shown).axes) == len(shown)


def test_the_rate_is_told_apart_from_the_activation():
    """swiglu at another rate, where it differs by 0.01 more, is compared with itself; what repeats runs is told."""
    own = records(TRUE | {"swiglu": 0.03})
    for arm in own:
        if arm.get("activation") == "swiglu":
            arm["config"]["recipe"]["learning_rate"] *= 2
    found = companion(pages.COMMON, own)
    moved = found.of_the_rate()
    assert {activation for _, activation in moved} == {"swiglu"}
    assert [d.difference.value for d in moved.values()] == pytest.approx([0.01] * 3, abs=0.004)
    told = pages.common_rate(found)
    assert "at 2 times its tuned rate" in told[0]
    assert "3 of 3 differences from relu at equal loss have the sign of the main study" in told[1]
    assert told[3].startswith("the other 6 comparisons are the main study's own runs")


GAINS = {"smelu_1": -0.02, "swish": -0.03}


@pytest.mark.parametrize(
    ("shifts", "words"),
    [
        (GAINS, ["supported"]),
        ({**GAINS, "swish": 0.0}, ["contradicted"]),  # equivalent to relu
        ({**GAINS, "swish": 0.02}, ["contradicted"]),
        ({"smelu_1": -0.02}, ["undecided"]),  # one is missing
    ],
)
def test_gains_repeat_on_fresh_seeds(shifts, words):
    """Three gains in the main study, two of one architecture; supported where all of them are significant again."""
    main = records({"smelu_1": -0.02}, models=("charlm",)) + records(GAINS, models=("convlm",))
    own = records({"smelu_1": -0.02}, seed=1, models=("charlm",)) + records(shifts, seed=1, models=("convlm",))
    found = Companion(Answer(repro.read(own), plan_of(pages.FRESH), planned=4), answer(main))
    assert len(found.again()) == 1 + len(shifts)
    assert judged(found) == words


@pytest.mark.parametrize(
    ("drop", "words", "mean"),
    [
        (0.0, ["supported", "contradicted"], "supported"),
        (0.05, ["contradicted", "supported"], "contradicted"),
        (0.02, ["contradicted", "supported"], "contradicted"),  # smelu_1 is equivalent to relu at its rate
    ],
)
def test_the_gain_of_an_activation_is_told_apart_from_that_of_its_lower_rate(drop, words, mean):
    """relu at the rate of the others has a total variation lower by ``drop``, where these have gained 0.02 and 0.03."""
    models = ("charlm", "convlm")
    fresh = [
        r for r in records(GAINS, models=models) if (r.get("model_name"), r.get("activation")) != ("charlm", "swish")
    ]
    low = records({"relu": -drop}, seed=2, models=models)
    for record in fresh:
        if record.get("activation") == "relu":
            record["config"]["recipe"]["learning_rate"] *= 2
    main = Answer(repro.read(fresh), plan_of(pages.FRESH), planned=4)
    half, none = Answer(repro.read(low), plan_of(pages.HALF)), Answer(repro.read([]), plan_of(pages.DOUBLE))
    others = [arm for arm in main.grid.arms.values() if arm.activation == "smelu_1"]
    one_rate = companions.with_one_rate(none, half.grid.arms.values(), others)
    found = {
        pages.FRESH: Companion(main, answer(records(GAINS, models=models))),
        pages.HALF: Companion(half, main),
        pages.DOUBLE: Companion(one_rate, one_rate),
        pages.SAME: companion(pages.SAME, []),
    }
    assert one_rate.pooled("smelu_1").value == pytest.approx(drop - 0.02, abs=0.004)
    assert (judged(found[pages.DOUBLE]), judged(found[pages.HALF])) == ([mean], words)
    assert len(pages.gains(found)) == 9
    assert len(pages.of_the_gains(found)) == 2


@pytest.mark.parametrize(
    ("shifts", "words"),
    [
        ((-0.02, 0.0), ["supported", "contradicted", "contradicted"]),  # tinylstm's two are equivalent to relu
        ((0.02, -0.02), ["contradicted", "supported", "supported"]),
        ((-0.02,), ["supported", "undecided", "undecided"]),  # tinylstm is not recorded
    ],
)
def test_each_architecture_has_its_own_hypothesis_at_one_rate(shifts, words):
    """One family over both, and a rule for each."""
    models = ("nanotransformer", "tinylstm")
    own = [
        record
        for model, shift in zip(models, shifts, strict=False)
        for record in records({"smelu_1": shift}, models=(model,))
    ]
    main = answer(records(GAINS, models=models))
    found = Companion(Answer(repro.read(own), plan_of(pages.SAME), planned=2), main)
    assert judged(found) == words


def test_a_companion_without_records_says_so():
    """No hypothesis is judged and nothing is drawn."""
    found = {study: companion(study, []) for study in pages.EVERY}
    assert not any(map(judged, found.values()))
    assert pages.common_rate(found[pages.COMMON]) == ["no record yet"]
    assert pages.comparisons(found) == {}
    assert len(pages.hypothesis_table(found[pages.LONG].main, found)) == len(PLAN["hypotheses"])
