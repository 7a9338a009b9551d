"""The table of schemes and of the parts that they are made of."""

from warpfile.schemes.compose import composed, find
from warpfile.schemes.part import SLOTS, GoldenModel, Hints, Hits, Part
from warpfile.schemes.registry import PARTS
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import TOP, Scheme
from warpfile.schemes.table import SCHEMES, variants

__all__ = [
    "PARTS",
    "SCHEMES",
    "SLOTS",
    "TOP",
    "Claim",
    "GoldenModel",
    "Hints",
    "Hits",
    "Part",
    "Scheme",
    "Setup",
    "composed",
    "find",
    "variants",
]
