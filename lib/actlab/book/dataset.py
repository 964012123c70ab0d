"""`results/` as a data set for those who do not have this package: JSON schema, Croissant metadata and a dictionary of
every key and column (`python -m actlab.book.dataset` writes them), and the tidy tables as CSV."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from actlab import __version__, files, paths
from actlab.records import schema, store, tables

TYPES = {"name": "sc:Text", "text": "sc:Text", "hash": "sc:Text", "true or false": "sc:Boolean"}
"""Unit of a column -> type in Croissant; of any other a number."""
NAMES = [name for name in tables.COLUMNS if name not in tables.ELSEWHERE]
TRIAL, FIRST = NAMES.index("trial"), NAMES.index("first")
COLUMNS_OF = {"trials": NAMES[:FIRST], "pairs": NAMES[:TRIAL] + NAMES[FIRST:]}
"""Table -> its columns; a study's own measures are left out."""
BEGIN, END = "<!-- dictionary: begin -->\n", "<!-- dictionary: end -->"
"""Around what is generated in `results/README.md`."""
Node = dict[str, Any]


def json_schema() -> Node:
    """Of a record of any kind."""
    found = schema.KINDS.json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A record of actlab", **found}


def objects() -> dict[str, Node]:
    """Name -> schema of every object that a record is or holds; a kind of record has the kind's name."""
    found = json_schema()
    kinds = {kind: _type({"$ref": place}) for kind, place in found["discriminator"]["mapping"].items()}
    return {kind: found["$defs"][name] for kind, name in kinds.items()} | {
        name: node for name, node in found["$defs"].items() if name not in kinds.values()
    }


def _type(node: Node) -> str:
    """Of a value, in words."""
    if variants := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(map(_type, variants))
    if "items" in node:
        return f"array of {_type(node['items'])}"
    return str(node.get("$ref", node.get("type", "any"))).rpartition("/")[2]


def dictionary() -> str:
    """Every key of a record with the objects that have it, and every column of the tidy tables, as Markdown."""
    found = [
        (f"`{key}`", _type(value), name, value.get("description", ""))
        for name, node in objects().items()
        for key, value in node["properties"].items()
    ]
    head = ["key", "type", "of", "meaning"]
    keys = pd.DataFrame(found, columns=head).groupby(["key", "type", "meaning"], as_index=False).agg(", ".join)[head]
    columns = [(f"`{name}`", *tables.COLUMNS[name]) for name in NAMES]
    tidy = _table(pd.DataFrame(columns, columns=["column", "unit", "meaning"]))
    return f"## Keys of a record\n\n{_table(keys)}\n\n## Columns of trials.csv and pairs.csv\n\n{tidy}\n"


def _table(table: pd.DataFrame) -> str:
    told = table.map(lambda cell: cell.replace("|", "\\|").replace("\n", " ").replace("``", "`"))
    return "\n".join(
        f"| {' | '.join(row)} |" for row in [table.columns, ["---"] * len(table.columns), *told.to_numpy()]
    )


def croissant(given: Node) -> Node:
    """The metadata with its version and the columns of the tidy tables as record sets."""
    sets = [
        {"@type": "cr:RecordSet", "@id": name, "name": name, "field": [_field(name, column) for column in columns]}
        for name, columns in COLUMNS_OF.items()
    ]
    return {**given, "version": __version__, "recordSet": sets}


def _field(table: str, column: str) -> Node:
    unit, meaning = tables.COLUMNS[column]
    source = {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": column}}
    about = {"@type": "cr:Field", "@id": f"{table}/{column}", "name": column, "source": source}
    return about | {"description": f"{meaning} ({unit})", "dataType": TYPES.get(unit, "sc:Float")}


def export(folder: Path) -> None:
    """Write the tidy tables of all studies and what describes them, as downloads of the book."""
    found = zip(*(tables.load(study, "all") for study in store.studies()), strict=True)
    for (name, columns), parts in zip(COLUMNS_OF.items(), found, strict=True):
        table = pd.concat(parts, ignore_index=True).reindex(columns=columns)
        files.write_text(folder / f"{name}.csv", files.in_csv(table, index=False))
    for name, text in written().items():
        files.write_text(folder / name, text)


def written(folder: Path = paths.ROOT / "results") -> dict[str, str]:
    """Name -> text of the generated files, with what stands in them by hand."""
    metadata, readme = ((folder / name).read_text(encoding="utf-8") for name in ("croissant.json", "README.md"))
    before, _, rest = readme.partition(BEGIN)
    return {
        "schema.json": json.dumps(json_schema(), indent=1) + "\n",
        "croissant.json": json.dumps(croissant(json.loads(metadata)), indent=1) + "\n",
        "README.md": f"{before}{BEGIN}{dictionary()}{END}{rest.partition(END)[2]}",
    }


if __name__ == "__main__":
    for name, text in written().items():
        files.write_text(paths.ROOT / "results" / name, text)
