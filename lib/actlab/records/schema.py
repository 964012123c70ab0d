"""What a record is: a pydantic model a kind, with what its readers need, so that a record is refused whole, with the
place, or read whole. ``results/schema.json`` and its dictionary are made of these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from actlab.errors import RecordError, brief

Measured = float | None
"""``None`` in a file where it was not a number."""
Values = dict[str, Any]
Label = Annotated[str, Field(pattern=r"^[0-9]+(-.+)?$")]
"""Of a trial: its seed, and what was changed in a repetition (42-repeat, 42-nudge)."""
Run = TypeVar("Run")


class Part(BaseModel):
    """A part of a record; further keys are allowed."""

    model_config = ConfigDict(strict=True, protected_namespaces=(), use_attribute_docstrings=True, defer_build=True)


class Scores(Part):
    """Of one network on a whole split."""

    val_loss: Measured
    """Mean cross-entropy per character, token or image of the validation split, in nats; lower is better."""
    val_accuracy: float | None = None
    """Percent of the validation split predicted right; higher is better."""
    train_loss: Measured = None
    """Mean cross-entropy on training windows, in nats."""


class Evaluation(Scores):
    """One evaluation during training."""

    iteration: int
    """Optimizer steps before it."""
    train_loss: Measured
    """Mean cross-entropy on training windows, in nats."""
    val_accuracy: float
    """Percent of the validation split predicted right; higher is better."""


class Trial(Part):
    """One training run."""

    label: Label
    """Name within the arm: the seed, with its change where it is a changed repetition (42-repeat, 42-nudge)."""
    seed: int | None = None
    """Of all its random streams, or of those that vary."""
    n_parameters: int = 0
    """Trainable parameters."""
    seconds: float | dict[str, float] = 0.0
    """Wall-clock time of training and of evaluation; of images the share of the program that trained several."""
    started: str | None = None
    """When training began (ISO 8601, UTC)."""
    weights_sha256: str | None = None
    """Hash of the trained weights: equal hashes, equal bits."""
    history: list[Evaluation] = []
    """Every evaluation during training."""


class UnfinishedTrial(Trial):
    """A run without a result."""

    status: Literal["diverged", "failed"]
    """``done``, ``diverged`` (a loss was no number) or ``failed`` (an error, whose ``traceback`` is kept)."""


Runs = Annotated[list[Annotated[Run | UnfinishedTrial, Field(discriminator="status")]], Field(min_length=1)]
"""Every training run of an arm."""


class TextTrial(Trial):
    """A finished run of a character model."""

    status: Literal["done"]
    final: Scores
    """The evaluation after the last step."""
    best: Scores
    """The evaluation with the lowest validation loss."""
    training: Scores | None = None
    """The training text after the last step, without dropout."""
    average: Scores | dict[str, Scores] | None = None
    """The same network with weights averaged over its last steps, where the study plans it; by decay where it plans
    several."""
    variant: str | None = None
    """What was changed in a repetition: repeat (nothing), nudge (one weight by one unit in the last place), ..."""


class ImageTrial(Trial, Scores):
    """A finished run on images."""

    status: Literal["done"]
    collapsed: bool
    """Whether it gives one class to every validation image."""
    test_accuracy: float
    """Percent of the test images classified right."""
    test_loss: Measured = None
    """Mean cross-entropy over the test images, in nats."""


class TokenTrial(Trial):
    """A finished run of a GPT on tokens."""

    status: Literal["done"]
    final: Scores
    """The evaluation after the last step, with its ``tokens`` and ``val_standard_error``."""
    tokens_per_second: Measured = None
    """Of training."""
    analyses: Values = {}
    """Losses of single validation batches, copying of repeated text, alignment of keys with the mean query vector."""


class Compared(Part):
    """Two networks, or one with itself: on the same inputs, on inputs of their own, or in lockstep."""

    between: Annotated[list[Label] | list[list[Label]], Field(min_length=2, max_length=2)]
    """Labels of the two trials, or of those in two ensembles."""


class Pair(Compared):
    """Two networks of an arm, or two ensembles that share no trial, compared on the same inputs; lower is more
    reproducible."""

    total_variation: float
    """Half the L1 distance of the two predictions, mean over positions: 0 to 1."""
    relative_pd: float
    """Mean of 2|p - q| / (p + q) over all classes: 0 to 2."""
    churn: float
    """Share of positions where the most probable character differs."""
    jensen_shannon: float
    """Jensen-Shannon divergence in bits: 0 to 1."""
    label_pd: float | None = None
    """2|p - q| / (p + q) at the true class: 0 to 2."""
    churn_win: float | None = None
    """Share of positions where only the second is right."""
    churn_loss: float | None = None
    """Share of positions where only the first is right."""
    churn_neutral: float | None = None
    """Share of positions where both are wrong and differ."""


class AsPublished(Part):
    """Measures as the audited code takes them: on different inputs, and of a trial against itself."""

    trials: list[Trial] = []
    """Of every trial."""
    pairs: list[Compared] = []
    """Of every pair of trials, each on inputs of its own."""
    itself: list[Compared] = []
    """Of every trial against itself, on other inputs."""


class Step(Part):
    """Twins in lockstep at a measured step."""

    iteration: int
    """Optimizer steps before it."""
    pairs: list[Compared]
    """The leader with each follower."""


class Snapshot(Part):
    """An arm during training."""

    iteration: int
    """Optimizer steps before it."""
    pairs: list[Pair]
    """Every pair of trials there."""
    trials: list[Values] = []
    """The trials there."""
    to_end: list[Pair] = []
    """Each trial there against itself at the end."""
    as_published: AsPublished = AsPublished.model_construct()
    """The same as the audited code measures it."""


class Shorter(Snapshot):
    """Ensembles of one size that cost together what one run costs."""

    size: int
    """Networks in each."""
    losses: list[Values]
    """Of every ensemble: the labels ``of`` its trials, and the ``loss`` of the mean probabilities in nats."""


class Origin(Part):
    """Where a record comes from."""

    date: str = ""
    """When it was written (ISO 8601, UTC)."""
    machine: Values = {}
    """Processor, GPU, versions."""
    data: Values = {}
    """Name, hashes and sizes of the data."""
    tuning: Values = {}
    """Of a study that chooses learning rates: the grid, the seeds and the rule."""


class Record(Part):
    """What the records of all kinds have."""

    study: str
    """Folder below results/."""
    provenance: Origin = Origin.model_construct()
    """Commit, hashes of the code and the data, machine, versions, date, and the plan under which it was made."""
    checksum: str | None = None
    """sha256 of the record's canonical JSON without this key."""


class Settings(Part):
    """Every setting of an arm; these are those that its kind of record reads."""

    dataset: str
    """Name of the text, the tokens or the images."""
    recipe: Values = {}
    """Steps, batches, optimizer, evaluations, schedule, precision, device."""
    trials: list[Label] = []
    """Labels of the trials that were planned."""
    parts: dict[str, str] = {}
    """Kind of a part that is a user's own -> hash of its source."""
    protocol: list[str] | str = []
    """Published defects that were on."""


class Arm(Record):
    """The trials of one arm, which differ in the seed alone."""

    arm: str
    """Name of the file: the arm's factors and the hash of its settings."""
    model_name: str
    """Architecture."""
    activation: str
    """Activation that was asked for."""
    config: Settings
    """Every setting."""
    avg_val_loss: Measured = None
    """Mean of `val_loss` over finished trials."""
    avg_val_accuracy: Measured = None
    """Mean of `val_accuracy` over finished trials."""


class TextArm(Arm):
    """Character models: ``floor`` and ``perturbed`` hold changed repetitions of the trials of an arm."""

    kind: Literal["trials", "floor", "perturbed", "twins"]
    """What it is a record of; tells the kinds of records apart."""
    trials: Runs[TextTrial]
    """Every training run."""
    reproducibility_metrics: list[Pair]
    """Every pair of trials that both ended well."""
    metrics: dict[str, dict[str, str]] = {}
    """A study's own measures of pairs: name -> label and note."""
    steps: list[Step] = []
    """Of twins in lockstep: at each measured step, leader and followers compared."""
    trajectory: list[Snapshot] = []
    """The same during training: trials and pairs at each snapshot."""
    ensembles: dict[str, list[Pair]] = {}
    """Size -> pairs of ensembles of so many trials, which share none."""
    equal_compute: list[Shorter] = []
    """The same for ensembles of shorter trainings, at equal training compute."""
    average: list[Pair] | dict[str, list[Pair]] = []
    """Pairs of trials whose weights are moving averages, by decay where there are several."""
    as_published: AsPublished = AsPublished.model_construct()
    """Measures as the audited code takes them: on different inputs, and of a trial against itself."""
    avg_relative_pd: Measured = None
    """Mean of `relative_pd` over pairs."""
    avg_total_variation: Measured = None
    """Mean of `total_variation` over pairs."""
    avg_churn: Measured = None
    """Mean of `churn` over pairs."""


class ImageArm(Arm):
    """Feed-forward networks on images."""

    kind: Literal["mnist"]
    """What it is a record of; tells the kinds of records apart."""
    network: str
    """Activation and width rule: relu, geglu_equal_width, geglu_equal_parameters."""
    n_parameters: int
    """Trainable parameters."""
    width: int | None = None
    """Hidden units of this network."""
    collapsed: int | None = None
    """How many trials give one class to every validation image."""
    trials: Runs[ImageTrial]
    """Every training run."""


class GptArm(Arm):
    """A GPT: optimizer x broken symmetry x activation."""

    kind: Literal["ablation"]
    """What it is a record of; tells the kinds of records apart."""
    optimizer: str
    """ecd, adamw, sgdm or soap."""
    symmetry: str
    """symmetric, or the random vectors in attention: bQ, bQbV, bQbKbV."""
    rate_factor: float
    """Multiple of the optimizer's published learning rate."""
    n_parameters: int
    """Trainable parameters."""
    trials: Runs[TokenTrial]
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
    seconds: float = 0
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
    draw: int
    """Seed of the draws, which all models share."""
    texts: dict[Label, str]
    """Label of a trial -> the characters that its model drew."""


class Measurement(Record):
    """Speed, memory or faults of the package itself, as the page on running shows them."""

    kind: Literal["performance", "reliability"]
    """What it is a record of; tells the kinds of records apart."""


AnyRecord = TextArm | ImageArm | GptArm | Baseline | Replay | Text | Measurement
KINDS: TypeAdapter[AnyRecord] = TypeAdapter(
    Annotated[AnyRecord, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)


def check_record(record: dict[str, Any], where: str = "") -> None:
    """Raise ``RecordError`` with the first place, what was expected and what it is, where a record has not the shape of
    its kind; ``where``: its file."""
    try:
        KINDS.validate_python(record)
    except ValidationError as error:
        where = where or f"record {record.get('arm', '')}"
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"])) or "kind"
        raise RecordError(f"{where}, {place}: {fault['msg']:.300}, found {brief(fault['input'])}") from None
