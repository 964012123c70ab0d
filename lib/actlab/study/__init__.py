"""From a params file to records. The way of a study:

1. params: `study.py` checks a file; its fields are those of a trial, and a list is an axis (`fields.py`, `plan.py`).
2. trials: a study plans arms of frozen trials (`trial.py`); `kinds.py` lists the kinds: `character_study.py` with
   `characters.py`, `tokens.py`, `images.py`, `twins.py`. Rates are tuned after what is recorded (`language_study.py`).
3. train: `run.py` groups what has no record into tasks, and `workers/` hands them to this process, to others or to a
   cluster; `cache.py` is the one path of a trial: its file, its lock, its checkpoint, then its `train`.
4. measure: when the last trial of an arm has ended, `measure` of its trials compares them (`measured_arm.py`).
5. record: `record.py` writes the arm's record once, with where it comes from (`provenance.py`).

Back from a record: `load_model.py`, `replay.py`, `sampling.py`. Beside the way: `status.py`, `progress.py`.
"""
