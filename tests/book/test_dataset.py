"""`results/` as a data set: the generated files are those of today's models and agree with every record."""

import hashlib
import json

import fastparquet
import grids
import jsonschema
import pandas as pd
import pytest
from damage import changed

import dataset
from actlab import paths
from actlab.records import store

RESULTS = paths.ROOT / "results"
METADATA = json.loads((RESULTS / "croissant.json").read_text(encoding="utf-8"))


def test_generated_files_are_not_stale():
    """`python book/dataset.py` writes what today's models and columns give."""
    for name, text in dataset.written().items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, name


@pytest.mark.slow
def test_every_record_is_described():
    """Each file is one that the metadata counts, and has the shape of its kind."""
    patterns = METADATA["distribution"][0]["includes"]
    described = {path for pattern in patterns for path in RESULTS.glob(pattern)}
    own = {RESULTS / "schema.json", RESULTS / "croissant.json"}
    assert set(RESULTS.rglob("*.json")) - own == described
    for path in described:
        store.load(path)


def test_the_schema_types_what_records_hold():
    """A record of every study and kind fits; an entry of another type is named with its place."""
    schema_of = jsonschema.Draft202012Validator(dataset.json_schema())
    seen = {}
    for path in sorted(RESULTS.glob("*/*.json")):
        seen.setdefault((path.parent, path.stem.count("-")), path)
    for path in seen.values():
        schema_of.validate(json.loads(path.read_text(encoding="utf-8")))
    for place, put in ((("reproducibility_metrics", 0, "total_variation"), "low"), (("trials", 0, "status"), "lost")):
        (fault, *_) = schema_of.iter_errors(changed(grids.record() | {"study": "toy"}, place, put))
        assert tuple(fault.absolute_path) == place


@pytest.mark.slow
def test_tables_are_those_that_the_metadata_names(tmp_path, committed):
    """The downloads of the book: of all studies one row a trial and one a pair; CSV and Parquet hold the same, whole
    numbers are integers, no column is empty, and each file has the listed hash."""
    dataset.export(tmp_path)
    about = json.loads((tmp_path / "croissant.json").read_text(encoding="utf-8"))
    for file in about["distribution"]:
        assert hashlib.sha256((tmp_path / file["contentUrl"]).read_bytes()).hexdigest() == file["sha256"]
    for found in about["recordSet"]:
        types = {field["source"]["extract"]["column"]: field["dataType"] for field in found["field"]}
        kinds = {column: dataset.DTYPES[type_] for column, type_ in types.items()}
        table = pd.read_csv(tmp_path / f"{found['@id']}.csv", dtype=kinds)
        assert list(table.columns) == [*types]
        assert table.notna().any().all()
        assert table["study"].nunique() > 10
        with (tmp_path / f"{found['@id']}.parquet").open("rb") as file:
            other = fastparquet.ParquetFile(file).to_pandas()
        pd.testing.assert_frame_equal(other.astype(kinds), table, check_exact=True)
        whole = [column for column in other if pd.api.types.is_integer_dtype(other[column])]
        assert whole == [column for column, type_ in types.items() if type_ == "sc:Integer"]
