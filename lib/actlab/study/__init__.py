"""From a params file to records. The way of a study:

1. params: `study.py` checks a file; its fields are those of a trial, and a list is an axis (`fields.py`, `plan.py`).
2. trials: the module of its kind (`kinds.py`: `characters`, `tokens`, `images`, `twins`) plans arms of frozen trials
   (`trial.py`), for rates that are tuned after what is recorded (`tuning.py`).
3. train: `run.py` groups what has no record into tasks, and `workers/` hands them to this process, to others or to a
   cluster; `cache.py` is the one path of a trial: its file, its lock, its checkpoint, then `train` of its kind.
4. measure: when the last trial of an arm has ended, `measure` of its kind compares its trials (`measured_arm.py`).
5. record: `record.py` writes the arm's record once, with where it comes from (`provenance.py`).

Back from a record: `load_model.py`, `replay.py`, `sampling.py`. Beside the way: `status.py`, `progress.py`.
"""
