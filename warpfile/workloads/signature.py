"""Types of a kernel's parameters, as far as its name has them: C++ writes them into the symbol of a function."""

from __future__ import annotations

import re
import subprocess
from functools import cache

from warpfile import tools

_MANGLED = re.compile(r"_Z[A-Za-z0-9_.$]+")
#: What C++ calls the types of a launch file.
SCALARS = {
    "bool": "u8",
    "char": "i8",
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned int": "u32",
    "long": "i64",
    "unsigned long": "u64",
    "long long": "i64",
    "unsigned long long": "u64",
    "float": "f32",
    "double": "f64",
}


@cache
def signature(symbol: str) -> str:
    """The function as C++ writes it, ``saxpy(int, float*)``; the symbol itself of a C function or without c++filt."""
    tool = tools.find("c++filt")
    if tool is None or not _MANGLED.fullmatch(symbol):
        return symbol
    done = subprocess.run([tool, symbol], capture_output=True, text=True, check=False)
    return done.stdout.strip() or symbol


def plain_name(symbol: str) -> str:
    """The function's name without namespaces, template arguments and parameters."""
    head = _outermost(signature(symbol))[0]
    return re.split(r"::|\s", head)[-1]


def parameter_types(symbol: str) -> tuple[str, ...] | None:
    """C++ types of the parameters; None where the name does not have them."""
    _, parameters = _outermost(signature(symbol))
    return None if parameters is None else tuple(one for one in parameters if one not in ("", "void"))


def launch_type(cpp: str) -> str | None:
    """The launch file's word for a C++ type; None for a structure."""
    return "buffer" if cpp.endswith("*") else SCALARS.get(cpp)


def _outermost(text: str) -> tuple[str, tuple[str, ...] | None]:
    """What stands outside of all brackets before the last round ones, and what stands in these between commas."""
    if not text.endswith(")"):
        return text, None
    depth, head, parts = 0, "", [""]
    for character in text[:-1]:
        depth += (character in "(<[") - (character in ")>]")
        if character == "(" and depth == 1:
            parts = [""]
        elif character == "," and depth == 1:
            parts.append("")
        elif depth:
            parts[-1] += character
        elif character not in ")>]":
            head += character
    return head, tuple(part.strip() for part in parts)
