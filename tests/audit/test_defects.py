"""Protocol switches: off by default and in no id; each one's effect on known answers; loud in the record."""

from itertools import combinations, product

import pytest
import torch
from tests.support import tiny

from actlab.activations import ACTIVATIONS
from actlab.errors import BadInput
from actlab.models import MODELS
from actlab.records.defect_names import DEFECTS
from actlab.study.characters import study as of_characters
from actlab.study.characters.study import CharacterStudy
from actlab.trainers.seeds import generator
from actlab_audit import defects

MEASURED = {"pairing": "unpaired", "accuracy": "last_1000", "selection": "final", "evaluation": "200 random batches"}


@pytest.fixture
def few(monkeypatch):
    """Small draws."""
    monkeypatch.setattr(defects, "DRAWN_WINDOWS", 60)
    monkeypatch.setattr(defects, "DRAWN_BATCHES", 3)


def built(name, **protocol):
    """A fresh convlm with these defects."""
    trial = tiny.arm(CharacterStudy(protocol=protocol or "corrected"), "convlm", name).trials[0]
    return tiny.enlarge(trial.fresh().eval())


def test_each_alone():
    """One switch turns on one defect where it applies (evaluation of random batches comes with the last weights); off
    is the default, of which no configuration speaks."""
    cells = list(product(MODELS, ACTIVATIONS))
    for key, value in (name.split(": ") for name in DEFECTS):
        asked = {key: value} | ({"selection": "final"} if key == "evaluation" else {})
        on = [set(tiny.arm(CharacterStudy(protocol=asked), *cell).measures.protocol) for cell in cells]
        assert set().union(*on) == {f"{name}: {value}" for name, value in asked.items()}
    assert all(tiny.arm(CharacterStudy(), *cell).measures.protocol == () for cell in cells)
    assert "protocol" not in tiny.arm(CharacterStudy(), *cells[0]).config


def test_defects_of_measurement_need_the_audit(monkeypatch):
    """Nothing else can measure them; those of training need nothing."""
    monkeypatch.setattr(of_characters, "AS_PUBLISHED", [])
    with pytest.raises(BadInput, match=r"add plugins: \[actlab_audit.defects\]"):
        CharacterStudy.parse({"protocol": "as_published"})
    assert CharacterStudy(protocol={"padding": "both"}).protocol == {"padding": "both"}


def test_ignored_activation_and_padding():
    """Ignored, every activation, gated ones too, is the same network; padded on both sides, logits before a changed
    token move with it. The parameters are the same."""
    tokens, other = tiny.tokens(), tiny.tokens()
    other[:, -1] = (other[:, -1] + 1) % tiny.CONFIG.vocab_size
    relu, swiglu = (built(name, activation="ignored") for name in ("relu", "swiglu"))
    assert torch.equal(relu(tokens), swiglu(tokens))
    leaky, causal = built("relu", padding="both"), built("relu")
    assert torch.equal(relu(tokens), causal(tokens))
    assert not torch.equal(leaky(tokens)[:, :-1], leaky(other)[:, :-1])
    assert torch.equal(causal(tokens)[:, :-1], causal(other)[:, :-1])
    assert leaky.state_dict().keys() == causal.state_dict().keys()


def test_a_draw_is_the_last_position_of_random_windows(few):
    """Predictions are the model's at the last position of each window, the target is the next character, and the stream
    decides the windows."""
    model, text = tiny.model().eval(), tiny.text(300)
    probabilities, targets = defects.draw(model, text, generator(1, "x"))
    starts = torch.randint(len(text) - 8, (60,), generator=generator(1, "x"))
    inputs = text[starts[:, None] + torch.arange(8)].long()
    torch.testing.assert_close(probabilities, torch.softmax(model(inputs)[:, -1], dim=1).detach())
    assert torch.equal(targets, text[starts + 8].long())
    assert not torch.equal(targets, defects.draw(model, text, generator(2, "x"))[1])


def test_record_says_both(toy, few):
    """One training, read both ways: the record's own numbers are the corrected ones, bit for bit, and the published
    ones stand beside them."""
    corrected, record, final = (
        tiny.relu(toy.replace(protocol=protocol)) for protocol in ("corrected", MEASURED, {"selection": "final"})
    )
    assert record["config"]["protocol"] == [": ".join(switch) for switch in MEASURED.items()]
    last = [{"label": t["label"], "val_loss": t["final"]["val_loss"]} for t in record["trials"]]
    assert final["as_published"] == {"trials": last}
    assert record["reproducibility_metrics"] == corrected["reproducibility_metrics"]
    assert "as_published" not in corrected
    published, labels = record["as_published"], [t["label"] for t in last]
    pairs, itself = ([tuple(pair["between"]) for pair in published[name]] for name in ("pairs", "itself"))
    assert pairs + itself == [*combinations(labels, 2), *zip(labels, labels, strict=True)]
    assert all(pair["coded_pd"] > 0 for pair in published["itself"])
    drawn, own = ([t["val_loss"] for t in trials] for trials in (published["trials"], last))
    assert drawn == pytest.approx(own, abs=0.2)
    assert not set(drawn) & set(own)
