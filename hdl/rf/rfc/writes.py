"""Results and flushed lines in flight into the cache and into the queues (docs/schemes/rfc.md, steps 1 and 3)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, highest_one, select
from warpfile.hdl.beat import result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.rfc.location import FULL, LOOK_UPS
from warpfile.hdl.rf.rfc.ports import ReadPorts
from warpfile.hdl.rf.rfc.queued_banks import WRITERS
from warpfile.hdl.rf.rfc.results import LONG_LOOKUP, SHORT_LOOKUP, LongResult, ShortResult
from warpfile.hdl.rf.rfc.write_queue import queue_sources
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig
from warpfile.spec.stimulus import Origin

#: Of a result, what decides over it.
RESULT_FIELDS = ("warp", "register", "full", "origin", "hints")
#: What the directory says, and what it is told.
FROM_DIRECTORY = (*SHORT_LOOKUP, *(f"long_{name}" for name in LONG_LOOKUP), "flush_wanted", "flush_barred")
TO_DIRECTORY = (
    *("short_warp", "short_register", "write_hit", "take", "long_warp", "long_register", "merge", "drop_long"),
    *("would_merge", "would_drop", "flush_sent", "victim_port", "flush_port"),
)
#: What the banks' queues are told.
TO_QUEUES = ("push", "claims", "push_places", "push_sources")
#: Observed, one bit per write-back port.
RESULT_OUTPUTS = (
    *("cache_write", "cache_write_hit", "bypass_hint", "bypass_partial", "bypass_full"),
    *("long", "long_merge", "long_drop"),
)


def fields_layout(cfg: RfcConfig) -> data.StructLayout:
    """``RESULT_FIELDS`` of one result."""
    return data.StructLayout({name: result_layout(cfg)[name].width for name in RESULT_FIELDS})


class CacheWrites(wiring.Component):
    """Of the results of a cycle one short and one long one are considered, then one line to be flushed.

    Combinational. Each may send one entry to the queue of a bank; to one bank only the first of them does.

    Members
    -------
    valid : In(ports), results : In(ArrayLayout)   Results with a register.
    accept : Out(ports)                            In the same cycle.
    FROM_DIRECTORY : In, TO_DIRECTORY : Out        As in :class:`hdl.rf.rfc.directory.CacheDirectory`.
    full : In(banks), short_full, victim_full : In(1)   Queues without room; whether those of these two are.
    short_place, victim_place, long_place, flush_place : In(location_layout(cfg))   Where their registers live.
    reads : In(READ_PORTS)                         Read ports that source slots use.
    push, claims, push_places, push_sources : Out  To the queues, as in
                                                   :class:`hdl.rf.rfc.queued_banks.QueuedBanks`.
    writer : Out(ports)                            Result that is written into a line, one-hot.
    RESULT_OUTPUTS : Out(ports) each, evict, evict_dead : Out(1)   Observed.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        flags = ("write_hit", "take", "merge", "drop_long", "would_merge", "would_drop", "flush_sent")
        flags += ("evict", "evict_dead")
        super().__init__(
            {
                "valid": In(ports),
                "results": In(data.ArrayLayout(fields_layout(cfg), ports)),
                "accept": Out(ports),
                **{name: In(1) for name in FROM_DIRECTORY},
                **{f"{name}_warp": Out(cfg.warp_bits) for name in ("short", "long")},
                **{f"{name}_register": Out(cfg.register_bits) for name in ("short", "long")},
                **{name: Out(1) for name in flags},
                **{name: Out(READ_PORTS) for name in ("victim_port", "flush_port")},
                "full": In(cfg.banks),
                **{name: In(1) for name in FULL},
                **{f"{name}_place": In(location_layout(cfg)) for name in LOOK_UPS},
                "reads": In(READ_PORTS),
                "push": Out(len(WRITERS)),
                "claims": Out(len(WRITERS) - 1),
                "push_places": Out(places_layout(cfg, len(WRITERS))),
                "push_sources": Out(data.ArrayLayout(queue_sources(cfg), len(WRITERS))),
                "writer": Out(ports),
                **{name: Out(ports) for name in RESULT_OUTPUTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Short result, long result, flush."""
        m = Module()
        m.submodules.short_result = short = ShortResult()
        m.submodules.long_result = long = LongResult()
        m.submodules.read_ports = ports = ReadPorts()
        bypass = int(self._cfg.long_results == "bypass")
        far = named(m, "far", Cat((result.origin >= Origin.HIT.value) & bypass for result in self.results))
        short_port = self._short(m, short, ports, self.valid & ~far)
        long_port = self._long(m, long, short, self.valid & far)
        self._flush(m, short, long, ports)
        self._queues(m, short, long, ports, short_port, long_port)
        self._report(m, short, long, short_port, long_port)
        return m

    def _candidate(self, m: Module, name: str, wanted: Value) -> tuple[Value, data.View]:
        """The result on the highest of the wanted ports: its port, one-hot, and its fields."""
        chosen = named(m, f"{name}_chosen", highest_one(wanted))
        result = Signal(fields_layout(self._cfg), name=f"{name}_result")
        m.d.comb += result.eq(select(chosen, [one.as_value() for one in self.results]))
        m.d.comb += [
            getattr(self, f"{name}_warp").eq(result.warp),
            getattr(self, f"{name}_register").eq(result.register),
        ]
        return chosen, result

    def _short(self, m: Module, short: ShortResult, ports: ReadPorts, wanted: Value) -> Value:
        chosen, result = self._candidate(m, "short", wanted)
        places = [place.as_value() for place in (self.short_place, self.victim_place)]
        gone = named(m, "victim_goes", Cat(~short.wants_victim, short.wants_victim))
        m.d.comb += [getattr(short, name).eq(getattr(self, name)) for name in SHORT_LOOKUP]
        m.d.comb += [
            short.valid.eq(chosen.any()),
            short.full.eq(Const(1) if self._cfg.keeps_lanes else result.full),
            short.hinted.eq(result.hints[self._cfg.hint_at("no_allocate")] & int(self._cfg.allocation == "hinted")),
            short.port.eq(ports.victim_left),
            short.own_full.eq(self.short_full),
            short.victim_full.eq(self.victim_full),
            ports.reads.eq(self.reads),
            ports.evict.eq(short.evict),
            self.push_places[0].as_value().eq(select(gone, places)),
        ]
        return chosen

    def _long(self, m: Module, long: LongResult, short: ShortResult, wanted: Value) -> Value:
        chosen, result = self._candidate(m, "long", wanted)
        m.d.comb += [
            long.valid.eq(chosen.any()),
            long.full.eq(result.full),
            *(getattr(long, name).eq(getattr(self, f"long_{name}")) for name in LONG_LOOKUP),
            long.taken.eq(short.take),
            long.written.eq(short.write_hit),
            long.queue_full.eq(self._full(self.long_place)),
            long.queue_taken.eq(short.claims & (self.push_places[0].bank == self.long_place.bank)),
        ]
        return chosen

    def _flush(self, m: Module, short: ShortResult, long: LongResult, ports: ReadPorts) -> None:
        taken = [
            result.claims & (place.bank == self.flush_place.bank)
            for result, place in zip((short, long), self.push_places, strict=False)
        ]
        free = ~self._full(self.flush_place) & ~any_of(taken)
        m.d.comb += [
            self.flush_sent.eq(self.flush_wanted & ports.flush_left & free & ~self.flush_barred),
            ports.flush.eq(self.flush_wanted),
            self.victim_port.eq(ports.victim_port),
            self.flush_port.eq(ports.flush_port),
        ]

    def _full(self, place: data.View) -> Value:
        return (self.full & decode(place.bank, self._cfg.banks)).any()

    def _queues(
        self, m: Module, short: ShortResult, long: LongResult, ports: ReadPorts, short_port: Value, long_port: Value
    ) -> None:
        """An entry's data come from a write-back port, or from the read port that has the victim or the line."""
        own = short_port & (~short.wants_victim).replicate(len(short_port))
        sources = [Cat(own, ports.victim_port), long_port, Cat(Const(0, self._cfg.write_ports), ports.flush_port)]
        m.d.comb += [
            self.push.eq(Cat(short.queues, long.queues, self.flush_sent)),
            self.claims.eq(Cat(short.claims, long.claims)),
            self.push_places[1].eq(self.long_place),
            self.push_places[2].eq(self.flush_place),
            *(self.push_sources[writer].eq(source) for writer, source in enumerate(sources)),
        ]

    def _report(self, m: Module, short: ShortResult, long: LongResult, short_port: Value, long_port: Value) -> None:
        """To the write-back ports, to the directory, and to the observers."""
        written = named(m, "line_written", short.write_hit | short.take)
        of_short = {name: getattr(short, name) for name in ("bypass_hint", "bypass_partial", "bypass_full")}
        of_long = {"long": long.queues, "long_merge": long.merge, "long_drop": long.drop}
        for port, events in ((short_port, of_short), (long_port, of_long)):
            m.d.comb += [getattr(self, name).eq(port & event.replicate(len(port))) for name, event in events.items()]
        merged = long_port & long.merge.replicate(len(long_port))
        for name, event in {"cache_write": written, "cache_write_hit": short.write_hit}.items():
            m.d.comb += getattr(self, name).eq((short_port & event.replicate(len(short_port))) | merged)
        m.d.comb += [
            self.accept.eq(
                (short_port & short.accept.replicate(len(short_port)))
                | (long_port & long.accept.replicate(len(long_port)))
            ),
            self.writer.eq(self.cache_write),
            *(getattr(self, name).eq(getattr(short, name)) for name in ("write_hit", "take", "evict", "evict_dead")),
            self.merge.eq(long.merge),
            self.drop_long.eq(long.drop),
            self.would_merge.eq(long.would_merge),
            self.would_drop.eq(long.would_drop),
        ]
