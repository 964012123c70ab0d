"""What a command line changes in a params file: filters that only take away, and fields that are set by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from actlab.errors import BadInput, UnknownName
from actlab.files import parse_yaml
from actlab.study.params.field_types import as_list
from actlab.study.params.yaml_file import StudyParams

FIELDS = {"activation": ("activations", "arms"), "model": ("model",)}
"""Option -> the field that it filters, by the first of these names that the kind of study has."""


def listed(values: Sequence[str] | None) -> list[str]:
    """The names in options that may be repeated and may hold several with commas between them."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


def overridden(
    params: StudyParams,
    where: str,
    filters: Mapping[str, Sequence[str] | None],
    sets: Sequence[str] = (),
    **changes: Any,
) -> StudyParams:
    """A study with fields set, then only those of its own levels that are asked for. With a field set it is no longer
    the registered study: its records carry no plan.

    Args:
        params: the study as its file has it.
        where: the file's name, for messages.
        filters: option (a key of ``FIELDS``) -> names, with commas or repeated; none takes nothing away.
        sets: ``name=value``, the value in YAML; ``plugins`` come beside the study's own.
        changes: fields with values, for arms with a value of their own too; ``None`` changes nothing.

    Raises:
        UnknownName: a level that the study does not name, a field that its kind does not have.
        BadInput: a value that the field does not allow; ``sets`` not of that form.
    """
    given = dict[str, Any]()
    for text in sets:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"--set {text:.100}: expected name=value, as in --set iterations=100")
        given[name.strip()], _ = parse_yaml(value, f"--set {text:.100}: the value")
    given |= {name: value for name, value in changes.items() if value is not None}
    if "plugins" in given:
        given["plugins"] = [*params.plugins, *as_list(given["plugins"])]
    if given and getattr(params, "plan", None):
        given["plan"] = None
    if per_arm := getattr(params, "per_arm", {}):  # what the command line says holds for every arm
        kept = {arm: {n: v for n, v in own.items() if n not in given} for arm, own in per_arm.items()}
        given = {"per_arm": kept} | given
    params = params.replace(where, **given)
    fields = type(params).model_fields
    for option, values in filters.items():
        names = listed(values)
        field = next((name for name in FIELDS[option] if name in fields), "")
        if names and not field:
            raise BadInput(f"--{option}: {where} is a study without it; its fields are {', '.join(fields)}")
        own = getattr(params, field, ())
        for name in names:
            if name not in own:
                hint = f"{where} (a filter only takes away; --set {field}=... changes the study)"
                raise UnknownName(option, name, own, hint)
        if names:
            params = params.replace(where, **{field: [name for name in own if name in names]})
    return params
