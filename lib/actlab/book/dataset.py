"""`results/` as a data set for those who do not have this package: JSON schema, Croissant metadata and a dictionary of
every key and column (`python -m actlab.book.dataset` writes them); the tidy tables as CSV and Parquet with Croissant
metadata of their own beside them, as downloads of the book."""

import hashlib
import json
from pathlib import Path
from typing import Any

import fastparquet
import pandas as pd

from actlab import __version__, files, paths
from actlab.records import schema, store, tables

TYPES = {"name": "sc:Text", "text": "sc:Text", "hash": "sc:Text", "true or false": "sc:Boolean"}
"""Unit of a column -> type in Croissant; of any other a number."""
INTEGERS = ("hidden", "batch_size", "iterations", "epochs", "seed", "parameters")
"""Columns of whole numbers."""
COLUMN_OF = {"sc:Text": "str", "sc:Boolean": "boolean", "sc:Integer": "Int64", "sc:Float": "float64"}
"""Type in Croissant -> type of the column, in which a value may be missing."""
NAMES = [name for name in tables.COLUMNS if name not in tables.ELSEWHERE]
TRIAL, FIRST = NAMES.index("trial"), NAMES.index("first")
NO_PAIRS = ("network", "symmetry", "hidden", "rate_factor", "epochs")
"""Columns of image sweeps and of the ablation, which have no pairs."""
COLUMNS_OF = {
    "trials": NAMES[:FIRST],
    "pairs": [name for name in NAMES[:TRIAL] + NAMES[FIRST:] if name not in NO_PAIRS],
}
"""Table -> its columns; a study's own measures are left out."""
ROWS = {"trials": "training run", "pairs": "pair of runs of one configuration, compared on the same inputs"}
"""Table -> what a row is of."""
FORMATS = {"csv": "text/csv", "parquet": "application/x-parquet"}
"""Ending of a file of a table -> its format in Croissant."""
AVERAGES = {
    **dict.fromkeys(("relative_pd", "total_variation", "churn"), "pairs"),
    **dict.fromkeys(("val_loss", "val_accuracy"), "finished trials"),
}
"""What an arm has the mean of -> over what."""
NOT_NEGATIVE = {
    *("val_loss", "train_loss", "test_loss", "loss", "val_standard_error"),
    *("iteration", "iterations", "n_parameters", "seconds", "tokens", "tokens_per_second"),
}
"""Keys of numbers that the schema bounds below, beside those that have bounds in Python."""
BEGIN, END = "<!-- dictionary: begin -->\n", "<!-- dictionary: end -->"
"""Around what is generated in `results/README.md`."""
Node = dict[str, Any]


def json_schema() -> Node:
    """Of a record of any kind, with bounds: also of what Python, where NaN has none, does not bound."""
    found = schema.KINDS.json_schema()
    found["$defs"]["TextArm"]["properties"] |= _averages(found["$defs"])
    for node in found["$defs"].values():
        for name in NOT_NEGATIVE & {*node["properties"]}:
            for variant in _variants(node["properties"][name]):
                if variant.get("type") in ("number", "integer"):
                    variant["minimum"] = 0
    _told_apart(found)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A record of actlab", **found}


def _averages(known: dict[str, Node]) -> dict[str, Node]:
    """The means of an arm, bounded as what they are the means of; ``null`` where there is nothing to average."""
    properties = known["Pair"]["properties"] | known["Scores"]["properties"]
    found = {}
    for name, over in AVERAGES.items():
        bounds = {key: value for key, value in properties[name].items() if key in ("type", "minimum", "maximum")}
        number = bounds or {"type": "number", "minimum": 0}
        found[f"avg_{name}"] = {"anyOf": [number, {"type": "null"}], "description": f"Mean of `{name}` over {over}."}
    return found


def _variants(node: Node) -> list[Node]:
    """What a value may be."""
    return node.get("anyOf") or [node]


def _told_apart(node: Any) -> None:
    """Where a key tells variants apart, the schema of a value is that of its own, so that a fault is named and not that
    no variant fits."""
    if isinstance(node, list):
        for inner in node:
            _told_apart(inner)
    if not isinstance(node, dict):
        return
    for inner in node.values():
        _told_apart(inner)
    if "oneOf" in node and "mapping" in (by := node.get("discriminator", {})):
        key, mapping = by["propertyName"], by["mapping"]
        del node["oneOf"], node["discriminator"]
        node |= {"type": "object", "required": [key], "properties": {key: {"enum": [*mapping]}}}
        node["allOf"] = [{"if": _is(key, value), "then": {"$ref": place}} for value, place in mapping.items()]


def _is(key: str, value: str) -> Node:
    return {"properties": {key: {"const": value}}, "required": [key]}


def _kinds(node: Node) -> dict[str, Node]:
    """Value of the key that tells variants apart -> the variant."""
    return {next(iter(one["if"]["properties"].values()))["const"]: one["then"] for one in node.get("allOf", ())}


def objects() -> dict[str, Node]:
    """Name -> schema of every object that a record is or holds; a kind of record has the kind's name."""
    found = json_schema()
    kinds = {kind: _type(place) for kind, place in _kinds(found).items()}
    return {kind: found["$defs"][name] for kind, name in kinds.items()} | {
        name: node for name, node in found["$defs"].items() if name not in kinds.values()
    }


def _type(node: Node) -> str:
    """Of a value, in words."""
    if variants := node.get("anyOf") or node.get("oneOf") or sorted(_kinds(node).values(), key=_type):
        return " or ".join(dict.fromkeys(map(_type, variants)))
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
    return f"## Keys of a record\n\n{_table(keys)}\n\n## Columns of the tables of trials and of pairs\n\n{tidy}\n"


def _table(table: pd.DataFrame) -> str:
    told = table.map(lambda cell: cell.replace("|", "\\|").replace("\n", " ").replace("``", "`"))
    return "\n".join(
        f"| {' | '.join(row)} |" for row in [table.columns, ["---"] * len(table.columns), *told.to_numpy()]
    )


def type_of(column: str) -> str:
    """In Croissant."""
    return "sc:Integer" if column in INTEGERS else TYPES.get(tables.COLUMNS[column][0], "sc:Float")


def croissant(given: Node) -> Node:
    """The metadata of the records, with its version."""
    return {**given, "version": __version__}


def croissant_of_tables(given: Node, made: dict[str, bytes]) -> Node:
    """The metadata of the tables: what is given of the records, each file that was made (name -> content) with its
    hash, and the columns, which are read from CSV."""
    files_made = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "description": f"One row a {ROWS[name.partition('.')[0]]}, of all studies.",
            "contentUrl": name,
            "contentSize": f"{len(content)} B",
            "encodingFormat": FORMATS[name.partition(".")[2]],
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in made.items()
    ]
    sets = [
        {"@type": "cr:RecordSet", "@id": name, "name": name, "field": [_field(name, column) for column in columns]}
        for name, columns in COLUMNS_OF.items()
    ]
    return {**given, "version": __version__, "isLiveDataset": False, "distribution": files_made, "recordSet": sets}


def _field(table: str, column: str) -> Node:
    unit, meaning = tables.COLUMNS[column]
    source = {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": column}}
    about = {"@type": "cr:Field", "@id": f"{table}/{column}", "name": column, "source": source}
    return about | {"description": f"{meaning} ({unit})", "dataType": type_of(column)}


def tidy() -> dict[str, pd.DataFrame]:
    """The tidy tables of all studies, each column of its type."""
    found = zip(*(tables.load(study, "all") for study in store.studies()), strict=True)
    made = {}
    for (name, columns), parts in zip(COLUMNS_OF.items(), found, strict=True):
        table = pd.concat(parts, ignore_index=True).reindex(columns=columns)
        made[name] = table.mask(table == "").astype({column: COLUMN_OF[type_of(column)] for column in columns})
    return made


def export(folder: Path) -> None:
    """Write the tidy tables of all studies and what describes them, as downloads of the book."""
    for name, table in tidy().items():
        files.write_text(folder / f"{name}.csv", files.in_csv(table, index=False))
        with files.replacing(folder / f"{name}.parquet", int(table.memory_usage().sum())) as work:
            fastparquet.write(str(work), table, write_index=False, compression="ZSTD")
    described = written()
    made = {path.name: path.read_bytes() for name in ROWS for path in sorted(folder.glob(f"{name}.*"))}
    about = croissant_of_tables(json.loads(described["croissant.json"]), made)
    described["croissant.json"] = json.dumps(about, indent=1) + "\n"
    for name, text in described.items():
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
