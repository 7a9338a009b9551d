"""Random programs aimed at the corner cases of the machine, as annotated traces of kernels that never existed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warpfile.spec.stress_program import PROFILES, Profile, stress_program
from warpfile.spec.trace import LANES, NO_ROW, Access, Kind, Port, Space, StaticInstruction, Trace

SHARED_BYTES = 2048
_FULL = (1 << LANES) - 1
_LINE = 128
#: Bits of random results.
_WIDTHS: tuple[int, ...] = (1, 8, 16, 24, 32, 32)
_WIDE: tuple[int, ...] = (32,)
_NARROW: tuple[int, ...] = (7, 15, 15)  # one byte and two, with their signs
_WITHOUT_ADDRESSES = (Space.NONE, Space.CONSTANT, Space.TEXTURE)


def stress_trace(
    seed: int,
    *,
    warps_per_cta: int | Sequence[int] = 4,
    ctas: int = 3,
    length: int = 60,
    registers: int = 24,
    profile: str = "mixed",
) -> Trace:
    """A legal annotated trace that depends on the arguments only.

    CTA k has ``warps_per_cta[k % len(warps_per_cta)]`` warps. Each warp walks over one common program of registers
    below ``registers`` (at least 4) until it has executed about ``length`` instructions or fewer; every stream ends
    in an EXIT of all its live lanes. ``profile`` names a mixture of instructions (``spec.stress_program.PROFILES``).
    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    rng = random.Random(f"{seed} {profile} {length} {registers}")
    program = stress_program(rng, PROFILES[profile], size=max(4, min(length, 64)), registers=registers)
    sizes = [warps_per_cta] if isinstance(warps_per_cta, int) else list(warps_per_cta)
    recorder = _Recorder(rng, PROFILES[profile], program, registers)
    warp_start, warp_cta = [0], []
    for cta in range(ctas):
        for _ in range(sizes[cta % len(sizes)]):
            recorder.warp(length)
            warp_start.append(len(recorder.instruction))
            warp_cta.append(cta)
    name = f"stress-{profile}-{seed}"
    return recorder.trace(name, (ctas, 1, 1), (LANES * max(sizes), 1, 1), warp_start, warp_cta)


def release_trace(registers: int = 64, warps: int = 4, turn: int = 0) -> Trace:
    """Each register waits for memory while each other one is released by each port, and is read behind that.

    The pairs of registers are dealt to ``warps`` warps of one CTA; in as many turns every warp gets every pair. A
    scoreboard that mixes two of them up shows.
    """
    program = [_writer(port, space, register) for port, space in _WRITERS for register in range(registers)]
    program += [_instruction(Port.ALU, sources=(register,)) for register in range(registers)]
    program.append(_instruction(Port.NONE, kind=Kind.EXIT))
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    recorder = _Recorder(random.Random("release"), PROFILES["memory"], program, registers)
    warp_start = [0]
    for warp in range(warps):
        path = [
            place * registers + register
            for first, other in itertools.permutations(range(registers), 2)
            if (first + other + turn) % warps == warp
            for fast in range(1, len(_WRITERS))
            for place, register in ((0, first), (fast, other), (len(_WRITERS), first))
        ]
        recorder.path([*path, len(program) - 1])
        warp_start.append(len(recorder.instruction))
    return recorder.trace("stress-release", (1, 1, 1), (LANES * warps, 1, 1), warp_start, [0] * warps)


def repeat_trace(pair: int, times: int = 65_000) -> Trace:
    """A warp that reads two registers so often, and writes them now and then; one that goes on behind it.

    Whoever counts accesses sees large numbers: more than ``times`` * 65 / 64.
    """
    first = 2 * pair
    program = [
        _instruction(Port.ALU, sources=(first, first + 1)),
        _instruction(Port.ALU, sources=(first, first + 1), dest=first, dest_count=2),
        _instruction(Port.NONE, kind=Kind.BARRIER),
        _instruction(Port.ALU),
        _instruction(Port.NONE, kind=Kind.EXIT),
    ]
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    recorder = _Recorder(random.Random("repeat"), PROFILES["wide"], program, first + 2)
    recorder.path([*[place % 64 == 0 for place in range(times)], 4])
    ends = len(recorder.instruction)
    recorder.path([2, *[3] * 200, 4])
    return recorder.trace("stress-repeat", (1, 1, 1), (2 * LANES, 1, 1), [0, ends, len(recorder.instruction)], [0, 0])


def queue_trace(seed: int, registers: int = 63, counter: int = 0, far: bool = False) -> Trace:
    """One warp that loads every register without a pause, all under one dependence counter, and then reads each.

    Its instructions have control codes, so that more results wait for one counter than codes of our own would let, and
    still more if every lane is ``far`` from all others, in a line of its own.
    """
    loads = [replace(_writer(*_WRITERS[0], register), control=_code(1, counter, 0)) for register in range(registers)]
    program = [
        *loads,
        *(_instruction(Port.ALU, sources=(one,), control=_code(15, 7, 1 << counter)) for one in range(registers)),
        _instruction(Port.NONE, kind=Kind.EXIT, control=_code(15, 7, 0)),
    ]
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    recorder = _Recorder(random.Random(f"queue {seed}"), PROFILES["memory"], program, registers)
    recorder.path(range(len(program)))
    trace = recorder.trace(f"stress-queue-{seed}", (1, 1, 1), (LANES, 1, 1), [0, len(program)], [0])
    lines = np.arange(trace.addresses.size, dtype=np.uint64).reshape(trace.addresses.shape)
    return replace(trace, addresses=_LINE * lines) if far else trace


def _code(stall: int, write_barrier: int, waits: int) -> int:
    """Control code without yield, read barrier or reuse (``compiler.control_codes``)."""
    return stall | 1 << 4 | write_barrier << 5 | 7 << 8 | waits << 11


def fill_trace(seed: int, registers: int = 63, warps: int = 4, length: int = 200) -> Trace:
    """Two CTAs of warps that write every register, the first ones with wide values; write ``length`` anew; read all.

    Barriers between the three keep every register of every warp at once, so that the last rows of a file are in use,
    and values that share rows are in these. Some warps leave behind the first barrier, with the rows that they had.
    """
    rng = random.Random(f"fill {seed} {registers}")
    program = [_writer(port, space, register) for port, space in _WRITERS for register in range(registers)]
    program += [_instruction(Port.ALU, sources=(register,)) for register in range(registers)]
    program += [_instruction(Port.NONE, kind=Kind.BARRIER), _instruction(Port.NONE, kind=Kind.EXIT)]
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    last = len(program) - 1
    writes, barrier = (last - 1) // 5 * 4, last - 1
    recorder = _Recorder(rng, PROFILES["memory"], program, registers)
    warp_start, wide, leaving = [0], rng.randrange(registers // 2, registers), 0
    for warp in range(2 * warps):
        if not warp % warps:
            leaving = rng.randrange(warps)
        order = rng.sample(range(registers), registers)
        fills = [rng.randrange(len(_WRITERS)) * registers + register for register in order]
        anew = [rng.randrange(writes) for _ in range(length)]
        rest = [*anew, barrier, *range(writes, barrier)] if warp % warps >= leaving else []
        recorder.path([*fills, barrier, *rest, last], [_WIDE] * wide)
        warp_start.append(len(recorder.instruction))
    cta = [number // warps for number in range(2 * warps)]
    return recorder.trace(f"stress-fill-{seed}", (2, 1, 1), (LANES * warps, 1, 1), warp_start, cta)


def stack_trace(seed: int, wide: int, registers: int = 63) -> Trace:
    """Four warps that write ``wide`` registers with wide values, behind a barrier the others with narrow ones; reads.

    So the rows below 4 * ``wide`` of a file are full, and those above fill up with narrow values.
    """
    rng = random.Random(f"stack {seed} {wide} {registers}")
    orders = [rng.sample(range(registers), registers) for _ in range(4)]
    phases = [[_each(order[:wide], _WIDE), _each(order[wide:], _NARROW)] for order in orders]
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
        others = [(order[:below], _WIDE), (gaps, _NARROW), (order[below + 5 :], _WIDE), (grown, _WIDE)]
        grows = _each([register for register, _ in second], _WIDE)
        phases.append([*(_each(some, widths) for some, widths in others), first, second, grows])
    return _phased(f"stress-pairs-{seed}", rng, registers, phases, pairs=3)


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
            writes += [(rng.choice(some), _WIDTHS) for _ in range(rng.randrange(2 * moves) + 4 * moves * final)]
            writes.append((register, _WIDE))
            if final or place % 8 == 7:
                phases.append(writes)
                writes = []
        warp_phases.append(phases)
    return _phased(f"stress-march-{seed}", rng, registers, warp_phases, pairs=3, ctas=ctas)


_Writes = list[tuple[int, tuple[int, ...]]]  #: registers, and what widths their values have


def _each(registers: Sequence[int], widths: tuple[int, ...]) -> _Writes:
    return [(register, widths) for register in registers]


def _phased(
    name: str, rng: random.Random, registers: int, phases: Sequence[Sequence[_Writes]], pairs: int = 0, ctas: int = 1
) -> Trace:
    """CTAs whose warps write, a barrier behind each of their phases, then read all; the last ``pairs`` two by two."""
    alone = registers - 2 * pairs
    program = [_writer(port, space, register) for port, space in _WRITERS for register in range(registers)]
    program += [_instruction(Port.ALU, sources=(register,)) for register in range(alone)]
    program += [_instruction(Port.ALU, sources=(register, register + 1)) for register in range(alone, registers, 2)]
    program += [_instruction(Port.NONE, kind=Kind.BARRIER), _instruction(Port.NONE, kind=Kind.EXIT)]
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    recorder, last = _Recorder(rng, PROFILES["memory"], program, registers), len(program) - 1
    warp_start = [0]
    for writes in phases:
        steps = [step for phase in writes for step in (*phase, (None, _WIDE))]
        path = [last - 1 if one is None else rng.randrange(len(_WRITERS)) * registers + one for one, _ in steps]
        recorder.path([*path, *range(len(_WRITERS) * registers, last - 1), last], [widths for _, widths in steps])
        warp_start.append(len(recorder.instruction))
    warps = len(phases) // ctas
    cta = [number // warps for number in range(len(phases))]
    return recorder.trace(name, (ctas, 1, 1), (LANES * warps, 1, 1), warp_start, cta)


def borrow_trace(seed: int, registers: int, warps: int = 5, ctas: int = 4, length: int = 300) -> Trace:
    """Warps that write and read registers at random, most of which nobody needs before or after.

    So the registers that are in use change all the time, in all warps at once, and often nothing but a result under way
    keeps one. CTAs have ``warps`` warps of about ``length`` instructions.
    """
    rng = random.Random(f"{seed} {registers}")
    program = [_writer(port, space, register) for port, space in _WRITERS for register in range(registers)]
    program += [_instruction(Port.ALU, sources=(register,)) for register in range(registers)]
    program.append(_instruction(Port.NONE, kind=Kind.EXIT))
    program = [replace(static, offset=16 * place) for place, static in enumerate(program)]
    recorder, low, last = (
        _Recorder(rng, PROFILES["memory"], program, registers),
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


#: A slow result first, then one of each port.
_WRITERS = ((Port.LSU, Space.GLOBAL), (Port.ALU, Space.NONE), (Port.SFU, Space.NONE), (Port.LSU, Space.SHARED))


def _writer(port: Port, space: Space, register: int) -> StaticInstruction:
    load: dict[str, Any] = {"space": space, "access": Access.LOAD, "bytes": 4} if port is Port.LSU else {}
    return _instruction(port, dest=register, dest_count=1, **load)


def _instruction(port: Port, kind: Kind = Kind.NORMAL, **fields: Any) -> StaticInstruction:
    return StaticInstruction(0, "EXIT" if kind is Kind.EXIT else "STRESS", "STRESS", port, kind, **fields)


class _Recorder:
    """Executes warps and collects the arrays of a trace."""

    def __init__(self, rng: random.Random, profile: Profile, program: list[StaticInstruction], registers: int) -> None:
        self._rng = rng
        self._lanes = np.random.default_rng(rng.getrandbits(63))
        self._profile = profile
        self._program = program
        self._registers = registers
        self.instruction: list[int] = []
        self._active: list[int] = []
        self._execute: list[int] = []
        self._live: list[int] = []
        self._value_row: list[int] = []
        self._address_row: list[int] = []
        self._values: list[np.ndarray] = []
        self._written: list[int] = []
        self._widths = _WIDTHS
        self._addresses: list[np.ndarray] = []

    def warp(self, length: int) -> None:
        """Record one warp from a random place of the program to its EXIT."""
        rng, last = self._rng, len(self._program) - 1
        self._content = np.zeros((self._registers, LANES), dtype=np.uint32)
        self._ever = [0] * self._registers
        live = rng.choice((_FULL, _FULL, 1, rng.getrandbits(LANES) | 1))
        end = len(self.instruction) + rng.randint(1, length)
        position = rng.randint(0, last)
        while live:
            static = self._program[position]
            active, execute = self._masks(static, live, position == last)
            self._record(position, active, execute, live)
            position += 1
            if static.opcode.startswith("EXIT"):
                live &= ~execute
            elif static.kind == Kind.BRANCH:
                if len(self.instruction) >= end:
                    position = last
                elif rng.random() < 0.5 or position == last:
                    position = rng.randrange(last)

    def path(self, positions: Sequence[int], widths: Sequence[tuple[int, ...]] = ()) -> None:
        """Record one warp that goes through these places with all lanes; ``widths``: of the first results."""
        self._content = np.zeros((self._registers, LANES), dtype=np.uint32)
        self._ever = [0] * self._registers
        for step, position in enumerate(positions):
            self._widths = widths[step] if step < len(widths) else _WIDTHS
            self._record(position, _FULL, _FULL, _FULL)

    def _masks(self, static: StaticInstruction, live: int, final: bool) -> tuple[int, int]:
        """SIMT mask and execution mask of the next instruction."""
        rng, profile = self._rng, self._profile
        if final or (static.kind == Kind.EXIT and live & (live - 1) == 0):
            return live, live
        active = live
        if rng.random() < profile.divergent:
            active = live & rng.getrandbits(LANES) or live & -live
        guarded = static.token_reads & 0x7F and static.kind != Kind.EXIT
        execute = active & rng.choice((0, rng.getrandbits(LANES), _FULL)) if guarded else active
        if static.opcode.startswith("EXIT") and execute == live:
            execute &= execute - 1  # some lane must stay for the rest of the stream
            active = active if guarded else execute
        return active, execute

    def _record(self, position: int, active: int, execute: int, live: int) -> None:
        static = self._program[position]
        self.instruction.append(position)
        self._active.append(active)
        self._execute.append(execute)
        self._live.append(live)
        writes, touches = static.dest_count and execute, static.space not in _WITHOUT_ADDRESSES and execute
        self._value_row.append(len(self._values) if writes else NO_ROW)
        self._address_row.append(len(self._addresses) if touches else NO_ROW)
        lanes = (execute >> np.arange(LANES)) & 1 != 0
        if writes:
            for register in static.dests:
                self._result(register, execute, lanes)
        if touches:
            self._addresses.append(np.where(lanes, self._lane_addresses(static), 0).astype(np.uint64))

    def _result(self, register: int, execute: int, lanes: np.ndarray) -> None:
        """New content of a register: random lanes of random width, the other lanes as they were."""
        fresh = self._lanes.integers(0, 1 << self._rng.choice(self._widths), LANES, dtype=np.uint64)
        self._content[register] = np.where(lanes, fresh, self._content[register])
        self._ever[register] |= execute
        self._values.append(self._content[register].copy())
        self._written.append(self._ever[register])

    def _lane_addresses(self, static: StaticInstruction) -> np.ndarray:
        """One address per lane: consecutive, all equal, or each in a line of its own."""
        rng, size = self._rng, static.bytes
        if static.space == Space.SHARED:
            return np.asarray(self._lanes.integers(0, SHARED_BYTES // size, LANES) * size)
        base = rng.randrange(64) * _LINE
        stride = rng.choice((size, size, 0, _LINE, 4 * _LINE))
        return np.asarray(base + np.arange(LANES) * stride)

    def trace(
        self,
        name: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        warp_start: list[int],
        warp_cta: list[int],
    ) -> Trace:
        """What was recorded."""
        named = [register for i in self._program for register in (*i.sources, *i.dests)]
        return Trace(
            kernel=name,
            grid=grid,
            block=block,
            shared_bytes=SHARED_BYTES,
            registers=max(named, default=0) + 1,
            source="emulated",
            listing="",
            program=tuple(self._program),
            warp_start=np.array(warp_start, dtype=np.int64),
            warp_cta=np.array(warp_cta, dtype=np.int32),
            instruction=np.array(self.instruction, dtype=np.int32),
            active=np.array(self._active, dtype=np.uint32),
            execute=np.array(self._execute, dtype=np.uint32),
            live=np.array(self._live, dtype=np.uint32),
            value_row=np.array(self._value_row, dtype=np.int64),
            values=np.array(self._values, dtype=np.uint32).reshape(-1, LANES),
            written=np.array(self._written, dtype=np.uint32),
            address_row=np.array(self._address_row, dtype=np.int64),
            addresses=np.array(self._addresses, dtype=np.uint64).reshape(-1, LANES),
        )
