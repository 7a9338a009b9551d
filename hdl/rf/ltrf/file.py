"""The register file with a prefetched cache (docs/schemes/ltrf.md)."""

from amaranth import Cat, Module

from warpfile.hdl.rf.ltrf.around import FileAround
from warpfile.hdl.rf.ltrf.banks.file import BankedFile
from warpfile.hdl.rf.ltrf.cache import CacheBanks
from warpfile.hdl.rf.ltrf.main_banks import MainBanks
from warpfile.hdl.rf.ltrf.parked import ParkedResults
from warpfile.hdl.rf.ltrf.places import PLACE_OUTPUTS, CachePlaces
from warpfile.hdl.rf.ltrf.transfers import Transfers
from warpfile.spec.schemes.ltrf import LtrfConfig


def prefetched_file(cfg: LtrfConfig) -> FileAround:
    """The file with the engine that ``cfg`` asks for."""
    return (BankedFile if cfg.by_banks else PrefetchedFile)(cfg)


class PrefetchedFile(FileAround):
    """Slow banks behind a cache with a part per active warp; one transfer starts in a cycle (``engine`` = ``serial``).

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.ltrf.ltrf_probes`.
    """

    def _places(self) -> CachePlaces:
        return CachePlaces(self._cfg)

    def _transfers(self) -> Transfers:
        return Transfers(self._cfg)

    def _main(self) -> MainBanks:
        return MainBanks(self._cfg)

    def _transfer(self, m: Module, places: CachePlaces, transfers: Transfers, parked: ParkedResults) -> None:
        """Which transfers start, and for whom."""
        m.d.comb += [
            transfers.valid.eq(places.valid),
            transfers.candidates.eq(places.candidates),
            transfers.parking.eq(parked.main),
            transfers.resting.eq(parked.resting),
            parked.busy.eq(transfers.busy),
            places.granted.eq(transfers.grant),
            places.working.eq(transfers.working),
        ]

    def _move(self, m: Module, transfers: Transfers, cache: CacheBanks, parked: ParkedResults, main: MainBanks) -> None:
        """Values between cache and main banks."""
        moved = ("fills", "latches", "main_read", "beats", "mains", "main_rows")
        m.d.comb += [
            cache.load.eq(transfers.reads),
            cache.store.eq(transfers.writes),
            Cat(cache.load_first, cache.store_first).eq(transfers.first.replicate(2)),
            cache.load_rows.eq(transfers.rows),
            cache.store_rows.eq(transfers.rows),
            transfers.served.eq(cache.loaded | cache.stored),
            *(getattr(main, name).eq(getattr(transfers, name)) for name in moved),
            *(getattr(main, name).eq(getattr(parked, name)) for name in ("port", "beat", "main_used", "row")),
            main.result_masks.eq(Cat(result.mask for result in self.results)),
            main.result_data.eq(self.result_data),
            main.cache_data.eq(cache.read_data),
            cache.staged.eq(main.staged),
        ]

    def _observe(
        self, m: Module, places: CachePlaces, transfers: Transfers, cache: CacheBanks, parked: ParkedResults
    ) -> None:
        super()._observe(m, places, transfers, cache, parked)
        m.d.comb += [
            *(getattr(self, name).eq(getattr(places, name)) for name in ("save_set", "step_register", *PLACE_OUTPUTS)),
            self.bank_free.eq(places.free),
            self.channel_phase.eq(transfers.phase),
            self.main_busy.eq(transfers.busy),
            self.transfer.eq(transfers.grant),
            self.transfer_back.eq(transfers.granted.back),
            self.transfer_register.eq(transfers.granted.register),
            self.unfit.eq(transfers.unfit),
            self.main_beat.eq(Cat(*(beat.any() for beat in transfers.beats), parked.beat.any())),
        ]
