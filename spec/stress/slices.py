"""Stress traces that fill a register file row by row with narrow and wide values, for values that share rows."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warpfile.spec.stress.program import PROFILES
from warpfile.spec.stress.recorder import (
    BARRIER,
    EXIT,
    NARROW,
    WIDE,
    WIDTHS,
    WRITERS,
    Recorder,
    placed,
    readers,
    stress_instruction,
    writers,
)
from warpfile.spec.trace import LANES, Port, Trace

_ALU = next(number for number, (port, _) in enumerate(WRITERS) if port is Port.ALU)
_Writes = list[tuple[int, tuple[int, ...]]]  #: registers, and what widths their values have


def fill_trace(seed: int, registers: int = 63, warps: int = 4, length: int = 200) -> Trace:
    """Two CTAs of warps that write every register, the first ones with wide values; write ``length`` anew; read all.

    Barriers between the three keep every register of every warp at once, so that the last rows of a file are in use,
    and values that share rows are in these. Some warps leave behind the first barrier, with the rows that they had.
    """
    rng = random.Random(f"fill {seed} {registers}")
    program = placed([*writers(registers), *readers(registers), BARRIER, EXIT])
    last = len(program) - 1
    writes, barrier = (last - 1) // 5 * 4, last - 1
    recorder = Recorder(rng, PROFILES["memory"], program, registers)
    warp_start, wide, leaving = [0], rng.randrange(registers // 2, registers), 0
    for warp in range(2 * warps):
        if not warp % warps:
            leaving = rng.randrange(warps)
        order = rng.sample(range(registers), registers)
        fills = [rng.randrange(len(WRITERS)) * registers + register for register in order]
        anew = [rng.randrange(writes) for _ in range(length)]
        rest = [*anew, barrier, *range(writes, barrier)] if warp % warps >= leaving else []
        recorder.path([*fills, barrier, *rest, last], [WIDE] * wide)
        warp_start.append(len(recorder.instruction))
    cta = [number // warps for number in range(2 * warps)]
    return recorder.trace(f"stress-fill-{seed}", (2, 1, 1), (LANES * warps, 1, 1), warp_start, cta)


def stack_trace(seed: int, wide: int, registers: int = 63) -> Trace:
    """Four warps that write ``wide`` registers with wide values, behind a barrier the others with narrow ones; reads.

    So the rows below 4 * ``wide`` of a file are full, and those above fill up with narrow values.
    """
    rng = random.Random(f"stack {seed} {wide} {registers}")
    orders = [rng.sample(range(registers), registers) for _ in range(4)]
    phases = [[_each(order[:wide], WIDE), _each(order[wide:], NARROW)] for order in orders]
    return _phased(f"stress-stack-{seed}-{wide}", rng, registers, phases)


def pair_trace(seed: int, registers: int = 63) -> Trace:
    """Four warps with three pairs of registers that are read together, in rows above full ones with gaps.

    Each warp writes two thirds of the others with wide values, five with narrow ones, the rest with wide ones; about
    half of the five grow and leave gaps. Then the first ones of the pairs and the second ones, with a byte each; the
    second ones grow. A barrier is between any two of these.
    """
    rng = random.Random(f"pairs {seed} {registers}")
    alone, below, phases = registers - 6, 2 * registers // 3 - 1, []
    first, second = (_each(range(start, registers, 2), (7,)) for start in (alone, alone + 1))
    for _ in range(4):
        order = rng.sample(range(alone), alone)
        gaps = order[below : below + 5]
        grown = [register for register in gaps if rng.randrange(2)]
        others = [(order[:below], WIDE), (gaps, NARROW), (order[below + 5 :], WIDE), (grown, WIDE)]
        grows = _each([register for register, _ in second], WIDE)
        phases.append([*(_each(some, widths) for some, widths in others), first, second, grows])
    return _phased(f"stress-pairs-{seed}", rng, registers, phases, pairs=3)


def gap_trace(registers: int = 64, warps: int = 4) -> Trace:
    """Warps that fill a file of two banks with wide values, but the last row of each with one of two bytes.

    Then one warp at a time, in one row after the other, below all others that change: the value there has two bytes,
    and another one grows into the gap behind it; it has one byte, another one grows into the three behind it, and it
    leaves: so the first byte is free, and a third value that grows finds no two in this row. Then all is as before. A
    barrier is between any two writes.
    """
    last, others = registers - 1, registers - 5
    one, two, three = (7,), (15,), (23,)
    turns = []
    for gap in range(others):
        third, mover = (others + (gap + others) % 2 + up for up in (0, 2))  # of the bank of the gap
        half = [(gap, two), (mover, one), (mover, two), (mover, WIDE), (gap, WIDE)]
        leaves = [(gap, one), (mover, two), (mover, three), (gap, WIDE), (mover, WIDE)]
        finds = [(third, one), (third, two), (third, WIDE)]
        back = [(mover if register == gap else gap, widths) for register, widths in leaves]
        turns += [[write] for write in (*half, *leaves[:-1], *finds, leaves[-1], *back)]
    waits: list[_Writes] = [[] for _ in turns]
    phases = []
    for warp in range(warps):
        late = warp >= warps // 2
        ends = [[], _each([last], two)] if late else [_each([last], WIDE), []]
        moves = [step for turn in range(warps) for step in (turns if turn == warp else waits)]
        phases.append([_each(range(last), WIDE), *ends, *moves])
    return _phased("stress-gaps", random.Random("gaps"), registers, phases, ports=(_ALU,))


def march_trace(seed: int, registers: int = 63, warps: int = 4, ctas: int = 4, moves: int = 8) -> Trace:
    """Warps that write their registers with wide values one by one, and in between the next ones with any values.

    So the rows below are full, and what fits beside what changes from row to row up to the last ones. Three pairs of
    registers are read together: by ``seed`` modulo 3 they come anywhere, last and are written from the beginning on, or
    last. A barrier is behind every eighth register and behind each of the last four, before which there is more.
    """
    rng, paired, warp_phases = random.Random(f"march {seed} {registers}"), range(registers - 6, registers), []
    for _ in range(ctas * warps):
        order, phases, writes = rng.sample(range(registers), registers), list[_Writes](), _Writes()
        if seed % 3:
            order.sort(key=lambda register: register in paired)
        for place, register in enumerate(order):
            final = place >= registers - 4
            some = (*order[place : place + 8], *(paired if seed % 3 == 1 else ()))
            writes += [(rng.choice(some), WIDTHS) for _ in range(rng.randrange(2 * moves) + 4 * moves * final)]
            writes.append((register, WIDE))
            if final or place % 8 == 7:
                phases.append(writes)
                writes = []
        warp_phases.append(phases)
    return _phased(f"stress-march-{seed}", rng, registers, warp_phases, pairs=3, ctas=ctas)


def _each(registers: Sequence[int], widths: tuple[int, ...]) -> _Writes:
    return [(register, widths) for register in registers]


def _phased(
    name: str,
    rng: random.Random,
    registers: int,
    phases: Sequence[Sequence[_Writes]],
    pairs: int = 0,
    ctas: int = 1,
    ports: Sequence[int] = range(len(WRITERS)),
) -> Trace:
    """CTAs whose warps write, a barrier behind each of their phases, then read all; the last ``pairs`` two by two.

    ``ports`` are those of ``WRITERS`` that write; with the ALU alone, results come in the order of the phases.
    """
    alone = registers - 2 * pairs
    both = [stress_instruction(Port.ALU, sources=(first, first + 1)) for first in range(alone, registers, 2)]
    program = placed([*writers(registers), *readers(alone), *both, BARRIER, EXIT])
    recorder, last = Recorder(rng, PROFILES["memory"], program, registers), len(program) - 1
    warp_start = [0]
    for writes in phases:
        steps = [step for phase in writes for step in (*phase, (None, WIDE))]
        path = [last - 1 if one is None else rng.choice(ports) * registers + one for one, _ in steps]
        recorder.path([*path, *range(len(WRITERS) * registers, last - 1), last], [widths for _, widths in steps])
        warp_start.append(len(recorder.instruction))
    warps = len(phases) // ctas
    cta = [number // warps for number in range(len(phases))]
    return recorder.trace(name, (ctas, 1, 1), (LANES * warps, 1, 1), warp_start, cta)
