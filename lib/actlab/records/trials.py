"""What a training run and a pair of runs hold in a record, as pydantic models, a kind of network each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LARGEST = 2**63
"""An integer beyond it is no number that a study records."""


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
    average: Scores | None = None
    """The same network with weights averaged over its last steps, where the study plans it."""
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
    history: list[Evaluation] = []
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
