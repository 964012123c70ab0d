"""A study of language models from its parameters to its records: what is recorded is loaded, what is cached is reused,
the rest is trained."""

from __future__ import annotations

from actlab.study import baselines, before, provenance
from actlab.study.arms import Arm, TrialSpec, arms_of
from actlab.study.events import Event, Watch
from actlab.study.params import Params
from actlab.study.pool import Report
from actlab.study.records import Outcome, in_stages, load_arms, run_arms, trial_by_trial
from actlab.study.run import Results, finish, fresh_model, run_trial
from actlab.trainers import process


def load_study(params: Params) -> Outcome[Arm]:
    """What is recorded of a study; trains nothing."""
    return load_arms(arms_of(params), baselines.recorded(params.study, params.dataset))


def run_study(params: Params, workers: int = 1, watch: Watch | None = None, scheduler: str = "") -> Outcome[Arm]:
    """Bring a study to its end: arms with a record are loaded, trials in the cache are reused, the rest is trained
    (``records.run_arms``)."""
    provenance.code()  # before anything can change the files that this process has loaded
    if missing := load_study(params).missing:
        before.check(params, workers, scheduler)
        _check_bfloat16(missing, watch)
    baselines.ensure(params.study, params.dataset, params.train_fraction, params.validation)

    def run_once(outcome: Outcome[Arm]) -> Outcome[Arm]:
        return run_arms(
            outcome,
            trial_by_trial(outcome.missing, _train, finish, gpu=params.device != "cpu"),
            workers,
            watch,
            scheduler,
        )

    return in_stages(lambda: load_study(params), run_once)


def _check_bfloat16(missing: list[Arm], watch: Watch | None) -> None:
    """Refuse, or announce, what bfloat16 means on this processor, before anything is trained."""
    firsts = {
        arm.model: arm.trials[0]
        for arm in missing
        if arm.trials[0].recipe.dtype == "bfloat16" and arm.trials[0].recipe.device == "cpu"
    }
    if firsts and (note := process.check_bfloat16(map(fresh_model, firsts.values()))) and watch:
        watch(Event("note", missing[0], note=note))


def _train(spec: TrialSpec, report: Report) -> Results:
    return run_trial(spec, report)
