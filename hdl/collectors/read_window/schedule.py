"""Which reads are planned, and the plan of one more beat (section 7.4)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.collectors.read_window.beats import window_places
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


class ReadPlan(wiring.Component):
    """Gives the slots of a beat the earliest free reads of their banks, combinationally.

    Members
    -------
    wanted : In(slots), banks : In(slots)   Slots to be read, and the bank of each.
    free : In(ArrayLayout)           Per bank: reads not planned yet, the earliest lowest.
    fits : Out(1)                    There are enough for all of them.
    places : Out(ArrayLayout)        Per slot: its read, one-hot; zero for a slot that is not wanted or has none.
    need : Out(ArrayLayout)          Per bank: wanted slots.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        slots, places = cfg.source_slots, window_places(cfg)
        super().__init__(
            {
                "wanted": In(slots),
                "banks": In(slots),
                "free": In(data.ArrayLayout(places, BANKS)),
                "fits": Out(1),
                "places": Out(data.ArrayLayout(places, slots)),
                "need": Out(data.ArrayLayout(2, BANKS)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Of every bank as many free reads as there are slots; then each slot by its rank among those of its bank."""
        m = Module()
        here = [self.wanted & ~self.banks, self.wanted & self.banks]
        choices = [self._earliest(m, bank) for bank in range(BANKS)]
        lacking = []
        for slot, place in enumerate(self.places):
            taken = []
            for bank in range(BANKS):
                before = count_ones(list(here[bank][:slot]))
                ranks = named(
                    m, f"ranks{slot}_{bank}", Cat(here[bank][slot] & (before == rank) for rank in range(slot + 1))
                )
                taken.append(select(ranks, choices[bank][: slot + 1]))
                lacking += [at & ~choice.any() for at, choice in zip(ranks, choices[bank], strict=False)]
            m.d.comb += place.eq(any_of(taken))
        m.d.comb += [need.eq(count_ones(list(here[bank]))) for bank, need in enumerate(self.need)]
        m.d.comb += self.fits.eq(~any_of(lacking))
        return m

    def _earliest(self, m: Module, bank: int) -> list[Value]:
        """The earliest free read of a bank, the next one, and so on."""
        left: Value = self.free[bank]
        found = []
        for rank in range(self._cfg.source_slots):
            found.append(named(m, f"bank{bank}_free{rank}", lowest_one(left)))
            left = left & ~found[-1]
        return found


class PortSchedule(wiring.Component):
    """Reads that are planned, for this cycle and the next ones; a place further every cycle.

    Members
    -------
    plan : In(1)                     A beat's reads are planned, of the window that begins with the next cycle.
    places : In(ArrayLayout), banks : In(slots), rows : In(ArrayLayout)   Of its slots; place 0 is in the next cycle.
    free : Out(ArrayLayout)          Per bank: places of that window not planned yet.
    reserved : Out(ArrayLayout)      Per bank: places of the window that begins with this cycle.
    now : Out(ArrayLayout), now_rows : Out(ArrayLayout)   Per bank: ports that read in this cycle; per port: what.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        slots, places, ports = cfg.source_slots, window_places(cfg), cfg.read_ports
        super().__init__(
            {
                "plan": In(1),
                "places": In(data.ArrayLayout(places, slots)),
                "banks": In(slots),
                "rows": In(data.ArrayLayout(cfg.row_bits, slots)),
                "free": Out(data.ArrayLayout(places, BANKS)),
                "reserved": Out(data.ArrayLayout(places, BANKS)),
                "now": Out(data.ArrayLayout(ports, BANKS)),
                "now_rows": Out(data.ArrayLayout(cfg.row_bits, BANKS * ports)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Both banks, place by place."""
        m = Module()
        ports, places = self._cfg.read_ports, window_places(self._cfg)
        for bank in range(BANKS):
            valid = Signal(places, name=f"valid{bank}")
            rows = [Signal(self._cfg.row_bits, name=f"row{bank}_{place}", reset_less=True) for place in range(places)]
            planned = [self._planned(bank, place) for place in range(places)]
            comes = named(m, f"comes{bank}", Cat(choice.any() for choice in planned))
            m.d.sync += valid.eq((valid >> ports) | comes)
            for place, (row, choice) in enumerate(zip(rows, planned, strict=True)):
                with m.If(comes[place]):
                    m.d.sync += row.eq(select(choice, list(self.rows)))
                if place + ports < places:
                    with m.Else():
                        m.d.sync += row.eq(rows[place + ports])
            m.d.comb += [
                self.free[bank].eq(~(valid >> ports)),
                self.reserved[bank].eq(valid),
                self.now[bank].eq(valid),
                *(self.now_rows[bank * ports + port].eq(rows[port]) for port in range(ports)),
            ]
        return m

    def _planned(self, bank: int, place: int) -> Value:
        """Slots that are to be read there."""
        here = Cat(one[place] for one in self.places) & self.plan.replicate(self._cfg.source_slots)
        return here & (self.banks if bank else ~self.banks)
