"""A study of language models on characters: what its params file may say, and the arms that it plans."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from actlab.activations import ACTIVATIONS
from actlab.data.text import TEXTS, Corpus, is_file, load_text, located, own_sha256
from actlab.errors import LIMITS, BadInput
from actlab.models import MODELS, SCALES
from actlab.plugins import own_metrics, parts_of
from actlab.records.defect_names import DOUBLED
from actlab.study import defects
from actlab.study.character_trial import ALL, NUDGE, PLAIN, REPEAT, CharacterTrial, config_of
from actlab.study.defects import OF_TRAINING
from actlab.study.fields import BEFORE, Listed, StudyName, Trials, Windows, WindowsOrAll, one_of, ours
from actlab.study.study import LanguageStudy, with_axes
from actlab.study.trial import Arm, Measures
from actlab.study.tuning import chosen, tuned

Change = Annotated[
    str,
    Field(
        pattern=r"^(repeat|nudge(-[1-9][0-9]{0,6})?|shift-1e-[1-8]|threads|bfloat16|dropout|order|init|all)$",
        examples=["repeat", "nudge", "nudge-STEP", "shift-1e-3", "threads", "bfloat16", "dropout, order, init, all"],
    ),
]
PER_ARM = (
    *("iterations", "evaluate_every", "snapshots", "learning_rate", "trials", "dtype", "average", "schedule"),
    *("training_windows", "device", "optimizer", "betas", "weight_decay", "warmup", "clip"),
)


def _model_or_arm(name: str, info: ValidationInfo) -> str:
    model, slash, activation = name.partition("/")
    if info.context != BEFORE:
        MODELS.find(model)
        if slash:
            ACTIVATIONS.find(activation)
    return f"{model}{slash}{ours(activation)}"


SettingName = Annotated[str, one_of("setting of a single arm", PER_ARM)]


@with_axes(activation=("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1"))
class CharacterStudy(LanguageStudy):
    """One study of language models (the reproducibility grid), with every field of a trial as an axis."""

    kind: ClassVar[str] = "repro"
    trial: ClassVar[type[CharacterTrial]] = CharacterTrial
    single: ClassVar[tuple[str, ...]] = ("average", "betas")
    study: StudyName = "repro-quick"
    """Folder of the records below results/."""
    trials: Trials = 3
    """Independently seeded training runs of each arm; more than recorded: the study grows."""
    prediction_windows: Windows = 256
    """Frozen validation windows on which predictions are compared."""
    training_windows: WindowsOrAll = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    noise_floor: bool = True
    """Also run the first seed twice more: unchanged, and with one weight moved by one unit in the last place."""
    protocol: Annotated[defects.ProtocolParam, AfterValidator(defects.checked_protocol)] = "corrected"
    """corrected, as_published, or single defects: {padding: both, pairing: unpaired}."""
    perturbations: Listed[Change] = ()
    """Also run every seed changed in these ways, and compare it with itself unchanged: ``repeat`` (nothing), ``nudge``
    (one weight moved by one unit in the last place; ``nudge-100``: at step 100), ``shift-1e-3`` (one weight moved by
    this share of its matrix's norm), ``threads`` (on two threads), ``bfloat16``, another seed for one stream
    (``dropout``, ``order``, ``init``) or for ``all``."""
    follow: bool = False
    """Compare the perturbed runs at the snapshots too."""
    snapshots: Listed[int] = ()
    """Steps at which the weights are kept and the trials compared as well."""
    ensembles: Listed[int] = ()
    """Also compare ensembles of so many trials."""
    equal_compute: Listed[int] = ()
    """Also compare ensembles of so many trials, each of an equal share of the steps."""
    per_arm: dict[Annotated[str, AfterValidator(_model_or_arm)], dict[SettingName, Any]] = Field({})
    """Settings of single models or arms: {tinylstm: {...}, charlm/gelu: {...}}."""
    order: Literal["model", "activation"] = "model"
    """What is completed first."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        steps = min(self.levels("iterations"))
        if (drawn := max(self.levels("iterations")) * max(self.levels("batch_size"))) > LIMITS["drawn"]:
            raise BadInput(f"iterations x batch_size draw {drawn:,} windows: {LIMITS['drawn']:,} at most")
        longest = max(SCALES[scale].block_size for scale in self.levels("scale"))
        for dataset in self.levels("dataset"):
            if (dataset in TEXTS or is_file(dataset)) and own_sha256(dataset):
                _check_length(load_text(dataset).split_at(max(self.levels("train_share"))), longest)
        for step in self.snapshots:
            if not 0 <= step < steps:
                raise BadInput(f"snapshots: {step} does not lie before the last of {steps} iterations")
        for name in self.perturbations:
            if name.startswith("nudge-") and int(name[6:]) >= steps:
                raise BadInput(f"perturbations: {name} does not lie before the last of {steps} iterations")
        for size in (*self.ensembles, *self.equal_compute):
            if not 2 <= size <= self.trials // 2:
                can = f"2 to {self.trials // 2} of {self.trials} can"
                raise BadInput(f"ensembles: {size} trials cannot be compared with {size} others: {can}")
        for size in self.equal_compute:
            if (share := round(steps / size)) not in self.snapshots:
                raise BadInput(f"equal_compute: {size} networks of {share} steps each need a snapshot there")
        return self


def _check_length(corpus: Corpus, longest: int) -> None:
    if len(corpus.validation) <= longest:
        raise BadInput(
            f"the text {corpus.name} is too short with its {len(corpus.validation)} validation characters: "
            f"a context of {longest} needs {longest + 1} or more"
        )


def plan(study: CharacterStudy) -> list[Arm[CharacterTrial]]:
    """The arms in the order in which they run; noise floors and perturbed trials come last. Those of a study that
    chooses learning rates, or takes the chosen ones, depend on what is recorded."""
    if study.tuning is not None:
        return [arm for cell in cells(study) for arm in candidates(cell)[0]]
    settled = [(cell, first) for cell in cells(study) for first in firsts(cell)]
    arms = [arm_of(cell, first) for cell, first in settled]
    arms += [floor_of(cell, first) for cell, first in settled if cell.noise_floor]
    arms += [perturbed_of(cell, first) for cell, first in settled if cell.perturbations]
    return list(dict.fromkeys(arms))


def cells(study: CharacterStudy) -> list[CharacterStudy]:
    """The study of each model under each activation alone, with the settings that ``per_arm`` has for its model and
    then for itself, and its chosen learning rate."""
    models, activations = study.levels("model"), study.levels("activation")
    names = list(product(models, activations))
    if study.order == "activation":
        names.sort(key=lambda name: activations.index(name[1]))
    return [cell_of(study, *name) for name in names]


def cell_of(study: CharacterStudy, model: str, activation: str) -> CharacterStudy:
    """One of ``cells``."""
    own: dict[str, Any] = {**study.per_arm.get(model, {}), **study.per_arm.get(f"{model}/{activation}", {})}
    if study.rates is not None:
        of = study.rates.of or activation
        asked = {"model": model, "activation": of}
        own["learning_rate"] = chosen(
            study.rates, type(study), lambda tuning: candidates(cell_of(tuning, **asked)), **asked
        )
    return study.replace(**{**own, "model": model, "activation": activation, "per_arm": {}, "rates": None})


def candidates(cell: CharacterStudy) -> tuple[list[Arm[CharacterTrial]], float | None]:
    """Of a cell of a study that chooses rates: its arms that are recorded or wanted next; the chosen rate, once none is
    wanted."""
    if len(points := list(cell.points())) > 1:
        raise BadInput(
            f"per_arm gives {points[0]['model']} {len(points)} settings: a study that chooses rates takes one"
        )
    return tuned(cell, "learning_rate", lambda one: arm_of(one, next(firsts(one))))


def firsts(cell: CharacterStudy) -> Iterator[CharacterTrial]:
    """The first trial of each arm of a cell."""
    for point in cell.points():
        asked = _protocol(cell, point["model"], point["activation"])
        own = {name: point[name] for name in ("model", "activation", "dataset", "optimizer")}
        point |= {
            "dataset": located(point["dataset"]),
            "parts": parts_of(**own),
            "fixed": 0 if point["varies"] == ALL else cell.seed,
            "gated_width": "doubled" if DOUBLED in asked else point["gated_width"],
            "defects": tuple(name for name in asked if name in OF_TRAINING),
        }
        yield cell.trial.model_construct(**point, seed=cell.seed)


def _protocol(cell: CharacterStudy, model: str, activation: str) -> tuple[str, ...]:
    if cell.protocol == defects.CORRECTED:
        return ()
    return defects.defects_of(cell.protocol, model, activation)


def arm_of(cell: CharacterStudy, first: CharacterTrial) -> Arm[CharacterTrial]:
    """The plain trials of all seeds."""
    asked = Measures(
        prediction_windows=cell.prediction_windows,
        training_windows=cell.training_windows,
        snapshots=cell.snapshots,
        protocol=_protocol(cell, first.model, first.activation),
        ensembles=cell.ensembles,
        equal_compute=cell.equal_compute,
        metrics=own_metrics(cell.plugins),
    )
    return make_arm(cell, first, "trials", [(seed, PLAIN) for seed in cell.seeds], asked)


def floor_of(cell: CharacterStudy, first: CharacterTrial) -> Arm[CharacterTrial]:
    """The first seed plain, repeated, and with one weight moved by one unit in the last place."""
    trials = [(cell.seed, change) for change in (PLAIN, REPEAT, NUDGE)]
    return make_arm(cell, first, "floor", trials, _beside(cell, first, ()))


def perturbed_of(cell: CharacterStudy, first: CharacterTrial) -> Arm[CharacterTrial]:
    """Every seed plain, and changed in each way that is asked for."""
    trials = [(seed, change) for seed in cell.seeds for change in (PLAIN, *cell.perturbations)]
    return make_arm(cell, first, "perturbed", trials, _beside(cell, first, cell.snapshots if cell.follow else ()))


def _beside(cell: CharacterStudy, first: CharacterTrial, snapshots: tuple[int, ...]) -> Measures:
    """What is measured on trials that are compared with themselves changed."""
    return Measures(
        prediction_windows=cell.prediction_windows,
        training_windows=cell.training_windows,
        snapshots=snapshots,
        protocol=first.defects + ((DOUBLED,) if DOUBLED in _protocol(cell, first.model, first.activation) else ()),
        metrics=own_metrics(cell.plugins),
    )


def make_arm(
    cell: CharacterStudy, first: CharacterTrial, kind: str, trials: list[tuple[int, str]], asked: Measures
) -> Arm[CharacterTrial]:
    """An arm of these seeds and changes; in an arm of changes every stream has the trial's seed."""
    if kind in ("floor", "perturbed"):
        first = first.model_copy(update={"varies": ALL, "fixed": 0})
    extra = tuple(step for step in asked.snapshots if step % first.evaluate_every)
    first = first.model_copy(update={"also": extra})
    own = tuple(first.with_change(*each) for each in trials)
    words = [word for word, usual in ((first.varies, ALL), (kind, "trials")) if word != usual]
    name = "-".join([first.model, first.activation, *words])
    config = config_of(first, kind, [trial.label for trial in own], asked)
    return Arm(cell.study, kind, name, own, config, asked, cell.mark, cell.rule)
