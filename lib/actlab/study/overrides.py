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


OF = {"optimizer": ("betas", "clip", "learning_rate", "rate_factor", "schedule", "warmup", "weight_decay")}
"""What may stand before a field's name, as in ``optimizer.betas``, and the fields that it has: a reader's word, the
field is flat."""


def set_in(given: dict[str, Any], values: Mapping[str, Any], name: str, value: Any, told: str) -> None:
    """Set a field by its name among ``given``; ``rates.of``: one key of a field that holds several, of which the others
    stay as they are in ``values``; ``optimizer.betas``: the field ``betas``.

    Raises:
        UnknownName: such a key that the field does not have.
    """
    first, dot, rest = name.partition(".")
    if not dot:
        given[name] = value
    elif first in OF:
        check_name(f"setting of {first}", rest, OF[first], told)
        given[rest] = value
    else:
        held = given.get(first, values.get(first))
        inside = dict(held) if isinstance(held, Mapping) else {}
        arm, _, key = rest.rpartition(".")  # per_arm.charlm/gelu_0.3.iterations
        of_arm = inside.get(arm) or {}
        if not isinstance(of_arm, Mapping):
            raise BadInput(f"{first}.{rest}={value!r}: {first}.{arm} is {of_arm!r}, which has no {key}")
        given[first] = inside | ({arm: {**of_arm, key: value}} if arm else {key: value})


def overridden(
    values: dict[str, Any], plugins: Sequence[str], sets: Sequence[str], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """What a params file holds, unchecked, with fields set. It is then no longer the registered study: its records
    carry no plan.

    Args:
        values: those of the file.
        plugins: files beside the file's own.
        sets: ``name=value``, the value in YAML; ``plugins`` come beside the others.
        changes: fields with values; ``None`` changes nothing.

    Raises:
        BadInput: ``sets`` not of that form.
    """
    given = dict[str, Any]()
    for text in sets:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"--set {text:.100}: expected name=value, as in --set iterations=100")
        read = parse_yaml(value, f"--set {text:.100}: the value")
        set_in(given, values, name.strip(), read, f"--set {text:.100}")
    given |= {name: value for name, value in changes.items() if value is not None}
    if given and values.get("plan"):
        given["plan"] = None
    with suppress(AttributeError, KeyError):  # what the command line says holds for every arm
        kept = {arm: {n: v for n, v in own.items() if n not in given} for arm, own in values["per_arm"].items()}
        given = {"per_arm": kept} | given
    if more := [*plugins, *as_list(given.pop("plugins", []))]:
        files = as_list(values.get("plugins", []))
        given["plugins"] = [*files, *(file for file in more if file not in files)]
    return values | given


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
        if names := [ours(name) for name in listed(values)]:
            field = next((name for name in FIELDS[option] if name in fields), "")
            if not field:
                raise BadInput(f"--{option}: {where} is a study without it; its fields are {', '.join(fields)}")
            own = getattr(params, field)
            for name in names:
                check_name(option, name, own, f"{where} (a filter only takes away; --set {field}=... changes a study)")
            params = params.replace(where, **{field: [name for name in own if name in names]})
    return params
