"""Records of what was measured at one moment, with its machine."""

from datetime import UTC, datetime

from actlab.records import store
from actlab.study.record import origin_of


def save(study, file, **measured):
    """The record of this moment."""
    record = {"kind": study, "study": study, **measured, "provenance": origin_of({})}
    store.save(store.path_of(study, f"{file}-{datetime.now(UTC):%Y%m%dT%H%M%S}"), record)
    return record
