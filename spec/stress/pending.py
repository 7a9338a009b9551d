"""Stress traces of registers that wait for results: scoreboards, dependence counters, counts of accesses, borrowing."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np

from warpfile.spec.config import LINE_BYTES
from warpfile.spec.schemes.modern import BARRIERS
from warpfile.spec.stress.program import PROFILES
from warpfile.spec.stress.recorder import (
    BARRIER,
    EXIT,
    WRITERS,
    Recorder,
    placed,
    readers,
    stress_instruction,
    writer,
    writers,
)
from warpfile.spec.trace import LANES, Port, StaticInstruction, Trace


def release_trace(registers: int = 64, warps: int = 4, turn: int = 0) -> Trace:
    """Each register waits for memory while each other one is released by each port, and is read behind that.

    The pairs of registers are dealt to ``warps`` warps of one CTA; in as many turns every warp gets every pair. A
    scoreboard that mixes two of them up shows.
    """
    program = placed([*writers(registers), *readers(registers), EXIT])
    recorder = Recorder(random.Random("release"), PROFILES["memory"], program, registers)
    warp_start = [0]
    for warp in range(warps):
        path = [
            place * registers + register
            for first, other in itertools.permutations(range(registers), 2)
            if (first + other + turn) % warps == warp
            for fast in range(1, len(WRITERS))
            for place, register in ((0, first), (fast, other), (len(WRITERS), first))
        ]
        recorder.path([*path, len(program) - 1])
        warp_start.append(len(recorder.instruction))
    return recorder.trace("stress-release", (1, 1, 1), (LANES * warps, 1, 1), warp_start, [0] * warps)


def repeat_trace(pair: int, times: int = 65_000) -> Trace:
    """A warp that reads two registers so often, and writes them now and then; one that goes on behind it.

    A counter of accesses sees large numbers: more than ``times`` * 65 / 64.
    """
    first = 2 * pair
    instructions = [
        stress_instruction(Port.ALU, sources=(first, first + 1)),
        stress_instruction(Port.ALU, sources=(first, first + 1), dest=first, dest_count=2),
        BARRIER,
        stress_instruction(Port.ALU),
        EXIT,
    ]
    program = placed(instructions)
    recorder = Recorder(random.Random("repeat"), PROFILES["wide"], program, first + 2)
    recorder.path([*[place % 64 == 0 for place in range(times)], 4])
    ends = len(recorder.instruction)
    recorder.path([2, *[3] * 200, 4])
    return recorder.trace("stress-repeat", (1, 1, 1), (2 * LANES, 1, 1), [0, ends, len(recorder.instruction)], [0, 0])


def queue_trace(seed: int, registers: int = 63, counter: int = 0, far: bool = False) -> Trace:
    """One warp that loads every register without a pause, all under one dependence counter, and then reads each.

    Its instructions have control codes, so that more results wait for one counter than codes of our own would let, and
    still more if every lane is ``far`` from all others, in a line of its own.
    """
    loads = [replace(writer(*WRITERS[0], register), control=_code(1, counter, 0)) for register in range(registers)]
    instructions = [
        *loads,
        *(stress_instruction(Port.ALU, sources=(one,), control=_code(15, 7, 1 << counter)) for one in range(registers)),
        replace(EXIT, control=_code(15, 7, 0)),
    ]
    program = placed(instructions)
    recorder = Recorder(random.Random(f"queue {seed}"), PROFILES["memory"], program, registers)
    recorder.path(range(len(program)))
    trace = recorder.trace(f"stress-queue-{seed}", (1, 1, 1), (LANES, 1, 1), [0, len(program)], [0])
    lines = np.arange(trace.addresses.size, dtype=np.uint64).reshape(trace.addresses.shape)
    return replace(trace, addresses=LINE_BYTES * lines) if far else trace


def left_trace(registers: int = 32) -> Trace:
    """One warp that loads registers under each dependence counter in turn, and waits until few of the loads are out.

    A DEPBAR.LE waits for all loads but 7 behind every fourth one, and in the end for all but 6, 3 and 1. A beat of the
    ALU behind each shows when it has waited.
    """
    instructions = []
    for counter in range(BARRIERS):
        for register in range(registers):
            port, space = WRITERS[2 if register % 3 == 2 else 0]
            instructions.append(replace(writer(port, space, register), control=_code(1, counter, 0)))
            if register % 4 == 3:
                instructions += _leave(counter, 7)
        for most in (6, 3, 1):
            instructions += _leave(counter, most)
        reads = [stress_instruction(Port.ALU, sources=(register,)) for register in range(registers)]
        instructions += [replace(one, control=_code(15, 7, 1 << counter)) for one in reads]
    program = placed([*instructions, replace(EXIT, control=_code(15, 7, 0))])
    recorder = Recorder(random.Random("left"), PROFILES["memory"], program, registers)
    recorder.path(range(len(program)))
    return recorder.trace("stress-left", (1, 1, 1), (LANES, 1, 1), [0, len(program)], [0])


def _leave(counter: int, most: int) -> list[StaticInstruction]:
    """A DEPBAR.LE, and the beat that shows when it has waited."""
    text = f"DEPBAR.LE SB{counter}, {most:#x}"
    waits = replace(stress_instruction(Port.NONE), opcode="DEPBAR.LE", text=text)
    return [replace(one, control=_code(4, 7, 0)) for one in (waits, stress_instruction(Port.ALU))]


def back_to_back_trace(registers: int = 64, slots: int = 3) -> Trace:
    """One warp that reads each register in each source slot right behind its write, itself behind that of another one.

    The other ones are those of the same aligned eight, so that a look-up that mixes two of them up shows.
    """
    filled = [
        stress_instruction(
            Port.ALU, sources=tuple((register + 8 * (slot != place)) % registers for place in range(slots))
        )
        for slot in range(slots)
        for register in range(registers)
    ]
    program = placed([*(writer(*WRITERS[1], register) for register in range(registers)), *filled, EXIT])
    path = [
        step
        for first, other in itertools.permutations(range(registers), 2)
        if first // 8 == other // 8
        for slot in range(slots)
        for step in (other, first, (slot + 1) * registers + first)
    ]
    recorder = Recorder(random.Random("back to back"), PROFILES["memory"], program, registers)
    recorder.path([*path, len(program) - 1])
    return recorder.trace("stress-back-to-back", (1, 1, 1), (LANES, 1, 1), [0, len(path) + 1], [0])


def _code(stall: int, write_barrier: int, waits: int) -> int:
    """Control code without yield, read barrier or reuse (``compiler.control_codes``)."""
    return stall | 1 << 4 | write_barrier << 5 | 7 << 8 | waits << 11


def borrow_trace(seed: int, registers: int, warps: int = 5, ctas: int = 4, length: int = 300) -> Trace:
    """Warps that write and read registers at random, most of which are dead before and after.

    So the registers that are in use change all the time, in all warps at once, and often nothing but a result under way
    keeps one. CTAs have ``warps`` warps of about ``length`` instructions.
    """
    rng = random.Random(f"{seed} {registers}")
    program = placed([*writers(registers), *readers(registers), EXIT])
    recorder, low, last = (
        Recorder(rng, PROFILES["memory"], program, registers),
        program[-1 - registers],
        len(program) - 1,
    )
    warp_start = [0]
    for _ in range(ctas * warps):
        path: list[int] = []
        while len(path) < length:
            path += [rng.randrange(last), *[low.offset // 16] * rng.choice((0, 0, 0, 2, 10))]
        recorder.path([*path, last])
        warp_start.append(len(recorder.instruction))
    cta = [number // warps for number in range(ctas * warps)]
    return recorder.trace(f"stress-borrow-{seed}", (ctas, 1, 1), (LANES * warps, 1, 1), warp_start, cta)
