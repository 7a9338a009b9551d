"""Changing the instruction stream of a trace: inserted records and other register names (docs/trace.md).

A pass only appends to the program and to the values, so that :func:`original` can give back what it was made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from warpfile.spec.rewrite_values import Result, RewriteError, follow
from warpfile.spec.trace import LANES, NO_ROW, Kind, StaticInstruction, Trace

__all__ = ["Insertion", "RewriteError", "copied", "original", "recast", "rewritten"]


def copied(sources: np.ndarray) -> np.ndarray:
    """Result of a move: every destination gets the source of its number."""
    return sources


@dataclass(frozen=True, eq=False)
class Insertion:
    """A record to insert before or ``after`` one of the trace.

    ``result`` makes the values of the destinations (uint32[dest_count, 32]) from those of the sources in operand order
    (uint32[sources, 32]); without it they are unknown. ``addresses`` are uint64[32]. ``active``: its lanes, by default
    those of the record it stands before, or those that the record it stands behind leaves. It has no guard.
    """

    record: int
    instruction: StaticInstruction
    after: bool = False
    result: Result | None = None
    addresses: np.ndarray | None = None
    active: int | None = None


@dataclass
class _Program:
    """A program that only grows: what was inserted, and instructions with other register names."""

    static: list[StaticInstruction]
    registers: int
    places: dict[object, int] = field(default_factory=dict)

    def inserted(self, instruction: StaticInstruction) -> int:
        """Place of an instruction to insert; equal ones share it."""
        if instruction not in self.places:
            _check_inserted(instruction, self.registers)
            self._append(instruction, replace(instruction, inserted=True, origin=-1))
        return self.places[instruction]

    def renamed(self, index: int, number: int, names: Mapping[int, int]) -> int:
        """Place of an instruction with the names of one renaming, which has a number."""
        if (index, number) not in self.places:
            self._append((index, number), _renamed(self.static[index], index, names, self.registers))
        return self.places[index, number]

    def _append(self, key: object, instruction: StaticInstruction) -> None:
        self.places[key] = len(self.static)
        self.static.append(instruction)


def rewritten(
    trace: Trace,
    insertions: Sequence[Insertion] = (),
    *,
    renamings: Sequence[Mapping[int, int]] = (),
    renaming: np.ndarray | None = None,
    descriptor: Mapping[str, int] | None = None,
    annotation: str = "",
) -> Trace:
    """The trace with records inserted, registers renamed and a kernel descriptor; it must not have hints yet.

    ``renaming`` has, per record, the number of the one of ``renamings`` that gives its registers their names, or -1;
    a register that it does not mention keeps its own. Insertions at one point stay in the order given, those after a
    record before those in front of the next. Their registers are new names. Raises :class:`RewriteError`, also where
    an instruction would not read what it reads in the original.
    """
    if len(trace.hints):
        raise RewriteError(f"{trace.kernel} must be rewritten before it gets hints, not after ({trace.annotation})")
    order = _ordered(trace, insertions)
    program = _Program(list(trace.program), trace.registers)
    added = [program.inserted(one.instruction) for one in order]
    names = _names(trace, program, renamings, renaming)
    at = np.array([one.record + one.after for one in order], dtype=np.int64)
    stream = replace(
        _stream(trace, order, at),
        program=tuple(program.static),
        instruction=np.insert(names, at, added),
        annotation=annotation,
        descriptor=dict(trace.descriptor if descriptor is None else descriptor),
        before=trace.before or (len(trace.program), len(trace.values), len(trace.addresses)),
        original_row=np.insert(trace.original_row if trace.before else trace.value_row, at, NO_ROW),
    )
    if not trace.has_values or not (renamings or any(one.instruction.dest_count for one in order)):
        return stream
    source = np.insert(trace.instruction, at, -1)
    return follow(trace, stream, source, [one.result for one in order])


def recast(trace: Trace, changes: Mapping[int, StaticInstruction]) -> Trace:
    """The trace in which some instructions, by their place in the program, execute elsewhere or in other beats.

    Nothing but ``port`` and ``groups`` may differ. It must not have hints yet; :class:`RewriteError` says if it has.
    """
    if len(trace.hints):
        raise RewriteError(f"{trace.kernel} must be rewritten before it gets hints, not after ({trace.annotation})")
    place = np.arange(len(trace.program), dtype=trace.instruction.dtype)
    program = list(trace.program)
    for index, changed in changes.items():
        static = program[index]
        if replace(changed, port=static.port, groups=static.groups) != static:
            raise RewriteError(f"{static.text!r} must only change its unit and its beats, not become {changed}")
        origin = static.origin if static.origin >= 0 or static.inserted else index
        place[index] = len(program)
        program.append(replace(changed, origin=origin))
    return replace(
        trace,
        program=tuple(program),
        instruction=place[trace.instruction],
        before=trace.before or (len(trace.program), len(trace.values), len(trace.addresses)),
        original_row=trace.original_row if trace.before else trace.value_row,
    )


def _stream(trace: Trace, order: Sequence[Insertion], at: np.ndarray) -> Trace:
    """The trace with room for the insertions, each with its masks and addresses."""
    masks = np.array([_masks(trace, one) for one in order], dtype=np.uint32).reshape(-1, 2)
    rows, addresses = _address_rows(trace, order)
    return replace(
        trace,
        warp_start=trace.warp_start + np.searchsorted(at, trace.warp_start, side="left"),
        active=np.insert(trace.active, at, masks[:, 0]),
        execute=np.insert(trace.execute, at, masks[:, 0]),
        live=np.insert(trace.live, at, masks[:, 1]),
        value_row=np.insert(trace.value_row, at, NO_ROW),
        address_row=np.insert(trace.address_row, at, rows),
        addresses=addresses,
    )


def original(trace: Trace) -> Trace:
    """The trace as it was before all passes: without hints and descriptor, and not rewritten."""
    plain = replace(trace, annotation="", hints=np.zeros(0, dtype=np.uint64), descriptor={})
    if not trace.before:
        return plain
    instructions, values, addresses = trace.before
    kept = ~trace.inserted
    source = np.array([k if static.origin < 0 else static.origin for k, static in enumerate(trace.program)])
    return replace(
        plain,
        program=trace.program[:instructions],
        warp_start=np.concatenate([[0], np.cumsum(kept)])[trace.warp_start],
        instruction=source[trace.instruction[kept]].astype(trace.instruction.dtype),
        active=trace.active[kept],
        execute=trace.execute[kept],
        live=trace.live[kept],
        value_row=trace.original_row[kept],
        values=trace.values[:values],
        written=trace.written[:values],
        address_row=trace.address_row[kept],
        addresses=trace.addresses[:addresses],
        before=(),
        original_row=np.zeros(0, dtype=np.int64),
    )


def _ordered(trace: Trace, insertions: Sequence[Insertion]) -> list[Insertion]:
    ends = set((trace.warp_start[1:] - 1).tolist())
    for one in insertions:
        if not 0 <= one.record < trace.records:
            raise RewriteError(f"record must be one of {trace.records}, not {one.record} ({one.instruction.text!r})")
        if one.after and one.record in ends:
            raise RewriteError(f"{one.instruction.text!r} must not stand behind the end of its warp, {one.record}")
    return sorted(insertions, key=lambda one: (one.record + one.after, not one.after))


def _check_inserted(instruction: StaticInstruction, registers: int) -> None:
    if instruction.kind not in (Kind.NORMAL, Kind.SCHEME):
        raise RewriteError(f"{instruction.text!r} must be of kind NORMAL or SCHEME, not {instruction.kind.name}")
    if instruction.operand < 0:
        raise RewriteError(f"operand of {instruction.text!r} must not be negative, not {instruction.operand}")
    highest = max((*instruction.sources, *instruction.dests), default=-1)
    if highest >= registers:
        raise RewriteError(f"{instruction.text!r} must name registers below {registers}, not {highest}")


def _names(
    trace: Trace, program: _Program, renamings: Sequence[Mapping[int, int]], renaming: np.ndarray | None
) -> np.ndarray:
    """The instruction of every record, with its names."""
    if renaming is None:
        return trace.instruction
    if len(renaming) != trace.records:
        raise RewriteError(f"renaming must have one element per record, {trace.records}, not {len(renaming)}")
    pairs, which = np.unique(np.stack([trace.instruction, renaming]), axis=1, return_inverse=True)
    found = []
    for index, number in pairs.T.tolist():
        if number >= len(renamings):
            raise RewriteError(f"renaming must name one of {len(renamings)} renamings, not {number}")
        found.append(index if number < 0 else program.renamed(index, number, renamings[number]))
    return np.array(found, dtype=trace.instruction.dtype)[which.reshape(-1)]


def _renamed(static: StaticInstruction, index: int, names: Mapping[int, int], registers: int) -> StaticInstruction:
    sources = tuple(names.get(register, register) for register in static.sources)
    dests = tuple(names.get(register, register) for register in static.dests)
    where = f"{static.text!r} at {static.offset:#x}"
    for name in (*sources, *dests):
        if not 0 <= name < registers:
            raise RewriteError(f"registers of {where} must be renamed below {registers}, not to {name}")
    if dests != tuple(range(dests[0], dests[0] + len(dests)) if dests else ()):
        raise RewriteError(f"destinations of {where} must stay neighbours, not become {', '.join(map(str, dests))}")
    origin = static.origin if static.origin >= 0 else index
    dest = dests[0] if dests else static.dest
    return replace(static, sources=sources, dest=dest, origin=-1 if static.inserted else origin)


def _masks(trace: Trace, one: Insertion) -> tuple[int, int]:
    """Active and live lanes of an inserted record."""
    live = int(trace.live[one.record + one.after])
    active = int(trace.active[one.record]) & live if one.active is None else one.active
    if active & ~live:
        raise RewriteError(f"active of {one.instruction.text!r} must be live lanes, {live:#x}, not {active:#x}")
    return active, live


def _address_rows(trace: Trace, order: Sequence[Insertion]) -> tuple[list[int], np.ndarray]:
    rows, new = [], [trace.addresses]
    for one in order:
        if one.addresses is None:
            rows.append(NO_ROW)
            continue
        if one.addresses.shape != (LANES,):
            raise RewriteError(f"addresses of {one.instruction.text!r} must be {LANES}, not {one.addresses.shape}")
        rows.append(len(trace.addresses) + len(new) - 1)
        new.append(one.addresses.astype(np.uint64)[None])
    return rows, np.concatenate(new)
