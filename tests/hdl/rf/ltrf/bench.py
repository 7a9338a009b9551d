"""What the tests of the prefetched file's parts have in common."""

from collections.abc import Callable

from amaranth import Module
from amaranth.lib import memory
from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rams.table import TableRam
from warpfile.hdl.rf import read_side
from warpfile.hdl.rf.ltrf import cache, main_banks, places, sets, transfers
from warpfile.hdl.rf.ltrf.file import PrefetchedFile
from warpfile.spec.beat import SCHEME_PINS
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig

STAMPED = (cache, main_banks, places, sets, transfers, read_side)


def config(**changes) -> LtrfConfig:
    """The small machine with one place, four banks in the cache and eight register names, unless changed."""
    small = {"scheduler": "two_level", "resume": "all", "active_warps": 1, "interval_registers": 4}
    small |= {
        "register_names": 8,
        "warps": 2,
        "rows": 16,
        "bank_cycles": 3,
        "collectors": 1,
        "source_slots": 1,
        "ports": 1,
        "write_back_ports": 1,
    }
    return LtrfConfig(**LtrfConfig.adapted(PRESETS["tiny"].config.to_json() | small | changes))


def run(part, bench: Callable, *, clocked: bool = True) -> None:
    """Simulate a part."""
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


class SimulatedBank(BankRam):
    """The SRAM of a bank as the simulator knows it."""

    def elaborate(self, platform):
        m = Module()
        cfg = self._cfg
        m.submodules.rows = rows = memory.Memory(shape=cfg.data_bits, depth=cfg.rows, init=[])
        write, read = rows.write_port(granularity=32), rows.read_port()
        m.d.comb += [
            write.en.eq(self.mask & self.write.replicate(cfg.lanes)),
            write.addr.eq(self.write_row),
            write.data.eq(self.write_data),
            read.en.eq(self.read),
            read.addr.eq(self.read_row),
            self.read_data.eq(read.data),
        ]
        return m


class SimulatedTable(TableRam):
    """Likewise of a table."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = memory.Memory(shape=self._bits, depth=self._rows, init=[])
        write, read = rows.write_port(), rows.read_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(self.write_row),
            write.data.eq(self.write_data),
            read.en.eq(self.read),
            read.addr.eq(self.read_row),
            self.read_data.eq(read.data),
        ]
        return m


def whole(monkeypatch) -> None:
    """The file is one tree, which the simulator can run."""
    monkeypatch.setattr(cache, "BankRam", SimulatedBank)
    monkeypatch.setattr(main_banks, "BankRam", SimulatedBank)
    monkeypatch.setattr(sets, "TableRam", SimulatedTable)
    for module in STAMPED:
        monkeypatch.setattr(module, "stamp", inside)


def registers(*names: int) -> int:
    """A set of registers, bit r for register r."""
    return sum(1 << name for name in names)


class Driver:
    """Drives a file as frame, collectors and environment would, and notes what happens in every cycle.

    ``moved`` has the registers that take steps and have to be moved: cycle, register, whether it leaves its bank.
    ``watched`` are outputs that are noted, too, whenever they are not zero.
    """

    watched: tuple[str, ...] = ()

    def __init__(self, ctx, part: PrefetchedFile, cfg: LtrfConfig) -> None:
        self.ctx, self.part, self.cfg = ctx, part, cfg
        self.cycle = 0
        self.seen: list[tuple[int, str, int]] = []
        self.moved: list[tuple[int, int, bool]] = []

    def get(self, name: str) -> int:
        """An output as a number."""
        value = self.ctx.get(getattr(self.part, name))
        return value if isinstance(value, int) else int(value.as_bits() if hasattr(value, "as_bits") else value)

    async def tick(self, **inputs: int) -> None:
        """One cycle with these inputs, which are zero again afterwards."""
        for name, value in inputs.items():
            self.ctx.set(getattr(self.part, name), value)
        self._note_steps()
        self.seen += [(self.cycle, name, bits) for name in self.watched if (bits := self.get(name))]
        await self.ctx.tick()
        self.cycle += 1
        for name in inputs:
            self.ctx.set(getattr(self.part, name), 0)

    def _note_steps(self) -> None:
        moves, out, width = self.get("step_moves"), self.get("step_out"), self.cfg.register_bits
        for part in range(PARTS * self.cfg.active_warps):
            if moves >> part & 1:
                register = self.get("step_register") >> part * width & (1 << width) - 1
                self.moved.append((self.cycle, register, bool(out >> part & 1)))

    def begin(self) -> None:
        """Count cycles, and what is noted, from here on."""
        self.cycle, self.moved, self.seen = 0, [], []

    async def launch(self, warp: int, base: int) -> None:
        """A warp is launched."""
        self.ctx.set(self.part.launch.warp, warp)
        self.ctx.set(self.part.launch.base, base)
        await self.tick(launch_valid=1)

    def hold(self, place: int, warp: int | None) -> None:
        """A warp holds a place, or none does."""
        self.ctx.set(self.part.places[place], 0 if warp is None else 1 << warp)

    async def issue(self, warp: int, **beat: int) -> None:
        """A beat issues; ``hints``, ``sources`` and the others are its fields."""
        sources = beat.pop("sources", ())
        fields = {"executes": 1, "port": 0, "source_valid": (1 << len(sources)) - 1, **beat}
        for name, value in fields.items():
            self.ctx.set(self.part.offer[name], value)
        for slot, register in enumerate(sources):
            self.ctx.set(self.part.offer.sources[slot], register)
        await self.tick(offer_valid=1, offer_warp=1 << warp, accept=1)
        for name in fields:
            self.ctx.set(self.part.offer[name], 0)

    async def prefetch(self, warp: int, operand: int) -> None:
        """A PREFETCH issues in cycle 0 of what is counted from here on; its operand comes in the next."""
        self.begin()
        await self.issue(warp, executes=0, kind=SCHEME_PINS, port=3)
        await self.tick(operand_valid=1, operand=operand)

    async def until_open(self, place: int = 0) -> int:
        """The first cycle in which the place is open."""
        for _ in range(200):
            if self.get("place_state") >> 3 * place & 7 == 4:
                return self.cycle
            await self.tick()
        raise AssertionError("the place must be open in time")

    async def write(self, warp: int, register: int, value: int, mask: int | None = None, port: int = 0) -> int:
        """A result with one value in all lanes. Returns the cycle in which it is accepted."""
        lanes = self.cfg.lanes
        result = self.part.results[port]
        words = sum((value + lane) << 32 * lane for lane in range(lanes))
        for field, what in (("writes", 1), ("warp", warp), ("register", register)):
            self.ctx.set(result[field], what)
        self.ctx.set(result.mask, (1 << lanes) - 1 if mask is None else mask)
        self.ctx.set(self.part.result_data[port], words)
        for _ in range(200):
            self.ctx.set(self.part.result_valid, 1 << port)
            self.ctx.set(self.part.result_store, 1 << port)
            taken = self.get("result_accept") >> port & 1
            assert taken == self.get("completed") >> port & 1
            await self.tick(result_valid=1 << port, result_store=1 << port)
            if taken:
                return self.cycle - 1
        raise AssertionError("the result must be taken in time")

    async def read(self, warp: int, register: int) -> list[int]:
        """Look a register up and read it: its lanes."""
        part, ctx = self.part, self.ctx
        ctx.set(part.check_registers[0], register)
        ctx.set(part.check_warp, warp)
        ctx.set(part.check_valid, 1)
        place = ctx.get(part.check_places[0])
        await self.tick(check_valid=1)
        ctx.set(part.request_places[0], place)
        ctx.set(part.requests, 1)
        assert ctx.get(part.grant) == 1
        await self.tick(requests=1)
        assert ctx.get(part.fill) == 1
        return [ctx.get(word) & 0xFFFFFFFF for word in part.fill_data]
