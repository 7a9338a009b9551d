"""A trace prepared for one configuration: the beats of every warp, with the values their operands must have."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from spec.beat import NO_VALUE, Beat, source_groups
from spec.config import Config
from spec.trace import Access, Kind, Port, Space, StaticInstruction, Trace

LINE_BYTES = 128


class WorkloadError(ValueError):
    """A trace that the configuration cannot run; the message says what would be right."""


@dataclass(frozen=True)
class Workload:
    """Beats per warp in program order; ``beats[payload]`` finds one by its payload."""

    trace: Trace
    beats: tuple[Beat, ...]
    warps: tuple[tuple[Beat, ...], ...]  #: in launch order
    ctas: tuple[tuple[int, ...], ...]  #: warps of each CTA
    registers: int


def prepare(cfg: Config, trace: Trace) -> Workload:
    """Cut a trace into beats. Raises :class:`WorkloadError` where the configuration cannot run it."""
    ctas = _ctas(trace)
    _check(cfg, trace, ctas)
    groups = [source_groups(i, cfg.source_slots) for i in trace.program]
    beats: list[Beat] = []
    warps = tuple(_warp_beats(trace, groups, warp, beats) for warp in range(trace.warps))
    if len(beats) > 1 << cfg.payload_bits:
        raise WorkloadError(f"payload_bits must be at least {len(beats).bit_length()} for {len(beats)} beats")
    return Workload(trace, tuple(beats), warps, ctas, trace.registers)


def _ctas(trace: Trace) -> tuple[tuple[int, ...], ...]:
    members: dict[int, list[int]] = {}
    for warp, cta in enumerate(trace.warp_cta.tolist()):
        members.setdefault(cta, []).append(warp)
    return tuple(tuple(warps) for warps in members.values())


def _check(cfg: Config, trace: Trace, ctas: tuple[tuple[int, ...], ...]) -> None:
    if trace.registers > cfg.register_names:
        raise WorkloadError(
            f"register_names must be at least {trace.registers} for {trace.kernel}, not {cfg.register_names}"
        )
    largest, resident = max(map(len, ctas)), cfg.resident_warps(trace.registers)
    if largest > resident:
        raise WorkloadError(
            f"a CTA of {trace.kernel} has {largest} warps of {trace.registers} registers, but only {resident} such"
            " warps fit this domain: use smaller CTAs, or more warps or rows"
        )
    if trace.shared_bytes > cfg.shared_bytes:
        raise WorkloadError(
            f"shared_bytes must be at least {trace.shared_bytes} for {trace.kernel}, not {cfg.shared_bytes}"
        )
    for instruction in trace.program:
        _check_destination(instruction)
    for warp in range(trace.warps):
        _check_end(trace, warp)


def _check_end(trace: Trace, warp: int) -> None:
    """Without an EXIT at its end a warp would stay resident for ever."""
    start, end = int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])
    if start == end:
        raise WorkloadError(f"warp {warp} of {trace.kernel} must execute at least an EXIT, but its stream is empty")
    last = trace.program[int(trace.instruction[end - 1])]
    if _kind(last, ends_warp=True) != Kind.EXIT:
        raise WorkloadError(
            f"warp {warp} of {trace.kernel} must end in an EXIT, not in {last.text!r} at {last.offset:#x}"
        )


def _check_destination(instruction: StaticInstruction) -> None:
    count = instruction.dest_count
    size = 1 << max(0, count - 1).bit_length()
    if not 0 <= count <= 4 or (count and instruction.dest % size):
        raise WorkloadError(
            f"{instruction.text!r} at {instruction.offset:#x} must write one, or an aligned two to four registers"
        )


def _warp_beats(
    trace: Trace, groups: list[tuple[tuple[int, ...], ...]], warp: int, beats: list[Beat]
) -> tuple[Beat, ...]:
    start, end = int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])
    instruction, execute = trace.instruction[start:end].tolist(), trace.execute[start:end].tolist()
    value_row, address_row = trace.value_row[start:end].tolist(), trace.address_row[start:end].tolist()
    current: dict[int, int] = {}
    first = len(beats)
    for position, index in enumerate(instruction):
        static = trace.program[index]
        template = Beat(
            payload=0,
            record=start + position,
            offset=static.offset,
            port=int(static.port),
            kind=_kind(static, position == len(instruction) - 1),
            sources=(),
            dest=0,
            dest_count=0,
            token_reads=static.token_reads,
            token_writes=0,
            mask=execute[position],
            first=False,
            last=False,
            space=int(static.space),
            is_load=static.access in (Access.LOAD, Access.ATOMIC),
        )
        _append_beats(beats, template, static, groups[index], current, value_row[position])
        if static.space in (Space.GLOBAL, Space.LOCAL) and address_row[position] >= 0:
            beats[-1].lines = _lines(trace, address_row[position], execute[position], static.space)
        if value_row[position] >= 0:
            current.update((register, value_row[position] + k) for k, register in enumerate(static.dests))
    return tuple(beats[first:])


def _append_beats(
    beats: list[Beat],
    template: Beat,
    static: StaticInstruction,
    groups: tuple[tuple[int, ...], ...],
    current: dict[int, int],
    value_row: int,
) -> None:
    count = len(groups)
    for number, sources in enumerate(groups):
        beat = replace(template, payload=len(beats), sources=sources, first=number == 0, last=number == count - 1)
        beat.expected = tuple(current.get(register, NO_VALUE) for register in sources)
        if beat.last:
            beat.dest, beat.dest_count = static.dest, static.dest_count
            beat.token_writes, beat.result_row = static.token_writes, value_row
        beats.append(beat)


def _kind(static: StaticInstruction, ends_warp: bool) -> int:
    if static.kind == Kind.EXIT and not ends_warp:
        return int(Kind.BRANCH)
    if ends_warp and (static.kind in (Kind.EXIT, Kind.BRANCH)) and static.port == Port.NONE:
        return int(Kind.EXIT)
    return int(static.kind)


def _lines(trace: Trace, row: int, mask: int, space: Space) -> tuple[int, ...]:
    lanes = np.nonzero((mask >> np.arange(32)) & 1)[0]
    lines = np.unique(trace.addresses[row][lanes] // LINE_BYTES)
    tag = int(space) << 58
    return tuple(int(line) | tag for line in lines)


def streams(workload: Workload) -> list[deque[Beat]]:
    """Fresh queues of the beats of every warp, for one environment to consume."""
    return [deque(beats) for beats in workload.warps]
