"""The table of schemes and of the parts that they are made of."""

from warpfile.schemes.compose import composed, find
from warpfile.schemes.part import SLOTS, GoldenModel, Hints, Part
from warpfile.schemes.registry import PARTS, SCHEMES, variants
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import TOP, Scheme

__all__ = [
    "PARTS",
    "SCHEMES",
    "SLOTS",
    "TOP",
    "Claim",
    "GoldenModel",
    "Hints",
    "Part",
    "Scheme",
    "Setup",
    "composed",
    "find",
    "variants",
]
