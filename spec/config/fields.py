"""Kinds of configuration fields: the rule of each stands in its metadata, and is checked by it."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any

from warpfile.spec.suggestions import suggestion

_DIGITS = 40  #: of a number's text; what is longer is far above every limit


def number_field(low: int, high: int, doc: str, default: int) -> Any:
    """A configuration field that takes whole numbers from ``low`` to ``high``."""
    return field(default=default, metadata={"low": low, "high": high, "doc": doc})


def power_field(low: int, high: int, doc: str, default: int) -> Any:
    """A configuration field that takes powers of two from ``low`` to ``high``."""
    return field(default=default, metadata={"low": low, "high": high, "power": True, "doc": doc})


def choice_field(choices: tuple[object, ...], doc: str, default: object) -> Any:
    """A configuration field that takes one of some values."""
    return field(default=default, metadata={"choices": choices, "doc": doc})


def name_field(doc: str, default: str) -> Any:
    """A configuration field that takes the name of a part."""
    return field(default=default, metadata={"name": True, "doc": doc})


def check_field(spec: dataclasses.Field[Any], value: object) -> None:
    """Raise ``ValueError`` where a value breaks its field's rule."""
    rule = spec.metadata
    if "choices" in rule:
        if value not in rule["choices"]:
            raise ValueError(f"{spec.name} must be one of {', '.join(map(str, rule['choices']))}, not {value}")
        return
    if "name" in rule:
        if not isinstance(value, str) or not value.isidentifier():
            raise ValueError(f"{spec.name} must be a name, not {value}")
        return
    if not isinstance(value, int) or isinstance(value, bool) or not rule["low"] <= value <= rule["high"]:
        raise ValueError(f"{spec.name} must be a number from {rule['low']} to {rule['high']}, not {value}")
    if rule.get("power") and value & (value - 1):
        raise ValueError(f"{spec.name} must be a power of two, not {value}")


def parse_field(name: str, text: str, kind: type[Any]) -> object:
    """Value of a field of a class of configurations from its text (``--set FIELD=VALUE``).

    Raises ``ValueError`` that names the field.
    """
    for spec in dataclasses.fields(kind):
        if spec.name == name:
            numeric = isinstance(spec.default, int)
            try:
                value: object = int(text if len(text) <= _DIGITS else "", 0) if numeric else text
            except ValueError:
                raise ValueError(f"{name} must be a whole number, not {text!r}") from None
            check_field(spec, value)
            return value
    known = [spec.name for spec in dataclasses.fields(kind)]
    raise ValueError(
        f"{name!r} is no configuration field{suggestion(name, known) or '; known are ' + ', '.join(known)}"
    )
