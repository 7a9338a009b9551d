"""Executable SASS with any control flow: branches to anywhere near, convergence barriers that need not fit."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from tests.emulator.harness import LANE, listing
from warpfile.compiler import parse
from warpfile.compiler.model import Function
from warpfile.emulator import families  # noqa: F401  registers the opcodes
from warpfile.emulator.constants import ConstantBanks
from warpfile.emulator.decode import decode
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import ALL
from warpfile.emulator.memory import Region
from warpfile.emulator.record import ValueStore, WarpRecords
from warpfile.emulator.special import special_registers
from warpfile.emulator.warp import Warp

_GUARDS = ["", "", "", "", "@P0 ", "@!P1 ", "@P2 "]
_CONDITIONS = ["@P0 ", "@!P1 ", "@P2 "]
_WEIGHTS = {
    "move": 5, "fresh": 3, "wide": 1.5, "load": 0.7, "store": 1, "test": 2, "use": 3, "branch": 4, "jump": 1,
    "leave": 0.5, "end": 0.4, "begin": 1.5, "meet": 1.5, "break": 0.7, "gather": 0.5, "barrier": 0.5, "idle": 0.8,
}  # fmt: skip


@dataclass(frozen=True)
class Execution:
    """What one warp executed of a program, up to its end, a deadlock or the limit."""

    function: Function
    records: WarpRecords


def irregular(seed: int) -> Execution:
    """A random program, executed from random registers and predicates."""
    rng = random.Random(seed)
    function = parse(listing(_program(rng)), "t").functions["k"]
    steps, _ = decode(function, ConstantBanks({0: bytes(0x200)}), "t")
    warp = Warp(steps, rng.choice((ALL, 0xFFFF, rng.getrandbits(32) | 1)), ValueStore(), "k")
    warp.allowed = 150
    warp.special = special_registers(0, (32, 1, 1), (0, 0, 0))
    warp.shared = Region("shared memory", 0, 256)
    for number in (0, *range(2, 12)):
        warp.registers[number] = rng.choice((LANE, np.zeros(32), np.full(32, 5))) if number else LANE
    for number in range(3):
        warp.predicates[number] = rng.choice((0, ALL, rng.getrandbits(32), rng.getrandbits(32)))
    try:
        while not warp.is_finished:
            warp.run()
    except ExecutionError:
        pass  # a loop without end, or lanes that wait for each other: what came before is as good as any
    return Execution(function, warp.records)


def _program(rng: random.Random) -> str:
    count, recent, lines = rng.randint(4, 18), [2], list[str]()
    guards = _GUARDS if rng.random() < 0.6 else [""]

    def source() -> int:
        return rng.choice(recent[-3:]) if rng.random() < 0.8 else rng.randint(2, 7)

    for position in range(count):
        guard, dest, a = rng.choice(guards), rng.randint(2, 11), source()
        b = rng.choice(("0x1", "0x1", "RZ", f"R{source()}"))
        condition, barrier = rng.choice(_CONDITIONS), f"B{rng.randint(0, 1)}"
        target = f"`(L{min(count - 1, max(0, position + rng.choice((-2, 1, 2, 3, 4, 5))))})"
        limit = rng.choice(("0x1", "0x9", "0x14"))
        kind = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        recent += {"move": [dest], "fresh": [dest], "wide": [dest & 6, (dest & 6) + 1]}.get(kind, [])
        text = {
            "move": f"{guard}IADD3 R{dest}, R{a}, {b}, RZ",
            "fresh": f"{guard}MOV R{dest}, 0x3",
            "wide": f"{guard}IMAD.WIDE R{dest & 6}, R{a}, {b}, R{rng.choice((2, 4, 6))}",
            "load": f"{guard}LDS.128 R4, [R20]",
            "store": f"{guard}STS.128 [R20], R4",
            "test": f"{guard}ISETP.LT.AND P{rng.randint(0, 2)}, PT, R{rng.choice((0, a))}, {limit}, PT",
            "use": f"ISETP.LT.AND P4, PT, R{a}, 0x1, PT",
            "branch": f"{condition}BRA {target}",
            "jump": f"BRA {target}",
            "leave": f"{condition}EXIT",
            "end": "EXIT",
            "begin": f"BSSY {barrier}, {target}",
            "meet": f"{rng.choice(('', '', '', condition))}BSYNC {barrier}",
            "break": f"{rng.choice(('', condition))}BREAK {barrier}",
            "gather": f"{rng.choice(('', condition))}WARPSYNC 0xffffffff",
            "barrier": "BAR.SYNC 0x0",
            "idle": rng.choice(("NOP", "YIELD")),
        }[kind]
        lines += [f"L{position}:", text]
    # A label begins a block: only those that somebody jumps to.
    code = "\n".join(lines)
    used = [line for line in lines if not line.endswith(":") or f"`({line[:-1]})" in code]
    return "\n".join(["ISETP.LT.AND P2, PT, RZ, c[0x0][0x160], PT"] * rng.randint(0, 1) + used)
