"""The register file whose banks move registers by themselves (docs/schemes/ltrf.md, section 14)."""

from amaranth import Cat, Module

from warpfile.hdl.rf.ltrf.around import FileAround
from warpfile.hdl.rf.ltrf.banks.engine import BankEngine
from warpfile.hdl.rf.ltrf.banks.main_banks import LatchedBanks
from warpfile.hdl.rf.ltrf.banks.places import STEPS, BankPlaces
from warpfile.hdl.rf.ltrf.cache import CacheBanks
from warpfile.hdl.rf.ltrf.parked import ParkedResults

#: Probes that the engine has by their names.
SEEN = ("out_valid", "in_valid", "in_asked", "fill_asks", "fill_place", "back_phase", "back_place", "latch_state")
SEEN += ("main_busy", "fill_pick", "fill_grant", "back_pick", "back_grant", "unfit", "main_write")


class BankedFile(FileAround):
    """Slow banks behind a cache with a part per active warp; every bank moves registers (``engine`` = ``banks``).

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.ltrf.ltrf_probes`.
    """

    def _places(self) -> BankPlaces:
        return BankPlaces(self._cfg)

    def _transfers(self) -> BankEngine:
        return BankEngine(self._cfg)

    def _main(self) -> LatchedBanks:
        return LatchedBanks(self._cfg)

    def _transfer(self, m: Module, places: BankPlaces, transfers: BankEngine, parked: ParkedResults) -> None:
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

    def _move(
        self, m: Module, transfers: BankEngine, cache: CacheBanks, parked: ParkedResults, main: LatchedBanks
    ) -> None:
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
            cache.store_first.eq(transfers.stores),
            cache.store_rows.eq(transfers.store_rows),
            transfers.loaded.eq(cache.loaded),
            *(getattr(main, name).eq(getattr(transfers, name)) for name in moved),
            *(getattr(main, name).eq(getattr(parked, name)) for name in ("port", "beat")),
            main.result_masks.eq(Cat(result.mask for result in self.results)),
            main.result_data.eq(self.result_data),
            main.cache_data.eq(cache.read_data),
            cache.staged.eq(main.staged),
        ]

    def _observe(
        self, m: Module, places: BankPlaces, transfers: BankEngine, cache: CacheBanks, parked: ParkedResults
    ) -> None:
        super()._observe(m, places, transfers, cache, parked)
        filling = Cat(beat.any() for beat in transfers.received)
        m.d.comb += [
            *(getattr(self, name).eq(getattr(places, name)) for name in ("step_register", *STEPS)),
            *(getattr(self, name).eq(getattr(transfers, name)) for name in SEEN),
            self.main_beat.eq(Cat(filling, *(beat.any() for beat in transfers.back_beats), parked.beat.any())),
        ]
