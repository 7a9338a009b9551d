"""The file at its ports: whatever is written is read again, whatever else goes on."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run, size_of, unpack, whole
from warpfile.hdl.rf.packed.file import PackedFile


@pytest.fixture(autouse=True)
def simulated(monkeypatch) -> None:
    whole(monkeypatch)


class Driver:
    """Random results, reads and deaths, never two of one register at once; a model of the values that there are."""

    def __init__(self, ctx, part: PackedFile, cfg, seed: int) -> None:
        self.ctx, self.part, self.cfg = ctx, part, cfg
        self.random = random.Random(seed)
        self.values: dict[tuple[int, int], list[int]] = {}
        self.masks: dict[tuple[int, int], tuple[int, int]] = {}
        self.offers: list[dict | None] = [None] * cfg.write_ports
        self.under_way: dict[tuple[int, int], dict] = {}
        self.reader: dict | None = None
        self.seen: dict[str, int] = {}
        self.reads = self.deaths = 0

    async def begin(self, registers: int) -> None:
        """A kernel is taken in the first cycle, all warps are launched."""
        ctx, part, cfg = self.ctx, self.part, self.cfg
        self.registers = registers
        ctx.set(part.kernel.registers, registers)
        ctx.set(part.kernel_valid, 1)
        assert ctx.get(part.kernel_ready) and not ctx.get(part.launch_ready)
        await ctx.tick()
        ctx.set(part.kernel_valid, 0)
        for warp in range(cfg.warps):
            assert ctx.get(part.launch_ready)
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)

    def word(self) -> int:
        """A value of any size, most of them narrow."""
        bits = self.random.choice((3, 7, 8, 12, 15, 16, 20, 23, 24, 31, 32))
        return (self.random.getrandbits(bits) ^ (self.random.getrandbits(1) * 0xFFFFFFFF)) & 0xFFFFFFFF

    def offer(self, port: int) -> None:
        """Perhaps a new result at a port."""
        place = self.random.randrange(self.cfg.warps), self.random.randrange(self.registers)
        reading = self.reader and place == self.reader["place"]
        if self.random.random() < 0.3 or place in self.under_way or reading:
            return
        lanes = (1 << self.cfg.lanes) - 1
        full = self.random.random() < 0.7
        one = {"place": place, "mask": lanes if full else self.random.randrange(1, lanes), "full": full}
        one |= {"values": [self.word() for _ in range(self.cfg.lanes)], "writes": self.random.random() < 0.9}
        if one["writes"]:
            self.under_way[place] = one
        self.offers[port] = one

    def show(self, port: int) -> None:
        ctx, part, one = self.ctx, self.part, self.offers[port]
        store = bool(one and one["writes"])
        for name, bit in (("result_valid", one is not None), ("result_store", store)):
            signal = getattr(part, name)
            ctx.set(signal, ctx.get(signal) & ~(1 << port) | bit << port)
        if one:
            record = part.results[port]
            fields = {"writes": store, "warp": one["place"][0], "register": one["place"][1], "mask": one["mask"]}
            fields |= {"full": one["full"], "tokens": 0}
            for name, value in fields.items():
                ctx.set(record[name], int(value))
            junk = [
                value if one["mask"] >> lane & 1 else value ^ 0xFFFFFFFF for lane, value in enumerate(one["values"])
            ]
            ctx.set(part.result_data[port], sum(value << 32 * lane for lane, value in enumerate(junk)))

    def take(self) -> None:
        """What the file says of results in this cycle."""
        ctx, part, cfg = self.ctx, self.part, self.cfg
        accepted, completed = ctx.get(part.result_accept), ctx.get(part.completed)
        for port in range(cfg.write_ports):
            one = self.offers[port]
            if one and (accepted >> port & 1 or not one["writes"]):
                if one["writes"]:
                    sizes = [size_of(one["values"][lane]) for lane in range(cfg.lanes) if one["mask"] >> lane & 1]
                    assert ctx.get(part.size) >> 3 * port & 7 == (max(sizes) if cfg.packing else 4)
                self.offers[port] = None
            if completed >> port & 1 and ctx.get(part.completion[port].writes):
                place = ctx.get(part.completion[port].warp), ctx.get(part.completion[port].register)
                done, old = self.under_way.pop(place), self.values.get(place, [0] * cfg.lanes)
                self.values[place] = [
                    done["values"][lane] if done["mask"] >> lane & 1 else old[lane] for lane in range(cfg.lanes)
                ]
                if done["full"]:
                    assert done["mask"] == (1 << cfg.lanes) - 1

    async def read(self) -> None:
        """One step of the reader: look a register up, ask its bank, take the row, compare."""
        ctx, part, one = self.ctx, self.part, self.reader
        if one is None:
            free = [place for place in self.values if place not in self.under_way]
            if free:
                self.reader = {"place": self.random.choice(free), "step": "look up"}
                ctx.set(part.locate, 1)
                ctx.set(part.locate_warps[0], self.reader["place"][0])
                ctx.set(part.locate_registers[0], self.reader["place"][1])

    def served(self) -> None:
        ctx, part, one = self.ctx, self.part, self.reader
        if one is None:
            return
        if one["step"] == "look up" and ctx.get(part.looked_up) & 1:
            one["next"] = "place"
        elif one["step"] == "place":
            one["mask"] = ctx.get(part.located_masks[0])
            assert ctx.get(part.located_mapped[0]) == (one["mask"] != 0)
            one["at"] = ctx.get(part.located_places[0].bank), ctx.get(part.located_places[0].row)
            assert one["mask"].bit_count() == 4 or (self.cfg.packing and one["mask"])
            one["next"] = "ask"
        elif one["step"] == "ask" and ctx.get(part.grant) & 1:
            one["next"] = "row"
        elif one["step"] == "row":
            assert ctx.get(part.fill) & 1
            found = [unpack(ctx.get(word) & 0xFFFFFFFF, one["mask"]) for word in part.fill_data]
            assert found == self.values[one["place"]]
            self.reads += 1
            dies = self.cfg.gives.deaths and self.random.random() < 0.4
            one["next"] = "death" if dies else "done"
        elif one["step"] == "death" and ctx.get(part.death_ready):
            del self.values[one["place"]]
            self.deaths += 1
            one["next"] = "done"

    def advance(self) -> None:
        ctx, part, one = self.ctx, self.part, self.reader
        if one is None or "next" not in one:
            return
        one["step"] = one.pop("next")
        ctx.set(part.locate, 0)
        ctx.set(part.requests, int(one["step"] == "ask"))
        if one["step"] == "ask":
            ctx.set(part.request_places[0].bank, one["at"][0])
            ctx.set(part.request_places[0].row, one["at"][1])
        if self.cfg.gives.deaths:
            ctx.set(part.death_valid, int(one["step"] == "death"))
        if one["step"] == "death":
            inputs = [(part.death_warp, one["place"][0]), (part.death_register, one["place"][1])]
            inputs += [(part.death_place.bank, one["at"][0]), (part.death_place.row, one["at"][1])]
            for signal, value in (*inputs, (part.death_mask, one["mask"])):
                ctx.set(signal, value)
        if one["step"] == "done":
            self.reader = None

    def count(self) -> None:
        """What has happened, so that a test can say what it wants to have seen."""
        for name in ("search_wait", "merge", "with_partner", "without_partner", "table_wait", "error"):
            if hasattr(self.part, name):
                self.seen[name] = self.seen.get(name, 0) + self.ctx.get(getattr(self.part, name)).bit_count()
        codes = self.ctx.get(self.part.decision)
        for port in range(self.cfg.write_ports):
            code = codes >> 3 * port & 7
            self.seen[f"decision{code}"] = self.seen.get(f"decision{code}", 0) + 1

    async def cycle(self, *, offers: bool = True) -> None:
        for port in range(self.cfg.write_ports):
            if self.offers[port] is None and offers:
                self.offer(port)
            self.show(port)
        if offers:
            await self.read()
        self.take()
        self.served()
        self.count()
        await self.ctx.tick()
        self.advance()

    async def tell(self) -> None:
        """Metadata at random."""
        if self.cfg.operand_bits:
            self.ctx.set(self.part.operand_valid, 1)
            self.ctx.set(self.part.operand, self.random.getrandbits(52))
            await self.ctx.tick()
            self.ctx.set(self.part.operand_valid, 0)

    def exit(self, warp: int) -> None:
        self.ctx.set(self.part.exits, 1 << warp)

    def exited(self) -> None:
        """All warps have; nothing is offered any more."""

    async def end(self) -> None:
        """Everything drains, all warps exit, the sweep gives every slice back."""
        ctx, part, cfg = self.ctx, self.part, self.cfg
        for _ in range(60):
            await self.cycle(offers=False)
        assert not self.under_way and ctx.get(part.quiet)
        retired = 0
        for warp in range(cfg.warps):
            self.exit(warp)
            await ctx.tick()
        ctx.set(part.exits, 0)
        self.exited()
        for _ in range(4 + cfg.warps * (self.registers + 2)):
            retired |= ctx.get(part.retired)
            await ctx.tick()
        assert retired == (1 << cfg.warps) - 1
        assert ctx.get(part.used_rows) == 0 and ctx.get(part.kernel_ready) and ctx.get(part.quiet)
        if cfg.allocation == "pairs":
            assert ctx.get(part.reserved_rows) == 0


SCHEMES = [
    "virtualization",
    "corf_virtual",
    pytest.param("first_fit", marks=pytest.mark.regress),
    pytest.param("corf_plus_virtual", marks=pytest.mark.regress),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_written_is_read_again(scheme: str) -> None:
    cfg = config(scheme)
    part = PackedFile(cfg)

    async def bench(ctx) -> None:
        driver = Driver(ctx, part, cfg, seed=3)
        await driver.begin(8)
        await driver.tell()
        for _ in range(200):
            await driver.cycle()
        assert driver.reads > 20 and driver.seen["error"] == 0
        wanted = ["decision1", "decision4", "search_wait", "table_wait"]
        wanted += ["decision2", "decision3", "merge"] if cfg.packing else []
        wanted += ["with_partner", "without_partner"] if cfg.allocation == "pairs" else []
        assert driver.deaths > 5 or not cfg.gives.deaths
        assert all(driver.seen.get(name) for name in wanted), driver.seen
        await driver.end()

    run(part, bench)


#: Cycle from which the partner is in X, that in which it leaves X, whether it goes beside the first register.
PARTNERS = [(0, 0, False), (1, 1, True), (2, 3, True), (3, 3, True)]


@pytest.mark.parametrize(("comes", "leaves", "beside"), PARTNERS)
def test_a_value_finds_a_partner_that_changes_one_cycle_before_it(comes: int, leaves: int, beside: bool) -> None:
    """The first one leaves X in 0, is in T in 1, and is allocated in W0 in 2.

    A partner that leaves X in 0 too is in W0 then, and has read that there is none; in 3 it takes a row of its own. One
    that leaves X in 1 is in T then, and follows. In 2 the entry is written, so that nothing reads it.
    """
    cfg = config("corf")
    part = PackedFile(cfg)
    width = len(part.target) // cfg.write_ports

    async def bench(ctx) -> None:
        await Driver(ctx, part, cfg, seed=1).begin(8)
        ctx.set(part.operand_valid, 1)
        ctx.set(part.operand, 1 | 2 << cfg.register_bits)  # r1 and r2, and no other pair
        await ctx.tick()
        ctx.set(part.operand_valid, 0)
        for port, register in ((2, 1), (1, 2)):  # one byte each
            for name, value in {"writes": 1, "register": register, "mask": 3, "full": 1}.items():
                ctx.set(part.results[port][name], value)
        left, targets = None, {}
        for cycle in range(7):
            offered = (cycle == 0) << 2 | (left is None and cycle >= comes) << 1
            ctx.set(part.result_valid, offered)
            ctx.set(part.result_store, offered)
            accepted = ctx.get(part.result_accept)
            assert cycle or accepted & 0b100
            left = cycle if accepted & 0b010 else left
            targets |= {
                port: target for port in (1, 2) if (target := ctx.get(part.target) >> width * port & (1 << width) - 1)
            }
            await ctx.tick()
        (own, first), (place, mask) = (
            (targets[port] & (1 << width - 4) - 1, targets[port] >> width - 4) for port in (2, 1)
        )
        assert (left, first) == (leaves, 0b0001)
        assert (place == own, mask) == ((True, 0b1000) if beside else (False, 0b0001))

    run(part, bench)
