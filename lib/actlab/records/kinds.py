"""What every kind of record holds, as pydantic models: what readers rely on is required, and the docstrings are the
dictionary of the data set (``book/dataset.py``)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from actlab.records.trials import (
    ImageTrial,
    Integer,
    Number,
    Pair,
    Part,
    Scores,
    TextTrial,
    TokenTrial,
    Unfinished,
    Values,
)


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


class Text(Record):
    """What the models of an arm's trials write."""

    kind: Literal["text"]
    """What it is a record of; tells the kinds of records apart."""
    arm: str
    """Whose models write."""
    model_name: str
    """Its architecture."""
    activation: str
    """Its activation."""
    prompt: str
    """What they go on from."""
    draw: Integer
    """Seed of the draws, which all models share."""
    texts: dict[str, str]
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
    seconds: Number | None = None
    """How long it took."""


Trained = TextArm | ImageArm | GptArm
Kinds = Trained | Baseline | Replay | Text | Measurement
