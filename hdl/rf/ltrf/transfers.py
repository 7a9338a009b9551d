"""Which transfer starts in a cycle, and the channels that make them (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, any_of, decode, encode, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.ltrf.channel import Channel
from warpfile.hdl.rf.ltrf.pending import candidate_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import IDLE, LtrfConfig


class TransferArbiter(wiring.Component):
    """Of the places whose candidate fits, the first at or after the pointer.

    Members
    -------
    valid : In(active_warps), candidates : In(ArrayLayout)   By place.
    idle : In(interval_registers)   Channels without a transfer.
    busy, parking : In(banks)       Main banks that are in use, and the one that a parked result starts to use.
    grant : Out(active_warps)       One-hot in the same cycle; zero if none fits.
    unfit : Out(active_warps)       Places whose candidate does not fit.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places = cfg.active_warps
        super().__init__(
            {
                "valid": In(places),
                "candidates": In(data.ArrayLayout(candidate_layout(cfg), places)),
                "idle": In(cfg.interval_registers),
                "busy": In(cfg.banks),
                "parking": In(cfg.banks),
                "grant": Out(places),
                "unfit": Out(places),
            }
        )

    def elaborate(self, platform) -> Module:
        """What is known early first: a parked result is found in the same cycle."""
        m = Module()
        fits = []
        for number, candidate in enumerate(self.candidates):
            main = named(m, f"main{number}", decode(candidate.place.bank, self._cfg.banks))
            bank = decode(candidate.bank, self._cfg.interval_registers)
            early = named(m, f"early{number}", (bank & self.idle).any() & ~(main & self.busy).any())
            fits.append(self.valid[number] & early & ~(main & self.parking).any())
        m.submodules.round_robin = turns = RoundRobin(len(fits))
        m.d.comb += [
            turns.requests.eq(Cat(fits)),
            turns.taken.eq(self.grant.any()),
            self.grant.eq(turns.grant),
            self.unfit.eq(self.valid & ~turns.requests),
        ]
        return m


class Transfers(wiring.Component):
    """Arbiter and channels.

    Members
    -------
    valid, candidates, parking, grant, unfit   As in :class:`TransferArbiter`.
    granted : Out(candidate_layout(cfg))   The transfer that starts; zero if none.
    resting : In(banks)          Main banks that a parked result has reserved or keeps busy.
    busy : Out(banks)            Main banks that are in use.
    working : Out(active_warps)  Places that some channel works for.
    served : In(interval_registers)   Channels whose access to the cache is made.
    phase : Out(ArrayLayout)     By bank of the cache, as what follows: :data:`IDLE` and the others.
    reads, writes : Out(banks of the cache)   Channels that ask to read, or to write, their row of the cache.
    first : Out(banks of the cache)   Those of them that go before all others.
    latches : Out(banks of the cache)   Channels whose staging register takes what the cache has read.
    fills, main_read : Out(banks of the cache)   Channels with a fill, and those whose main bank starts to read.
    rows, main_rows, beats, mains : Out(ArrayLayout)   Row in the cache, row in the main bank, beat, main bank.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places, banks = cfg.active_warps, cfg.interval_registers
        super().__init__(
            {
                "valid": In(places),
                "candidates": In(data.ArrayLayout(candidate_layout(cfg), places)),
                "parking": In(cfg.banks),
                "grant": Out(places),
                "unfit": Out(places),
                "granted": Out(candidate_layout(cfg)),
                "resting": In(cfg.banks),
                "busy": Out(cfg.banks),
                "working": Out(places),
                "served": In(banks),
                "phase": Out(data.ArrayLayout(3, banks)),
                **{name: Out(banks) for name in ("reads", "writes", "first", "latches", "fills", "main_read")},
                "rows": Out(data.ArrayLayout(cfg.place_count_bits, banks)),
                "main_rows": Out(data.ArrayLayout(cfg.row_bits, banks)),
                "beats": Out(data.ArrayLayout(cfg.crossbar_beats, banks)),
                "mains": Out(data.ArrayLayout(cfg.banks, banks)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The arbiter, then a channel for every bank of the cache."""
        m = Module()
        m.submodules.arbiter = arbiter = TransferArbiter(self._cfg)
        place = named(m, "granted_place", encode(self.grant, self._cfg.place_count_bits))
        channels = [self._channel(m, number, place) for number in range(self._cfg.interval_registers)]
        m.d.comb += [
            arbiter.valid.eq(self.valid),
            arbiter.candidates.eq(self.candidates),
            arbiter.idle.eq(Cat(channel.phase == IDLE for channel in channels)),
            arbiter.busy.eq(self.busy),
            arbiter.parking.eq(self.parking),
            self.grant.eq(arbiter.grant),
            self.unfit.eq(arbiter.unfit),
            self.granted.eq(select(self.grant, [candidate.as_value() for candidate in self.candidates])),
            self.busy.eq(any_of((self.resting, *(channel.main_used for channel in channels)))),
            self.working.eq(any_of(channel.place_used for channel in channels)),
        ]
        return m

    def _channel(self, m: Module, number: int, place: Value) -> wiring.PureInterface:
        channel = stamp(m, f"channel{number}", "channel", lambda: Channel(self._cfg))
        mine = Cat(candidate.bank == number for candidate in self.candidates)
        m.d.comb += [
            channel.start.eq((self.grant & mine).any()),
            channel.back.eq(self.granted.back),
            channel.place.eq(place),
            channel.main.eq(self.granted.place.bank),
            channel.row.eq(self.granted.place.row),
            channel.served.eq(self.served[number]),
            *self._shown(number, channel),
        ]
        return channel

    def _shown(self, number: int, channel: wiring.PureInterface) -> list[Value]:
        bits = ("reads", "writes", "first", "latches", "fills", "main_read")
        words = {
            "phase": channel.phase,
            "rows": channel.row_used,
            "main_rows": channel.main_row,
            "beats": channel.beat,
            "mains": channel.main_used,
        }
        return [
            *(getattr(self, name)[number].eq(getattr(channel, name)) for name in bits),
            *(getattr(self, name)[number].eq(value) for name, value in words.items()),
        ]
