"""`results/` as a data set: the generated files are those of today's models and agree with every record."""

import json

import pandas as pd

from actlab import paths
from actlab.book import dataset
from actlab.records import schema, store

RESULTS = paths.ROOT / "results"
METADATA = json.loads((RESULTS / "croissant.json").read_text(encoding="utf-8"))


def test_generated_files_are_not_stale():
    """`python -m actlab.book.dataset` writes what today's models and columns give."""
    for name, text in dataset.written().items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, name


def test_every_record_is_described():
    """Each file is one that the metadata counts, of a kind of the schema, and each of its keys has a row in the
    dictionary."""
    patterns = METADATA["distribution"][2]["includes"]
    described = {path for pattern in patterns for path in RESULTS.glob(pattern)}
    own = {RESULTS / "schema.json", RESULTS / "croissant.json"}
    assert {path for path in RESULTS.rglob("*.json") if "set-aside" not in path.parts} - own == described
    known = dataset.objects()
    of_trials = {key for name, node in known.items() if name.endswith("Trial") for key in node["properties"]}
    for path in described:
        record = store.load(path)
        schema.check_record(record)
        for key in [key for key in record if not key.startswith("avg_")]:
            assert key in known[record["kind"]]["properties"], (path.name, key)
        assert {key for trial in record.get("trials", []) for key in trial} <= of_trials, path.name


def test_tables_have_the_columns_that_the_metadata_names(tmp_path, committed):
    """The downloads of the book: one row a trial and one a pair, of all studies; no column is empty."""
    dataset.export(tmp_path)
    for found in METADATA["recordSet"]:
        table = pd.read_csv(tmp_path / f"{found['@id']}.csv", low_memory=False)
        assert [field["source"]["extract"]["column"] for field in found["field"]] == list(table.columns)
        assert {"scale", "seed", "total_variation"} & {*table.columns[table.notna().any()]}
        assert table["study"].nunique() > 10
