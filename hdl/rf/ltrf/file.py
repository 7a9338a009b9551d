"""The register file with a prefetched cache (docs/schemes/ltrf.md)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, decode, encode
from warpfile.hdl.beat import is_pseudo
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.rf.completion import complete
from warpfile.hdl.rf.contract import file_members
from warpfile.hdl.rf.ltrf.cache import CacheBanks
from warpfile.hdl.rf.ltrf.issued import IssuedBeat
from warpfile.hdl.rf.ltrf.location import MainLocation
from warpfile.hdl.rf.ltrf.main_banks import MainBanks
from warpfile.hdl.rf.ltrf.parked import ParkedResults
from warpfile.hdl.rf.ltrf.places import STEPS, Places
from warpfile.hdl.rf.ltrf.transfers import Transfers
from warpfile.hdl.rf.read_side import join_reads
from warpfile.spec.schemes.ltrf import LtrfConfig, ltrf_probes

#: Probes that transfers have by their names.
SEEN = ("out_valid", "in_valid", "in_asked", "fill_asks", "fill_place", "back_phase", "back_place", "latch_state")
SEEN += ("main_busy", "fill_pick", "fill_grant", "back_pick", "back_grant", "unfit", "main_write")


class PrefetchedFile(wiring.Component):
    """A cache with a part for every active warp, and slow banks behind a narrow crossbar.

    Ports: :func:`file_members`, and the probes of :func:`spec.schemes.ltrf.ltrf_probes`. Units read the cache and
    nothing else. It takes every launch, holds a warp whose registers are not in the cache, and lets go of a place once
    they are all back.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(file_members(cfg), ltrf_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Places, what moves their registers, both kinds of banks, and what goes between them."""
        m = Module()
        m.submodules.location = location = MainLocation(self._cfg)
        m.submodules.cache_places = places = Places(self._cfg)
        m.submodules.transfers = transfers = Transfers(self._cfg)
        m.submodules.cache = cache = CacheBanks(self._cfg)
        m.submodules.parked_results = parked = ParkedResults(self._cfg)
        m.submodules.main = main = MainBanks(self._cfg)
        self._locate(m, location, places)
        self._issue(m, places)
        self._check(m, places)
        self._read(m, cache)
        self._write(m, places, cache, parked, location)
        self._transfer(m, places, transfers, parked)
        self._move(m, transfers, cache, parked, main)
        complete(m, self._cfg, self, cycles=1)
        self._fail(m, places, cache)
        self._observe(m, places, transfers, cache, parked)
        return m

    def _holder(self, m: Module, name: str, warp: Value) -> Signal:
        """The place of a warp, one-hot; zero if it has none."""
        wanted = named(m, f"{name}_warp_is", decode(warp, self._cfg.warps))
        return named(m, f"{name}_place", Cat((warps & wanted).any() for warps in self.places))

    def _locate(self, m: Module, location: MainLocation, places: Places) -> None:
        """Where registers live in the main banks."""
        launched = decode(self.launch.warp, self._cfg.warps) & self.launch_valid.replicate(self._cfg.warps)
        m.d.comb += [
            self.launch_ready.eq(1),
            location.launch_valid.eq(self.launch_valid),
            location.launch.eq(self.launch),
            location.places.eq(self.places),
            location.result_warps.eq(Cat(result.warp for result in self.results)),
            location.result_registers.eq(Cat(result.register for result in self.results)),
            places.places.eq(self.places),
            places.launched.eq(launched),
            places.bases.eq(location.bases),
            places.numbers.eq(location.numbers),
        ]

    def _issue(self, m: Module, places: Places) -> None:
        """What issues, and who may."""
        m.submodules.last_beat = issued = IssuedBeat(self._cfg)
        count = self._cfg.active_warps
        offered = named(m, "offered_place", Cat((warps & self.offer_warp).any() for warps in self.places))
        issues = named(m, "issues", offered & (self.offer_valid & self.accept).replicate(count))
        open_warps = any_of(warps & is_open.replicate(self._cfg.warps) for warps, is_open in self._opened(places))
        m.d.comb += [
            issued.issues.eq(issues),
            issued.offer.eq(self.offer),
            places.enters.eq(issues & is_pseudo(self.offer).replicate(count)),
            places.ends.eq(Cat((warps & self.exits).any() for warps in self.places)),
            places.operand.eq(self.operand),
            places.issued.eq(issued.place),
            places.written.eq(issued.written),
            places.arrives.eq(issued.arrives),
            self.hold.eq(~open_warps),
            places.release.eq(self.release),
            self.released.eq(places.released),
        ]
        if self._cfg.liveness:
            m.d.comb += places.dies.eq(issued.dies)
        if self._cfg.recall == "spared":
            prefetches = named(m, "prefetches", self.buffered & Cat(is_pseudo(head) for head in self.heads))
            m.d.comb += places.spared.eq(Cat((warps & prefetches).any() for warps in self.places))

    def _opened(self, places: Places) -> list[tuple[Value, Value]]:
        return list(zip(self.places, places.open, strict=True))

    def _check(self, m: Module, places: Places) -> None:
        """Sources of the unit that asks: all in the row of their place."""
        place = self._holder(m, "check", self.check_warp)
        row = named(m, "check_row", encode(place, self._cfg.place_count_bits))
        m.d.comb += [
            places.check_place.eq(place),
            places.check_valid.eq(self.check_valid),
            places.check_registers.eq(self.check_registers),
            self.look_up_banks.eq(places.check_banks),
        ]
        for found, bank in zip(self.check_places, places.check_banks, strict=True):
            m.d.comb += [found.bank.eq(bank), found.row.eq(row)]

    def _read(self, m: Module, cache: CacheBanks) -> None:
        """Units read the cache alone."""
        join_reads(m, self, cache)
        m.d.comb += [cycles.eq(1) for cycles in self.cycles]

    def _write(
        self, m: Module, places: Places, cache: CacheBanks, parked: ParkedResults, location: MainLocation
    ) -> None:
        """Results: to the cache, to their main banks, or to wait."""
        writable = named(m, "writable", places.open & ~self.release)
        for port, result in enumerate(self.results):
            place = self._holder(m, f"result{port}", result.warp)
            found = cache.result_places[port]
            m.d.comb += [
                cache.result_valid[port].eq(self.result_store[port] & (place & writable).any()),
                parked.wanted[port].eq(self.result_store[port] & ~place.any()),
                places.result_of[port].eq(place),
                places.result_registers[port].eq(result.register),
                found.bank.eq(places.result_banks[port]),
                found.row.eq(encode(place, self._cfg.place_count_bits)),
                cache.result_masks[port].eq(result.mask),
            ]
        m.d.comb += [
            cache.result_data.eq(self.result_data),
            places.stored.eq(cache.accept),
            parked.places.eq(location.result_places),
            self.result_accept.eq(cache.accept | parked.accept),
        ]

    def _transfer(self, m: Module, places: Places, transfers: Transfers, parked: ParkedResults) -> None:
        """What has to be moved, and when it is done."""
        m.d.comb += [
            *(getattr(transfers, name).eq(getattr(places, name)) for name in ("steps", "homes", "out")),
            places.working.eq(transfers.working),
            parked.busy.eq(~transfers.latch_free),
            transfers.parking.eq(parked.main),
            transfers.parked.eq(parked.main_used),
            transfers.parked_row.eq(parked.row),
            transfers.parked_last.eq(parked.beat[-1]),
        ]

    def _move(self, m: Module, transfers: Transfers, cache: CacheBanks, parked: ParkedResults, main: MainBanks) -> None:
        """Values between cache and main banks."""
        moved = (
            "latches",
            "read",
            "write",
            "main_rows",
            "receivers",
            "fill_beats",
            "received",
            "senders",
            "back_beats",
        )
        m.d.comb += [
            cache.load.eq(transfers.reads),
            cache.load_first.eq(transfers.first),
            cache.load_rows.eq(transfers.load_rows),
            cache.store.eq(transfers.stores),
            cache.store_rows.eq(transfers.store_rows),
            transfers.loaded.eq(cache.loaded),
            *(getattr(main, name).eq(getattr(transfers, name)) for name in moved),
            *(getattr(main, name).eq(getattr(parked, name)) for name in ("port", "beat")),
            main.result_masks.eq(Cat(result.mask for result in self.results)),
            main.result_data.eq(self.result_data),
            main.cache_data.eq(cache.read_data),
            cache.staged.eq(main.staged),
        ]

    def _fail(self, m: Module, places: Places, cache: CacheBanks) -> None:
        """Errors: they stay set until reset."""
        wrong = places.check_missing | (cache.accept & ~places.result_found).any() | places.starved.any()
        with m.If(wrong):
            m.d.sync += self.error.eq(1)

    def _observe(
        self, m: Module, places: Places, transfers: Transfers, cache: CacheBanks, parked: ParkedResults
    ) -> None:
        one = ("start", "recalled", "working_set", "save", "step_register", *STEPS)
        one += ("live_set",) if self._cfg.liveness else ()
        filling = Cat(beat.any() for beat in transfers.received)
        m.d.comb += [
            *(getattr(self, name).eq(getattr(places, name)) for name in one),
            *(getattr(self, name).eq(getattr(transfers, name)) for name in SEEN),
            self.main_beat.eq(Cat(filling, *(beat.any() for beat in transfers.back_beats), parked.beat.any())),
            self.place_state.eq(places.state),
            self.bank_occupied.eq(places.occupied),
            self.enter.eq(places.enters),
            self.channel_read.eq(cache.loaded),
            self.channel_write.eq(transfers.stores),
            self.cache_write.eq(cache.accept),
            self.parked.eq(parked.start),
            self.released_place.eq(places.released),
        ]
