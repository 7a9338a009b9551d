"""Banks alone, whatever the rule that says where a register lives; results go to their banks at once."""

from collections.abc import Callable

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from warpfile.hdl.rf.banks import Banks
from warpfile.hdl.rf.completion import complete, complete_varying
from warpfile.hdl.rf.contract import LANE_MAJOR, Members, engine_members, file_members
from warpfile.hdl.rf.engines import Engines
from warpfile.hdl.rf.read_side import join_reads
from warpfile.spec.config import Config

#: How many cycles an access of a bank and row takes, from 1 to ``cfg.gives.cycles``.
Length = Callable[[Value, Value], Value]


class PlainFile(wiring.Component):
    """Banks with their crossbars, around a component with the ports of :class:`hdl.rf.location.Location`.

    If the file has engines of its own (``cfg.gives.engines``), the location drives them: it also has the ports of
    :func:`hdl.rf.contract.engine_members` for them, flipped. It holds their requests in registers.

    Ports: :func:`file_members`, and ``probes``. Places are known at once. An access takes ``bank_cycles``, or what
    the rule ``length`` gives for its place in the cycle of its grant. It takes every launch, holds no warp, and lets go
    of places of the scheduler at once, because it keeps nothing of a warp but what the location knows.
    """

    def __init__(
        self,
        cfg: Config,
        location: wiring.Component,
        probes: Members | None = None,
        length: Length | None = None,
    ) -> None:
        self._cfg = cfg
        self._location = location
        self._length = length if cfg.gives.cycles > 1 else None
        super().__init__({**file_members(cfg), **(probes or {})})

    def elaborate(self, platform) -> Module:
        """Location and banks, joined."""
        m = Module()
        m.submodules.location = location = self._location
        engines = (*self._cfg.gives.engines, *self._cfg.asks.engines)
        m.submodules.banks = banks = self._make_banks(engines)
        m.d.comb += self.launch_ready.eq(1)
        self._locate(m, location)
        self._read(m, banks)
        self._engines(m, location, banks, engines)
        self._write(m, location, banks)
        self._complete(m, location, banks)
        if self._cfg.has_places:
            m.d.comb += self.released.eq(self.release)
        return m

    def _make_banks(self, engines: Engines) -> Banks:
        return Banks(self._cfg, engines, self._length is not None)

    def _complete(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        if self._length is None:
            complete(m, self._cfg, self, self._cfg.bank_cycles)
        else:
            self._vary(m, location, banks)

    def _locate(self, m: Module, location: wiring.Component) -> None:
        m.d.comb += [location.launch_valid.eq(self.launch_valid), location.launch.eq(self.launch)]
        if self._cfg.asks.sources:
            m.d.comb += [
                location.warp.eq(self.offer_warp),
                location.sources.eq(self.offer.sources),
                self.source_places.eq(location.source_places),
            ]
        if self._cfg.asks.lookups:
            m.d.comb += [
                location.lookup_registers.eq(self.lookup_registers),
                self.lookup_places.eq(location.lookup_places),
            ]

    def _read(self, m: Module, banks: Banks) -> None:
        join_reads(m, self, banks)
        m.d.comb += [cycles.eq(self._cfg.bank_cycles) for cycles in self.cycles if self._length is None]

    def _engines(self, m: Module, location: wiring.Component, banks: Banks, engines: Engines) -> None:
        """The clients of the file's own engines, which the location drives, and behind them those of the collectors."""
        own, asked = (engine_members(self._cfg, part.engines) for part in (self._cfg.gives, self._cfg.asks))
        for name, member in engine_members(self._cfg, engines).items():
            outer = [getattr(part, name) for part, members in ((location, own), (self, asked)) if name in members]
            pieces = list if name in LANE_MAJOR and len(outer) > 1 else lambda port: [port]
            for clients, *parts in zip(pieces(getattr(banks, name)), *map(pieces, outer), strict=True):
                joined = Cat(*parts)
                m.d.comb += clients.eq(joined) if member.flow is In else joined.eq(clients)

    def _write(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        self._accept(m, banks)
        m.d.comb += [
            banks.result_places.eq(location.result_places),
            banks.result_data.eq(self.result_data),
        ]
        for port, result in enumerate(self.results):
            m.d.comb += [
                location.result_warps[port].eq(result.warp),
                location.result_registers[port].eq(result.register),
                banks.result_masks[port].eq(result.mask),
            ]
            if self._cfg.asks.result_banks:
                m.d.comb += self.result_banks[port].eq(location.result_places[port].bank)

    def _accept(self, m: Module, banks: Banks) -> None:
        """Every result goes to its bank."""
        m.d.comb += [banks.result_valid.eq(self.result_store), self.result_accept.eq(banks.accept)]

    def _vary(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        """How long every access that is asked for would take."""
        m.d.comb += [
            cycles.eq(self._length_of(place)) for cycles, place in zip(self.cycles, self.request_places, strict=True)
        ]
        m.d.comb += banks.lengths.eq(self.cycles)
        places = [(banks.result_lengths, location.result_places)]
        if hasattr(banks, "engine_lengths"):
            places.append((banks.engine_lengths, banks.engine_places))
        for lengths, asked in places:
            m.d.comb += [length.eq(self._length_of(place)) for length, place in zip(lengths, asked, strict=True)]
        complete_varying(m, self._cfg, self, list(banks.result_lengths))

    def _length_of(self, place: data.View) -> Value:
        assert self._length is not None
        return self._length(place.bank, place.row)
