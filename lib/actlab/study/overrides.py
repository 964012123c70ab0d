"""What a command line changes in a params file: filters that only take away, and fields that are set by name."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from actlab.errors import BadInput, check_name
from actlab.files import parse_yaml
from actlab.study.fields import as_list, ours
from actlab.study.study import Study

FIELDS = {"activation": ("activation", "network"), "model": ("model",)}
"""Option -> the field that it filters, by the first of these names that the kind of study has."""


def listed(values: Sequence[str] | None) -> list[str]:
    """The names in options that may be repeated and may hold several with commas between them."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


OF_OPTIMIZER = ("betas", "clip", "learning_rate", "rate_factor", "schedule", "warmup", "weight_decay")
"""Fields that a reader may call ``optimizer.betas``."""


def set_in(values: dict[str, Any], name: str, value: Any) -> None:
    """Set a field by its name, or one key of a field that holds several: ``rates.of``.

    Raises:
        BadInput: what stands there has no keys.
    """
    field, _, rest = name.partition(".")
    arm, _, key = rest.rpartition(".")  # per_arm.charlm/gelu_0.3.iterations
    *path, last = (part for part in (field, arm, key) if part)
    for part in path:
        values[part] = values.get(part) or {}
        values = values[part]
        if not isinstance(values, dict):
            raise BadInput(f"{name}={value!r}: {part} is {values!r}, which has no {last}")
    values[last] = value


def overridden(
    values: dict[str, Any], plugins: Sequence[str], sets: Sequence[str], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """What a params file holds, unchecked, with fields set. It is then no longer the registered study: its records
    carry no plan.

    Args:
        values: those of the file; changed in place.
        plugins: files beside the file's own.
        sets: ``name=value``, the value in YAML; ``plugins`` come beside the others.
        changes: fields with values; ``None`` changes nothing.

    Raises:
        BadInput: ``sets`` not of that form, or of a plan.
        UnknownName: a setting of an optimizer that there is not.
    """
    given = dict[str, Any]()
    for text in sets:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name:
            raise BadInput(f"--set {text:.100}: expected name=value, as in --set iterations=100")
        if name.startswith("optimizer."):
            name = name.removeprefix("optimizer.")
            check_name("setting of optimizer", name, OF_OPTIMIZER, f"--set {text:.100}")
        given[name] = parse_yaml(value, f"--set {text:.100}: the value")
        if name.partition(".")[0] == "plan" and given[name] is not None:
            raise BadInput(
                f"--set {text:.100}: a plan is what a params file held before the runs; plan=null runs without it"
            )
    given |= {name: value for name, value in changes.items() if value is not None}
    more = [*plugins, *as_list(given.pop("plugins", []))]
    with suppress(AttributeError):  # where per_arm is no mapping of mappings, which is refused later
        for own in values.get("per_arm", {}).values():
            for name in given:  # what the command line says holds for every arm
                own.pop(name, None)
    for name, value in given.items():
        set_in(values, name, value)
    if given and values.get("plan"):
        values["plan"] = None
    if more:
        values["plugins"] = list(dict.fromkeys([*as_list(values.get("plugins", [])), *more]))
    return values


def filtered(params: Study, where: str, filters: Mapping[str, Sequence[str] | None]) -> Study:
    """A study with only those of its own levels that are asked for.

    Args:
        params: the study.
        where: the name of its file, for messages.
        filters: option (a key of ``FIELDS``) -> names, with commas or repeated; none takes nothing away.

    Raises:
        UnknownName: a level that the study does not name.
        BadInput: a filter that its kind does not have.
    """
    fields = type(params).model_fields
    for option, values in filters.items():
        names = [ours(name) for name in listed(values)]
        if not names:
            continue
        field = next((name for name in FIELDS[option] if name in fields), "")
        if not field:
            raise BadInput(f"--{option}: {where} is a study without it; its fields are {', '.join(fields)}")
        for name in names:
            check_name(
                option,
                name,
                getattr(params, field),
                f"{where} (a filter only takes away; --set {field}=... changes a study)",
            )
        params = params.replace(where, **{field: [name for name in getattr(params, field) if name in names]})
    return params
