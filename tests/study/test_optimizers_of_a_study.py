"""Language models under each optimizer, a user's own too; PyTorch's names of activations."""

import pytest
import tiny
import torch

import actlab
from actlab.activations import get_activation
from actlab.errors import BadInput
from actlab.records import store, tables
from actlab.study.after.load_model import load_model, trial_of
from actlab.study.run import run
from actlab.study.tokens import TokenStudy
from actlab.trainers.determinism import weights_sha256

RATES = {"adamw": 1e-2, "sgd": 0.02, "sgdm": 0.01, "soap": 1e-2, "ecd": 1.0}
LION = """import torch
import actlab

@actlab.register_optimizer("lion", source="Chen et al. 2023, arXiv 2302.06675")
class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            loss = closure()
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((first * mean + (1 - first) * p.grad).sign(), alpha=-group["lr"])
                mean.lerp_(p.grad, 1 - second)
        return loss
"""
pytestmark = pytest.mark.usefixtures("no_own_parts")


@pytest.fixture
def lion(tmp_path, monkeypatch):
    """A plug-in in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lion.py").write_text(LION)
    return "lion.py"


def weights(study):
    """Of its first trial, and its losses."""
    results = tiny.afresh(study.arms()[0].trials[0])[0]
    assert results["status"] == "done", results.get("traceback")
    return results["weights_sha256"], [each["val_loss"] for each in results["history"]]


@pytest.mark.parametrize("name", RATES)
def test_each_optimizer_trains_characters(name, toy):
    """The loss falls; the seed decides the bits."""
    study = toy.replace(optimizer=name, learning_rate=RATES[name], iterations=40, evaluate_every=20)
    bits, losses = weights(study)
    assert losses[-1] < losses[0]
    assert weights(study) == (bits, losses)


def test_betas_reach_the_optimizer(toy):
    """Those that AdamW has anyway change nothing; others do, as warm-up and clipping do."""
    plain, _ = weights(toy)
    assert weights(toy.replace(betas=[0.9, 0.999]))[0] == plain
    changed = ({"betas": [0.5, 0.999]}, {"betas": "[0.9, 0.9]"}, {"warmup": 3}, {"clip": 0.01}, {"optimizer": "soap"})
    assert len({plain, *(weights(toy.replace(**change))[0] for change in changed)}) == 6


def test_a_record_says_what_was_not_usual(toy):
    """And gives back the trial that it is of; the usual has the id that it always had."""
    (arm, *_) = toy.arms()
    assert not {"optimizer", "betas", "clip"} & {*arm.config["recipe"]}
    own = toy.replace(activation="relu", optimizer="sgd", clip=1.0, learning_rate=0.05)
    other = toy.replace(activation="relu", betas=[0.8, 0.9])
    for study in (own, other):
        (record,) = run(study).present
        again = trial_of(store.load(store.path_of("toy", record["arm"]))).trial
        assert again == study.arms()[0].trials[0]
    settings = {*tables.load("toy")[0]["setting"]}
    assert any("optimizer=sgd" in each and "betas=usual" in each for each in settings)
    assert any("betas=0.8 + 0.9" in each for each in settings)


def test_an_own_optimizer_is_known_by_its_file(lion, toy, cats):
    """In ids, records and caches; in both kinds of language models; its model comes back; a changed file is another."""
    study = toy.replace(activation="relu", optimizer="lion", betas=[0.9, 0.9], trials=2, plugins=[lion])
    (record,) = run(study).present
    assert record["config"]["parts"] == dict(study.arms()[0].trials[0].parts)
    assert weights_sha256(load_model(record)) == record["trials"][0]["weights_sha256"]
    tokens = {**tiny.ABLATION, "symmetry": "bQ", "activation": "gelu", "optimizer": "lion", "plugins": [lion]}
    (ablation,) = run(TokenStudy.parse(tokens | {"rate_factor": 2.0, "clip": 0.5})).present
    assert ablation["trials"][0]["status"] == "done"
    assert ablation["config"]["optimizer_settings"]["lr"] == 2e-3
    assert trial_of(ablation, "42").trial.clip == 0.5
    before = study.arms()[0]
    with open(lion, "a") as file:
        file.write("# another\n")
    actlab.load_plugins([lion])
    assert study.arms()[0].id != before.id
    with pytest.raises(BadInput, match="'lion' is not the one that was planned"):
        tiny.afresh(before.trials[0])


def test_clipping_on_tokens(cats):
    """The usual is no part of an id; a small norm changes the weights."""
    study = TokenStudy.parse({**tiny.ABLATION, "optimizer": "adamw", "symmetry": "bQ", "activation": "gelu"})
    assert "clip" not in study.arms()[0].config["recipe"]
    # AdamW does not see the size of a gradient, SGD does
    sgd = study.replace(optimizer="sgd")
    assert weights(sgd)[0] != weights(sgd.replace(clip=0.01))[0]
    assert weights(study)[0] != weights(study.replace(betas=[0.5, 0.9]))[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weight_decay=0.0", "other=0.0", "must take .* weight_decay"),
        ("lr=1e-3", "lr", "with a default for lr|SyntaxError"),
        ('"lion"', '"adamw"', r"'adamw' is built in and cannot be replaced"),
    ],
)
def test_what_is_no_optimizer_is_refused_at_once(old, new, message, lion, tmp_path):
    (tmp_path / "wrong.py").write_text(LION.replace(old, new))
    with pytest.raises(BadInput, match=message):
        actlab.load_plugins(["wrong.py"])


def test_betas_that_no_optimizer_takes_are_refused(toy):
    with pytest.raises(BadInput, match=r"betas: optimizer 'sgd' takes none"):
        toy.replace(optimizer=["adamw", "sgd"], betas=[0.9, 0.9])
    with pytest.raises(BadInput, match="less than 1"):
        toy.replace(betas=[0.9, 1.0])


def test_pytorchs_names(toy):
    """SiLU is swish, and trained once, as is a row that is spelled as a member of its family."""
    silu = toy.replace(activation="silu")
    assert silu.arms() == toy.replace(activation="swish").arms()
    with pytest.raises(BadInput, match="names one thing twice"):
        toy.replace(activation=["swish", "silu"])
    for spelled, name in {"smelu_0.5": "smelu_05", "gelu_1": "gelu", "swish_1": "swish"}.items():
        assert toy.replace(activation=spelled).arms() == toy.replace(activation=name).arms()
    x = torch.linspace(-3, 3, 13)
    assert get_activation("silu")(x).equal(torch.nn.functional.silu(x))
