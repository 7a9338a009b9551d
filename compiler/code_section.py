"""Lines of one code section as they are read, and its linking with the sections of functions that it calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

STEP = 0x10
_MENTIONED = re.compile(r"`\(([^)]*)\)|32@(?:lo|hi)\(\(?([^)+\s]+)")


@dataclass
class CodeSection:
    """Raw lines of one text section, before labels can be resolved."""

    name: str
    raw: list[tuple[int, int, str]] = field(default_factory=list)  #: line, offset, text
    labels: dict[str, int] = field(default_factory=dict)
    routines: list[str] = field(default_factory=list)
    registers: int | None = None
    encodings: dict[int, list[int]] = field(default_factory=dict)  #: by offset, the 64-bit words shown so far

    @property
    def end(self) -> int:
        """Offset behind the last instruction."""
        return self.raw[-1][1] + STEP if self.raw else 0


def linked(code: CodeSection, sections: Mapping[str, CodeSection]) -> CodeSection:
    """The section with those behind it that hold the functions it mentions, directly or through others.

    Code that is compiled apart (``-rdc``, ``-G``) has one section per device function. Offsets of the later sections
    grow; a label of an earlier section hides one of the same name.
    """
    result = CodeSection(code.name, registers=code.registers)
    done: set[str] = set()
    work = [code.name]
    while work:
        name = work.pop(0)
        if name in done or name not in sections:
            continue
        done.add(name)
        part, base = sections[name], result.end
        result.raw += [(line, base + offset, text) for line, offset, text in part.raw]
        result.encodings |= {base + offset: words for offset, words in part.encodings.items()}
        result.labels = {label: base + offset for label, offset in part.labels.items()} | result.labels
        result.labels.setdefault(name, base)
        result.routines += part.routines or ([name] if base else [])
        for _, _, text in part.raw:
            work += [called or addressed for called, addressed in _MENTIONED.findall(text)]
    if result.routines and code.name not in result.routines:
        result.routines.insert(0, code.name)
    return result
