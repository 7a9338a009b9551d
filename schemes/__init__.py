"""The table of schemes and of the parts that they are made of."""

from warpfile.schemes.part import GoldenModel, Hints, Part
from warpfile.schemes.registry import PARTS, SCHEMES, find
from warpfile.schemes.scheme import TOP, Scheme

__all__ = ["PARTS", "SCHEMES", "TOP", "GoldenModel", "Hints", "Part", "Scheme", "find"]
