"""A study of language models from its parameters to its records: what is recorded is loaded, what is cached is reused, the rest is trained."""

from __future__ import annotations

from actlab.study import baselines, provenance
from actlab.study.arms import Arm, TrialSpec, arms_of
from actlab.study.events import Watch
from actlab.study.params import Params
from actlab.study.pool import Report
from actlab.study.records import Outcome, load_arms, run_arms, trial_by_trial
from actlab.study.run import Results, finish, run_trial


def load_study(params: Params) -> Outcome[Arm]:
    """What is recorded of a study; trains nothing."""
    return load_arms(arms_of(params), baselines.recorded(params.study, params.dataset))


def run_study(params: Params, workers: int = 1, watch: Watch | None = None, scheduler: str = "") -> Outcome[Arm]:
    """Bring a study to its end: arms with a record are loaded, trials in the cache are reused, the rest is trained (``records.run_arms``)."""
    provenance.code()  # before anything can change the files that this process has loaded
    baselines.ensure(params.study, params.dataset, params.train_fraction)
    outcome = load_study(params)
    plan = trial_by_trial(outcome.missing, _train, finish, gpu=params.device != "cpu")
    return run_arms(outcome, plan, workers, watch, scheduler)


def _train(spec: TrialSpec, report: Report) -> Results:
    return run_trial(spec, report)
