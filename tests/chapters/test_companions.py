"""What the answer's page says of the companion studies in fixed text holds in the committed records."""

import pytest

from actlab.chapters import answer, companions


@pytest.fixture
def found(committed):
    return companions.read(answer.read())


def devices(study):
    """Where each architecture was trained, once."""
    arms = study.own.grid.arms.items()
    return sorted({(model, arm.record["config"]["recipe"]["device"]) for (model, _), arm in arms})


def test_text_seeds_and_devices(found):
    """Three architectures, five seeds on the novels, all on a GPU; one device an architecture in every study."""
    assert devices(found["answer-novels"]) == [(m, "cuda") for m in ("charlm", "convlm", "nanotransformer")]
    assert devices(found["answer-rate"])[:2] == [("charlm", "cpu"), ("convlm", "cpu")]
    assert all(len(dict(devices(study))) == len(devices(study)) for study in found.values())
    assert {len(arm.done) for arm in found["answer-novels"].own.grid.arms.values()} == {5}
    assert not found["answer-long"].own.grid.arms, "the page says that it is not run"


def test_the_gains_were_trained_at_half_of_the_rate_of_relu(found):
    """All three of the main study, there and on the fresh seeds; relu's lower rate is theirs."""
    fresh, half = (found[study] for study in (companions.FRESH, companions.HALF))
    assert len(fresh.again()) == len(half.at_one_rate()) == 3
    for arms in (fresh.main.grid.arms, fresh.own.grid.arms):
        rates = {cell: arm.recipe["learning_rate"] for cell, arm in arms.items()}
        assert {rates[model, name] / rates[model, "relu"] for model, name in fresh.again()} == {0.5}
    assert {arm.recipe["learning_rate"] / there.recipe["learning_rate"] for _, arm, there in half.shared()} == {0.5}
    assert {len(arm.done) for study in (fresh, half) for arm in study.own.grid.arms.values()} == {10}
    assert {device for study in (fresh, half) for _, device in devices(study)} == {"cpu"}


def test_ensembles_stand_from_right_to_left(found):
    """The caption says so: a larger ensemble of shorter runs ends at a higher loss, everywhere."""
    for every in companions.remedies(found).values():
        losses = [remedy.loss.value for name, remedy in every.items() if name.startswith("ensemble")]
        assert len(losses) == 4
        assert losses == sorted(losses)
