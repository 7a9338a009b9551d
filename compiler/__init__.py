"""SASS parser, control flow, data-flow analyses and the annotation passes of the schemes."""

from warpfile.compiler.errors import ListingError, UnknownOpcodeError
from warpfile.compiler.model import Function, Instruction, Listing
from warpfile.compiler.parser import load_listing, parse

__all__ = ["Function", "Instruction", "Listing", "ListingError", "UnknownOpcodeError", "load_listing", "parse"]
