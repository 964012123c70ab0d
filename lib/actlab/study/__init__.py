"""From a params file to records. The way of a study:

1. params: `params.py` reads a file into a study (`study.py`); its fields are those of a trial, and a list is an axis.
2. trials: a study plans arms of frozen trials (`trial.py`, `arm.py`), of each kind: `characters/`, `tokens.py`,
   `images.py`. Rates are tuned after what is recorded (`tuning.py`).
3. train: `run.py` groups what has no record into tasks, and `workers/` hands them to this process, to others or to a
   cluster; `cache.py` is the one path of a trial: its file (known by settings, data, code and machine), its lock, its
   checkpoint, then its `train`.
4. measure: when the last trial of an arm has ended, the arm compares its trials.
5. record: `record.py` writes the arm's record once, with where it comes from.

Back from a record: `after/`.
"""
