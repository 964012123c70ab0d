"""The optimizer x symmetry x activation ablation as read from records, in seconds and without torch. Draws nothing, trains nothing."""

from actlab.factorial.effects import (
    arms,
    arms_table,
    curves,
    gain_values,
    gains,
    interactions,
    main_effects,
    published_table,
    rates,
)
from actlab.factorial.findings import listed, sentences
from actlab.factorial.probes import (
    Alignment,
    Batches,
    Protocol,
    alignments,
    batches,
    copying,
    copying_gains,
    copying_items,
    outside_null,
    protocol,
)
from actlab.factorial.reading import BASE, BROKEN, LOSS_LABEL, PUBLISHED, PUBLISHED_EVALUATIONS, Factorial, read, words

__all__ = [
    "BASE",
    "BROKEN",
    "LOSS_LABEL",
    "PUBLISHED",
    "PUBLISHED_EVALUATIONS",
    "Alignment",
    "Batches",
    "Factorial",
    "Protocol",
    "alignments",
    "arms",
    "arms_table",
    "batches",
    "copying",
    "copying_gains",
    "copying_items",
    "curves",
    "gain_values",
    "gains",
    "interactions",
    "listed",
    "main_effects",
    "outside_null",
    "protocol",
    "published_table",
    "rates",
    "read",
    "sentences",
    "words",
]
