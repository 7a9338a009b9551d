"""What ``cuobjdump -sass`` shows of a fat binary: one part per member, machine code for a GPU or PTX."""

from __future__ import annotations

import re

from warpfile.compiler.errors import ListingError

_MEMBER = re.compile(r"Fatbin (elf|ptx) code:\s*$")
_GPU = re.compile(r"arch = sm_([0-9]{2,3})[a-z]?\s*$")


def of_one_gpu(lines: list[str], name: str, wanted: int | None) -> list[str]:
    """The lines of the code for one GPU (90 for sm_90), by default of the only one; others are empty.

    Lines keep their numbers. A listing of another tool is left as it is. Raises :class:`ListingError`.
    """
    starts = [number for number, line in enumerate(lines) if _MEMBER.match(line)]
    if not starts:
        return lines
    members = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    gpus = [_gpu(member) for member in members]
    known = sorted({gpu for gpu in gpus if gpu is not None})
    if not known:
        return lines
    names = ", ".join(f"sm_{gpu}" for gpu in known)
    if wanted is None and len(known) > 1:
        advice = f"give --arch to analyze it, or take one with 'cuobjdump -sass -arch sm_{known[0]}'"
        raise ListingError(name, 1, f"must be of code for one GPU, not of {names}; {advice}")
    if wanted not in (None, *known):
        raise ListingError(name, 1, f"--arch must be one of {names}, not sm_{wanted}")
    kept = lines[: starts[0]]
    for gpu, member in zip(gpus, members, strict=True):
        kept += member if gpu == (wanted or known[0]) else [""] * len(member)
    return kept


def _gpu(member: list[str]) -> int | None:
    """The GPU of a member that is machine code."""
    found = _MEMBER.match(member[0])
    if found is None or found[1] != "elf":
        return None
    return next((int(match[1]) for line in member if (match := _GPU.match(line))), None)
