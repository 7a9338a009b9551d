"""SASS parser, control flow, data-flow analyses and the annotation passes of the schemes."""

from compiler.errors import ListingError, UnknownOpcodeError
from compiler.model import Function, Instruction, Listing
from compiler.parser import load_listing, parse

__all__ = ["Function", "Instruction", "Listing", "ListingError", "UnknownOpcodeError", "load_listing", "parse"]
