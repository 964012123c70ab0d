"""Protocol switches: off by default and in no id; each one's effect on known answers; loud in the record."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny
import torch
from torch import Tensor

import actlab
from actlab import metrics
from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.models import MODELS, build_model
from actlab.records import store
from actlab.study import defects
from actlab.study.arms import arm
from actlab.study.finish import finish
from actlab.study.params import Params
from actlab.study.replay import replay, task_of
from actlab.study.trial import record_of, run_trial, specification
from actlab.trainers.streams import generator, init_streams

MEASURED = {"pairing": "unpaired", "accuracy": "last_1000", "selection": "final", "evaluation": "200 random batches"}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small draws."""
    monkeypatch.setattr(defects, "DRAWN_WINDOWS", 60)
    monkeypatch.setattr(defects, "DRAWN_BATCHES", 3)


def built(model: str, activation: str, *on: str) -> torch.nn.Module:
    return defects.build(model, tiny.CONFIG, activation, "matched", init_streams(42), on).eval()


def test_off_is_the_default_and_lists_nothing() -> None:
    """No arm of an ordinary study has a defect, and its configuration does not speak of any."""
    for model in MODELS:
        for activation in ACTIVATIONS:
            one = arm(Params(), model, activation)
            assert one.protocol == one.trials[0].defects == ()
            assert "protocol" not in one.config


def test_as_published_is_all_that_apply() -> None:
    """Five of six models ignore the activation; convolutions see the future; charlm's gated layers are wide;
    measurement is always on."""
    always = ("pairing: unpaired", "accuracy: last_1000", "selection: final", "evaluation: 200 random batches")
    expected = {
        ("charlm", "gelu"): always,
        ("charlm", "swiglu"): ("gated_width: doubled", *always),
        ("minigpt", "swiglu"): ("activation: ignored", *always),
        ("convlm", "gelu"): ("activation: ignored", "padding: both", *always),
        ("tinylstm", "relu"): ("activation: ignored", *always),
    }
    for (model, activation), names in expected.items():
        one = arm(Params(protocol="as_published"), model, activation)
        assert one.protocol == names
        assert one.config["protocol"] == list(names)
        assert one.config["gated_width"] == ("doubled" if "gated_width: doubled" in names else "matched")


@pytest.mark.parametrize("switch", [row.switch for row in defects.DEFECTS.values()], ids=lambda switch: switch[0])
def test_each_alone(switch: tuple[str, str]) -> None:
    """One switch turns on one defect where it applies (evaluation of random batches comes with the last weights)."""
    asked = dict([switch]) | ({"selection": "final"} if switch[0] == "evaluation" else {})
    on = [set(arm(Params(protocol=asked), m, a).protocol) for m in ("charlm", "convlm") for a in ("relu", "swiglu")]
    assert set().union(*on) == {f"{key}: {value}" for key, value in asked.items()}


@pytest.mark.parametrize("model", MODELS)
def test_ignored_activation_gives_bit_equal_arms(model: str) -> None:
    """With the switch on, every activation, gated ones too, is the same network; charlm is where it has no power."""
    params = Params(protocol={"activation": "ignored"})
    found = {a: arm(params, model, a).trials[0].defects for a in ("relu", "gelu", "swiglu")}
    relu, *others = (built(model, a, *on)(tiny.tokens()) for a, on in found.items())
    assert (
        all(torch.equal(relu, other) for other in others)
        == (set(found.values()) == {(defects.IGNORED,)})
        == (model != "charlm")
    )


def test_padding_both_breaks_causality() -> None:
    """convlm's logits before a changed token move with it; as corrected they do not. The parameters are the same."""
    tokens, other = tiny.tokens(), tiny.tokens().clone()
    other[:, -1] = (other[:, -1] + 1) % tiny.CONFIG.vocab_size
    leaky, causal = tiny.enlarge(built("convlm", "relu", defects.BOTH)), tiny.enlarge(built("convlm", "relu"))
    assert not torch.equal(leaky(tokens)[:, :-1], leaky(other)[:, :-1])
    assert torch.equal(causal(tokens)[:, :-1], causal(other)[:, :-1])
    assert leaky(tokens).shape == causal(tokens).shape
    assert leaky.state_dict().keys() == causal.state_dict().keys()


def test_nothing_on_builds_the_ordinary_model() -> None:
    """Without defects ``build`` is ``build_model``, bit for bit."""
    plain = build_model("convlm", tiny.CONFIG, "gelu", generator_for=init_streams(42)).eval()
    assert torch.equal(built("convlm", "gelu")(tiny.tokens()), plain(tiny.tokens()))


def probabilities(seed: int, rows: int = 500) -> Tensor:
    return torch.softmax(3 * torch.randn(rows, 7, generator=torch.Generator().manual_seed(seed)), dim=1)


def test_coded_pd_is_total_variation() -> None:
    """On rows that sum to 1 the published formula is mean total variation: 0 for equal rows, 1 for disjoint ones."""
    p, q = probabilities(0), probabilities(1)
    assert defects.coded_pd(p, q) == pytest.approx(metrics.total_variation(p, q), rel=1e-5)
    assert defects.coded_pd(p, p) == 0
    assert defects.coded_pd(torch.eye(4), torch.eye(4).roll(1, 0)) == 1


def test_unpaired_pd_of_a_model_with_itself_is_not_zero(few: None) -> None:
    """A confident predictor of the last token compared with itself on other inputs: 1 - sum of squared frequencies, far
    from 0."""

    class Copies(torch.nn.Module):
        config = tiny.CONFIG

        def forward(self, tokens: Tensor) -> Tensor:
            return 50 * torch.nn.functional.one_hot(tokens, tiny.CONFIG.vocab_size).float()

    text = tiny.text(5000)
    draws = {"42": tuple(defects.draw(Copies(), text, tiny.RECIPE, generator(42, f"drawn/{i}")) for i in range(2))}
    (itself,) = defects.unpaired(draws)["itself"]  # type: ignore[arg-type]
    frequencies = text.bincount().double() / len(text)
    assert itself["between"] == ["42", "42"]
    assert itself["coded_pd"] == pytest.approx(1 - frequencies.square().sum().item(), abs=0.15)


def test_a_constant_predictor_agrees_with_itself_on_any_input(few: None) -> None:
    """The unigram plateau: what does not read its input is perfectly reproducible, paired or not."""

    class Constant(torch.nn.Module):
        config = tiny.CONFIG

        def forward(self, tokens: Tensor) -> Tensor:
            return torch.arange(11.0).expand(*tokens.shape, 11)

    draws = {
        "7": tuple(defects.draw(Constant(), tiny.text(900), tiny.RECIPE, generator(7, f"drawn/{i}")) for i in range(2))
    }
    assert defects.unpaired(draws)["itself"][0]["coded_pd"] == 0  # type: ignore[arg-type]


def test_a_draw_is_the_last_position_of_random_windows(few: None) -> None:
    """Predictions are the model's at the last position of each window, the target is the next character, and the stream
    decides the windows."""
    model, text = tiny.model().eval(), tiny.text(300)
    drawn = defects.draw(model, text, tiny.RECIPE, generator(1, "x"))
    starts = torch.randint(len(text) - 8, (60,), generator=generator(1, "x"))
    inputs = text[starts[:, None] + torch.arange(8)].long()
    torch.testing.assert_close(drawn.probabilities, torch.softmax(model(inputs)[:, -1], dim=1).detach())
    assert torch.equal(drawn.targets, text[starts + 8].long())
    assert drawn.accuracy == pytest.approx(
        100 * (drawn.probabilities.argmax(1) == drawn.targets).double().mean().item()
    )
    assert not torch.equal(drawn.targets, defects.draw(model, text, tiny.RECIPE, generator(2, "x")).targets)


def test_record_says_both(toy: Params, few: None) -> None:
    """One training, read both ways: the record's own numbers are the corrected ones, bit for bit, and the published
    ones stand beside them."""
    corrected = actlab.run_experiment("charlm", "relu", toy)
    record = actlab.run_experiment("charlm", "relu", toy.replace(study="toy-on", protocol=MEASURED))
    assert record["config"]["protocol"] == [
        "pairing: unpaired",
        "accuracy: last_1000",
        "selection: final",
        "evaluation: 200 random batches",
    ]
    assert record["reproducibility_metrics"] == corrected["reproducibility_metrics"]
    assert "as_published" not in corrected
    published = record["as_published"]
    assert [t["label"] for t in published["trials"]] == ["42", "43", "44"]
    assert [p["between"] for p in published["pairs"]] == [["42", "43"], ["42", "44"], ["43", "44"]]
    assert [p["between"] for p in published["itself"]] == [["42", "42"], ["43", "43"], ["44", "44"]]
    assert all(p["coded_pd"] > 0 for p in published["itself"])
    for trial, entry in zip(record["trials"], published["trials"], strict=True):
        assert entry["val_loss"] != trial["final"]["val_loss"]
        assert entry["val_loss"] == pytest.approx(trial["final"]["val_loss"], abs=0.2)


def test_final_selection_reports_the_last_weights(toy: Params) -> None:
    """Alone, the switch gives the whole split's loss of the last weights and nothing else."""
    record = actlab.run_experiment("charlm", "relu", toy.replace(protocol={"selection": "final"}))
    assert record["as_published"] == {
        "trials": [{"label": t["label"], "val_loss": t["final"]["val_loss"]} for t in record["trials"]]
    }


def test_ignored_arms_have_equal_weights(toy: Params) -> None:
    """The published "zero variance": trained under two names, one network, bit for bit the corrected relu arm."""
    ignored = toy.replace(study="ignored", protocol={"activation": "ignored"})
    found = [actlab.run_experiment("minigpt", a, ignored) for a in ("relu", "gelu")] + [
        actlab.run_experiment("minigpt", "relu", toy)
    ]
    hashes = [[t["weights_sha256"] for t in record["trials"]] for record in found]
    assert hashes[0] == hashes[1] == hashes[2]
    assert len({record["arm"] for record in found}) == 3


def test_a_trial_under_defects_can_be_replayed(toy: Params) -> None:
    """The record's protocol goes into the specification, so that the same leak is trained again."""
    one = arm(toy.replace(study="toy-quick", protocol="as_published", trials=1), "convlm", "gelu")
    assert one.trials[0].defects == (defects.IGNORED, defects.BOTH)
    one = replace(one, protocol=one.protocol[:2])
    record = finish(one, record_of(one, [run_trial(one.trials[0])]))
    assert specification(record, "42") == one.trials[0]
    assert replay(task_of(store.path_of("toy-quick", record["arm"]))).equal


def test_check_names_what_is_allowed() -> None:
    """A switch's only value is the defect; leaving it out is the correct way."""
    for value in ("", "off", "causal"):
        with pytest.raises(BadInput, match="leave it out"):
            defects.check({"padding": value})
    for row in defects.DEFECTS.values():
        key, value = row.switch
        defects.check({key: value} | ({"selection": "final"} if key == "evaluation" else {}))
        assert row.sentence
