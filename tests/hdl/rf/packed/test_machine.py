"""Frame, coalescing units and packed file together: random programs see the values that they should."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from tests.hdl.rf.packed.bench import config, inside, run, whole
from warpfile.hdl import frame, machine
from warpfile.hdl.collectors import allocation, dispatch
from warpfile.hdl.collectors.coalescing import collectors
from warpfile.hdl.machine import Machine
from warpfile.schemes import SCHEMES

REGISTERS, COUNT = 6, 24


@pytest.fixture(autouse=True)
def simulated(monkeypatch) -> None:
    whole(monkeypatch)
    for module in (frame, machine, allocation, dispatch, collectors):
        if hasattr(module, "stamp"):
            monkeypatch.setattr(module, "stamp", inside)


@dataclass
class Instruction:
    """One beat; ``expected`` are its operands, ``value`` is its result, in the lanes of ``mask``."""

    sources: list[int]
    dest: int
    mask: int
    full: bool
    value: list[int]
    expected: list[list[int]]
    kill: int = 0
    last: bool = False
    dispatched: bool = field(default=False)


def program(numbers: random.Random, lanes: int, slots: int) -> list[Instruction]:
    """Instructions of one warp; every register is zero before it is written."""
    values = [[0] * lanes for _ in range(REGISTERS)]
    made = []
    for _ in range(COUNT):
        sources = numbers.sample(range(REGISTERS), numbers.randint(0, slots))
        dest, full = numbers.randrange(REGISTERS), numbers.random() < 0.7
        mask = (1 << lanes) - 1 if full else numbers.randrange(1, (1 << lanes) - 1)
        bits = numbers.choice((3, 7, 7, 8, 15, 24, 32))
        value = [numbers.getrandbits(bits) ^ numbers.getrandbits(1) * 0xFFFFFFFF for _ in range(lanes)]
        made.append(Instruction(sources, dest, mask, full, value, [list(values[one]) for one in sources]))
        values[dest] = [value[lane] if mask >> lane & 1 else values[dest][lane] for lane in range(lanes)]
    for at, one in enumerate(made):
        for slot, register in enumerate(one.sources):
            behind = next((n for n in made[at + 1 :] if register in n.sources or n.dest == register), None)
            dead = behind is None or (register not in behind.sources and behind.full)
            one.kill |= (dead and register != one.dest and numbers.random() < 0.8) << slot
    return made


class Environment:
    """Decode, execution, write-back, as docs/machine.md says, of one program per warp."""

    def __init__(self, ctx, part: Machine, cfg, numbers: random.Random) -> None:
        self.ctx, self.part, self.cfg, self.random = ctx, part, cfg, numbers
        self.programs = [program(numbers, cfg.lanes, cfg.source_slots) for _ in range(cfg.warps)]
        self.sent = [0] * cfg.warps
        self.results: list[list[tuple[int, int, Instruction]]] = [[] for _ in range(cfg.write_ports)]
        self.cycle = self.checked = self.joined = self.killed = 0

    async def start(self) -> None:
        ctx, part = self.ctx, self.part
        ctx.set(part.kernel.payload.registers, REGISTERS)
        ctx.set(part.kernel.valid, 1)
        while not ctx.get(part.kernel.ready):
            await ctx.tick()
        await ctx.tick()
        ctx.set(part.kernel.valid, 0)
        for port in part.dispatch:
            ctx.set(port.ready, 1)
        for warp in range(self.cfg.warps):
            ctx.set(part.launch.valid, 1)
            ctx.set(part.launch.payload.warp, warp)
            await ctx.tick()
        ctx.set(part.launch.valid, 0)

    def decode(self) -> None:
        """A beat for some warp that has room."""
        ctx, part, ready = self.ctx, self.part, self.ctx.get(self.part.decode_ready)
        warps = [w for w in range(self.cfg.warps) if ready >> w & 1 and self.sent[w] <= COUNT]
        ctx.set(part.decode_valid, bool(warps))
        if warps:
            warp = self.random.choice(warps)
            at, self.sent[warp] = self.sent[warp], self.sent[warp] + 1
            end = at == COUNT
            one = Instruction([], 0, 1, True, [], []) if end else self.programs[warp][at]
            fields = {"warp": warp, "port": 3 if end else self.random.randrange(3), "kind": 3 if end else 0}
            fields |= {"executes": 1, "source_valid": (1 << len(one.sources)) - 1, "dest": one.dest}
            fields |= {"dest_count": int(not end), "mask": one.mask, "payload": at, "full": one.full, "converged": 1}
            fields |= {"hints": one.kill} if self.cfg.hint_bits else {}
            for name, value in fields.items():
                ctx.set(part.decode[name], value)
            for slot, register in enumerate(one.sources):
                ctx.set(part.decode.sources[slot], register)

    def execute(self) -> None:
        """What leaves: operands are as they should be, the result comes some cycles later."""
        ctx, part = self.ctx, self.part
        for number, port in enumerate(part.dispatch):
            if not ctx.get(port.valid):
                continue
            warp, at = ctx.get(port.payload.warp), ctx.get(port.payload.payload)
            one = self.programs[warp][at]
            assert not one.dispatched
            one.dispatched = True
            for slot, expected in enumerate(one.expected):
                word = ctx.get(part.operands[number][slot])
                found = [word >> 32 * lane & 0xFFFFFFFF for lane in range(self.cfg.lanes)]
                assert found == expected, (warp, at, slot)
                self.checked += 1
            self.results[number].append((self.cycle + self.random.randint(1, 6), warp, one))

    def write_back(self) -> None:
        ctx, part = self.ctx, self.part
        for number, port in enumerate(part.result):
            queue = self.results[number]
            valid = bool(queue) and queue[0][0] <= self.cycle
            ctx.set(port.valid, valid)
            if valid:
                _, warp, one = queue[0]
                fields = {"writes": 1, "warp": warp, "register": one.dest, "mask": one.mask, "full": one.full}
                for name, value in fields.items():
                    ctx.set(port.payload[name], value)
                shown = [v if one.mask >> lane & 1 else v ^ 0xFFFFFFFF for lane, v in enumerate(one.value)]
                ctx.set(part.result_data[number], sum(v << 32 * lane for lane, v in enumerate(shown)))

    async def step(self) -> int:
        ctx, part = self.ctx, self.part
        self.decode()
        self.write_back()
        self.execute()
        for number, port in enumerate(part.result):
            if ctx.get(port.valid) and ctx.get(port.ready):
                self.results[number].pop(0)
        for name in ("joined", "killed"):
            if hasattr(part.probe, name):
                setattr(self, name, getattr(self, name) + ctx.get(getattr(part.probe, name)).bit_count())
        retired = ctx.get(part.retired)
        self.cycle += 1
        await ctx.tick()
        return retired


@pytest.mark.parametrize(
    "scheme",
    [
        "corf_plus_virtual",
        pytest.param("corf_virtual", marks=pytest.mark.regress),
        pytest.param("packing_virtual", marks=pytest.mark.regress),
    ],
)
@pytest.mark.parametrize("retake", ("next", "same"))
def test_random_programs_see_their_values(scheme: str, retake: str) -> None:
    cfg = config(scheme, collectors=2, source_slots=3, register_names=8, retake=retake)
    part = SCHEMES[scheme].rtl(cfg, SCHEMES[scheme].probes(cfg))

    async def bench(ctx) -> None:
        one = Environment(ctx, part, cfg, random.Random(11))
        await one.start()
        retired = 0
        while retired != (1 << cfg.warps) - 1:
            retired |= await one.step()
            assert one.cycle < 600
        assert one.checked > 40 and all(instruction.dispatched for own in one.programs for instruction in own)
        assert one.killed and (one.joined or scheme != "corf_plus_virtual")
        assert ctx.get(part.probe.used_rows) == 0 and not ctx.get(part.probe.error)

    run(part, bench)
