"""Whether saved settings of a widget may no longer fit its next version, by their schemas."""

from collections.abc import Iterator, Mapping
from typing import Any

# Keys of a schema that say nothing about which values fit.
_TEXTS = {"title", "description", "default", "examples", "$comment"}
_RULES = ("type", "format", "pattern", "items", "properties")


def schema_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Other tools call it `schema`."""
    return _object(manifest.get("configSchema") or manifest.get("schema"))


def settings_changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Why settings of the old schema may not fit the new one, each in a few words. Limits are not
    compared: most changes of them admit more."""
    before, after = _object(old.get("properties")), _object(new.get("properties"))
    for key, schema in before.items():
        if key not in after:
            yield f"{key} is gone"
        elif _differs(_object(schema), _object(after[key])):
            yield f"{key} has another format"
    for key in _list(new.get("required")):
        if key not in _list(old.get("required")):
            yield f"{key} is required"


def _differs(old: dict[str, Any], new: dict[str, Any]) -> bool:
    lost = [it for it in _list(old.get("enum")) if "enum" in new and it not in _list(new["enum"])]
    return bool(lost) or any(_bare(old.get(it)) != _bare(new.get(it)) for it in _RULES)


def _bare(value: object) -> object:
    if isinstance(value, dict):
        return {key: _bare(it) for key, it in value.items() if key not in _TEXTS}
    return value


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
