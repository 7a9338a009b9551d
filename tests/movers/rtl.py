"""RTL of the file that moves rows."""

from amaranth import Array, Cat, Const, Module, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from tests.movers.scheme import MoversConfig
from warpfile.hdl.arbiter import select
from warpfile.hdl.beat import is_pseudo, launch_layout
from warpfile.hdl.rf.contract import engine_members
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.location import Location, base_table, look_up
from warpfile.hdl.rf.plain import PlainFile
from warpfile.spec.contract import client_count


class Step(enum.Enum, shape=3):
    """What a warp's swap does: fetch a row, wait for its data, write a row or half of it."""

    IDLE = 0
    OPERAND = 1
    REST = 2
    FETCH = 3
    WAIT = 4
    STORE = 5


class Swap(wiring.Component):
    """The swaps of one warp.

    Members
    -------
    start : In(1)                      A pseudo-instruction of the warp issues; its ``operand`` comes in the next cycle.
    fetch, store : Out(1)              Level until granted, with ``place``.
    fetched, stored : In(1)            The grant, in the same cycle.
    fill : In(1), row : In(data_bits)  What was fetched.
    mask : Out(lanes), data : Out(data_bits)   Of the write.
    held : Out(1), swapped : Out       Registered; bit p: R(2p) and R(2p + 1) live in each other's place.
    """

    def __init__(self, cfg: MoversConfig, warp: int) -> None:
        self._cfg, self._warp = cfg, warp
        level = ("start", "fetched", "stored", "fill", "launch_valid")
        super().__init__(
            {
                **{name: In(1) for name in level},
                "operand": In(cfg.operand_bits),
                "row": In(cfg.data_bits),
                "launch": In(launch_layout(cfg)),
                **{name: Out(1) for name in ("fetch", "store", "held")},
                "place": Out(places_layout(cfg, 1)),
                "mask": Out(cfg.lanes),
                "data": Out(cfg.data_bits),
                "swapped": Out(cfg.register_names // 2),
            }
        )

    def elaborate(self, platform) -> Module:
        """Where it is, what it has fetched, where the rows are."""
        m = Module()
        self._step, self._number, self._half = Signal(Step), Signal(), Signal()
        self._pair, self._left = Signal(len(self.operand)), Signal(5)
        m.d.comb += [
            self.held.eq(self._step != Step.IDLE),
            self.fetch.eq(self._step == Step.FETCH),
            self.store.eq(self._step == Step.STORE),
        ]
        self._locate(m)
        self._lanes(m)
        self._advance(m)
        with m.If(self.launch_valid & (self.launch.warp == self._warp)):
            m.d.sync += self.swapped.eq(0)
        return m

    def _locate(self, m: Module) -> None:
        base = base_table(m, self._cfg, self.launch_valid, self.launch)[self._warp]
        register = home(Cat(self._number, self._pair)[: self._cfg.register_bits], self.swapped)
        number = Const(self._warp % self._cfg.banks, self._cfg.bank_bits)
        look_up(m, self._cfg, base, number, register, self.place[0])

    def _lanes(self, m: Module) -> None:
        """A row that waits is written where the other one was; lanes outside the mask are wrong on purpose."""
        rows = [Signal(self._cfg.data_bits, name=f"row{number}") for number in range(2)]
        for number, row in enumerate(rows):
            with m.If(self.fill & (self._number == number)):
                m.d.sync += row.eq(self.row)
        low = (1 << (self._cfg.lanes + 1) // 2) - 1
        halves = Array([low, ~low & (1 << self._cfg.lanes) - 1])
        m.d.comb += self.mask.eq(halves[self._half] if self._cfg.halves else ~0)
        right = Cat(bit.replicate(32) for bit in self.mask)
        m.d.comb += self.data.eq(Array(rows)[~self._number] ^ ~right)

    def _advance(self, m: Module) -> None:
        ends = self._half if self._cfg.halves else Const(1, 1)
        with m.Switch(self._step):
            with m.Case(Step.IDLE), m.If(self.start):
                m.d.sync += self._step.eq(Step.OPERAND)
            with m.Case(Step.OPERAND):
                m.d.sync += [self._pair.eq(self.operand), self._left.eq(self._cfg.rest)]
                m.d.sync += self._step.eq(Step.REST if self._cfg.rest else Step.FETCH)
            with m.Case(Step.REST):
                m.d.sync += self._left.eq(self._left - 1)
                with m.If(self._left == 1):
                    m.d.sync += self._step.eq(Step.FETCH)
            with m.Case(Step.FETCH), m.If(self.fetched):
                m.d.sync += self._step.eq(Step.WAIT)
            with m.Case(Step.WAIT), m.If(self.fill):
                m.d.sync += self._number.eq(~self._number)
                with m.If(self._number):
                    m.d.sync += self._step.eq(Step.STORE)
                with m.Else():
                    m.d.sync += self._step.eq(Step.FETCH)
            with m.Case(Step.STORE), m.If(self.stored):
                self._stored(m, ends)

    def _stored(self, m: Module, ends: Value) -> None:
        m.d.sync += self._half.eq(~self._half & ~ends)
        with m.If(ends):
            m.d.sync += self._number.eq(~self._number)
            with m.If(self._number):
                m.d.sync += [self._step.eq(Step.IDLE), self.swapped.eq(self.swapped ^ (1 << self._pair))]


def home(register: Value, swapped: Value) -> Value:
    """The register whose place this one has."""
    return register ^ swapped.bit_select(register >> 1, 1)


class SwappedLocation(wiring.Component):
    """As in the baseline, but some pairs of registers live in each other's place.

    Ports of :class:`Location`, of the own engines (flipped), and of the swaps.
    """

    def __init__(self, cfg: MoversConfig) -> None:
        self._cfg, self._plain = cfg, Location(cfg)
        super().__init__(
            {
                **self._plain.signature.members,
                **{name: member.flip() for name, member in engine_members(cfg, cfg.gives.engines).items()},
                "start": In(cfg.warps),
                "operand": In(cfg.operand_bits),
                "held": Out(cfg.warps),
                "moving": Out(cfg.warps),
            }
        )

    def elaborate(self, platform) -> Module:
        """One swap per warp."""
        m = Module()
        m.submodules.plain = self._plain
        swaps = [Swap(self._cfg, warp) for warp in range(self._cfg.warps)]
        for warp, swap in enumerate(swaps):
            m.submodules[f"swap{warp}"] = swap
            m.d.comb += [swap.start.eq(self.start[warp]), swap.operand.eq(self.operand)]
            m.d.comb += [swap.launch_valid.eq(self.launch_valid), swap.launch.eq(self.launch)]
        m.d.comb += self.held.eq(Cat(swap.held for swap in swaps))
        m.d.comb += self.moving.eq(Cat(swap.fetched | swap.stored for swap in swaps))
        self._homes(m, [swap.swapped for swap in swaps])
        self._engines(m, swaps)
        return m

    def _homes(self, m: Module, swapped: list[Value]) -> None:
        asks = self._cfg.asks
        renamed = [("result_registers", [Array(swapped)[warp] for warp in self.result_warps])]
        if asks.sources:
            renamed.append(("sources", [select(self.warp, swapped)] * self._cfg.source_slots))
        if asks.lookups:
            renamed.append(("lookup_registers", [mask for mask in swapped for _ in range(asks.lookups)]))
        for name, masks in renamed:
            for inner, outer, mask in zip(getattr(self._plain, name), getattr(self, name), masks, strict=True):
                m.d.comb += inner.eq(home(outer, mask))
        for name, member in self._plain.signature.members.items():
            inner, outer = getattr(self._plain, name), getattr(self, name)
            if member.flow is Out:
                m.d.comb += outer.eq(inner)
            elif name not in dict(renamed):
                m.d.comb += inner.eq(outer)

    def _engines(self, m: Module, swaps: list[Swap]) -> None:
        """Clients: every warp's fetches, then every warp's writes; one engine does both with ``store`` = ``fetch``."""
        cfg, warps = self._cfg, self._cfg.warps
        one = cfg.store == "fetch"
        fetches, stores = (Cat(getattr(swap, name) for swap in swaps) for name in ("fetch", "store"))
        m.d.comb += self.engine_valid.eq(fetches | stores if one else Cat(fetches, stores))
        m.d.comb += self.engine_write.eq(stores if one else 0)
        for client, (place, swap) in enumerate(zip(self.engine_places, swaps * 2, strict=False)):
            m.d.comb += place.eq(swap.place[0])
            for lane, words in enumerate(self.engine_data):
                m.d.comb += words.word_select(client, 32).eq(swap.data.word_select(lane, 32))
        for warp in range(client_count(cfg.gives.engines, "masked")):
            m.d.comb += self.engine_masks[warp].eq(swaps[warp].mask)
        for warp, swap in enumerate(swaps):
            granted = self.engine_grant[warp]
            m.d.comb += [
                swap.fetched.eq(granted & swap.fetch),
                swap.stored.eq(granted & swap.store if one else self.engine_grant[warps + warp]),
                swap.fill.eq(self.engine_fill[warp]),
                swap.row.eq(Cat(words.word_select(warp, 32) for words in self.engine_read)),
            ]


class MoversFile(PlainFile):
    """A plain file with two engines of its own."""

    def __init__(self, cfg: MoversConfig) -> None:
        self._swapped = SwappedLocation(cfg)
        super().__init__(cfg, self._swapped, {"moving": Out(cfg.warps)})

    def elaborate(self, platform) -> Module:
        """The plain file, and what starts a swap."""
        m = super().elaborate(platform)
        starts = self.offer_valid & self.accept & is_pseudo(self.offer)
        m.d.comb += [
            self._swapped.start.eq(self.offer_warp & starts.replicate(self._cfg.warps)),
            self._swapped.operand.eq(self.operand),
            self.hold.eq(self._swapped.held),
            self.moving.eq(self._swapped.moving),
        ]
        return m
