"""A study of language models on characters: what its params file may say, and the arms that it plans."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from actlab import metrics
from actlab.activations import ACTIVATIONS
from actlab.errors import LIMITS, BadInput, check_name
from actlab.models import MODELS, SCALES
from actlab.plugins import own_metrics
from actlab.plugins.contracts import check_causal
from actlab.records.defect_names import DOUBLED
from actlab.study import baselines, defects
from actlab.study.characters import ALL, NUDGE, PLAIN, REPEAT, CharacterTrial
from actlab.study.fields import BEFORE, Listed, StudyName, Trials, Windows, WindowsOrAll, one_of, ours
from actlab.study.language_study import LanguageStudy
from actlab.study.language_trial import without_vocabulary
from actlab.study.study import with_axes
from actlab.study.trial import Arm, Measures, Settings
from actlab.trainers.evaluation import predict

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

    kind = "repro"
    trial: ClassVar[type[CharacterTrial]] = CharacterTrial
    single = ("average", "betas")
    tunes = "learning_rate"
    tuned_by = ("model", "activation")
    recorded: ClassVar[tuple[str, ...]] = ("trials", "floor", "perturbed")
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

    def check_named(self, where: str) -> None:
        """``per_arm`` names its own models and activations."""
        for name in self.per_arm:
            for field, level in zip(("model", "activation"), name.split("/"), strict=False):
                check_name(f"{field} of per_arm", level, self.levels(field), where)

    def own_settings(self, cell: Mapping[str, str]) -> Settings:
        """Those that ``per_arm`` has for its model, then those for itself."""
        model, arm = cell["model"], f"{cell['model']}/{cell['activation']}"
        return self.per_arm.get(model, {}) | self.per_arm.get(arm, {}) | {"per_arm": {}}

    @property
    def slowest_first(self) -> tuple[str, ...]:
        """A model after the other, or an activation after the other (``order``)."""
        return ("model", "activation") if self.order == "model" else ("activation", "model")

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Refuse also a user's own part that sees the future, or a metric that fails on real predictions; measure the
        text's own tables."""
        super().prepare(missing)
        firsts = cast("list[CharacterTrial]", [arm.trials[0] for arm in missing])
        if firsts:
            self._try_metrics(firsts[0])
        check_causal((trial.model, trial.activation) for trial in firsts)
        baselines.ensure(self, bool(missing))

    def _try_metrics(self, trial: CharacterTrial) -> None:
        """``BadInput`` where a user's own metric fails on the predictions of two networks that are not trained yet, on
        the windows on which trials are compared."""
        if not (own := own_metrics(self.plugins)):
            return
        frozen = trial.compared_on(self.prediction_windows)
        pair = trial, trial.with_change(trial.seed + 1)
        first, second = (predict(each.fresh().to(trial.device), frozen) for each in pair)
        try:
            metrics.row_means(first, second, dict(own))
        except BadInput as error:
            raise BadInput(f"on predictions of {trial.model} {error}") from error

    def firsts(self) -> Iterator[CharacterTrial]:
        """Of a cell: the first trial of each arm."""
        for point in self.points():
            on = defects.defects_of(self.protocol, point["model"], point["activation"])
            point["defects"] = tuple(name for name in on if name in defects.OF_TRAINING)
            point["fixed"] = 0 if point["varies"] == ALL else self.seed
            if DOUBLED in on:
                point["gated_width"] = "doubled"
            yield self.trial.planned(point, self.seed)

    def changes(self, kind: str) -> list[tuple[int, str]]:
        """Seed and change of each trial of the arms of a kind: of the noise floor, which has the first seed plain,
        repeated, and with one weight moved by one unit in the last place; of the perturbed arm."""
        if kind == "floor":
            return [(self.seed, change) for change in (PLAIN, REPEAT, NUDGE)] if self.noise_floor else []
        if kind == "perturbed":
            changes = (PLAIN, *self.perturbations) if self.perturbations else ()
            return [*product(self.seeds, changes)]
        return [(seed, PLAIN) for seed in self.seeds]

    def arms_of(self, kind: str) -> list[Arm]:
        """In an arm of changes every stream has the trial's seed."""
        arms: list[Arm] = []
        changes = self.changes(kind)
        if not changes:
            return arms
        for planned in self.firsts():
            asked = self.asked(planned, kind)
            also = tuple(step for step in asked.snapshots if step % planned.evaluate_every)
            alone = {} if kind == "trials" else {"varies": ALL, "fixed": 0}
            first = planned.model_copy(update={"also": also, **alone})
            trials = tuple(first.with_change(seed, change) for seed, change in changes)
            words = [first.model, first.activation]
            if first.varies != ALL:
                words.append(first.varies)
            if kind != "trials":
                words.append(kind)
            config = config_of(first, kind, [trial.label for trial in trials], asked)
            arms.append(Arm(self.study, kind, "-".join(words), trials, config, asked, self.decided))
        return arms

    def asked(self, first: CharacterTrial, kind: str) -> Measures:
        """What is measured on an arm: where trials are compared with themselves changed, no defect of measurement and
        no ensemble."""
        protocol = defects.defects_of(self.protocol, first.model, first.activation)
        asked = Measures(self.prediction_windows, self.training_windows, metrics=own_metrics(self.plugins))
        if kind == "trials":
            own = {name: getattr(self, name) for name in ("snapshots", "ensembles", "equal_compute")}
            return replace(asked, protocol=protocol, **own)
        on = first.defects
        if DOUBLED in protocol:
            on += (DOUBLED,)  # twice: recorded ids have it so
        snapshots = self.snapshots if kind == "perturbed" and self.follow else ()
        return replace(asked, protocol=on, snapshots=snapshots)


Study = CharacterStudy


def config_of(first: CharacterTrial, kind: str, labels: list[str], asked: Measures) -> Settings:
    """What a record says of an arm, by which it is known."""
    same = {"kind": kind, "trials": labels, "model_size": without_vocabulary(SCALES[first.scale])}
    measured = asdict(asked) | {"metrics": dict(asked.metrics), "fixed": first.fixed}
    return first.settings | same | {name: value for name, value in measured.items() if value}
