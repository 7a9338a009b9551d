"""Banks alone, whatever the rule that says where a register lives; results go to their banks at once."""

from collections.abc import Callable

from amaranth import Module, Value
from amaranth.lib import data, wiring

from warpfile.hdl.rf.banks import Banks
from warpfile.hdl.rf.completion import complete, complete_varying
from warpfile.hdl.rf.contract import Members, engine_members, file_members
from warpfile.spec.config import Config

#: How many cycles an access of a bank and row takes, from 1 to ``cfg.gives.cycles``.
Length = Callable[[Value, Value], Value]


class PlainFile(wiring.Component):
    """Banks with their crossbars, around a component with the ports of :class:`hdl.rf.location.Location`.

    Ports: :func:`file_members`, and ``probes``. Places are known at once. An access takes ``bank_cycles``, or what
    the rule ``length`` says of its place in the cycle of its grant. It takes every launch, holds no warp, and lets go
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
        m.submodules.banks = banks = Banks(self._cfg, self._cfg.asks.engines, self._length is not None)
        m.d.comb += self.launch_ready.eq(1)
        self._locate(m, location)
        self._read(m, banks)
        self._write(m, location, banks)
        if self._length is None:
            complete(m, self._cfg, self, self._cfg.bank_cycles)
        else:
            self._vary(m, location, banks)
        if self._cfg.scheduler == "two_level":
            m.d.comb += self.released.eq(self.release)
        return m

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
        m.d.comb += [
            banks.requests.eq(self.requests),
            banks.places.eq(self.request_places),
            banks.older.eq(self.older),
            self.grant.eq(banks.grant),
            self.fill.eq(banks.fill),
            self.fill_data.eq(banks.fill_data),
            *(cycles.eq(self._cfg.bank_cycles) for cycles in self.cycles if self._length is None),
        ]
        for name, member in engine_members(self._cfg, self._cfg.asks.engines).items():
            inner, outer = getattr(banks, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow is wiring.In else outer.eq(inner)

    def _write(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        m.d.comb += [
            banks.result_valid.eq(self.result_store),
            banks.result_places.eq(location.result_places),
            banks.result_data.eq(self.result_data),
            self.result_accept.eq(banks.accept),
        ]
        for port, result in enumerate(self.results):
            m.d.comb += [
                location.result_warps[port].eq(result.warp),
                location.result_registers[port].eq(result.register),
                banks.result_masks[port].eq(result.mask),
            ]
            if self._cfg.asks.result_banks:
                m.d.comb += self.result_banks[port].eq(location.result_places[port].bank)

    def _vary(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        """How long every access that is asked for would take."""
        m.d.comb += [
            cycles.eq(self._length_of(place)) for cycles, place in zip(self.cycles, self.request_places, strict=True)
        ]
        m.d.comb += banks.lengths.eq(self.cycles)
        places = [(banks.result_lengths, location.result_places)]
        if self._cfg.asks.engines:
            places.append((banks.engine_lengths, self.engine_places))
        for lengths, asked in places:
            m.d.comb += [length.eq(self._length_of(place)) for length, place in zip(lengths, asked, strict=True)]
        complete_varying(m, self._cfg, self, list(banks.result_lengths))

    def _length_of(self, place: data.View) -> Value:
        assert self._length is not None
        return self._length(place.bank, place.row)
