"""`actlab report`: a verdict in sentences made of the run's numbers; averaged weights, equal loss beside the end."""

import re

import pytest

from actlab import report
from actlab.report import summary, verdict
from actlab.study.run import run

STUDY = {"activation": ("relu", "gelu"), "average": 0.9, "snapshots": (1,), "noise_floor": True, "iterations": 4}


@pytest.mark.parametrize(("trials", "said"), [(1, "With one seed nothing"), (2, "with 2 seeds no difference"), (3, "")])
def test_a_short_run_is_told_that_it_is_too_early(toy, trials, said):
    """No network has learned what a table of pairs knows; how many seeds it takes to compare."""
    run(toy.replace(study="short", trials=trials, **{name: STUDY[name] for name in ("activation", "iterations")}))
    told = "\n".join(verdict.sentences(report.load("short")))
    assert re.search(r"No network beats the bigram table \([\d.]+ nats\): too early to compare\.", told)
    assert said in told
    assert ("only differences above" in told) == (trials > 2)


def test_the_verdict_has_what_the_repository_is_about(toy, tmp_path):
    """Two seeds, what could show, the noise floor, averaged weights and equal loss, each from the report's own tables,
    which are written beside it."""
    run(toy.replace(study="whole", **STUDY))
    found = report.load("whole")
    told = summary.text(found)
    test = found.of("total_variation", found.differences).iloc[0]
    apart = 100 * found.of("total_variation", found.estimates)["estimate"]
    assert (
        f"Two seeds differ by {apart.mean():.1f} points ({apart.min():.1f} to {apart.max():.1f} by arm); with" in told
    )
    assert f"only differences above {50 * (test['high'] - test['low']):.1f} points show" in told
    assert "The same seed run again gives the same bits." in told
    assert re.search("One bit of one weight does .*% of what another seed does", told)
    averages = found.averaged
    assert f"from {100 * averages['single'].mean():.1f} to {100 * averages['averaged'].mean():.1f} points" in told
    assert [*averages["arm"]] == ["relu", "gelu"]
    assert "\naveraged weights: " in told
    names = {path.name for path in report.write(found, tmp_path / "out", ())}
    assert "averaged.csv" in names
    assert ("equal_loss.csv" in names) == (len(found.equal_loss) > 0)


@pytest.mark.slow
def test_the_verdict_on_the_recorded_study(committed):
    """At equal loss, and of other kinds of study what they have."""
    told = verdict.sentences(report.load("answer"))
    assert any(line.startswith("At equal validation loss ") for line in told)
    assert any(line.startswith("Every arm beats the bigram table") for line in told)
    (said,) = verdict.sentences(report.load("mnist"))
    assert said.endswith(" in validation loss are significant (Holm).")
