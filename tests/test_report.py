"""`actlab report`: the summary's numbers and the files that it promises."""

import re

import grids
import pandas as pd
import pytest
from scipy import stats

from actlab import paths, report
from actlab.errors import BadInput, UnknownName
from actlab.figures.style import small
from actlab.records.labels import PAIR_METRICS
from actlab.records.tables import load
from actlab.report import drawings, summary
from actlab.statistics.share import share


@pytest.fixture
def study():
    gelu, other = grids.record(activation="gelu", pd=0.2), grids.record(model="tinylstm")
    grids.save(grids.record(), gelu, other, grids.floor(), grids.baseline())
    return "made-up"


def summary_of(study, *only):
    return summary.text(report.load(study, *only))


@pytest.mark.slow
def test_report_writes_what_the_reference_workflow_wrote(study, tmp_path):
    """Summary, tables, and a figure of every metric, of its differences, of training and noise floors, none empty."""
    written = {str(path.relative_to(tmp_path)) for path in report.write(report.load(study), tmp_path)}
    metrics = ("reproducibility", "total_variation", "churn", "jensen_shannon", "label_pd", "val_loss", "best_val_loss")
    pictures = {"accuracy_vs_reproducibility", "noise_floor", "overview", "training_charlm", "training_tinylstm"}
    pictures |= {f"{kind}{name}" for name in (*metrics, "accuracy") for kind in ("", "differences_")}
    data = {"summary.txt", *(f"{name}.csv" for name in ("trials", "pairs", "estimates", "differences"))}
    data |= {"table_trials.tex", "report.sha256"}
    data |= {f"table_{name}.tex" for name in report.load(study).metrics}
    assert written | {"report.sha256"} == data | {f"{name}.png" for name in pictures}
    assert all((tmp_path / name).stat().st_size > 100 for name in data)


def test_summary_has_mean_cv_best_and_worst(study):
    """Per metric: every arm with interval, n and its difference from the reference; per model mean, CV%, lowest and
    highest."""
    (paths.results() / study / "failed").mkdir()
    (paths.results() / study / "failed" / "charlm-boom.json").touch()
    text = summary_of(study)
    assert "failed): charlm-boom\n" in text
    assert re.search(r"relu +0\.1200 \[.*\] +3 +1,000", text)
    assert re.search(r"gelu +0\.2200 \[.*\] +3 +1,000 .*\+0\.1000 \[", text)
    assert "charlm: mean 0.1700, CV% 29.41" in text
    assert "lowest relu, highest gelu" in text
    assert re.search("tinylstm relu .*\n +gelu +not run", text)
    assert "tinylstm: mean" not in text  # one arm has no spread


def test_filters_and_no_plots(study, tmp_path):
    """Only the chosen models and activations appear, with their differences from the study's reference; --no-plots
    leaves out the figures."""
    written = [path.name for path in report.write(report.load(study, ["charlm"], ["gelu"]), tmp_path, formats=())]
    assert {path.name for path in tmp_path.iterdir()} == {*written, "report.sha256", "results"}
    assert not [*tmp_path.glob("*.png")]
    text = (tmp_path / "summary.txt").read_text()
    assert "tinylstm" not in text
    assert "charlm gelu" in text
    assert "charlm relu" not in text


def test_a_format_that_is_named_twice_is_written_once(monkeypatch, study, tmp_path):
    made = []
    monkeypatch.setattr(report.drawings, "of", lambda _: iter([("one", None)]))
    monkeypatch.setattr(report, "image", lambda _, ending: made.append(ending) or b"picture")
    list(report.write(report.load(study), tmp_path / "out", ["png", "png"]))
    assert made == ["png"]


def test_only_files_of_a_report_are_replaced_or_deleted(study, tmp_path):
    """A file of the user's stays, as a table that an earlier report left and the user changed does; what a report
    wrote is replaced, and goes where the next one does not write it."""
    (out := tmp_path / "mine").mkdir()
    (out / "churn.png").write_text("mine")
    (out / "table_own.tex").write_text("mine")
    earlier = report.load(study)
    assert (out / "differences.csv") in [*report.write(earlier, out, ())]
    (out / "table_churn.tex").write_text("changed")
    with pytest.raises(BadInput, match=r"table_churn\.tex is no file of a report, or was changed since"):
        list(report.write(earlier, out, ()))
    assert (out / "table_churn.tex").read_text() == "changed"
    (out / "table_churn.tex").unlink()
    list(report.write(report.load(study, ["tinylstm"]), out, ()))
    assert not (out / "differences.csv").exists()
    assert [(out / name).read_text() for name in ("churn.png", "table_own.tex")] == ["mine", "mine"]
    with pytest.raises(BadInput, match=r"churn\.png is no file of a report"):
        list(report.write(earlier, out))


@pytest.mark.parametrize("content", [b"", b"mine", b"\xff\xfe", b"0" * 64 + b"  summary.txt\n"])
def test_a_list_of_somebody_else_is_no_list(study, tmp_path, content):
    (tmp_path / "report.sha256").write_bytes(content)
    with pytest.raises(BadInput, match=r"is no list of a report's files|is not a text in UTF-8"):
        list(report.write(report.load(study), tmp_path, ()))
    assert (tmp_path / "report.sha256").read_bytes() == content


def test_figures_of_a_large_study_show_its_first_groups(tmp_path):
    """And say which; tables have every arm."""
    grids.save(*(grids.record(activation=name, learning_rate=i / 8) for i in range(1, 10) for name in ("relu", "gelu")))
    found = report.load("made-up")
    assert drawings.left_out(found) == (
        "the figures show the first 6 of 9 groups and the first 2 of 2 arms; --group and --activation choose others"
    )
    assert len([name for name, _ in drawings.of(found) if name.startswith("training_")]) == 6
    assert len(found.estimates.query("metric == 'val_loss'")) == 18
    (last,) = report.load("made-up", groups=["learning_rate=1.125"]).levels[0]
    assert last == "charlm, learning_rate=1.125"
    with pytest.raises(UnknownName, match="unknown group 'learning_rate=2' in results/made-up: did you mean"):
        report.load("made-up", groups=["learning_rate=2"])


def test_figures_of_an_ablation_show_all_of_it(committed):
    """Its eight groups, of four optimizers and two symmetries; a part of a group's name chooses what it names."""
    assert drawings.left_out(report.load("ablation-tuned")) == ""
    assert report.load("ablation-tuned", groups=["soap"]).levels[0] == ["soap, bQbV, x8", "soap, symmetric, x8"]


def test_groups_whose_names_are_alike_have_figures_of_their_own():
    """Signs that a file's name does not have, capitals, and a name that is longer than a file's."""
    taken = set()
    for group in ("my text.txt", "my_text.txt", "My text.txt", "my_text.txt-2", "\u00e9" * 300, "\u00e9" * 301):
        name = drawings.file_name(group, taken)
        assert name.lower() not in taken
        assert len(name.encode()) < 130
        taken.add(name.lower())


@pytest.mark.parametrize("name", ["", "..", "empty", "no-such"])
def test_a_study_without_records_is_one_sentence(study, name):
    (paths.results() / "empty").mkdir()
    with pytest.raises(UnknownName, match=r"unknown study with trials .* known are made-up"):
        report.load(name)


def test_a_part_of_a_study_is_judged_as_in_the_whole(committed):
    """Holm runs over the whole study: what is shown of it changes no p-value."""
    columns = ["group", "arm", "metric", "difference", "p_holm"]
    whole = report.load("repro-lite").differences[columns]
    part = report.load("repro-lite", ["tinylstm"]).differences[columns]
    expected = whole[whole["group"] == "tinylstm"].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, expected)


def test_a_part_is_judged_at_equal_loss_as_in_the_whole(committed):
    """Its arms are read at the loss that all of the group reach, and without its reference it has its tests."""
    whole, part = (report.load("answer-fresh", (), only).equal_loss for only in ((), ["swish"]))
    expected = whole[whole["arm"] == "swish"].reset_index(drop=True)
    assert len(expected) > 1
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


@pytest.mark.parametrize(
    ("name", "unit"), [("mnist", "image"), ("ablation-novels", "token"), ("repro-lite", "character")]
)
def test_losses_have_the_unit_of_their_kind(committed, name, unit):
    """Nats per image, per token, per character."""
    labels = {metric.label for metric in report.load(name).metrics.values() if "nats" in metric.label}
    assert labels
    assert all(f"nats per {unit})" in label for label in labels)


def test_no_record_names_a_built_in_metric_anew():
    """A record's words about own metrics are of those alone."""
    about = {"label": "accuracy (%)", "note": "higher is better"}
    grids.save(grids.record() | {"metrics": {"total_variation": about, "churn": about}})
    assert report.load("made-up").metrics["total_variation"] == PAIR_METRICS["total_variation"]


def test_a_run_that_a_noise_floor_shares_is_counted_once(committed):
    """The seconds of repro-lite, added up from its records: 6 models x 6 activations x (5 seeds + 2 repetitions of the
    first)."""
    spent = [
        trial["seconds"]["training"] + trial["seconds"]["evaluation"]
        for record in grids.committed("repro-lite")
        for trial in record.get("trials", ())
        if record["kind"] == "trials" or "-" in trial["label"]
    ]
    assert len(spent) == 6 * 6 * (5 + 2)
    text = summary_of("repro-lite")
    assert f"trials: {len(spent)} done" in text
    assert f"training and evaluation: {sum(spent):,.0f} s, " in text


def test_changed_runs_stand_beside_what_another_seed_does(committed):
    """The mean over seeds of each arm and change, with its share of the mean over two seeds."""
    _, changed = load("recipe", "perturbed")
    _, seeds = load("recipe")
    found = summary.changes(report.load("recipe"))
    bit = found[found["change"] == "one bit of one weight changed"].xs("gelu", level="arm").iloc[0]
    means = [table[table["activation"] == "gelu"]["total_variation"] for table in (changed, seeds)]
    one_bit = means[0][changed["variant"] == "nudge"].mean()
    assert bit["total variation"] == f"{one_bit:.2g}"
    assert bit["share"] == f"{100 * one_bit / means[1].mean():.2g}%"
    assert bit["n"] == 5
    assert "two threads instead of one" in summary.text(report.load("recipe"))
    assert summary.text(report.load("mnist")).count("itself changed") == 0


def test_a_share_of_another_seed_has_its_interval(committed):
    """As ``actlab.share`` has it, in percent."""
    _, changed = load("recipe", "perturbed")
    _, seeds = load("recipe")
    shares = share(changed[changed["variant"] == "nudge"], seeds, "total_variation").set_index("activation")
    found = summary.changes(report.load("recipe"))
    bits = found[found["change"] == "one bit of one weight changed"]
    for arm, row in bits.droplevel("group").iterrows():
        low, high = 100 * shares.loc[arm, ["low", "high"]]
        assert row["its 95% interval"] == f"[{small(low)}%, {small(high)}%]"


def test_with_one_seed_a_change_has_a_mean_and_no_share():
    """There is no other seed to compare with, and no interval of one value."""
    changed = grids.floor(nudge=0.02) | {"kind": "perturbed"}
    changed["config"]["kind"] = "perturbed"
    grids.save(grids.record(losses=(2.0,)), changed)
    found = summary.changes(report.load("made-up")).set_index("change")
    assert found["total variation"].tolist() == ["0", "0.020"]
    assert found[["95% interval", "share", "its 95% interval"]].eq("").all(axis=None)


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
        differs, found = report.compare("x", other)
        row = found.set_index("metric").loc["val_loss"]
        assert (row["difference"], row["p"]) == (pytest.approx(4 / 15), pytest.approx(expected.pvalue))
        assert ("iterations:  -> 7" in differs) == (other == "z")
    with pytest.raises(BadInput, match="share no arm: one has charlm relu; the other convlm relu"):
        report.compare("x", "other")
    assert not any("different data" in line for line in differs)
    novels = grids.record(losses=y, dataset="novels")
    novels["provenance"] = novels["provenance"] | {"data": {"name": "novels", "vocab_size": 90, "sha256": "0" * 64}}
    grids.save(novels, study="text")
    assert (
        "x is measured on pydoc ffffffff, text on novels 00000000: losses and accuracies on different data cannot be "
        "compared"
    ) in report.compare("x", "text")[0]
    grids.save(grids.record(losses=x, status=dict.fromkeys(range(3), "diverged")), study="lost")
    with pytest.raises(BadInput, match="nothing has a value in both x and lost"):
        report.compare("x", "lost")
