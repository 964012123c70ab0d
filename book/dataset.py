"""`results/` as a data set for those who do not have this package: JSON schema, Croissant metadata and a dictionary of
every key and column (`python book/dataset.py` writes them); the tidy tables as CSV and Parquet with Croissant
metadata of their own beside them, as downloads of the book."""

from __future__ import annotations

import hashlib
import json
from itertools import product
from pathlib import Path
from typing import Any

import fastparquet
import pandas as pd
from pydantic.json_schema import GenerateJsonSchema

from actlab import __version__, files, paths
from actlab.records import schema, store, tables

DTYPES = {"sc:Text": "string", "sc:Boolean": "boolean", "sc:Integer": "Int64", "sc:Float": "Float64"}
"""Type in Croissant -> type of the column, in which a value may be missing."""
ROWS = {"trials": "training run", "pairs": "pair of runs of one configuration, compared on the same inputs"}
"""Table -> what a row is of."""
FORMATS = {"csv": "text/csv", "parquet": "application/x-parquet"}
"""Ending of a file of a table -> its format in Croissant."""
BEGIN, END = "<!-- dictionary: begin -->\n", "<!-- dictionary: end -->"
"""Around what is generated in `results/README.md`."""
Node = dict[str, Any]


class ToldApart(GenerateJsonSchema):
    """Where a key tells variants apart, the schema of a value is that of its own variant, so that a fault is named and
    not that none fits."""

    def tagged_union_schema(self, schema: Any) -> Node:
        """One condition a value of the key."""
        key, choices = schema["discriminator"], schema["choices"]
        own = [
            {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": self.generate_inner(variant)}
            for value, variant in choices.items()
        ]
        return {"type": "object", "required": [key], "properties": {key: {"enum": [*choices]}}, "allOf": own}


def json_schema() -> Node:
    """Of a record of any kind."""
    found = schema.KINDS.json_schema(schema_generator=ToldApart)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A record of actlab", **found}


def objects() -> dict[str, Node]:
    """Name -> schema of every object that a record is or holds; a kind of record has the kind's name."""
    found = json_schema()
    kinds = {
        kind: _type(one["then"]) for kind, one in zip(found["properties"]["kind"]["enum"], found["allOf"], strict=True)
    }
    others = {name: node for name, node in found["$defs"].items() if name not in kinds.values()}
    return {kind: found["$defs"][name] for kind, name in kinds.items()} | others


def _type(node: Node) -> str:
    """Of a value, in words."""
    if variants := node.get("anyOf") or [one["then"] for one in node.get("allOf", ())]:
        return " or ".join(dict.fromkeys(map(_type, variants)))
    if "items" in node:
        return f"array of {_type(node['items'])}"
    return str(node.get("$ref", node.get("type", "any"))).rpartition("/")[2]


def dictionary() -> str:
    """Every key of a record with the objects that have it, and every column of the tidy tables, as Markdown."""
    found = []
    for name, node in objects().items():
        for key, value in node["properties"].items():
            found.append((f"`{key}`", _type(value), name, value.get("description", "")))
    head = ["key", "type", "of", "meaning"]
    keys = pd.DataFrame(found, columns=head).groupby(["key", "type", "meaning"], as_index=False).agg(", ".join)[head]
    columns = [(f"`{name}`", *about) for name, about in tables.COLUMNS.items() if name not in tables.KNOWN["elsewhere"]]
    tidy = _table(pd.DataFrame(columns, columns=["column", "unit", "meaning"]))
    return f"## Keys of a record\n\n{_table(keys)}\n\n## Columns of the tables of trials and of pairs\n\n{tidy}\n"


def _table(table: pd.DataFrame) -> str:
    told = table.map(lambda cell: cell.replace("|", "\\|").replace("\n", " ").replace("``", "`"))
    return "\n".join(
        f"| {' | '.join(row)} |" for row in [table.columns, ["---"] * len(table.columns), *told.to_numpy()]
    )


def croissant_of_tables(given: Node, tidied: dict[str, pd.DataFrame], folder: Path) -> Node:
    """The metadata of the tables: what is given of the records, each file of a folder with its hash, and the columns,
    which are read from CSV."""
    files_made = []
    for of, ending in product(tidied, FORMATS):
        name = f"{of}.{ending}"
        content = (folder / name).read_bytes()
        about = {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "description": f"One row a {ROWS[of]}, of all studies.",
            "contentUrl": name,
            "contentSize": f"{len(content)} B",
            "encodingFormat": FORMATS[ending],
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        files_made.append(about)
    sets = [
        {"@type": "cr:RecordSet", "@id": name, "name": name, "field": [_field(name, table[each]) for each in table]}
        for name, table in tidied.items()
    ]
    return {**given, "isLiveDataset": False, "distribution": files_made, "recordSet": sets}


def _field(table: str, column: pd.Series[Any]) -> Node:
    unit, meaning = tables.COLUMNS[str(column.name)]
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "source": {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": column.name}},
        "description": f"{meaning} ({unit})",
        "dataType": next(type_ for type_, dtype in DTYPES.items() if column.dtype == dtype),
    }


def tidy() -> dict[str, pd.DataFrame]:
    """The tidy tables of all studies, without a study's own measures and what is empty, each column of its type."""
    found = zip(*(tables.load(study, "all") for study in store.studies()), strict=True)
    made = {}
    for name, parts in zip(ROWS, found, strict=True):
        table = pd.concat(parts, ignore_index=True)
        table = table.mask(table == "").dropna(axis="columns", how="all")
        known = [column for column in tables.COLUMNS if column in table]
        made[name] = table[known].convert_dtypes()
    return made


def export(folder: Path) -> None:
    """Write the tidy tables of all studies and what describes them, as downloads of the book."""
    tidied = tidy()
    for name, table in tidied.items():
        files.write_text(folder / f"{name}.csv", table.to_csv(index=False))
        fastparquet.write(str(folder / f"{name}.parquet"), table, write_index=False, compression="ZSTD")
    described = written()
    described["croissant.json"] = _text(croissant_of_tables(json.loads(described["croissant.json"]), tidied, folder))
    for name, text in described.items():
        files.write_text(folder / name, text)


def written(folder: Path = paths.ROOT / "results") -> dict[str, str]:
    """Name -> text of the generated files, with what stands in them by hand."""
    metadata, readme = ((folder / name).read_text(encoding="utf-8") for name in ("croissant.json", "README.md"))
    before, _, rest = readme.partition(BEGIN)
    return {
        "schema.json": _text(json_schema()),
        "croissant.json": _text({**json.loads(metadata), "version": __version__}),
        "README.md": f"{before}{BEGIN}{dictionary()}{END}{rest.partition(END)[2]}",
    }


def _text(node: Node) -> str:
    return json.dumps(node, indent=1) + "\n"


if __name__ == "__main__":
    for name, text in written().items():
        files.write_text(paths.ROOT / "results" / name, text)
