"""The optimizer x symmetry x activation ablation of GPT-2: a trial and a study of it, how they are planned, trained,
measured and read back."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field
from torch import Tensor

from actlab import paths
from actlab.data.text import is_file, load_text, located, part_of, short_name, shown
from actlab.data.tokens import TokenStream, load_tokens
from actlab.models.gpt2 import GPT2, GPT2_SCALES, GPT2Config
from actlab.models.symmetry import MODES, POLICIES
from actlab.optimizers import OPTIMIZERS
from actlab.plugins import find_part, parts_of
from actlab.records import store
from actlab.study import shards
from actlab.study.cache import checkpoint_of
from actlab.study.character_trial import dataset_of, without_vocabulary
from actlab.study.characters import results_of, weights
from actlab.study.fields import ActivationName, Batch, OptimizerName, Positive, StudyName, Trials, one_of
from actlab.study.measure import batch_losses, mean
from actlab.study.optimizing import optimizer_of
from actlab.study.study import LanguageStudy, Rates, with_axes
from actlab.study.timing import pace
from actlab.study.trial import Arm, LanguageTrial, Outcome, Results, Task
from actlab.study.tuning import chosen, tuned
from actlab.trainers.loop import train_tokens
from actlab.trainers.recipes import SCHEDULES, TokenRecipe
from actlab.trainers.seeds import generator, init_streams
from actlab.trainers.windows import Windows, cover, spread

PATH = "loop"
NO_CHOICE = {"positions": "learned", "rope_share": 0.5, "value_mean": 0.0, "evaluation_draws": 8}
"""Settings that no study varied, which the hashes of the recorded arms hold."""


class TokenTrial(LanguageTrial):
    """Everything that a trial's result depends on, but for data, code and machine."""

    kind: ClassVar[str] = "ablation"
    later: ClassVar[tuple[str, ...]] = ("betas", "clip")
    named_by: ClassVar[tuple[str, ...]] = ("optimizer", "symmetry", "activation")
    vocab_size: Annotated[int, Field(ge=257, le=65536)] = 512
    """Largest vocabulary of the text's byte-pair encoding."""
    shards: Annotated[str, Field(pattern=r"^[^<>\x00-\x1f]{0,200}$")] = ""
    """Folder of *train*.bin and *val*.bin below the data folder, in place of the text."""
    scale: Annotated[str, one_of("scale", GPT2_SCALES)] = "quick"
    """Size of the model."""
    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ."""
    evaluation: Annotated[str, one_of("evaluation policy", POLICIES)] = "mean"
    """The random vectors in evaluation: the last draw, or their mean."""
    batch_size: Batch = 8
    """Sequences in a batch."""
    micro_batches: Batch = 1
    """Batches whose gradients make one step."""
    schedule: Annotated[str, one_of("schedule", SCHEDULES)] = "constant"
    """Of the learning rate; cosine: to a tenth at the end."""
    soap_max_dim: Annotated[int, Field(ge=0, le=100_000)] = 10_000
    """Longest side that SOAP gives a basis."""
    rate_factor: Positive = 1.0
    """Multiple of the optimizer's published learning rate."""
    optimizer: OptimizerName = "ecd"
    """With its published settings, or one that a plug-in registers."""
    symmetry: Annotated[str, one_of("symmetry mode", MODES)] = "symmetric"
    """What is added in attention."""
    activation: ActivationName = "gelu"
    """Of the feed-forward layers."""

    def model_config_of(self, vocab_size: int) -> GPT2Config:
        """Size and variant of the model over the shards' own vocabulary."""
        variant: dict[str, Any] = {name: getattr(self, name) for name in ("qkv_bias", "evaluation", "symmetry")}
        return replace(GPT2_SCALES[self.scale], vocab_size=vocab_size, **variant)

    @property
    def optimizer_settings(self) -> dict[str, Any]:
        """What departs from the published settings."""
        rate = OPTIMIZERS[self.optimizer].defaults["lr"] * self.rate_factor
        soap = {"max_precondition_dim": self.soap_max_dim} if self.optimizer == "soap" else {}
        return {"lr": rate, **soap, **({"betas": self.betas} if self.betas else {})}


@with_axes(
    optimizer=("ecd", "adamw", "sgdm", "soap"), symmetry=("symmetric", "bQbV"), activation=("gelu", "random_prelu")
)
class TokenStudy(LanguageStudy):
    """One ablation: every optimizer x symmetry mode x activation x rate factor, ``trials`` seeds each."""

    kind: ClassVar[str] = "ablation"
    trial: ClassVar[type[TokenTrial]] = TokenTrial
    single: ClassVar[tuple[str, ...]] = ("betas",)
    study: StudyName = "ablation-quick"
    """Folder of the records below results/."""
    trials: Trials = 1
    """Independently seeded training runs of each arm; more than recorded: the study grows."""


Study = TokenStudy
ALWAYS = (
    *("optimizer", "symmetry", "activation", "rate_factor", "vocab_size", "shards", "scale", "qkv_bias", "evaluation"),
    *("batch_size", "validation_windows", "soap_max_dim"),
)


def recipe_of(trial: TokenTrial) -> TokenRecipe:
    """How it is trained."""
    values = trial.model_dump()
    return TokenRecipe(**{each.name: values[each.name] for each in fields(TokenRecipe) if each.name in values})


def config_of(trial: TokenTrial, labels: list[str]) -> dict[str, Any]:
    """What a record says of an arm's settings: its hash is in the arm's id, so that what is there never changes."""
    settings = {**OPTIMIZERS[trial.optimizer].defaults, **trial.optimizer_settings}
    recipe = recipe_of(trial)
    of_recipe = {each.name: getattr(recipe, each.name) for each in fields(recipe) if each.name != "clip"}
    return {
        **trial.told(ALWAYS, ("validation", "betas")),
        **({"parts": dict(trial.parts)} if trial.parts else {}),
        "dataset": short_name(trial.dataset),
        "recipe": of_recipe | trial.told((), ("clip",)),
        "positions": "learned",
        "trials": labels,
        "model_size": without_vocabulary(GPT2_SCALES[trial.scale]) | NO_CHOICE,
        "optimizer_settings": {key: list(v) if isinstance(v, tuple) else v for key, v in settings.items()},
    }


def plan(study: TokenStudy) -> list[Arm[TokenTrial]]:
    """Rate factor slowest, activation fastest. Where factors are tuned, the arms depend on what is recorded."""
    cells = product(*map(study.levels, ("optimizer", "symmetry", "activation")))
    if study.tuning is not None:
        return [each for cell in cells for each in candidates(cell_of(study, *cell))[0]]
    if study.rates is not None:
        return [arm for cell in cells for arm in arms_of(cell_of(study, *cell))]
    return arms_of(study)


def cell_of(study: TokenStudy, optimizer: str, symmetry: str, activation: str) -> TokenStudy:
    """The study of one optimizer, symmetry and activation alone, with its chosen rate factor."""
    own: dict[str, Any] = {"optimizer": optimizer, "symmetry": symmetry, "activation": activation, "rates": None}
    if study.rates is not None:
        own["rate_factor"] = chosen_factor(study.rates, optimizer)
    return study.replace(**own)


def chosen_factor(rates: Rates, optimizer: str) -> float:
    """The multiple of an optimizer's published rate that a study chose."""

    def choice(of: TokenStudy) -> tuple[list[Arm[TokenTrial]], float | None]:
        return candidates(cell_of(of, optimizer, of.levels("symmetry")[0], of.levels("activation")[0]))

    return chosen(rates, TokenStudy, choice, optimizer=optimizer)


def candidates(cell: TokenStudy) -> tuple[list[Arm[TokenTrial]], float | None]:
    """Of a cell of a study that chooses rate factors: its arms that are recorded or wanted next; the chosen factor,
    once none is wanted."""
    return tuned(cell, "rate_factor", lambda one: arms_of(one)[0])


def arms_of(study: TokenStudy) -> list[Arm[TokenTrial]]:
    """One at each point of the study."""
    arms = []
    for point in study.points():
        named = {name: point[name] for name in ("activation", "optimizer", "dataset")}
        if point["shards"]:
            del named["dataset"]
        point |= {"dataset": located(point["dataset"]), "parts": parts_of(**named)}
        trials = tuple(TokenTrial.model_construct(**point, seed=seed) for seed in study.seeds)
        first = trials[0]
        factor = [] if first.rate_factor == 1 else [f"x{first.rate_factor:g}"]
        name = "-".join([first.optimizer, first.symmetry, first.activation, *factor])
        config = config_of(first, [trial.label for trial in trials])
        arms.append(Arm(study.study, "ablation", name, trials, config, plan=study.mark, tuning=study.rule))
    return arms


def load(record: store.Record, label: str) -> TokenTrial:
    """A recorded trial; its parts need not be here."""
    config = record["config"]
    values = {name: v for name, v in (config["recipe"] | config).items() if name in TokenTrial.model_fields}
    values["betas"] = tuple(values["betas"]) if values.get("betas") else None
    values |= {"dataset": dataset_of(record), "parts": tuple(sorted(config.get("parts", {}).items()))}
    return TokenTrial.model_construct(**values | {"seed": int(label)})


def prepare(study: TokenStudy, missing: Sequence[Arm[TokenTrial]]) -> str:
    """Nothing."""
    return ""


def tasks(trials: Sequence[TokenTrial]) -> list[tuple[TokenTrial, ...]]:
    """Each alone."""
    return [(trial,) for trial in trials]


def shards_of(trial: TokenTrial) -> shards.Shards:
    """The trial's shards.

    Raises:
        BadInput: a user's own text is another by now than was planned.
    """
    if trial.shards:
        return shards.own_shards(trial.shards, GPT2_SCALES[trial.scale].vocab_size)
    if planned := dict(trial.parts).get("dataset", ""):
        load_text(trial.dataset, planned)
    return shards.text_shards(trial.dataset, trial.vocab_size, paths.cache(), planned)


def validation_tokens(trial: TokenTrial) -> Tensor:
    """The part of the validation split that the trial is measured on."""
    return part_of(load_tokens(shards_of(trial).validation), trial.validation)


def compared_on(trial: TokenTrial, prediction_windows: int = 0) -> Windows:
    """The fixed validation windows: the trial's part of the split, or an even selection of it."""
    tokens, block = validation_tokens(trial), GPT2_SCALES[trial.scale].block_size
    return spread(tokens, block, trial.validation_windows) if trial.validation_windows else cover(tokens, block)


def data(trial: TokenTrial, prediction_windows: int = 0) -> dict[str, Any]:
    """What a record says of its tokens and windows."""
    where = {"path": shown(trial.dataset)} if is_file(trial.dataset) and not trial.shards else {}
    return {**shards_of(trial).about, "validation_sha256": compared_on(trial).sha256, **where}


def content(trial: TokenTrial) -> str:
    """The hash of its tokens."""
    found: str = shards_of(trial).about["sha256"]
    return found


def network(trial: TokenTrial, vocab_size: int = 0) -> GPT2:
    """Its model before training: where names become objects. ``vocab_size``: of its shards, where they need not be
    here."""
    activation = find_part("activation", trial.activation, dict(trial.parts).get("activation", ""))
    model = GPT2(trial.model_config_of(vocab_size or shards_of(trial).vocab_size), activation, "matched")
    model.initialise(init_streams(trial.seed))
    return model


def train(task: Task[TokenTrial], place: Path | None, report: Callable[[int, float], None] | None) -> list[Outcome]:
    """Weights alone beside the results: predictions over a vocabulary are large."""
    trial, recipe = task.first, recipe_of(task.first)
    model = network(trial).to(trial.device)
    optimizer = optimizer_of(trial.optimizer, trial.parts, model, trial.seed, trial.optimizer_settings)
    stream = TokenStream(
        shards_of(trial).train,
        model.config.block_size,
        trial.batch_size,
        lambda epoch: generator(trial.seed, f"order/{epoch}"),
    )
    done = train_tokens(
        model,
        optimizer,
        stream,
        compared_on(trial),
        recipe,
        trial.seed,
        saved_at=checkpoint_of(place) if place else None,
        on_progress=report,
    )
    results = {
        **results_of(trial, model, done),
        "analyses": batch_losses(model, validation_tokens(trial), recipe) if done.status == "done" else {},
    }
    return [(results, weights(model))]


def measure(arm: Arm[TokenTrial], results: list[Results]) -> store.Record:
    """Means are over the trials that are done; losses in nats a token, accuracies in %."""
    first = arm.trials[0]
    done = [trial for trial in results if trial["status"] == "done"]
    return {
        "model_name": "gpt2",
        **{name: getattr(first, name) for name in ("activation", "optimizer", "symmetry", "rate_factor")},
        "n_parameters": results[0].get("n_parameters"),
        **{f"avg_{name}": mean(trial["final"][name] for trial in done) for name in ("val_loss", "val_accuracy")},
        "trials": results,
    }


def seconds(task: Task[TokenTrial]) -> float:
    """What it takes here, by a few steps that are timed now."""
    trial = task.first
    step, window = pace(trial, train)
    evaluations = len({*range(0, trial.iterations, trial.evaluate_every), trial.iterations})
    return step * trial.iterations + window * evaluations * len(compared_on(trial).inputs)
