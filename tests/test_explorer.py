"""The live panels, driven without a browser: moving a widget changes the picture, training trains and stops,
differences are marked. And what the laboratory computes, and a chart as HTML."""

import numpy as np
import pytest
import tiny

from actlab.explorer import panels
from actlab.explorer.charts import chart_as_html
from actlab.explorer.panels import Laboratory, SideBySide, TrainOne, curve, flow, side_by_side
from actlab.study.characters.study import CharacterStudy

PARAMS = CharacterStudy(iterations=6, evaluate_every=3, batch_size=2, prediction_windows=4)


def test_moving_beta_changes_the_picture():
    """Beta is there for the activations that have one, and its picture is named for those who cannot see it."""
    panel = Laboratory(PARAMS)
    before = panel.picture.value
    panel.beta.value = 3.0
    assert panel.picture.value != before
    assert 'alt="Smelu_1' in panel.picture.value
    panel.activation.value = "relu"
    assert panel.beta.disabled
    assert "exactly 0" in panel.words.value


def test_train_one_now_trains(toy):
    panel = TrainOne(PARAMS)
    panel.start.click()
    panel.thread.join(60)
    assert "done, validation loss" in panel.words.value
    assert not panel.start.disabled


def test_the_loss_is_drawn_while_it_trains_and_stop_stops(toy, monkeypatch):
    """The first picture is there before the run's last word; a stopped run leaves none, and its checkpoint stays, from
    which the next click goes on."""
    monkeypatch.setattr(panels, "SECONDS", 0.0)
    panel, seen = TrainOne(PARAMS.replace(iterations=401, evaluate_every=5)), []
    panel.picture.observe(lambda change: seen.append((panel.words.value, change["new"])), "value")
    panel.picture.observe(lambda change: panel.stop.click(), "value")
    panel.start.click()
    panel.thread.join(60)
    assert "iteration" in seen[0][0], panel.words.value
    assert "training loss against the iteration" in seen[0][1].lower()
    assert "was stopped at iteration" in panel.words.value
    assert not panel.start.disabled


def test_two_trials_side_by_side():
    panel = SideBySide(PARAMS)
    panel.start.click()
    panel.thread.join(60)
    assert "seed 42" in panel.words.value
    assert "<mark" in panel.words.value


@pytest.mark.parametrize(
    ("texts", "share", "marks"), [(["same", "same"], "0.0%", 0), (["a<b ", "a>bc"], "50.0%", 4), (["", ""], "0.0%", 0)]
)
def test_differences_are_marked_and_counted(texts, share, marks):
    page = side_by_side(texts, ["one", "two"])
    assert share in page
    assert page.count("<mark") == marks
    assert "a<b" not in page


def test_curves_have_known_values():
    """relu(-1) = 0; SmeLU(0) = beta / 4; a gated activation is drawn as its gate."""
    assert curve("relu")[1][200] == 0
    assert curve("smelu_1")[1][300] == pytest.approx(0.25)
    assert curve("smelu_1", 0.1)[1][300] == pytest.approx(0.025)
    assert np.array_equal(curve("swiglu")[1], curve("swish")[1])


@pytest.mark.parametrize("name", ["relu", "swiglu", "smelu_1"])
@pytest.mark.parametrize("model", ["charlm", "tinylstm"])
def test_flow_is_what_the_activations_get(name, model):
    """As many gradients as inputs, all finite; they vanish where ReLU is flat and nowhere else; beta moves them."""
    trial = tiny.arm(CharacterStudy(), model, name).trials[0]
    inputs, gradients = flow(trial, windows=2)
    assert len(inputs) == len(gradients) > 0
    assert np.isfinite(gradients).all()
    if name == "relu" and model == "charlm":
        assert (gradients == 0).mean() == pytest.approx((inputs <= 0).mean(), abs=1e-3)
    if name == "smelu_1":
        assert not np.array_equal(gradients, flow(trial, beta=0.1, windows=2)[1])


def test_text_of_a_record_ends_no_script_of_a_chart():
    page = chart_as_html({"data": {"values": [{"activation": "</script><b>"}]}})["text/html"]
    assert page.count("</script>") == 1
    assert "<b>" not in page.partition("<script>")[0]
