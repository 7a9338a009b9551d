"""Configuration of a machine: what its parts declare their fields with, and import it by."""

from warpfile.spec.config.derived import index_bits
from warpfile.spec.config.domain import Config
from warpfile.spec.config.fields import choice_field, name_field, number_field, parse_field, power_field
from warpfile.spec.config.join import joined
from warpfile.spec.config.parameters import LINE_BYTES

__all__ = [
    "LINE_BYTES",
    "Config",
    "choice_field",
    "index_bits",
    "joined",
    "name_field",
    "number_field",
    "parse_field",
    "power_field",
]
