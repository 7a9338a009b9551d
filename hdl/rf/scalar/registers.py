"""Which registers are scalar (docs/schemes/scalar.md, sections 3, 5 and 6)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.naming import named
from warpfile.hdl.register_bits import bit_at, columns, decoded, lines_of
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.scalar import ScalarConfig


class WarpScalars(wiring.Component):
    """The bits of one warp.

    No two clients turn one register in a cycle. The last one is the expansion, whose register is scalar.

    Members
    -------
    sources : In(ArrayLayout)    Registers of the head beat's sources.
    found : Out(slots)           Which of these are scalar.
    rows : In(ArrayLayout)       Row of the register of each client of this warp, one-hot; zero for others.
    columns : In(ArrayLayout)    Column of the register of each client, one-hot.
    scalar : Out(ports)          Results of this warp whose register is scalar.
    changes : In(clients)        Clients of this warp that would turn the bit of their register.
    happens : In(clients)        Clients that do in this cycle what they would; late, and not only of this warp.
    launched : In(1)             None is from the next cycle on, whatever else happens.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg, self._width = cfg, columns(cfg)
        slots, rows, clients = cfg.source_slots, cfg.register_names // self._width, cfg.write_ports + 1
        super().__init__(
            {
                "sources": In(data.ArrayLayout(cfg.register_bits, slots)),
                "found": Out(slots),
                "rows": In(data.ArrayLayout(rows, clients)),
                "columns": In(data.ArrayLayout(self._width, clients)),
                "scalar": Out(cfg.write_ports),
                "changes": In(clients),
                "happens": In(clients),
                "launched": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """A bit per register, which a client turns: a multiplexer less than to write it."""
        m = Module()
        bits = Signal(self._cfg.register_names, name="scalar_registers")
        lines = lines_of(self._cfg, bits)
        for slot, register in enumerate(self.sources):
            row, column = decoded(m, self._cfg, f"source{slot}", register)
            m.d.comb += self.found[slot].eq(bit_at(m, f"source{slot}", lines, row, column))
        turned = []
        for number, (row, column) in enumerate(zip(self.rows, self.columns, strict=True)):
            if number < len(self.scalar):
                m.d.comb += self.scalar[number].eq(bit_at(m, f"client{number}", lines, row, column))
            changes = named(m, f"row_changes{number}", row & self.changes[number].replicate(len(row)))
            turns = named(m, f"row_turned{number}", changes & self.happens[number].replicate(len(row)))
            turned.append(Cat(column & turn.replicate(len(column)) for turn in turns)[: len(bits)])
        m.d.sync += bits.eq(bits ^ any_of(turned))
        with m.If(self.launched):
            m.d.sync += bits.eq(0)
        return m


class ScalarRegisters(wiring.Component):
    """The bits of all warps. Those of every head beat's sources are read before it is known which of them is offered.

    Of a result it is known early what it would change, and late whether it is accepted.

    With collectors that forward, the result of a near source may be accepted in the cycle of the offer, on port 0. Near
    sources, the first ``asks.forwards``, have the bit that is left by what port 0 accepts.

    Members
    -------
    launched : In(warps)          One-hot, the warp that is launched: none of its registers is scalar.
    sources : In(ArrayLayout)     Registers of the head beats' sources, warp-major.
    offered : In(warps)           One-hot warp of the offered beat.
    scalar_sources : Out(slots)   Which of its sources are scalar.
    warps, registers : In(ArrayLayout)   Of the clients: the results, port by port, and the expansion.
    scalar : Out(ports)           Results whose register is scalar.
    becomes, ends : In(ports)     Results after which it is, and those after which it is not.
    accepted : In(ports)          Results that are stored in this cycle.
    expanded : In(1)              The register of the expansion, which is scalar, is not from the next cycle on.
    rises, falls : Out(clients)   What changes at the end of the cycle.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg, self._near = cfg, cfg.asks.forwards
        warps, slots, ports, clients = cfg.warps, cfg.source_slots, cfg.write_ports, cfg.write_ports + 1
        super().__init__(
            {
                "launched": In(warps),
                "sources": In(data.ArrayLayout(cfg.register_bits, warps * slots)),
                "offered": In(warps),
                "scalar_sources": Out(slots),
                "warps": In(data.ArrayLayout(cfg.warp_bits, clients)),
                "registers": In(data.ArrayLayout(cfg.register_bits, clients)),
                "scalar": Out(ports),
                **{name: In(ports) for name in ("becomes", "ends", "accepted")},
                "expanded": In(1),
                **{name: Out(clients) for name in ("rises", "falls")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Registers of the clients are decoded once for all warps."""
        m = Module()
        changes, happens = self._changes(m)
        places = [decoded(m, self._cfg, f"client{number}", one) for number, one in enumerate(self.registers)]
        found, scalar, meets = [], [], []
        for warp in range(self._cfg.warps):
            bits = stamp(m, f"warp{warp}", "warp_scalars", lambda: WarpScalars(self._cfg))
            own = named(m, f"of_warp{warp}", Cat(number == warp for number in self.warps))
            self._ask(m, warp, bits, own, places)
            m.d.comb += [bits.changes.eq(changes & own), bits.happens.eq(happens)]
            found.append(bits.found)
            scalar.append(bits.scalar)
            meets.append(self._meets(m, warp, bits))
        sources = select(self.offered, found)
        if self._near:
            sources ^= named(m, "late", select(self.offered, meets)) & happens[0].replicate(self._near)
        m.d.comb += [self.scalar_sources.eq(sources), self.scalar.eq(any_of(scalar))]
        return m

    def _meets(self, m: Module, warp: int, bits: wiring.PureInterface) -> Value:
        """Near sources of a warp's head beat whose bit the result of port 0 turns if it is accepted."""
        near = list(bits.sources)[: self._near]
        return named(m, f"meets_warp{warp}", Cat(bits.changes[0] & (one == self.registers[0]) for one in near))

    def _changes(self, m: Module) -> tuple[Value, Value]:
        """Of each client whether its register would be another than it is; whether it is done."""
        rises, falls = self.becomes & ~self.scalar, self.ends & self.scalar
        changes = named(m, "changes", Cat(rises | falls, 1))
        happens = named(m, "happens", Cat(self.accepted, self.expanded))
        m.d.comb += [self.rises.eq(happens & rises), self.falls.eq(happens & Cat(falls, 1))]
        return changes, happens

    def _ask(
        self, m: Module, warp: int, bits: wiring.PureInterface, own: Value, places: list[tuple[Value, Value]]
    ) -> None:
        """The sources of a warp's head beat, and the clients' registers, by row and column."""
        cfg = self._cfg
        sources = list(self.sources)[warp * cfg.source_slots : (warp + 1) * cfg.source_slots]
        m.d.comb += [bits.launched.eq(self.launched[warp]), Cat(*bits.sources).eq(Cat(sources))]
        for number, (row, column) in enumerate(places):
            m.d.comb += [
                bits.rows[number].eq(row & own[number].replicate(len(row))),
                bits.columns[number].eq(column),
            ]
