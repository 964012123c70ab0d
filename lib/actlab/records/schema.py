"""What a record is: a pydantic model a kind, with what its readers need, so that a record is refused whole, with the
place, or read whole. ``results/schema.json`` and its dictionary are made of these models."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, combinations
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from actlab.errors import CONTROL, LIMITS, RecordError, brief
from actlab.records.settings import CELLS
from actlab.statistics.tuning import Rule


def _none_for_nan(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _dated(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _decay(text: str) -> str:
    if not 0 < float(text) < 1:
        raise ValueError("expected a decay between 0 and 1")
    return text


ROUNDING = 1e-6
"""By which a mean of shares, in single precision, may pass its bound."""
Integer = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(gt=0)]
Number = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0})]
"""In a record that was read NaN stands for a missing one, which no bound of Python's would let through."""
Measured = Number | None
"""``None`` in a file where it was not a number."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1 + ROUNDING)]
Double = Annotated[float, Field(ge=0, le=2 + ROUNDING)]
Percent = Annotated[float, Field(ge=0, le=100 + ROUNDING)]
Values = dict[str, Any]
Shape = TypeVar("Shape")
NAME = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,79}$"
"""Of what a study names, and of a study: it stands in pages, file names and addresses, is never markup, and leads to no
other folder."""
Name = Annotated[str, Field(pattern=NAME)]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,159}$")]
"""Of an arm; it has a + in a rate of 1e+03."""
Label = Annotated[str, Field(pattern=r"^[0-9]{1,10}(-[A-Za-z0-9_.-]{1,40})?$")]
"""Of a trial: its seed, and what was changed in a repetition."""
Size = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
Decay = Annotated[str, AfterValidator(_decay)]
Moment = Annotated[str, AfterValidator(_dated)]
MISSING = BeforeValidator(_none_for_nan)
"""A mean over nothing: ``null`` in a file, NaN in a record that was read."""
Two = Field(min_length=2, max_length=2)
ByStatus = Field(discriminator="status")
MARKUP = re.compile(r"<[A-Za-z/!?]")
"""What HTML takes for more than text."""
HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate, which nothing can print or write."""
SUSPECT = re.compile(rf"{MARKUP.pattern}|\\u00[0189]|\\u20|\\[bfr]|\x7f|\\ud[89a-f]")
"""The JSON of a record with markup, a control character or what may be half a character."""
LARGE = re.compile(r"[:,\[ ]-?[0-9]{19}")
"""The JSON of a record with what may be a number of 2**63 and more."""
FREE = {"plugins", "metrics", "prompt", "texts", "traceback"}
"""Keys of records below which any text may stand: sources of a user's own parts, words about own metrics, what networks
wrote, what Python said."""
SEEDS_ALONE = ("mnist", "ablation")
"""Kinds of record whose trials differ in the seed alone."""
NAMED_BY = {"mnist": ("network",), "ablation": ("optimizer", "symmetry", "activation")}
"""Kind of record -> the settings that its arm's name begins with; ``model`` and ``activation`` where it is not
listed."""


class Part(BaseModel):
    """A part of a record; further keys are allowed."""

    model_config = ConfigDict(strict=True, protected_namespaces=(), use_attribute_docstrings=True, defer_build=True)


class Losses(Part):
    """Of one network on a whole split."""

    val_loss: Measured
    """Mean cross-entropy per character, token or image of the validation split, in nats; lower is better."""


class Scores(Losses):
    """Of one network on a whole split."""

    val_accuracy: Percent
    """Percent of the validation split predicted right; higher is better."""
    train_loss: Measured = None
    """Mean cross-entropy on training windows, in nats."""


class Evaluation(Scores):
    """One evaluation during training."""

    iteration: Integer
    """Optimizer steps before it."""
    train_loss: Measured
    """Mean cross-entropy on training windows, in nats."""


class TokenScores(Scores):
    """The last evaluation of a network trained on tokens."""

    tokens: Integer
    """Training tokens seen before it."""
    val_standard_error: Number
    """Standard error of the validation loss over windows, in nats."""


class Trial(Part):
    """One training run."""

    label: Label
    """Name within the arm: the seed, with a variant where it is a changed repetition (42-repeat, 42-nudge)."""
    seed: Integer | None = None
    """Of all its random streams, or of those that vary."""
    n_parameters: Integer = 0
    """Trainable parameters."""
    seconds: Number | dict[str, Number] = 0.0
    """Wall-clock time of training and of evaluation; of images the share of the program that trained several."""
    started: str | None = None
    """When training began (ISO 8601, UTC)."""
    weights_sha256: str | None = None
    """Hash of the trained weights: equal hashes, equal bits."""


def _rising(history: list[Evaluation]) -> list[Evaluation]:
    steps = [each.iteration for each in history]
    if steps != sorted(set(steps)):
        raise ValueError("expected rising iterations")
    return history


History = Annotated[list[Evaluation], AfterValidator(_rising)]


class Unfinished(Trial):
    """A run without a result."""

    status: Literal["diverged", "failed"]
    """``done``, ``diverged`` (a loss was no number) or ``failed`` (an error, whose ``traceback`` is kept)."""
    history: History = []
    """Every evaluation during training."""


class TextTrial(Trial):
    """A finished run of a character model."""

    status: Literal["done"]
    final: Scores
    """The evaluation after the last step."""
    best: Losses
    """The evaluation with the lowest validation loss."""
    weights_sha256: str
    """Hash of the trained weights: equal hashes, equal bits."""
    training: Scores | None = None
    """The training text after the last step, without dropout."""
    history: History = []
    """Every evaluation during training."""
    average: Scores | dict[Decay, Scores] | None = None
    """The same network with weights averaged over its last steps, where the study plans it; by decay where it plans
    several."""
    variant: str | None = None
    """What was changed in a repetition: repeat (nothing), nudge (one weight by one unit in the last place), ..."""


class ImageTrial(Trial):
    """A finished run on images."""

    seed: Integer
    """Of all its random streams."""
    status: Literal["done"]
    collapsed: bool
    """Whether it gives one class to every validation image."""
    val_loss: Measured
    """Mean cross-entropy over the validation images, in nats."""
    val_accuracy: Percent
    """Percent of the validation images classified right."""
    test_accuracy: Percent
    """Percent of the test images classified right."""
    train_loss: Measured = None
    """Mean cross-entropy over the training images, in nats."""
    test_loss: Measured = None
    """Mean cross-entropy over the test images, in nats."""
    val_largest_class_share: Measured = None
    """Share of the validation images that get the class given most often."""
    test_largest_class_share: Measured = None
    """The same of the test images."""


class TokenTrial(Trial):
    """A finished run of a GPT on tokens."""

    seed: Integer
    """Of all its random streams."""
    status: Literal["done"]
    final: TokenScores
    """The evaluation after the last step."""
    weights_sha256: str
    """Hash of the trained weights: equal hashes, equal bits."""
    history: History = []
    """Every evaluation during training."""
    tokens_per_second: Measured = None
    """Of training."""
    analyses: Values = {}
    """Losses of single validation batches, copying of repeated text, alignment of keys with the mean query vector."""


class Measures(Part):
    """How far two predictions of the same inputs are apart; lower is more reproducible."""

    total_variation: Share
    """Half the L1 distance of the two predictions, mean over positions: 0 to 1."""
    relative_pd: Double
    """Mean of 2|p - q| / (p + q) over all characters: 0 to 2."""
    churn: Share
    """Share of positions where the most probable character differs."""
    jensen_shannon: Share
    """Jensen-Shannon divergence in bits: 0 to 1."""


class Apart(Measures):
    """Two networks of an arm, compared on the same inputs."""

    between: Annotated[list[Label], Two]
    """Labels of the two trials."""


class Pair(Apart):
    """Two trials of an arm at the end, compared on the same inputs."""

    label_pd: Double
    """2|p - q| / (p + q) at the character that came: 0 to 2."""
    churn_win: Share | None = None
    """Share of positions where only the second is right."""
    churn_loss: Share | None = None
    """Share of positions where only the first is right."""
    churn_neutral: Share | None = None
    """Share of positions where both are wrong and differ."""
    blocks: Values = {}
    """The measures over consecutive parts of the positions."""


class Together(Measures):
    """Two ensembles of an arm, which share no trial."""

    between: Annotated[list[Annotated[list[Label], Field(min_length=1)]], Two]
    """Labels of the trials in each."""


class Read(Part):
    """Two networks, or one with itself, read otherwise: on inputs of their own, or in lockstep."""

    between: Annotated[list[Label], Two]
    """Labels of the two trials."""


class ReadTrial(Part):
    """A trial, measured as the audited code measures it."""

    label: Label
    """Its name within the arm."""
    val_loss: Measured = None
    """Mean cross-entropy of what that code evaluates, in nats."""
    val_accuracy: Percent | None = None
    """Percent of it that is predicted right."""


class AsPublished(Part):
    """Measures as the audited code takes them: on different inputs, and of a trial against itself."""

    trials: list[ReadTrial] = []
    """Of every trial."""
    pairs: list[Read] = []
    """Of every pair of trials, each on inputs of its own."""
    itself: list[Read] = []
    """Of every trial against itself, on other inputs."""


class Snapshot(Part):
    """An arm during training."""

    iteration: Integer
    """Optimizer steps before it."""
    trials: list[Values] = []
    """The trials there."""
    pairs: list[Apart]
    """Every pair of trials there."""
    to_end: list[Apart] = []
    """Each trial there against itself at the end."""
    as_published: AsPublished = AsPublished.model_construct()
    """The same as the audited code measures it."""


class Step(Part):
    """Twins in lockstep at a measured step."""

    iteration: Integer
    """Optimizer steps before it."""
    pairs: list[Read]
    """The leader with each follower."""


class MeanLoss(Part):
    """Of an ensemble."""

    of: Annotated[list[Label], Field(min_length=1)]
    """Labels of its trials."""
    loss: Measured
    """Of the mean probabilities, in nats per character."""


class Shorter(Part):
    """Ensembles of one size that cost together what one run costs."""

    size: Count
    """Networks in each."""
    iteration: Number
    """Optimizer steps of each network."""
    pairs: list[Together]
    """Ensembles that share no trial."""
    losses: list[MeanLoss]
    """Of every ensemble."""


class Origin(Part):
    """Where a record comes from."""

    date: Moment = ""
    """When it was written (ISO 8601, UTC)."""
    machine: Values = {}
    """Processor, GPU, versions."""
    data: Values = {}
    """Name, hashes and sizes of the data."""
    tuning: dict[str, Any] = {}
    """Of a study that chooses learning rates: the grid, the seeds and the rule."""


class Record(Part):
    """What the records of all kinds have."""

    study: Name
    """Folder below results/."""
    provenance: Origin = Origin.model_construct()
    """Commit, hashes of the code and the data, machine, versions, date, and the plan under which it was made."""
    checksum: str | None = None
    """sha256 of the record's canonical JSON without this key."""


class Data(Part):
    """What trials were trained on."""

    name: str
    """Of the text, the tokens or the images."""
    path: str | None = None
    """Of a user's own text, where it lay."""


class TextData(Data):
    """What language models were trained on."""

    sha256: str
    """Of the text, or of the shards."""
    vocab_size: Count
    """Number of characters, or of tokens."""


class Made(Origin):
    """Where trials come from."""

    path: str
    """Of the program that trained."""
    trial_code_sha256: str
    """Hash of the code that a trial's bits depend on."""
    machine: Values
    """Processor, GPU, versions."""
    processes: Count = 1
    """That trained one trial together."""
    data: Data  # type: ignore[assignment]  # which is also values by name
    """Name, hashes and sizes of the data."""


class Arm(Record):
    """The trials of one arm, which differ in the seed alone."""

    arm: FileName
    """Name of the file: the arm's factors and the hash of its settings."""
    supersedes: list[FileName] = []
    """Arms of the study that were recorded before with the same trials, and that it stands for."""
    model_name: Name
    """Architecture."""
    activation: Name
    """Activation that was asked for."""
    provenance: Made
    """Commit, hashes of the code and the data, machine, versions, date, and the plan under which it was made."""


class Settings(Part):
    """What the settings of every arm may have."""

    parts: dict[str, str] = {}
    """Kind of a part that is a user's own -> hash of its source."""
    protocol: list[str] | str = []
    """Published defects that were on."""


class TextRecipe(Part):
    """Of the training of a character model."""

    iterations: Count = 60
    """Optimizer steps."""
    evaluate_every: Count = 30
    """Steps between evaluations."""
    batch_size: Count = 16
    """Windows in one step."""
    learning_rate: Positive = 0.001
    """Of the optimizer."""
    average: Number | list[Number] = 0.0
    """Decays of averaged weights."""


class TextSettings(Settings):
    """Of an arm of character models."""

    recipe: TextRecipe
    """Steps, batches, optimizer, evaluations, device."""
    trials: list[Label] = []
    """Labels of the trials that were planned."""
    ensembles: list[Count] = []
    """Sizes of ensembles."""
    snapshots: list[Integer] = []
    """Steps at which the trials are compared as well."""
    prediction_windows: Integer = 0
    """Frozen windows on which predictions are compared."""
    metrics: dict[str, str] | None = None
    """A study's own measures: name -> hash of its source."""
    dataset: str
    """Name of the text."""
    scale: Name | None = None
    """Name of the size."""
    gated_width: Name | None = None
    """Of a gated layer: matched (as many parameters as the plain one), doubled."""
    varies: Name | None = None
    """Random streams that the seed feeds."""


class OwnMetric(Part):
    """Words about a study's own measure."""

    label: str
    """Of an axis, with its unit and range."""
    note: str
    """What it means, and which direction is better."""


class MadeOfText(Made):
    """Where trials of language models come from."""

    data: TextData
    """Name, hashes and sizes of the text or the tokens."""


class TextArm(Arm):
    """Character models: ``floor`` and ``perturbed`` hold changed repetitions of the trials of an arm."""

    kind: Literal["trials", "floor", "perturbed", "twins"]
    """What it is a record of; tells the kinds of records apart."""
    trials: list[Annotated[TextTrial | Unfinished, ByStatus]]
    """Every training run."""
    config: TextSettings
    """Every setting."""
    provenance: MadeOfText
    """Commit, hashes of the code and the data, machine, versions, date, and the plan under which it was made."""
    reproducibility_metrics: list[Pair]
    """Every pair of trials that both ended well."""
    metrics: dict[Name, OwnMetric] = {}
    """A study's own measures of pairs: name -> label and note."""
    steps: list[Step] = []
    """Of twins in lockstep: at each measured step, leader and followers compared."""
    trajectory: list[Snapshot] = []
    """The same during training: trials and pairs at each snapshot."""
    ensembles: dict[Size, list[Together]] = {}
    """Size -> pairs of ensembles of so many trials, which share none."""
    equal_compute: list[Shorter] = []
    """The same for ensembles of shorter trainings, at equal training compute."""
    average: list[Apart] | dict[Decay, list[Apart]] = []
    """Pairs of trials whose weights are moving averages, by decay where there are several."""
    as_published: AsPublished = AsPublished.model_construct()
    """Measures as the audited code takes them: on different inputs, and of a trial against itself."""
    avg_relative_pd: Annotated[Double | None, MISSING] = None
    """Mean of `relative_pd` over pairs."""
    avg_total_variation: Annotated[Share | None, MISSING] = None
    """Mean of `total_variation` over pairs."""
    avg_churn: Annotated[Share | None, MISSING] = None
    """Mean of `churn` over pairs."""
    avg_val_loss: Measured = None
    """Mean of `val_loss` over finished trials."""
    avg_val_accuracy: Annotated[Percent | None, MISSING] = None
    """Mean of `val_accuracy` over finished trials."""


class ImageSettings(Settings):
    """Of an image sweep."""

    hidden: Count
    """Hidden units of the plain network."""
    learning_rate: Positive
    """Of the optimizer."""
    batch_size: Count
    """Images in one step."""
    epochs: Integer
    """Passes over the training images."""
    optimizer: Name
    """Name."""
    dataset: str
    """Name."""
    seeds: list[Integer] = []
    """Of the trials."""
    protocol: str = "corrected"
    """corrected: validation images held out of training."""


class ImageArm(Arm):
    """Feed-forward networks on images."""

    kind: Literal["mnist"]
    """What it is a record of; tells the kinds of records apart."""
    width: Integer | None = None
    """Hidden units of this network."""
    collapsed: Integer | None = None
    """How many trials give one class to every validation image."""
    network: Name
    """Activation and width rule: relu, geglu_equal_width, geglu_equal_parameters."""
    n_parameters: Integer
    """Trainable parameters."""
    config: ImageSettings
    """Every setting."""
    trials: list[Annotated[ImageTrial | Unfinished, ByStatus]]
    """Every training run."""


class GptSize(Part):
    """Of a GPT."""

    n_layer: Count
    """Blocks."""
    n_embd: Count
    """Width."""
    block_size: Integer
    """Tokens in a window."""


class GptRecipe(Part):
    """Of its training."""

    iterations: Count
    """Optimizer steps."""


class GptOptimizer(Part):
    """Of its optimizer."""

    lr: Measured = None
    """Learning rate."""


class GptSettings(Settings):
    """Of an arm of the ablation."""

    dataset: str
    """Name of the text."""
    scale: Name
    """Name of the size."""
    batch_size: Integer
    """Sequences in one step."""
    model_size: GptSize
    """Layers, width, heads, context and how attention's symmetry is broken."""
    recipe: GptRecipe
    """Steps, evaluations, schedule, precision."""
    optimizer_settings: GptOptimizer = GptOptimizer.model_construct()
    """Learning rate and the rest, as the optimizer has them."""
    trials: list[Label] = []
    """Labels of the trials that were planned."""


class GptArm(Arm):
    """A GPT: optimizer x broken symmetry x activation."""

    kind: Literal["ablation"]
    """What it is a record of; tells the kinds of records apart."""
    optimizer: Name
    """ecd, adamw, sgdm or soap."""
    symmetry: Name
    """symmetric, or the random vectors in attention: bQ, bQbV, bQbKbV."""
    rate_factor: Positive
    """Multiple of the optimizer's published learning rate."""
    n_parameters: Integer
    """Trainable parameters."""
    config: GptSettings
    """Every setting."""
    provenance: MadeOfText
    """Commit, hashes of the code and the data, machine, versions and date."""
    trials: list[Annotated[TokenTrial | Unfinished, ByStatus]]
    """Every training run."""


class Baseline(Record):
    """What tables of character frequencies reach on a study's validation text."""

    kind: Literal["baseline"]
    """What it is a record of; tells the kinds of records apart."""
    unigram: Scores
    """Each character by its frequency in the training text."""
    bigram: Scores
    """The same after each character."""


class Replay(Record):
    """A recorded trial trained again."""

    kind: Literal["replay"]
    """What it is a record of; tells the kinds of records apart."""
    arm: FileName
    """Whose trial it is."""
    trial: Label
    """Its label."""
    record_checksum: str
    """Of the record as it was then."""
    equal: bool
    """Whether everything compared is equal bit for bit."""
    compared: list[str]
    """Keys of the trial."""
    differs: list[str]
    """Those that are not equal."""
    changed: list[str]
    """What of machine, versions and code is not as recorded."""
    val_loss: dict[str, Measured] = {}
    """``recorded`` and ``now``, in nats."""
    total_variation: Share | None = None
    """Between the recorded and the new network, where the former's weights were at hand."""
    floor: Values | None = None
    """The arm's own 1-ULP perturbation, to compare with."""
    seconds: Number = 0
    """Of training and evaluation."""


class Text(Record):
    """What the models of an arm's trials write."""

    kind: Literal["text"]
    """What it is a record of; tells the kinds of records apart."""
    arm: FileName
    """Whose models write."""
    model_name: Name
    """Its architecture."""
    activation: Name
    """Its activation."""
    prompt: str
    """What they go on from."""
    draw: Integer
    """Seed of the draws, which all models share."""
    texts: Annotated[dict[Label, str], Field(min_length=1)]
    """Label of a trial -> the characters that its model drew."""


class Measurement(Record):
    """Speed, memory or faults of the package itself, as the page on running shows them."""

    kind: Literal["performance", "reliability"]
    """What it is a record of; tells the kinds of records apart."""
    name: str | None = None
    """What was measured."""
    measured: Values = {}
    """The measurements."""
    faults: list[Values] = []
    """Faults that were provoked, and how each ended."""
    doors: Values = {}
    """Kind of input -> how many damaged ones were tried, used and refused."""
    seconds: Measured = None
    """How long it took."""


AnyRecord = TextArm | ImageArm | GptArm | Baseline | Replay | Text | Measurement
KINDS: TypeAdapter[AnyRecord] = TypeAdapter(
    Annotated[AnyRecord, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)


RULE = TypeAdapter(Rule)
"""Words for numbers, as 1e-3 is to YAML, are numbers here."""


def check_record(record: dict[str, Any]) -> None:
    """``RecordError`` with the place, what was expected and what was found, where a record has not the shape of its
    kind, or says two things."""
    where = _named(record)
    _read(KINDS, record, where)
    if "trials" in record:
        for fault in _contradictions(record):
            raise RecordError(f"{where}, {fault}")
        if told := record["provenance"].get("tuning"):
            check_tuning(told, f"{where}, provenance.tuning")


def check_tuning(told: Any, where: str) -> Rule:
    """The rule that a record or a params file tells; ``RecordError`` where it tells none."""
    return _read(RULE, told, where)


def _read(shape: TypeAdapter[Shape], value: Any, where: str) -> Shape:
    """The value as of a shape; ``RecordError`` with the first fault and its place."""
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise RecordError(f"{where}, {place}: {fault['msg']:.300}, found {brief(fault['input'])}") from None


def _named(record: dict[str, Any]) -> str:
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"


def check_content(record: dict[str, Any], text: str) -> None:
    """``RecordError`` where a record, whose JSON this text is, holds what no reader could take, wherever it stands: a
    number that is larger than tables hold; half a character (a lone surrogate), which nothing can print or write; in a
    text that is not free (``FREE``) markup, or what a terminal obeys."""
    if SUSPECT.search(text) or LARGE.search(text):
        for key, value in record.items():
            _check_value(key, _named(record), free=False)
            _check_value(value, f"{_named(record)}, {key[:40]}", key in FREE)


def _check_value(value: object, where: str, free: bool) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_value(key, where, free or key in FREE)
            _check_value(inner, f"{where}.{key[:40]}", free or key in FREE)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_value(inner, f"{where}.{number}", free)
    elif isinstance(value, int) and abs(value) > LIMITS["number"]:
        raise RecordError(f"{where}: expected a number below 2**63, found {brief(value)}")
    elif isinstance(value, str):
        if half := HALF.search(value):
            raise RecordError(f"{where}: {brief(half[0])} in a text is no character")
        if not free and (MARKUP.search(value) or CONTROL.search(value)):
            raise RecordError(f"{where}: {brief(value)} could be markup, not a name")


def _contradictions(record: dict[str, Any]) -> Iterator[str]:
    """What no single entry shows: each trial and pair once, and settings that are the record's own."""
    labels, config = [trial["label"] for trial in record["trials"]], record["config"]
    if not labels:
        yield "trials: expected one or more, found none"
    for name, value in record.items():  # also means that no model names: of a study's own metrics, of image sweeps
        if name.startswith("avg_") and not isinstance(value, float | int | None):
            yield f"{name}: expected a number, found {brief(value)}"
    if len(set(labels)) < len(labels):
        yield f"trials: one is named twice: {brief(labels)}"
    for trial in record["trials"]:
        if trial.get("seed") not in (None, int(trial["label"].partition("-")[0])):  # by which arms are paired
            yield f"trials: {trial['label']} says another seed, {brief(trial['seed'])}"
    if record["kind"] in SEEDS_ALONE and (changed := [label for label in labels if "-" in label]):
        yield f"trials: {changed[0]} names a change, which a record of this kind has not"
    averaged = [record.get("average"), *(trial.get("average") for trial in record["trials"])]
    single = [each for each in averaged if each and (isinstance(each, list) or "val_loss" in each)]
    if single and not isinstance(config["recipe"].get("average"), float):
        yield "config.recipe.average: expected the decay of what is recorded as averaged"
    for name in dict.fromkeys(("activation", "model", *CELLS[record["kind"]])):
        key = "model_name" if name == "model" else name
        if key in record and config.get(name, record[key]) != record[key]:
            yield f"{key}: it says {brief(record[key])}, but its settings have {brief(config[name])}"
    factors = NAMED_BY.get(record["kind"], ("model", "activation"))
    named = "-".join(str(config.get(name, "")) for name in factors)
    if {*factors} <= {*config} and not record["arm"].startswith(f"{named}-"):
        yield f"arm: its settings are those of {brief(named)}"
    for block, others in _pairs_beside(record):
        yield from (f"{block}: {fault}" for fault in _wrong_pairs(others, {*labels}))
    yield from _not_every_pair(record)


def _not_every_pair(record: dict[str, Any]) -> Iterator[str]:
    """Whether its pairs at the end are not those of its finished trials; nothing of a record that has none."""
    pairs = record.get("reproducibility_metrics")
    if pairs is None:
        return
    done = [trial["label"] for trial in record["trials"] if trial["status"] == "done"]
    wanted = Counter(combinations(done, 2))
    if record["kind"] != "trials":  # each trial as it is with its own changed repetitions
        wanted = Counter((plain, changed) for plain, changed in wanted if changed.partition("-")[0] == plain)
    wanted.subtract(tuple(pair["between"]) for pair in pairs)
    wrong = []
    for (first, second), count in wanted.items():
        if count:
            wrong.append(f"{first} and {second} {'is missing' if count > 0 else 'should not be there'}")
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        yield f"reproducibility_metrics: expected every pair of its finished trials once, but that of {wrong[0]}{more}"


def _pairs_beside(record: dict[str, Any]) -> Iterator[tuple[str, list[Values]]]:
    """(block, what compares some of its trials), of all but the pairs at the end."""
    for name in ("trajectory", "steps", "equal_compute"):
        for block in record.get(name, ()):
            yield name, block["pairs"]
            yield name, block.get("to_end", [])
            yield name, [{"between": [one["of"]]} for one in block.get("losses", ())]
    for name in ("average", "ensembles"):
        found = record.get(name) or {}
        for pairs in found.values() if isinstance(found, dict) else [found]:
            yield name, pairs


def _wrong_pairs(pairs: list[Values], labels: set[str]) -> Iterator[str]:
    """Those that name another trial, come twice, or are ensembles that share one."""
    seen = set[frozenset[Any]]()
    for networks in (pair["between"] for pair in pairs):
        ensembles = [one for one in networks if isinstance(one, list)]
        named = [*chain.from_iterable(ensembles)] if ensembles else networks
        if unknown := {*named} - labels:
            yield f"{min(unknown)} is none of its trials"
        if ensembles and len({*named}) < len(named):
            yield f"{brief(networks)} share a trial"
        key = frozenset(frozenset(one) if ensembles else one for one in networks)
        if key in seen:
            yield f"{brief(networks)} is there twice"
        seen.add(key)
