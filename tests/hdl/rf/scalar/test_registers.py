"""The bits of all registers, whatever their number, as a set; and their count."""

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.formal.rf.scalar.bits import AnyPort, AnyRegister, AnyResult, AnyWarp, Counted, EverySlot, NoSlot
from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.scalar.bench import config
from tests.hdl.unstamped import inside
from warpfile.hdl.rf.scalar import registers
from warpfile.hdl.rf.scalar.registers import ScalarRegisters


def bits(flags) -> int:
    return sum(bool(flag) << at for at, flag in enumerate(flags))


class Host:
    """Results, expansions, launches and head beats at random, beside a set of the registers that are scalar."""

    def __init__(self, ctx, part, cfg) -> None:
        self.ctx, self.part, self.cfg, self.rng = ctx, part, cfg, random.Random(7)
        self.scalar: set[tuple[int, int]] = set()
        self.reached: Counter[str] = Counter()

    def show(self) -> None:
        """The clients of a cycle. No two have one register."""
        cfg, rng, part = self.cfg, self.rng, self.part
        every = [(warp, register) for warp in range(cfg.warps) for register in range(cfg.register_names)]
        self.shown = rng.sample(every, cfg.write_ports)
        others = sorted(self.scalar - set(self.shown))
        self.expanded = rng.choice(others) if others and rng.random() < 0.3 else None
        for client, (warp, register) in enumerate((*self.shown, self.expanded or (0, 0))):
            self.ctx.set(part.warps[client], warp)
            self.ctx.set(part.registers[client], register)
        self.becomes, ends, self.accepted = (rng.getrandbits(cfg.write_ports) for _ in range(3))
        self.ends = ends & ~self.becomes
        self.launched = rng.randrange(cfg.warps) if rng.random() < 0.05 else None
        for name in ("becomes", "ends", "accepted"):
            self.ctx.set(getattr(part, name), getattr(self, name))
        self.ctx.set(part.expanded, self.expanded is not None)
        self.ctx.set(part.launched, 0 if self.launched is None else 1 << self.launched)

    def after(self, ports: Iterable[int]) -> set[tuple[int, int]]:
        """What is scalar after the results that these ports accept."""
        taken = [port for port in ports if self.accepted >> port & 1]
        ended = {self.shown[port] for port in taken if self.ends >> port & 1}
        return self.scalar - ended | {self.shown[port] for port in taken if self.becomes >> port & 1}

    def look_up(self) -> None:
        """The sources of every head beat, each warp in turn offered. Only near ones see a result, that of port 0."""
        cfg, rng = self.cfg, self.rng
        slots, near, later = cfg.source_slots, cfg.asks.forwards, self.after([0])
        heads = [[rng.randrange(cfg.register_names) for _ in range(slots)] for _ in range(cfg.warps)]
        for at, register in enumerate(register for head in heads for register in head):
            self.ctx.set(self.part.sources[at], register)
        for warp, head in enumerate(heads):
            self.ctx.set(self.part.offered, 1 << warp)
            found = [(warp, register) in (later if slot < near else self.scalar) for slot, register in enumerate(head)]
            assert self.ctx.get(self.part.scalar_sources) == bits(found)
            for slot, register in enumerate(head):
                self.count("near" if slot < near else "far", (warp, register))

    def count(self, kind: str, source: tuple[int, int]) -> None:
        """What happens in this cycle to the register of a source."""
        self.reached[f"{kind}, it is expanded"] += source == self.expanded
        for port in range(self.cfg.write_ports):
            what = f"{kind}, {'port 0' if port == 0 else 'another port'}"
            if source == self.shown[port]:
                sets, clears = self.after([port]) - self.scalar, self.scalar - self.after([port])
                self.reached[f"{what} sets it"] += source in sets
                self.reached[f"{what} clears it"] += source in clears
                self.reached[f"{what} is held"] += not self.accepted >> port & 1

    def cycle(self) -> None:
        """A cycle up to its end."""
        self.show()
        self.look_up()
        assert self.ctx.get(self.part.scalar) == bits(register in self.scalar for register in self.shown)
        assert self.ctx.get(self.part.count) == len(self.scalar)
        self.scalar = self.after(range(self.cfg.write_ports)) - {self.expanded or (-1, 0)}
        self.scalar = {one for one in self.scalar if one[0] != self.launched}


def simulate(monkeypatch, cfg, cycles: int, kind: type[ScalarRegisters] = ScalarRegisters) -> Host:
    monkeypatch.setattr(registers, "stamp", inside)
    part, hosts = Counted(cfg, kind(cfg)), []

    async def bench(ctx) -> None:
        host = Host(ctx, part, cfg)
        hosts.append(host)
        for _ in range(cycles):
            host.cycle()
            await ctx.tick()

    run(part, bench)
    return hosts[0]


@pytest.mark.parametrize(("names", "warps"), [(8, 2), (16, 3), (64, 5)])
def test_registers_are_scalar_from_a_scalar_result_to_another_one_or_a_launch(monkeypatch, names, warps) -> None:
    assert len(simulate(monkeypatch, config(register_names=names, warps=warps, rows=64), 120).scalar) > 5


def test_near_sources_have_the_bit_that_an_accepted_result_of_port_0_leaves(monkeypatch) -> None:
    cfg = config("sticky+scalar", source_slots=4)
    assert cfg.asks.forwards == 3
    reached = simulate(monkeypatch, cfg, 300).reached
    ports = [f"{port} {event}" for port in ("port 0", "another port") for event in ("sets it", "clears it", "is held")]
    expected = {f"{kind}, {event}" for kind in ("near", "far") for event in (*ports, "it is expanded")}
    assert {what for what, count in reached.items() if count} == expected


@pytest.mark.parametrize("kind", [NoSlot, EverySlot, AnyWarp, AnyRegister, AnyPort, AnyResult])
def test_wrong_views_of_late_sources_are_found(monkeypatch, kind) -> None:
    with pytest.raises(AssertionError):
        simulate(monkeypatch, config("sticky+scalar", source_slots=4), 300, kind)
