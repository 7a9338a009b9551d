"""Banks of the cache and main banks that move registers (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.ltrf.cache_side import CacheSide
from warpfile.hdl.rf.ltrf.main_side import MainSide
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig


class Transfers(wiring.Component):
    """A side for every bank, and which side asks which.

    Members
    -------
    steps : In(ArrayLayout)      By place and part: bank of the cache of a step whose register has to be moved, one-hot
                                 or none.
    homes : In(ArrayLayout), out : In(active_warps)   As in :class:`CacheSide`.
    working : Out(active_warps)  Places that have something under way.
    parking, parked : In(banks), parked_row : In(row_bits), parked_last : In(1)   Main bank in which a parked result
                                 starts, and is in work; its row, and its last beat.
    latch_free : Out(banks)      Main banks whose input latch is free.
    loaded : In(cache banks)     Write-backs that read the cache.
    reads, first, stores, latches : Out(cache banks), load_rows, store_rows : Out(ArrayLayout)   What banks of the cache
                                 have to do: as in :class:`hdl.rf.ltrf.cache.CacheBanks`; staging registers that take
                                 what was read.
    read, write : Out(banks), main_rows : Out(ArrayLayout)   What main banks have to do.
    receivers, fill_beats : Out(ArrayLayout)   By main bank, as in :class:`MainSide`.
    received : Out(ArrayLayout)  By bank of the cache, the beat that it gets.
    senders, back_beats : Out(ArrayLayout)   By main bank, write-backs whose beats pass to it, above them the parked
                                 result; by bank of the cache, its beat.
    Probes: those of docs/schemes/ltrf.md, section 5.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places, banks, mains, beats = cfg.active_warps, cfg.interval_registers, cfg.banks, cfg.crossbar_beats
        rows = data.ArrayLayout(cfg.place_count_bits, banks)
        super().__init__(
            {
                "steps": In(data.ArrayLayout(banks, places * PARTS)),
                "homes": In(places_layout(cfg.common(), places * PARTS)),
                "out": In(places),
                "working": Out(places),
                **{name: In(mains) for name in ("parking", "parked")},
                "parked_row": In(cfg.row_bits),
                "parked_last": In(1),
                "latch_free": Out(mains),
                "loaded": In(banks),
                **{name: Out(banks) for name in ("reads", "first", "stores", "latches")},
                "load_rows": Out(rows),
                "store_rows": Out(rows),
                **{name: Out(mains) for name in ("read", "write")},
                "main_rows": Out(data.ArrayLayout(cfg.row_bits, mains)),
                "receivers": Out(data.ArrayLayout(banks, mains)),
                "fill_beats": Out(data.ArrayLayout(beats, mains)),
                "received": Out(data.ArrayLayout(beats, banks)),
                "senders": Out(data.ArrayLayout(banks + 1, mains)),
                "back_beats": Out(data.ArrayLayout(beats, banks)),
                **{name: Out(places * banks) for name in ("out_valid", "in_valid", "in_asked")},
                **{name: Out(banks) for name in ("fill_asks", "fill_pick", "fill_grant", "back_pick", "back_grant")},
                **{name: Out(rows) for name in ("fill_place", "back_place")},
                "back_phase": Out(data.ArrayLayout(2, banks)),
                "latch_state": Out(data.ArrayLayout(2, mains)),
                **{name: Out(mains) for name in ("main_busy", "main_write")},
                "unfit": Out(2 * banks),
            }
        )

    def elaborate(self, platform) -> Module:
        """Both sides, and what goes between them."""
        m = Module()
        cfg = self._cfg
        caches = [
            stamp(m, f"cache_side{number}", "cache_side", lambda: CacheSide(cfg))
            for number in range(cfg.interval_registers)
        ]
        mains = [stamp(m, f"main_side{number}", "main_side", lambda: MainSide(cfg)) for number in range(cfg.banks)]
        for number, side in enumerate(caches):
            self._step(m, number, side)
            self._use(m, number, side)
        self._ask(m, caches, mains)
        self._send(m, caches, mains)
        self._fill(m, caches, mains)
        self._observe(m, caches, mains)
        m.d.comb += self.working.eq(any_of(side.working for side in caches))
        return m

    def _step(self, m: Module, number: int, side: wiring.PureInterface) -> None:
        m.d.comb += [
            side.steps.eq(Cat(step[number] for step in self.steps)),
            side.homes.eq(self.homes),
            side.out.eq(self.out),
        ]

    def _use(self, m: Module, number: int, side: wiring.PureInterface) -> None:
        """What a bank of the cache has to do."""
        m.d.comb += [
            side.back_served.eq(self.loaded[number]),
            self.reads[number].eq(side.back_reads),
            self.first[number].eq(side.back_first),
            self.latches[number].eq(side.back_latches),
            self.load_rows[number].eq(side.back_place),
            self.stores[number].eq(side.fill_stores),
            self.store_rows[number].eq(side.fill_row),
            self.back_beats[number].eq(side.back_beat),
        ]

    def _ask(self, m: Module, caches: list, mains: list) -> None:
        """Requests of banks of the cache, by main bank, and what becomes of them."""
        count = self._cfg.banks
        fills = [
            named(m, f"fill{number}", decode(side.fill_home.bank, count) & side.fill_asks.replicate(count))
            for number, side in enumerate(caches)
        ]
        backs = [
            named(m, f"back{number}", decode(side.back_home.bank, count) & side.back_asks.replicate(count))
            for number, side in enumerate(caches)
        ]
        ready = named(m, "ready", Cat(side.fill_ready for side in caches))
        for number, main in enumerate(mains):
            m.d.comb += [
                main.fills.eq(Cat(fill[number] for fill in fills)),
                main.ready.eq(ready),
                main.fill_rows.eq(Cat(side.fill_home.row for side in caches)),
                main.fill_places.eq(Cat(side.fill_place for side in caches)),
                main.backs.eq(Cat(back[number] for back in backs)),
                main.parking.eq(self.parking[number]),
                main.parked.eq(self.parked[number]),
                self.latch_free[number].eq(main.free),
            ]
        nearly = named(m, "nearly", Cat(main.nearly for main in mains))
        m.d.comb += [
            self.fill_grant.eq(any_of(main.fill_grant for main in mains)),
            self.back_grant.eq(any_of(main.back_grant for main in mains)),
        ]
        for number, side in enumerate(caches):
            m.d.comb += [
                side.nearly.eq(nearly),
                side.fill_granted.eq(self.fill_grant[number]),
                side.back_granted.eq(self.back_grant[number]),
            ]

    def _send(self, m: Module, caches: list, mains: list) -> None:
        """Beats of write-backs and of the parked result, and accesses to main banks."""
        count = self._cfg.banks
        sending = [
            named(m, f"sending{number}", decode(side.back_home.bank, count) & side.back_beat.any().replicate(count))
            for number, side in enumerate(caches)
        ]
        last = named(m, "last", Cat(*(side.back_beat[-1] for side in caches), self.parked_last))
        for number, main in enumerate(mains):
            senders = named(m, f"senders{number}", Cat(*(sends[number] for sends in sending), self.parked[number]))
            m.d.comb += [
                self.senders[number].eq(senders),
                main.senders.eq(senders),
                main.sender_rows.eq(Cat(*(side.back_home.row for side in caches), self.parked_row)),
                main.last.eq((senders & last).any()),
                self.read[number].eq(main.read),
                self.write[number].eq(main.write),
                self.main_rows[number].eq(main.row),
            ]

    def _fill(self, m: Module, caches: list, mains: list) -> None:
        """Beats of fills, and the last of them."""
        ends = [main.receiver & main.beat[-1].replicate(len(main.receiver)) for main in mains]
        for number, end in enumerate(ends):
            ends[number] = named(m, f"ends{number}", end)
        for number, main in enumerate(mains):
            m.d.comb += [self.receivers[number].eq(main.receiver), self.fill_beats[number].eq(main.beat)]
        for number, side in enumerate(caches):
            last = named(m, f"last{number}", Cat(end[number] for end in ends))
            m.d.comb += [
                side.fill_last.eq(last.any()),
                side.fill_last_place.eq(select(last, [main.place for main in mains])),
                self.received[number].eq(
                    select([main.receiver[number] for main in mains], [main.beat for main in mains])
                ),
            ]

    def _observe(self, m: Module, caches: list, mains: list) -> None:
        places, bits = range(self._cfg.active_warps), self._cfg.place_count_bits
        asks = Cat(side.fill_asks for side in caches)
        m.d.comb += [
            self.out_valid.eq(Cat(side.leaving[place] for place in places for side in caches)),
            self.in_valid.eq(Cat(side.coming[place] for place in places for side in caches)),
            self.in_asked.eq(Cat(side.fill_asked[place] for place in places for side in caches)),
            self.fill_asks.eq(asks),
            self.fill_place.eq(Cat(side.fill_place & side.fill_asks.replicate(bits) for side in caches)),
            self.back_phase.eq(Cat(side.back_phase for side in caches)),
            self.back_place.eq(Cat(side.back_place & side.back_phase.any().replicate(bits) for side in caches)),
            self.latch_state.eq(Cat(main.latch for main in mains)),
            self.main_busy.eq(Cat(main.busy for main in mains)),
            self.main_write.eq(Cat(main.written for main in mains)),
            self.fill_pick.eq(Cat(side.fill_pick for side in caches)),
            self.back_pick.eq(Cat(side.back_pick for side in caches)),
            self.unfit.eq(Cat(asks & ~self.fill_grant, Cat(side.back_asks for side in caches) & ~self.back_grant)),
        ]
