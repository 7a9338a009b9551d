"""From a kernel file to an annotated trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from warpfile.compiler.accelsim.body import Recording, read_body
from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.flow import has_aliases, is_compact, next_offset
from warpfile.compiler.accelsim.grouping import grouped
from warpfile.compiler.accelsim.header import Header, read_header
from warpfile.compiler.accelsim.memory import place_addresses, shared_bytes
from warpfile.compiler.accelsim.opening import is_grouped, read_lines
from warpfile.compiler.accelsim.rebuild import Rebuilt, rebuild
from warpfile.compiler.accelsim.repairs import Repairs
from warpfile.compiler.accelsim.streams import Streams, streams
from warpfile.compiler.accelsim.values import results
from warpfile.spec.trace import Kind, Port, StaticInstruction, Trace

_VOLTA, _PASCAL = 70, 60
_FROM_STREAMS = ("warp_start", "warp_cta", "instruction", "execute", "live", "address_row")


@dataclass(frozen=True)
class Imported:
    """A trace with what it took to make it, and the lines of its file."""

    trace: Trace
    repairs: Repairs
    lines: int


def import_kernel(
    path: Path, overrides: Mapping[str, str] | None = None, report: Callable[[int, int], None] | None = None
) -> Imported:
    """Import one kernel file.

    ``overrides`` replace header values by key; ``report`` is told how many CTAs are read and how many the grid has.
    Raises :class:`AccelsimError`, or ``ValueError`` for an override of an unknown key.
    """
    repairs = Repairs()
    with closing(read_lines(path)) as stream:  # also where a line is refused
        lines: Iterator[tuple[int, str]] = enumerate(stream, 1)
        header = read_header(lines, path, overrides or {}, repairs)
        ctas = header.grid[0] * header.grid[1] * header.grid[2]
        if not is_grouped(path):
            lines = grouped(lines, header, path)
        recording = read_body(lines, header, path, (lambda done: report(done, ctas)) if report else lambda done: None)
    traced = len({cta for cta, _ in recording.warps})
    if traced < ctas:
        repairs.remark(f"{traced} of the grid's {ctas} CTAs are in the file")
    repairs.add("replay_markers", recording.markers)
    program, codes = _program(recording, _architecture(header, recording, repairs), repairs)
    found = streams(recording, program, codes, header.threads, repairs)
    if found.appended:
        program = (*program, _appended_exit(program))
    program = _guarded_exits(program, found)
    return Imported(_trace(path, header, program, found, recording, repairs), repairs, recording.lines)


def kernel_name(path: Path, overrides: Mapping[str, str] | None = None) -> str:
    """Name of a file's kernel, from its header alone. Raises as :func:`import_kernel` does."""
    with closing(read_lines(path)) as stream:
        return read_header(iter(enumerate(stream, 1)), path, overrides or {}, Repairs()).kernel


def _architecture(header: Header, recording: Recording, repairs: Repairs) -> int:
    """Binary version, from the offsets where the header is no help."""
    if header.architecture is not None:
        return header.architecture
    guessed = _PASCAL if is_compact([static.pc for static in recording.statics]) else _VOLTA
    repairs.remark(f"operands are read as those of binary version {guessed}, which fits the offsets")
    return guessed


def _program(
    recording: Recording, architecture: int, repairs: Repairs
) -> tuple[tuple[StaticInstruction, ...], np.ndarray]:
    """Instructions by offset, equal offsets by first occurrence, and the index of every record's instruction."""
    rebuilt: list[Rebuilt] = [rebuild(static, architecture) for static in recording.statics]
    codes = np.array(recording.instruction, dtype=np.int64)
    records = np.bincount(codes, minlength=len(rebuilt)).tolist()
    for one, count in zip(rebuilt, records, strict=True):
        repairs.add_instruction(one.repairs, count)
    unknown = sorted({one.static.opcode for one in rebuilt if "unknown_opcodes" in one.repairs})
    if unknown:
        repairs.remark(f"opcodes whose operands are unknown: {', '.join(unknown)}")
    order = sorted(range(len(rebuilt)), key=lambda index: (recording.statics[index].pc, index))
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    program = tuple(rebuilt[index].static for index in order)
    if has_aliases(program):
        repairs.remark("no static hints: offsets of called functions alias those of their callers")
    return program, place[codes]


def _appended_exit(program: tuple[StaticInstruction, ...]) -> StaticInstruction:
    """An EXIT behind the program, for warps that do not end in one."""
    offsets = [instruction.offset for instruction in program]
    offset = next_offset(max(offsets), is_compact(offsets)) if offsets else 0
    return StaticInstruction(offset, "EXIT", "EXIT (appended)", Port.NONE, Kind.EXIT)


def _guarded_exits(program: tuple[StaticInstruction, ...], found: Streams) -> tuple[StaticInstruction, ...]:
    """EXITs that were passed with no lane taking them have a guard: branches for the lanes that stay."""
    passed = set(np.unique(found.instruction[found.execute == 0]).tolist())
    return tuple(
        replace(static, kind=Kind.BRANCH) if static.kind == Kind.EXIT and index in passed else static
        for index, static in enumerate(program)
    )


def _trace(
    path: Path,
    header: Header,
    program: tuple[StaticInstruction, ...],
    found: Streams,
    recording: Recording,
    repairs: Repairs,
) -> Trace:
    addresses = recording.addresses.matrix()
    place_addresses(addresses, program, found, header, repairs)
    try:
        shared = shared_bytes(addresses, program, found, header, repairs)
    except ValueError as error:
        raise AccelsimError(path, 0, str(error)) from None
    registers = _registers(program, header, repairs)
    values = results(recording.observed, program, found, repairs)
    return Trace(
        kernel=header.kernel,
        grid=header.grid,
        block=header.block,
        shared_bytes=shared,
        registers=registers,
        source="accelsim",
        listing="",
        program=program,
        active=found.live,
        addresses=addresses,
        notes=repairs.notes(),
        annotation="",
        **vars(values),
        **{name: getattr(found, name) for name in _FROM_STREAMS},
    )


def _registers(program: tuple[StaticInstruction, ...], header: Header, repairs: Repairs) -> int:
    """Highest register used, plus one."""
    registers = 1 + max((r for i in program for r in (*i.sources, *i.dests)), default=-1)
    if header.registers is not None and header.registers < registers:
        repairs.remark(f"the header's nregs ({header.registers}) is below the highest register used, {registers - 1}")
    return registers
