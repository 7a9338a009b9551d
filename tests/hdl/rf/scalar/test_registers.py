"""The bits of all registers, whatever their number, as a set; and their count."""

import random

import pytest

from tests.formal.rf.scalar.bits import Counted
from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.scalar.bench import config
from tests.hdl.unstamped import inside
from warpfile.hdl.rf.scalar import registers


def bits(flags) -> int:
    return sum(bool(flag) << at for at, flag in enumerate(flags))


@pytest.mark.parametrize(("names", "warps"), [(8, 2), (16, 3), (64, 5)])
def test_registers_are_scalar_from_a_scalar_result_to_another_one_or_a_launch(monkeypatch, names, warps) -> None:
    monkeypatch.setattr(registers, "stamp", inside)
    cfg = config(register_names=names, warps=warps, rows=64)
    part, rng = Counted(cfg), random.Random(7)
    scalar: set[tuple[int, int]] = set()
    ports, slots = cfg.write_ports, cfg.source_slots

    def look_up(ctx) -> None:
        """The sources of every head beat, each warp in turn offered."""
        heads = [[rng.randrange(names) for _ in range(slots)] for _ in range(warps)]
        for at, register in enumerate(register for head in heads for register in head):
            ctx.set(part.sources[at], register)
        for warp, head in enumerate(heads):
            ctx.set(part.offered, 1 << warp)
            assert ctx.get(part.scalar_sources) == bits((warp, register) in scalar for register in head)

    async def bench(ctx) -> None:
        for _ in range(120):
            every = [(warp, register) for warp in range(warps) for register in range(names)]
            shown = rng.sample(every, ports)
            expanded = rng.choice(sorted(scalar - set(shown))) if scalar - set(shown) and rng.random() < 0.3 else None
            for client, (warp, register) in enumerate((*shown, expanded or (0, 0))):
                ctx.set(part.warps[client], warp)
                ctx.set(part.registers[client], register)
            becomes, ends, accepted = (rng.getrandbits(ports) for _ in range(3))
            launched = rng.randrange(warps) if rng.random() < 0.05 else None
            ctx.set(part.becomes, becomes)
            ctx.set(part.ends, ends & ~becomes)
            ctx.set(part.accepted, accepted)
            ctx.set(part.expanded, expanded is not None)
            ctx.set(part.launched, 0 if launched is None else 1 << launched)
            look_up(ctx)
            assert ctx.get(part.scalar) == bits(register in scalar for register in shown)
            assert ctx.get(part.count) == len(scalar)
            await ctx.tick()
            taken = [port for port in range(ports) if accepted >> port & 1]
            scalar.difference_update(shown[port] for port in taken if (ends & ~becomes) >> port & 1)
            scalar.update(shown[port] for port in taken if becomes >> port & 1)
            scalar.discard(expanded or (-1, 0))
            scalar.difference_update({one for one in scalar if one[0] == launched})
        assert len(scalar) > 5

    run(part, bench)
