"""What the explorer shows: the records' own values, at their own places, and nothing that no record has."""

import json

import grids
import pytest
from explored import catalogue, folders, made_up

from actlab.errors import BadInput
from actlab.explorer import catalogue as explore
from actlab.records.repro import read
from actlab.records.settings import in_order
from actlab.records.tables import of_records
from actlab.statistics.contrasts import contrasts
from actlab.statistics.equal_loss import equal_loss


def test_studies_go_by_names_in_words_in_the_menus_order():
    """A folder without a name in words keeps its own and comes last; one with nothing to explore is left out."""
    found = explore.of_records({"own": [grids.record()], "scale": made_up(), "empty": [grids.baseline()]})["studies"]
    assert [study["title"] for study in found.values()] == ["Four sizes of charlm", "own"]


def test_values_are_the_records_own():
    """Single values in the order of the pairs; what a diverged trial has not is missing; a perturbation stands with its
    arm."""
    study = catalogue()["studies"]["repro-lite"]
    assert [factor["levels"] for factor in study["factors"].values()] == [["charlm", "tinylstm"], ["relu", "swiglu"]]
    relu, swiglu, diverged = study["arms"]
    assert [arm["key"] for arm in study["arms"]] == ["charlm/relu", "charlm/swiglu", "tinylstm/relu"]
    pairs = made_up()[1]["reproducibility_metrics"]
    assert swiglu["singles"]["churn"] == pytest.approx([pair["churn"] for pair in pairs])
    assert diverged["singles"]["val_loss"] == [2.0, 2.1, None]
    assert diverged["ended"] == " (44: diverged)"
    assert relu["moved"]["churn"] == [[1e-6, None, None, 1], []]
    assert swiglu["moved"] == {}


def test_training_is_followed_at_every_snapshot_and_at_the_end():
    """Means over the seeds; the last is the end's; a run and its perturbed repetition are nearest at the beginning."""
    study = catalogue()["studies"]["sources"]
    i, arm = next((i, arm) for i, arm in enumerate(study["arms"]) if arm["setting"] == "varies=all")
    assert arm["along"]["iteration"] == [50, 100, 200, 350, 500]
    for metric in ("val_loss", "total_variation"):
        assert arm["along"][metric][-1] == pytest.approx(study["end"][metric]["mean"][0][i], rel=2e-5)
    iterations, apart = next(arm["drift"]["val_loss"] for arm in study["arms"] if arm["at"]["activation"] == "relu")
    assert len(iterations) == len(apart) == 11
    assert apart[0] < apart[-1]


def minus(study, block):
    """(arm, other) -> its difference from the other, half of its interval, n, Holm's p; both ways round."""
    rows = zip(*block["minus"], strict=True)
    pairs = [[study["arms"][i]["key"] for i in pair] for pair in study["pairs"]]
    found = {}
    for (one, two), (value, half, n, p, turned) in zip(pairs, rows, strict=False):
        found |= {(one, two): (value, half, n, p), (two, one): (None if value is None else -value, half, n, turned)}
    return found


def test_differences_are_those_of_the_public_comparisons():
    """From every reference, at the end of training and at equal loss, with Holm's p over the study."""
    study, (trials, pairs) = catalogue()["studies"]["extreme"], of_records(folders()["extreme"])
    for metric, table in (("val_loss", trials), ("total_variation", pairs)):
        shown = minus(study, study["end"][metric])
        for reference in ("relu", "gelu"):
            expected = contrasts(table.query("kind == 'trials'"), metric, reference=reference).set_index("activation")
            for level, row in expected.iterrows():
                found = shown[f"charlm/{level}", f"charlm/{reference}"]
                wanted = [row["difference"], (row["high"] - row["low"]) / 2, row["n"], row["p_holm"]]
                assert found == pytest.approx(wanted, rel=1e-4, abs=1e-7)
    grid = read(folders()["sources"])
    study = catalogue()["studies"]["sources"]
    for share in (0, 40):
        shown = minus(study, study["equal"]["churn"][share // 10])
        for row in {row for row, _ in grid.arms}:
            arms = {level: arm.curves("churn") for (of, level), arm in grid.arms.items() if of == row}
            model, varies = row.split(", varies=")
            for level, wanted in equal_loss(arms, "relu", share / 100).differences.items():
                found = shown[f"{model}/{level}/{varies}", f"{model}/relu/{varies}"]
                half = (wanted.high - wanted.low) / 2
                assert found[:3] == pytest.approx([wanted.value, half, wanted.n], rel=1e-4, abs=1e-7)


def test_significance_of_another_place_counts_the_whole_study():
    """Holm's family are all differences from one level of one factor; another factor has its own."""
    study, (_, pairs) = catalogue()["studies"]["sources"], of_records(folders()["sources"])
    shown = minus(study, study["end"]["total_variation"])
    main = pairs.query("kind == 'trials'")
    expected = contrasts(main, "total_variation", ["activation", "setting"], "model", "charlm")
    for _, row in expected.iterrows():
        place = f"{row['activation']}/{row['setting'].removeprefix('varies=')}"
        assert shown[f"convlm/{place}", f"charlm/{place}"][3] == pytest.approx(row["p_holm"], rel=1e-4)


def test_twelve_own_parts_look_different():
    """Colours and marks, with formula and hash."""
    names = [f"mine_{i}" for i in range(12)]
    own = [grids.record(activation=name, parts={"activation": f"{i:08x}"}) for i, name in enumerate(names)]
    styles = explore.of_records({"own": own})["studies"]["own"]["styles"]
    assert len({style["colour"] for style in styles.values()}) == 12
    assert len({style["shape"] for style in styles.values()}) == 12
    assert styles["mine_3"]["about"] == "[00000003]"


def test_a_corners_half_width_is_in_its_name():
    assert [explore.corner(name) for name in ("relu", "smelu_05", "smelu_1", "smelu_0.003", "gelu")] == [
        0.0,
        0.5,
        1.0,
        0.003,
        None,
    ]


def test_texts_are_marked_where_they_differ():
    """Together the parts are the text; words that both have in this order are not marked."""
    found = explore.text_of(
        {"model_name": "m", "activation": "a", "prompt": "x", "texts": {"1": "a b\nc", "2": "a d\nc!"}}
    )
    assert found["parts"] == [
        [["a ", True], ["b", False], ["\n", True], ["c", False]],
        [["a ", True], ["d", False], ["\n", True], ["c!", False]],
    ]


def test_catalogue_is_strict_json():
    """NaN is null."""
    assert json.loads(json.dumps(catalogue(), allow_nan=False)) == catalogue()


def test_studies_are_read_from_the_results_folder():
    """No folder, no study; an unknown one is an error."""
    assert explore.studies()["studies"] == {}
    grids.save(grids.record(), study="repro-lite")
    assert list(explore.studies()["studies"]) == list(explore.studies(["repro-lite"])["studies"]) == ["repro-lite"]
    with pytest.raises(BadInput, match=r"unknown study with trials .repro-light. in results.*known are repro-lite"):
        explore.studies(["repro-light"])


def test_levels_are_in_the_studies_order():
    assert in_order({"0.1", "1e-4", "0.01"}) == ["1e-4", "0.01", "0.1"]
    assert in_order({"lite", "1m", "33k", "116k"}) == ["33k", "116k", "1m", "lite"]
    assert in_order({"swiglu", "zeta", "relu", "mish"}) == ["relu", "swiglu", "mish", "zeta"]
