"""`actlab report`: the summary's numbers and the files that it promises."""

import re
import warnings

import grids
import pandas as pd
import pytest
from scipy import stats

from actlab import paths, report
from actlab.errors import BadInput, UnknownName
from actlab.records.labels import PAIR_METRICS, clipped
from actlab.report import drawings, summary


@pytest.fixture
def study():
    gelu, other = grids.record(activation="gelu", pd=0.2), grids.record(model="tinylstm")
    grids.save(grids.record(), gelu, other, grids.floor(), grids.baseline())
    return "made-up"


@pytest.fixture(scope="module")
def lite():
    """The report of a committed study."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ACTLAB_RESULTS", raising=False)
        yield report.load("repro-lite")


def levels(found):
    """The groups and the arms of a report, in their order."""
    return tuple([*dict.fromkeys(found.cells.get_level_values(name))] for name in ("group", "arm"))


def summary_of(study, *only):
    found = report.load(study, *only)
    return summary.text(found, summary.tables_of(found))


@pytest.mark.slow
def test_report_writes_what_the_reference_workflow_wrote(study, tmp_path):
    """Summary, tables, bars that compare the models, accuracy against disagreement, training, four panels."""
    written = {str(path.relative_to(tmp_path)) for path in report.write(report.load(study), tmp_path)}
    pictures = {"accuracy", "reproducibility", "accuracy_vs_reproducibility", "training", "overview"}
    data = {"summary.txt", *(f"{name}.csv" for name in ("trials", "pairs", "estimates", "differences"))}
    data |= {f"table_{name}.tex" for name in report.load(study).metrics}
    assert written == data | {f"{name}.png" for name in pictures}
    assert all((tmp_path / name).stat().st_size > 100 for name in data)


def test_summary_has_mean_cv_best_and_worst(study):
    """Per metric: every arm with interval, n and its difference from the reference; per model mean, CV%, lowest and
    highest."""
    (paths.results() / study / "failed").mkdir()
    (paths.results() / study / "failed" / "charlm-boom.json").touch()
    text = summary_of(study)
    assert "failed): charlm-boom\n" in text
    assert re.search(r"relu +0\.1200 \[.*\] +3 ", text)
    assert re.search(r"relu +2\.1000 \[.*\] +0\.1000 +3 ", text), "the standard deviation over trials"
    assert re.search(r"gelu +0\.2200 \[.*\] +3 .*\+0\.1000\n", text), "all pairs differ by 0.1: no interval"
    assert re.search("tinylstm relu .*\n +gelu +no value", text)
    found = report.spreads(report.load(study)).query("metric == 'total variation'")
    (row,) = found.to_dict("records")  # of charlm: one arm, as tinylstm's, has no spread
    assert (row["mean"], row["CV%"]) == (pytest.approx(0.17), pytest.approx(100 * 5 / 17))
    assert (row["lowest"], row["highest"], row["arms"]) == ("relu", "gelu", 2)


def test_filters_and_no_plots(study, tmp_path):
    """Only the chosen models and activations appear, with their differences from the study's reference; --no-plots
    leaves out the figures."""
    written = [path.name for path in report.write(report.load(study, ["charlm"], ["gelu"]), tmp_path, formats=())]
    assert {path.name for path in tmp_path.iterdir()} == {*written, "results"}
    assert not [*tmp_path.glob("*.png")]
    text = (tmp_path / "summary.txt").read_text()
    assert "tinylstm" not in text
    assert "charlm gelu" in text
    assert "charlm relu" not in text


def test_groups_are_chosen_by_a_part_of_their_name():
    """In the studies' own order; an unknown one lists those that there are."""
    grids.save(*(grids.record(activation=name, learning_rate=i / 8) for i in range(1, 10) for name in ("relu", "gelu")))
    (last,) = levels(report.load("made-up", groups=["learning_rate=1.125"]))[0]
    assert last == "charlm, learning_rate=1.125"
    with pytest.raises(BadInput, match=r"no group of .*made-up has learning_rate=2: they are .*learning_rate=0.125"):
        report.load("made-up", groups=["learning_rate=2"])


def test_a_part_of_a_study_is_judged_as_in_the_whole(committed, lite):
    """Holm runs over the whole study: what is shown of it changes no p-value."""
    columns = ["group", "arm", "metric", "difference", "p_holm"]
    whole = lite.differences[columns]
    part = report.load("repro-lite", ["tinylstm"]).differences[columns]
    expected = whole[whole["group"] == "tinylstm"].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, expected)


def test_wrong_names_list_what_there_is(study):
    """Unknown study, format, model, activation: the message says what is known."""
    with pytest.raises(UnknownName, match="known are pdf, png, svg"):
        list(report.write(report.load(study), paths.results(), ("gif",)))
    for name, wanted, known in (
        ("nothing", {}, "known are made-up"),
        (study, {"models": ["charml"]}, "known are charlm, tinylstm"),
        (study, {"activations": ["gelo"]}, "did you mean 'gelu'"),
    ):
        with pytest.raises(UnknownName, match=known):
            report.load(name, **wanted)


def test_a_study_without_a_number_is_reported(tmp_path):
    """Every trial diverged; the summary says so."""
    grids.save(grids.record(losses=(float("inf"),), status={0: "diverged"}), study="lost")
    first, *_ = report.write(report.load("lost"), tmp_path)
    assert "trials: 1 diverged" in first.read_text()


def test_protocol_and_an_ignored_activation_are_said():
    """An arm whose activation never reached the network is not called plain "gelu"; protocol, gated width and streams
    stand in the summary."""
    about = {"protocol": ["activation: ignored"], "gated_width": "matched", "dataset": "pydoc", "scale": "lite"}
    grids.save(*(grids.record(activation=name, **about) for name in ("relu", "gelu")), study="flawed")
    text = summary_of("flawed")
    assert "gelu (ignored: relu)" in text
    assert "protocol activation: ignored" in text
    assert "gated_width matched" in text
    assert "varies all" in text


@pytest.mark.parametrize(("name", "unit"), [("mnist", "image"), ("ablation-novels", "token"), ("extreme", "character")])
def test_losses_have_the_unit_of_their_kind(committed, name, unit):
    """Nats per image, per token, per character."""
    labels = {metric.label for metric in report.load(name).metrics.values() if "nats" in metric.label}
    assert labels
    assert all(f"nats per {unit})" in label for label in labels)


def test_a_run_that_a_noise_floor_shares_is_counted_once(committed, lite):
    """The seconds of repro-lite, added up from its records: 6 models x 6 activations x (5 seeds + 2 repetitions of the
    first)."""
    spent = [
        trial["seconds"]["training"] + trial["seconds"]["evaluation"]
        for record in grids.committed("repro-lite")
        for trial in record.get("trials", ())
        if record["kind"] == "trials" or "-" in trial["label"]
    ]
    assert len(spent) == 6 * 6 * (5 + 2)
    text = summary.text(lite, summary.tables_of(lite))
    assert f"trials: {len(spent)} done" in text
    assert f"training and evaluation: {sum(spent):,.0f} s, " in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mnist", "ablation-tuned"])
def test_every_kind_of_study_is_reported(committed, tmp_path, name):
    """An image sweep and an ablation get the same files: summary with tests, tidy tables, LaTeX, figures in the formats
    asked for."""
    found, formats = report.load(name), ("png", "svg", "pdf")
    written = {path.name for path in report.write(found, tmp_path, formats)}
    assert {"summary.txt", "trials.csv", "estimates.csv", "differences.csv", "table_val_loss.tex"} <= written
    assert {name.rpartition(".")[2] for name in written} == {"txt", "csv", "tex", *formats}
    assert f"minus {found.reference}" in (tmp_path / "summary.txt").read_text()
    assert len(pd.read_csv(tmp_path / "trials.csv")) == len(found.trials)


def sweep(study="sweep", activations=("relu",), **of_setting):
    """A study whose arms differ in these settings, each a list of levels in step."""
    for i, levels in enumerate(zip(*of_setting.values(), strict=True)):
        for name in activations:
            losses = [2.0 + i, 2.1 + i, 2.3 + 2.1 * i]
            grids.save(
                grids.record(activation=name, losses=losses, **dict(zip(of_setting, levels, strict=True))), study=study
            )
    return study


def test_the_one_setting_that_varies_is_compared():
    """A sweep of rates is compared as activations are, by default with its first rate, and drawn."""
    found = report.load(sweep(learning_rate=[0.001, 0.002, 0.01]))
    assert (found.factor, found.reference, levels(found)) == (
        *("learning_rate", "0.001"),
        (["charlm, relu"], ["0.001", "0.002", "0.01"]),
    )
    tests = found.of("val_loss", found.differences)
    assert tests["difference"].droplevel("group").to_dict() == pytest.approx({"0.002": 4.1 / 3, "0.01": 8.2 / 3})
    assert {"accuracy", "overview"} <= {name for name, _ in drawings.figures_of(found)}
    other = report.load("sweep", reference="learning_rate=1e-2")
    assert other.of("val_loss", other.differences)["difference"].min() == pytest.approx(-8.2 / 3)
    with pytest.raises(UnknownName, match=r"unknown reference '0\.1' in .*sweep"):
        report.load("sweep", reference="learning_rate=0.1")
    with pytest.raises(UnknownName, match="unknown factor 'rate'"):
        report.load("sweep", factor="rate")


def test_a_setting_that_goes_with_the_factor_makes_no_groups():
    """Two optimizers, each at its own rate, are compared with one another."""
    found = report.load(sweep(optimizer=["adamw", "sgdm"], learning_rate=[0.001, 0.1]), factor="optimizer")
    assert (found.reference, levels(found)) == ("adamw", (["charlm, relu"], ["adamw", "sgdm"]))
    assert len(found.of("val_loss", found.differences)) == 1


def test_of_two_settings_that_vary_one_is_named():
    """Four arms of two optimizers and two rates: by the activation nothing is compared, and --factor says what is."""
    sweep(optimizer=["adamw", "adamw", "sgdm", "sgdm"], learning_rate=[0.001, 0.01] * 2)
    assert report.load("sweep").differences.empty
    found = report.load("sweep", reference="optimizer=adamw")
    assert levels(found)[0] == ["charlm, relu, learning_rate=0.001", "charlm, relu, learning_rate=0.01"]
    assert len(found.of("val_loss", found.differences)) == 2
    with warnings.catch_warnings(action="error"):  # matplotlib's, where labels do not fit
        figures = dict(drawings.figures_of(found))
        (tmp := figures["overview"]).draw_without_rendering()
    assert [label.get_text() for label in tmp.axes[0].get_xticklabels()] == [
        "learning_rate=0.001",
        "learning_rate=0.01",
    ]


def test_one_arm_of_a_group_has_no_spread_and_no_place_in_the_ranking(study):
    """A network with one recorded activation is not insensitive: its CV is missing, and so is its bar."""
    found = report.load(study)
    *_, heat, ranking = dict(drawings.figures_of(found))["overview"].axes
    assert [label.get_text() for label in ranking.get_yticklabels()] == ["charlm (2 of 2)"]
    assert [text.get_text() for text in heat.texts] == ["0.12", "0.22", "0.12", ""]
    grids.save(grids.record(), study="alone")
    *_, ranking = dict(drawings.figures_of(report.load("alone")))["overview"].axes
    assert ranking.get_title(loc="left") == "CV over arms (%): one has none"


def test_models_are_compared_on_one_pair_of_axes(study):
    """Bars of all groups, one scatter plot; no offset at the axis."""
    figures = dict(drawings.figures_of(report.load(study)))
    assert [len(figures[name].axes) for name in ("accuracy", "reproducibility", "accuracy_vs_reproducibility")] == [
        1
    ] * 3
    assert [label.get_text() for label in figures["accuracy"].axes[0].get_xticklabels()] == ["charlm", "tinylstm"]


def test_intervals_stay_inside_the_range_of_their_metric():
    """Of means and of differences; those of a user's own metric are left as they are."""
    table = pd.DataFrame({"low": [-0.5, 0.1], "high": [0.2, 20.5]})
    assert clipped(table, "churn").to_numpy().tolist() == [[0.0, 0.2], [0.1, 1.0]]
    assert clipped(table, "churn", signed=True).to_numpy().tolist() == [[-0.5, 0.2], [0.1, 1.0]]
    assert clipped(table, "mine") is table


def test_an_arm_that_overfitted_is_not_called_too_early():
    """Its best evaluation was below the bigram table's 2.05 nats, its last is not; one that never was is too early."""
    grids.save(
        grids.record(losses=(2.06, 2.07, 2.08)),
        grids.record(activation="gelu", losses=(3.0, 3.1, 3.2)),
        grids.baseline(),
    )
    text = summary_of("made-up")
    assert "too early to compare, no loss below the bigram table's 2.050: charlm gelu (3.050)\n" in text


def test_two_studies_are_compared_arm_by_arm():
    """Shared seeds are paired, disjoint ones tested by Welch's test as SciPy has it; Holm runs over the arms; no shared
    arm is an error."""
    x, y = (2.0, 2.1, 2.2), (2.3, 2.2, 2.6)
    grids.save(grids.record(losses=x), study="x")
    grids.save(grids.record(losses=y), study="y")
    grids.save(grids.record(losses=y, first=90, iterations=7), study="z")
    grids.save(grids.record(model="convlm"), study="other")
    tests = {"y": stats.ttest_rel(y, x), "z": stats.ttest_ind(y, x, equal_var=False)}
    for other, expected in tests.items():
        lines, found = report.compare("x", other)
        row = found.set_index("metric").loc["val_loss"]
        assert (row["difference"], row["p"]) == (pytest.approx(4 / 15), pytest.approx(expected.pvalue))
        assert ("iterations:  -> 7" in lines) == (other == "z")
    with pytest.raises(BadInput, match="share no arm: one has charlm, relu; the other convlm, relu"):
        report.compare("x", "other")


def test_losses_on_different_data_are_not_compared():
    """How far two seeds differ is; a line says so."""
    novels = grids.record(losses=(2.3, 2.2, 2.6), dataset="novels")
    novels["provenance"] = novels["provenance"] | {"data": {"name": "novels", "vocab_size": 90, "sha256": "0" * 64}}
    grids.save(novels, study="text")
    grids.save(grids.record(), study="x")
    lines, found = report.compare("x", "text")
    assert "data: pydoc ffffffff -> novels 00000000" in lines
    assert "measured on different data: losses and accuracies are not compared" in lines
    assert {*found["metric"]} == {*PAIR_METRICS}


def test_arms_of_two_studies_are_matched_by_their_settings():
    """A study of one rate and a sweep that holds it share that arm, whatever either calls it."""
    grids.save(grids.record(learning_rate=0.002), study="first")
    sweep(learning_rate=[0.001, 0.002])
    lines, found = report.compare("first", "sweep")
    assert found.set_index("metric").loc["val_loss", "difference"] == pytest.approx((1 + 1 + 2.2) / 3)
    assert lines[-1] == "1 arms are in both studies, 1 in one of them"
