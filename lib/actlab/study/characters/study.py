"""A study of language models on characters, the reproducibility grid: what its params file may say, and the arms that
it plans."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import AfterValidator, Field, model_validator

from actlab.activations import ACTIVATIONS
from actlab.data.text import text_tables
from actlab.errors import BadInput, check_name
from actlab.models import MODELS
from actlab.plugins import check_parts, own_metrics
from actlab.records import store
from actlab.records.defect_names import BOTH, DEFECTS, DOUBLED, IGNORED, OF_MEASUREMENT, OF_TRAINING
from actlab.study.arm import Arm, Measures
from actlab.study.characters.comparison import AS_PUBLISHED, CharacterArm
from actlab.study.characters.trial import ALL, NUDGE, PLAIN, REPEAT, CharacterTrial
from actlab.study.fields import Count, CountOrNone, Listed, StudyName, our_name
from actlab.study.study import LanguageStudy, with_axes
from actlab.study.trial import Settings, without_vocabulary
from actlab.trainers.windows import spread

Change = Annotated[
    str,
    Field(pattern=r"^(repeat|nudge(-[1-9][0-9]{0,6})?|shift-1e-[1-8]|threads|bfloat16|dropout|order|init|all)$"),
]
PART = ("train_share", "train_fraction", "validation")
"""Settings of a trial that say which part of a text it is measured on."""
MOST_PAIRS = 20_000
"""Pairs of ensembles of one size that an arm has at most: they are compared in half an hour at the smallest scale."""


def _model_or_arm(name: str) -> str:
    model, slash, activation = name.partition("/")
    known = MODELS[model].name
    return f"{known}/{our_name(ACTIVATIONS[activation].name)}" if slash else known


def switched_on(protocol: str | dict[str, str]) -> tuple[str, ...]:
    """List the names of the defects in a protocol, whether they apply or not."""
    if isinstance(protocol, str):
        return DEFECTS if protocol == "as_published" else ()
    return tuple(f"{key}: {value}" for key, value in protocol.items())


def _checked_protocol(protocol: str | dict[str, str]) -> str | dict[str, str]:
    if isinstance(protocol, str):
        check_name("protocol", protocol, ("corrected", "as_published"))
    active = switched_on(protocol)
    for name in active:
        check_name("protocol", name, DEFECTS)
    if "evaluation" in protocol and "selection" not in protocol:
        raise BadInput("protocol evaluation: random batches measure the last weights, so it needs selection: final")
    if {*active} & {*OF_MEASUREMENT} and not AS_PUBLISHED:
        raise BadInput("these defects are measured by the audit: add plugins: [actlab_audit.defects]")
    return protocol


def defects_of(protocol: str | dict[str, str], model: str, activation: str) -> tuple[str, ...]:
    """List the names of the defects that are on in an arm: those of the protocol that apply to it."""
    active = switched_on(protocol)
    ignored = model != "charlm"
    gated = ACTIVATIONS[activation].gated and not (ignored and IGNORED in active)
    applies = {IGNORED: ignored, BOTH: model == "convlm", DOUBLED: gated}
    return tuple(name for name in DEFECTS if name in active and applies.get(name, True))


Protocol = Annotated[str | dict[str, str], AfterValidator(_checked_protocol)]


@with_axes(activation=("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1"))
class CharacterStudy(LanguageStudy):
    """One study of language models (the reproducibility grid), with every field of a trial as an axis."""

    trial: ClassVar[type[CharacterTrial]] = CharacterTrial
    arm: ClassVar[type[CharacterArm]] = CharacterArm
    single = ("average", "betas")
    tunes = "learning_rate"
    tuned_by = ("model", "activation")
    recorded: ClassVar[tuple[str, ...]] = ("trials", "floor", "perturbed")
    study: StudyName = "repro-quick"
    """Folder of the records below results/."""
    trials: Count = 3
    """Independently seeded training runs of each arm; more than recorded: the study grows."""
    prediction_windows: Count = 256
    """Frozen validation windows on which predictions are compared."""
    training_windows: CountOrNone = 0
    """Windows of the training text that are evaluated at the end, without dropout."""
    noise_floor: bool = True
    """Also run the first seed twice more: unchanged, and with one weight moved by one unit in the last place."""
    protocol: Protocol = "corrected"
    """corrected, as_published (all defects that apply), or single ones: {padding: both}. Those of measurement need
    ``plugins: [actlab_audit.defects]``."""
    perturbations: Listed[Change] = ()
    """Also run every seed changed in these ways, and compare it with itself unchanged: ``repeat`` (nothing), ``nudge``
    (one weight moved by one unit in the last place; ``nudge-100``: at step 100), ``shift-1e-3`` (one weight moved by
    this share of its matrix's norm), ``threads`` (on two threads), ``bfloat16``, another seed for one stream
    (``dropout``, ``order``, ``init``) or for ``all``."""
    follow: bool = False
    """Compare the changed runs at the snapshots too."""
    snapshots: Listed[int] = ()
    """Steps at which the weights are kept and the trials compared as well."""
    ensembles: Listed[int] = ()
    """Also compare ensembles of so many trials."""
    equal_compute: Listed[int] = ()
    """Also compare ensembles of so many trials, each of an equal share of the steps."""
    per_arm: dict[Annotated[str, AfterValidator(_model_or_arm)], Settings] = Field({})
    """Settings of single models or arms: {tinylstm: {...}, charlm/gelu: {...}}."""
    order: Literal["model", "activation"] = "model"
    """What is completed first."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        steps, half = min(self.levels("iterations")), self.trials // 2
        nudges = [int(name[6:]) for name in self.perturbations if name.startswith("nudge-")]
        for name, at in (("snapshots", self.snapshots), ("perturbations", nudges)):
            if late := [step for step in at if not 0 <= step < steps]:
                raise BadInput(f"{name}: {late[0]} does not lie before the last of {steps} iterations")
        if "cosine" in self.levels("schedule") and any(self.levels("warmup")):
            raise BadInput("warmup: a cosine has its own, 2% of the steps")
        for arm, settings in self.per_arm.items():
            if names := {"model", "activation", "rates"} & {*settings}:
                raise BadInput(f"per_arm.{arm}: {min(names)} is of the whole study")
        for size in (*self.ensembles, *self.equal_compute):
            if not 2 <= size <= half:
                can = f"2 to {half} of {self.trials} can"
                raise BadInput(f"ensembles: {size} trials cannot be compared with {size} others: {can}")
            pairs = math.comb(self.trials, size) * math.comb(self.trials - size, size) // 2
            if pairs > MOST_PAIRS:
                raise BadInput(
                    f"ensembles: {size} of {self.trials} trials make {pairs:,} pairs, more than {MOST_PAIRS:,}: "
                    "choose a smaller size, or fewer trials"
                )
        for size in self.equal_compute:
            if (share := round(steps / size)) not in self.snapshots:
                raise BadInput(f"equal_compute: {size} networks of {share} steps each need a snapshot there")
        return self

    def settings_of_cell(self, cell: Mapping[str, str]) -> Settings:
        """Join the settings that ``per_arm`` has for its model with those for itself."""
        model, arm = cell["model"], f"{cell['model']}/{cell['activation']}"
        return self.per_arm.get(model, {}) | self.per_arm.get(arm, {}) | {"per_arm": {}}

    def prepare(self, missing: Sequence[Arm]) -> None:
        """Refuse also a user's own part that breaks the science; measure the text's own tables."""
        super().prepare(missing)
        firsts = cast("list[CharacterTrial]", [arm.trials[0] for arm in missing])
        check_parts((trial.model, trial.activation) for trial in firsts)
        for trial in firsts:  # a text that is too short for the context is refused before anything is written
            for part in (trial.text.train, trial.text.validation):
                spread(part, trial.size.block_size, 1)
        record_baselines(self.study, firsts)

    def firsts(self) -> Iterator[CharacterTrial]:
        """Plan the first trial of each arm of a cell."""
        for point in self.points():
            active = defects_of(self.protocol, point["model"], point["activation"])
            point["defects"] = tuple(name for name in active if name in OF_TRAINING)
            point["fixed"] = 0 if point["varies"] == ALL else self.seed
            if DOUBLED in active:
                point["gated_width"] = "doubled"
            yield self.trial.planned(point, self.seed)

    def changes(self, kind: str) -> list[tuple[int, str]]:
        """List seed and change of each trial of the arms of a kind: of the noise floor, which has the first seed plain,
        repeated, and with one weight moved by one unit in the last place; of the arm of changes (``perturbed``)."""
        if kind == "floor":
            return [(self.seed, change) for change in (PLAIN, REPEAT, NUDGE)] if self.noise_floor else []
        if kind == "perturbed":
            changes = (PLAIN, *self.perturbations) if self.perturbations else ()
            return [*product(self.seeds, changes)]
        return [(seed, PLAIN) for seed in self.seeds]

    def arms_of(self, kind: str) -> Iterable[Arm]:
        """Plan the arms of a kind: one at each point of the study, if it has trials of this kind."""
        changes = self.changes(kind)
        return [self.arm_of(first, kind, changes) for first in self.firsts()] if changes else []

    def arm_of(self, first: CharacterTrial, kind: str, changes: Sequence[tuple[int, str]]) -> Arm:
        """Plan an arm of a kind from its first trial, and from the seed and change of each."""
        measures = self.measures(first, kind)
        also = tuple(step for step in measures.snapshots if step % first.evaluate_every)
        first = first.model_copy(update={"also": also})
        name = f"{first.model}-{first.activation}"
        if kind != "trials":  # of changes, whose seed feeds every stream
            first = first.model_copy(update={"varies": ALL, "fixed": 0})
            name += f"-{kind}"
        elif first.varies != ALL:
            name += f"-{first.varies}"
        trials = tuple(first.with_change(seed, change) for seed, change in changes)
        about = {
            "kind": kind,
            "trials": [trial.label for trial in trials],
            "model_size": without_vocabulary(first.size),
        }
        measured = asdict(measures) | {"metrics": dict(measures.metrics), "fixed": first.fixed}
        config = first.settings | about | {setting: value for setting, value in measured.items() if value}
        return self.arm(self.study, kind, name, trials, config, measures, self.decided)

    def measures(self, first: CharacterTrial, kind: str) -> Measures:
        """Choose what is measured on an arm: where trials are compared with themselves changed, no defect of
        measurement and no ensemble."""
        protocol = defects_of(self.protocol, first.model, first.activation)
        windows, metrics = (self.prediction_windows, self.training_windows), own_metrics(self.plugins)
        if kind == "trials":
            return Measures(*windows, self.snapshots, protocol, self.ensembles, self.equal_compute, metrics)
        defects = first.defects
        if DOUBLED in protocol:
            defects += (DOUBLED,)  # twice: recorded ids have it so
        snapshots = self.snapshots if kind == "perturbed" and self.follow else ()
        return Measures(*windows, snapshots, defects, metrics=metrics)


Study = CharacterStudy


def record_baselines(study: str, trials: Iterable[CharacterTrial]) -> None:
    """Write a study's record of the text of each of these trials, of the part on which they are measured, if it has
    none.

    Raises:
        BadInput: the record there is of another part of the text.
    """
    for trial in {trial.dataset: trial for trial in trials}.values():
        corpus = trial.text
        data: dict[str, Any] = {name: getattr(corpus, name) for name in ("name", "sha256", "vocab_size")}
        data["validation_positions"] = len(corpus.validation) - 1
        part = {axis: getattr(trial, axis) for axis in PART}
        data |= {axis: value for axis, value in part.items() if value != type(trial).model_fields[axis].default}
        path = store.path_of(study, f"baseline-{corpus.name}-{corpus.sha256[:10]}")
        if not path.exists():
            record = {"kind": "baseline", "study": study, **text_tables(corpus), "provenance": {"data": data}}
            store.save(path, record)
        elif store.load(path)["provenance"]["data"] != data:
            raise BadInput(
                f"{path} has the tables of another part of {trial.dataset}: give this study a name of its own, "
                "--set study=..."
            )
