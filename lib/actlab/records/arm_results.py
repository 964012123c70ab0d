"""One recorded arm of language models as arrays: values by trial, metrics by pair, estimates with intervals. Draws
nothing, trains nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from actlab.records.labels import of_trials
from actlab.records.store import Record
from actlab.statistics.equal_loss import Curves
from actlab.statistics.estimate import Array, Estimate, few_differ, log_limits
from actlab.statistics.means import mean_interval


def matrix(labels: Sequence[str], pairs: Iterable[Record], metric: str) -> Array:
    """(M, M) symmetric: a metric of every two of M trials, from entries with ``between``; NaN where there is none, and
    on the diagonal."""
    place = {label: i for i, label in enumerate(labels)}
    out = np.full((len(place), len(place)), np.nan)
    for pair in pairs:
        if {*pair["between"]} <= {*place}:
            i, j = (place[label] for label in pair["between"])
            out[i, j] = out[j, i] = pair.get(metric, np.nan)
    return out


def changed(record: Record | None, variant: str) -> dict[int, Record]:
    """Seed -> the pair of its trial and the same seed changed."""
    pairs = {}
    for pair in record["reproducibility_metrics"] if record else []:
        seed = pair["between"][1].partition("-")[0]
        if pair["between"] == [seed, f"{seed}-{variant}"]:
            pairs[int(seed)] = pair
    return dict(sorted(pairs.items()))


@dataclass(frozen=True)
class ArmResults:
    """One arm."""

    record: Record

    @property
    def labels(self) -> list[str]:
        """Names of all trials, ended well or not."""
        return [trial["label"] for trial in self.record["trials"]]

    @property
    def not_done(self) -> list[str]:
        """``label: status`` of every trial that diverged or failed."""
        return [f"{t['label']}: {t['status']}" for t in self.record["trials"] if t["status"] != "done"]

    def values(self, metric: str, labels: Iterable[str] | None = None) -> Array:
        """(M,) a trial metric, one value a trial, of all or of those named; NaN for a trial that is not done."""
        trials = {
            t["label"]: {**t, **t.get("final", {}), "best_val_loss": t.get("best", {}).get("val_loss", np.nan)}
            for t in self.record["trials"]
            if t["status"] == "done"
        }
        chosen = self.labels if labels is None else labels
        return np.array([trials.get(label, {}).get(metric, np.nan) for label in chosen], float)

    def matrix(self, metric: str, labels: Sequence[str] | None = None) -> Array:
        """(M, M) symmetric: a pair metric of every two trials, of all or of those named; NaN where there is none."""
        return matrix(self.labels if labels is None else labels, self.record.get("reproducibility_metrics", []), metric)

    @property
    def snapshots(self) -> dict[int, Record]:
        """Iteration -> ``trials`` and ``pairs`` there, and ``as_published`` where they were read so; the last is the
        end."""
        trials = [{"label": t["label"], **t["final"]} for t in self.record["trials"] if t["status"] == "done"]
        end = {"trials": trials, "pairs": self.record["reproducibility_metrics"]}
        end |= {"as_published": self.record.get("as_published")}
        last = int(self.record["config"]["recipe"]["iterations"])
        return {int(entry["iteration"]): entry for entry in self.record.get("trajectory", [])} | {last: end}

    def curves(self, metric: str) -> Curves:
        """Losses and a pair metric at the snapshots, for ``statistics.equal_loss``."""
        snapshots = self.snapshots.values()
        losses = [{trial["label"]: trial["val_loss"] for trial in entry["trials"]} for entry in snapshots]
        return Curves(
            np.array([[of.get(label, np.nan) for label in self.labels] for of in losses]),
            np.array([matrix(self.labels, entry["pairs"], metric) for entry in snapshots]),
            np.array(self.labels),
        )

    def measured(self, metric: str, labels: Sequence[str] | None = None) -> Array:
        """(M,) ``values`` of a trial metric, (M, M) ``matrix`` of any other."""
        return (self.values if of_trials(metric) else self.matrix)(metric, labels)

    def estimate(self, metric: str) -> Estimate:
        """Mean with a 95% interval over trials."""
        return mean_interval(self.measured(metric))

    def shown(self, metric: str) -> Estimate:
        """The estimate for tables and error bars: a pair metric's interval on a log scale, or none where too few trials
        differ."""
        one = self.estimate(metric)
        if of_trials(metric):
            return one
        pairs = self.matrix(metric)[np.triu_indices(len(self.labels), 1)]
        low, high = log_limits(one.value, one.low, one.high)
        few = few_differ(pairs[~np.isnan(pairs)])
        return replace(one, low=np.nan if few else float(low), high=np.nan if few else float(high))

    def minus(self, other: ArmResults, metric: str) -> Estimate:
        """This arm minus another, paired by the seeds that both have."""
        shared = [label for label in self.labels if label in other.labels]
        return mean_interval(self.measured(metric, shared) - other.measured(metric, shared))

    def curve(self, name: str) -> pd.DataFrame:
        """What every trial measured while it was trained: a column an iteration, a row a trial; NaN after one that
        stopped early."""
        histories = {
            t["label"]: pd.Series({float(e["iteration"]): e[name] for e in t.get("history", [])}, dtype=float)
            for t in self.record["trials"]
        }
        return pd.DataFrame(histories).sort_index().T
