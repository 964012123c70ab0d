"""Schema of records as pydantic models, one a kind: what readers rely on is required, the docstrings say what each key
holds. ``results/schema.json`` and the dictionary in ``results/README.md`` are made from them (``dataset.py``)."""

from __future__ import annotations

import reprlib
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from actlab.errors import RecordError

LARGEST = 2**63
"""An integer beyond it is no number that a study records."""
PAIR_METRICS = ("total_variation", "relative_pd", "churn", "jensen_shannon", "label_pd")
"""Of every pair of trials of language models."""
SCORES = ("val_accuracy", "test_accuracy", "val_loss")


def _bounded(value: object) -> object:
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError("expected a number below 2**63")
    return value


Number = Annotated[float, BeforeValidator(_bounded)]
Integer = Annotated[int, BeforeValidator(_bounded)]
Values = dict[str, Any]


class Part(BaseModel):
    """A part of a record; further keys are allowed."""

    model_config = ConfigDict(strict=True, use_attribute_docstrings=True, protected_namespaces=())


class Losses(Part):
    """Of one network on a whole split."""

    val_loss: Number
    """Mean cross-entropy per character, token or image of the validation split, in nats; lower is better."""


class Scores(Losses):
    """Of one network on a whole split."""

    val_accuracy: Number
    """Percent of the validation split predicted right; higher is better."""


class Evaluation(Scores):
    """One evaluation during training."""

    iteration: Number
    """Optimizer steps before it."""
    train_loss: Number
    """Mean cross-entropy on training windows, in nats."""


class TokenScores(Scores):
    """The last evaluation of a network trained on tokens."""

    tokens: Integer
    """Training tokens seen before it."""
    val_standard_error: Number
    """Standard error of the validation loss over windows, in nats."""


class Trial(Part):
    """One training run."""

    label: str
    """Name within the arm: the seed, with a variant where it is a changed repetition (42-repeat, 42-nudge)."""
    n_parameters: Integer = 0
    """Trainable parameters."""
    seconds: Any = None
    """Wall-clock time of training and of evaluation; of images the share of the program that trained several."""
    started: str | None = None
    """When training began (ISO 8601, UTC)."""
    weights_sha256: str | None = None
    """Hash of the trained weights: equal hashes, equal bits."""


class Unfinished(Trial):
    """A run without a result."""

    status: Literal["diverged", "failed"]
    """``done``, ``diverged`` (a loss was no number) or ``failed`` (an error, whose ``traceback`` is kept)."""


class TextTrial(Trial):
    """A finished run of a character model."""

    seed: Integer | None = None
    """Of all its random streams, or of those that vary."""
    status: Literal["done"]
    final: Scores
    """The evaluation after the last step."""
    best: Losses
    """The evaluation with the lowest validation loss."""
    history: list[Evaluation] = []
    """Every evaluation during training."""
    variant: str | None = None
    """What was changed in a repetition: repeat (nothing), nudge (one weight by one unit in the last place), ..."""


class ImageTrial(Trial):
    """A finished run on images."""

    seed: Integer
    """Of all its random streams."""
    status: Literal["done"]
    collapsed: bool
    """Whether it gives one class to every validation image."""
    val_loss: Number
    """Mean cross-entropy over the validation images, in nats."""
    val_accuracy: Number
    """Percent of the validation images classified right."""
    test_accuracy: Number
    """Percent of the test images classified right."""
    train_loss: Number | None = None
    """Mean cross-entropy over the training images, in nats."""
    test_loss: Number | None = None
    """Mean cross-entropy over the test images, in nats."""
    val_largest_class_share: Number | None = None
    """Share of the validation images that get the class given most often."""
    test_largest_class_share: Number | None = None
    """The same of the test images."""


class TokenTrial(Trial):
    """A finished run of a GPT on tokens."""

    seed: Integer
    """Of all its random streams."""
    status: Literal["done"]
    final: TokenScores
    """The evaluation after the last step."""
    history: list[Values] = []
    """Every evaluation during training."""
    tokens_per_second: Number | None = None
    """Of training."""
    analyses: Values = {}
    """Losses of single validation batches, copying of repeated text, alignment of keys with the mean query vector."""


class Pair(Part):
    """Two trials of an arm, compared on the same inputs; lower is more reproducible."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    """Labels of the two trials."""
    total_variation: Number
    """Half the L1 distance of the two predictions, mean over positions: 0 to 1."""
    relative_pd: Number
    """Mean of 2|p - q| / (p + q) over all characters: 0 to 2."""
    churn: Number
    """Share of positions where the most probable character differs."""
    jensen_shannon: Number
    """Jensen-Shannon divergence in bits: 0 to 1."""
    label_pd: Number
    """2|p - q| / (p + q) at the character that came: 0 to 2."""
    churn_win: Number | None = None
    """Share of positions where only the second is right."""
    churn_loss: Number | None = None
    """Share of positions where only the first is right."""
    churn_neutral: Number | None = None
    """Share of positions where both are wrong and differ."""
    blocks: Values = {}
    """The measures over consecutive parts of the positions."""


class Record(Part):
    """What the records of all kinds have."""

    study: str
    """Folder below results/."""
    provenance: Values = {}
    """Commit, hashes of the code and the data, machine, versions, date, and the plan under which it was made."""
    checksum: str | None = None
    """sha256 of the record's canonical JSON without this key."""


class Arm(Record):
    """The trials of one arm, which differ in the seed alone."""

    arm: str
    """Name of the file: the arm's factors and the hash of its settings."""
    model_name: str
    """Architecture."""
    activation: str
    """Activation that was asked for."""
    config: Values
    """Every setting, those of the params file and those that follow from them."""


class TextArm(Arm):
    """Character models: ``floor`` and ``perturbed`` hold changed repetitions of the trials of an arm."""

    kind: Literal["trials", "floor", "perturbed"]
    """What it is a record of; tells the kinds of records apart."""
    trials: list[Annotated[TextTrial | Unfinished, Field(discriminator="status")]]
    """Every training run."""
    reproducibility_metrics: list[Pair]
    """Every pair of trials that both ended well."""
    metrics: Values = {}
    """A study's own measures of pairs: name -> label and note."""
    trajectory: list[Values] = []
    """The same during training: trials and pairs at each snapshot."""
    ensembles: Values = {}
    """Size -> pairs of ensembles of so many trials, which share none."""
    equal_compute: list[Values] = []
    """The same for ensembles of shorter trainings, at equal training compute."""
    average: Any = None
    """Pairs of trials whose weights are moving averages."""
    as_published: Values = {}
    """Measures as the audited code takes them: on different inputs, and of a trial against itself."""


class ImageSettings(Part):
    """Of an image sweep."""

    hidden: Annotated[Integer, Field(gt=0)]
    """Hidden units of the plain network."""
    learning_rate: Annotated[Number, Field(gt=0)]
    """Of the optimizer."""
    batch_size: Annotated[Integer, Field(gt=0)]
    """Images in one step."""
    epochs: Integer
    """Passes over the training images."""
    optimizer: str
    """Name."""
    dataset: str
    """Name."""


class ImageArm(Arm):
    """Feed-forward networks on images."""

    kind: Literal["mnist"]
    """What it is a record of; tells the kinds of records apart."""
    width: Integer | None = None
    """Hidden units of this network."""
    collapsed: Integer | None = None
    """How many trials give one class to every validation image."""
    network: str
    """Activation and width rule: relu, geglu_equal_width, geglu_equal_parameters."""
    n_parameters: Integer
    """Trainable parameters."""
    config: ImageSettings  # type: ignore[assignment]
    """Every setting."""
    trials: list[Annotated[ImageTrial | Unfinished, Field(discriminator="status")]]
    """Every training run."""


class GptSize(Part):
    """Of a GPT."""

    block_size: Integer
    """Tokens in a window."""


class GptRecipe(Part):
    """Of its training."""

    iterations: Integer
    """Optimizer steps."""


class GptSettings(Part):
    """Of an arm of the ablation."""

    dataset: str
    """Name of the text."""
    scale: str
    """Name of the size."""
    batch_size: Integer
    """Sequences in one step."""
    model_size: GptSize
    """Layers, width, heads, context and how attention's symmetry is broken."""
    recipe: GptRecipe
    """Steps, evaluations, schedule, precision."""


class Vocabulary(Part):
    """Of the tokenizer."""

    vocab_size: Integer
    """Number of tokens."""


class Tokens(Part):
    """Where an arm of the ablation comes from."""

    data: Vocabulary
    """The tokenized text, with its hashes."""


class GptArm(Arm):
    """A GPT: optimizer x broken symmetry x activation."""

    kind: Literal["ablation"]
    """What it is a record of; tells the kinds of records apart."""
    optimizer: str
    """ecd, adamw, sgdm or soap."""
    symmetry: str
    """symmetric, or the random vectors in attention: bQ, bQbV, bQbKbV."""
    rate_factor: Number
    """Multiple of the optimizer's published learning rate."""
    n_parameters: Integer
    """Trainable parameters."""
    config: GptSettings  # type: ignore[assignment]
    """Every setting."""
    provenance: Tokens  # type: ignore[assignment]
    """Commit, hashes of the code and the data, machine, versions and date."""
    trials: list[Annotated[TokenTrial | Unfinished, Field(discriminator="status")]]
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
    arm: str
    """Whose trial it is."""
    trial: str
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
    val_loss: dict[str, Number] = {}
    """``recorded`` and ``now``, in nats."""
    total_variation: Number | None = None
    """Between the recorded and the new network, where the former's weights were at hand."""
    floor: Values | None = None
    """The arm's own 1-ULP perturbation, to compare with."""
    seconds: Number = 0
    """Of training and evaluation."""


class Measurement(Record):
    """Speed, memory or faults of the package itself, as the pages of performance and reliability show them."""

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
    seconds: Number | None = None
    """How long it took."""


Trained = TextArm | ImageArm | GptArm
Kinds = Trained | Baseline | Replay | Measurement


@cache
def kinds() -> TypeAdapter[Any]:
    """Any record, told apart by its kind."""
    return TypeAdapter(Annotated[Kinds, Field(discriminator="kind")])


def name_of(record: dict[str, Any]) -> str:
    """What to call a record in a message: its arm, or its kind."""
    return f"record {str(record.get('arm', record.get('kind', '')))[:80]!r}"


def kind_in(record: dict[str, Any]) -> str:
    """The kind that a record says it has, or ``RecordError``."""
    if not isinstance(kind := record.get("kind"), str):
        found = f".kind: expected str, found {kind!r}" if "kind" in record else " has no 'kind'"
        raise RecordError(name_of(record) + found)
    return kind


def check_record(record: dict[str, Any]) -> None:
    """``RecordError`` with the place, what was expected and what was found, where a record has not the shape of its
    kind."""
    where = name_of(record)
    try:
        kinds().validate_python(record)
    except ValidationError as error:
        raise RecordError(where + _told(error.errors(include_url=False)[0], record)) from None
    if "trials" not in record:
        return
    labels = [trial["label"] for trial in record["trials"]]
    if len(set(labels)) < len(labels):
        raise RecordError(f"{where}.trials names one trial twice: {reprlib.repr(labels)}")
    for place, pair in enumerate(record.get("reproducibility_metrics", [])):
        if record["kind"] == "trials" and not set(pair["between"]) <= set(labels):
            raise RecordError(
                f"{where}.reproducibility_metrics[{place}].between: expected two of its trials, found {pair['between']}"
            )


def _told(error: Any, record: Any) -> str:
    """A fault's place in the record and what is wrong there, without the tags by which pydantic tells kinds apart."""
    said, value, about = "", record, error.get("ctx", {})
    for part in error["loc"][1:]:
        if isinstance(value, dict) and part in value:
            said, value = f"{said}.{part}", value[part]
        elif isinstance(value, list) and isinstance(part, int):
            said, value = f"{said}[{part}]", value[part]
    if "discriminator" in about:
        key = about["discriminator"].strip("'")
        said, value = f"{said}.{key}", value.get(key) if isinstance(value, dict) else value
        return f"{said}: expected {about.get('expected_tags', 'a name')}, found {_short(value)}"
    if error["type"] == "missing":
        return f"{said} has no {error['loc'][-1]!r}"
    expected = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return f"{said}: {expected}, found {_short(value)}"


def _short(value: object) -> str:
    return reprlib.repr(value)[:80]
