"""From a params file to a checked study of its kind, with what the command line changes; from a record back to a
trial."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from actlab import paths
from actlab.errors import BadInput, Table, check_name
from actlab.files import parse_yaml
from actlab.study.fields import as_list, our_name
from actlab.study.study import Study
from actlab.study.trial import Settings

KINDS = Table(
    "kind",
    [("repro", "characters.study"), ("mnist", "images"), ("ablation", "tokens"), ("twins", "characters.twins")],
)
"""Kind in a params file -> its module."""
FILTERED = {"activation": ("activation", "network"), "model": ("model",)}
"""Option -> the field that it filters: the first of these names that the kind of study has."""


def study_of(kind: str, where: str = "") -> type[Study]:
    """Load the class of studies of a kind when it is needed; ``where`` the kind stands, for the message."""
    check_name("kind", kind, KINDS, where)
    return import_module(f"actlab.study.{KINDS[kind]}").Study


def read_params(path: Path, plugins: Sequence[str] = (), sets: Sequence[str] = (), **changes: Any) -> Study:
    """Read a study from a YAML file, of the kind that it names (``repro`` where it is silent), and check it.

    Args:
        path: of the file; a bare NAME.yaml or params/NAME.yaml that is not here is looked up in the project.
        plugins: files beside those that it names.
        sets, changes: of fields, before anything is checked (``overridden``).

    Raises:
        BadInput: no such file, not a mapping, or a wrong value (the message names the field and what is allowed).
    """
    if not path.exists() and path.parent in (Path(), Path("params")):
        file = paths.params_file(path.stem)
        if not file.exists():
            close = get_close_matches(path.stem, paths.params_names(), n=1)
            raise BadInput(f"no such file: {path}{f'; did you mean {close[0]!r}?' if close else ''}")
        path = file
    where = str(path)
    values = overridden(read_mapping(path), plugins, sets, changes)
    kind = study_of(str(values.pop("kind", "repro")), where)
    tuned = getattr(kind, "tunes", "")
    if values.get("rates") and tuned in values:
        raise BadInput(f"{where}: {tuned} is given, and rates take it from another study: leave one out")
    study = kind.parse(values, where)
    if "study" not in values:
        raise BadInput(f"{path} names no study, the folder of its records below results/: add `study: NAME`")
    return study


def read_mapping(path: Path) -> Settings:
    """Read the mapping in a YAML file; a plan in it is known by the hash of the file."""
    try:
        content = path.read_bytes()
        values = parse_yaml(content.decode(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    if not isinstance(values, dict):
        raise BadInput(f"{path} must hold one `name: value` mapping, found {type(values).__name__}")
    if isinstance(values.get("plan"), dict):
        values["plan"]["sha256"] = hashlib.sha256(content).hexdigest()
    return values


def overridden(values: Settings, plugins: Sequence[str], sets: Sequence[str], changes: Settings) -> Settings:
    """Set fields in the values of a params file, which are not checked yet. It is then no longer the registered study:
    its records carry no plan.

    Args:
        values: of the file; changed in place.
        plugins: files beside the file's own.
        sets: ``name=value``, the value in YAML; ``plugins`` come beside the others.
        changes: fields with values; ``None`` changes nothing.

    Raises:
        BadInput: ``sets`` of another form.
    """
    changed = dict(_assignment(text) for text in sets)
    changed |= {name: value for name, value in changes.items() if value is not None}
    plugins = [*plugins, *as_list(changed.pop("plugins", []))]
    with suppress(AttributeError):  # a per_arm that is no mapping of mappings is refused later
        for settings in values.get("per_arm", {}).values():
            for name in changed:  # what the command line says holds for every arm
                settings.pop(name, None)
    for name, value in changed.items():
        set_in(values, name, value)
    if "learning_rate" in changed:
        values.pop("rates", None)
    if changed:
        values.pop("plan", None)
    if plugins:
        values["plugins"] = list(dict.fromkeys([*as_list(values.get("plugins", [])), *plugins]))
    return values


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (sign and name):
        raise BadInput(f"--set {text}: expected name=value, as in --set iterations=100")
    try:
        return name.removeprefix("optimizer."), yaml.safe_load(value)
    except yaml.YAMLError:
        raise BadInput(f"--set {text}: the value is not YAML") from None


def set_in(values: Settings, name: str, value: Any) -> None:
    """Set a field by its name, or one key of a field that is a mapping: ``rates.of``."""
    field, _, key = name.partition(".")
    if key:
        mapping = values.get(field)
        value = {**(mapping if isinstance(mapping, dict) else {}), key: value}
    values[field] = value


def filtered(study: Study, where: str, filters: Mapping[str, Sequence[str] | None]) -> Study:
    """Keep only those levels of a study that are named.

    Args:
        study: any.
        where: the name of its file, for messages.
        filters: option (a key of ``FILTERED``) -> names, with commas or repeated; none takes nothing away.

    Raises:
        UnknownName: a level that the study does not name.
        BadInput: a filter that its kind does not have.
    """
    for option, values in filters.items():
        names = [our_name(name) for text in values or () for name in text.replace(",", " ").split()]
        if not names:
            continue
        field = next((name for name in FILTERED[option] if name in type(study).model_fields), "")
        if not field:
            raise BadInput(f"--{option}: {where} is a study without it")
        for name in names:
            check_name(option, name, study.levels(field), f"{where} (to add one: --set {field}=...)")
        study = study.replace(where, **{field: [name for name in study.levels(field) if name in names]})
    return study
