"""How each metric of a record is read: axis label with unit and range, meaning, which direction is better, decimals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How to read one measured quantity."""

    name: str
    label: str
    """Axis label with unit and range."""
    note: str
    """What it means, and which direction is better."""

    @property
    def digits(self) -> int:
        """Decimals in a table."""
        return 2 if "(%)" in self.label else 4


PAIR_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "total_variation",
            "total variation (0 to 1)",
            "half the L1 distance of two predictions; lower is more reproducible",
        ),
        Metric(
            "relative_pd",
            "relative PD (0 to 2)",
            "mean of 2|p - q| / (p + q) over all characters, likely or not; lower is more reproducible",
        ),
        Metric(
            "churn",
            "churn (share of positions)",
            "how often the most probable character differs; lower is more reproducible",
        ),
        Metric("jensen_shannon", "Jensen-Shannon divergence (bits)", "0 to 1; lower is more reproducible"),
        Metric(
            "label_pd",
            "relative PD of the true character (0 to 2)",
            "2|p - q| / (p + q) at the character that came; lower is more reproducible",
        ),
    )
}
TRIAL_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "val_loss",
            "validation loss (nats per character)",
            "cross-entropy on the whole validation split at the end; lower is better",
        ),
        Metric(
            "val_accuracy",
            "validation accuracy (%)",
            "share of positions whose most probable character came; higher is better",
        ),
        Metric(
            "best_val_loss",
            "best validation loss (nats per character)",
            "the lowest of the evaluations during training; lower is better",
        ),
    )
}
METRICS = PAIR_METRICS | TRIAL_METRICS


def of_trials(metric: str) -> bool:
    """Whether a metric is one of trials; all others, a user's own ones too, are of pairs."""
    return metric in TRIAL_METRICS or metric == "test_accuracy"
