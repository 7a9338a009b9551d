"""Queues of beats of variable latency, whose heads read what the window leaves (sections 7.3 and 7.6)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.collectors.read_window.beats import banks_of, queued_layout
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

QUEUES = 2


class VariableQueue(wiring.Component):
    """One queue: the beats that are issued for it and not dispatched. The oldest, its head, reads and is dispatched.

    Members
    -------
    issue : In(1)                    A beat for it issues, and takes a place.
    push : In(1), beat : In(queued_layout(cfg))   A beat comes from Control; the user pushes what has a place.
    fetch : In(banks), ready : In(1) Banks that serve the head; its execution port takes it.
    room : Out(1)                    There is a place.
    valid : Out(depth), beats : Out(ArrayLayout)   All entries, the oldest first.
    left : Out(slots)                Slots of the head that have yet to be read.
    want : Out(banks), rows : Out(ArrayLayout)   Banks that the head asks for, and the row.
    arrived : Out(slots)             Slots of the head that were read in the cycle before.
    read : Out(1)                    The head is presented.
    counts : Out(1), barrier : Out(3)   The read barrier of the head counts down, and which one that is; only with
                                     ``control_codes``.
    """

    def __init__(self, cfg: ReadWindowConfig, depth: int) -> None:
        self._cfg, self._depth = cfg, depth
        slots, layout = cfg.source_slots, queued_layout(cfg)
        super().__init__(
            {
                **{name: In(1) for name in ("issue", "push", "ready")},
                "beat": In(layout),
                "fetch": In(BANKS),
                **{name: Out(1) for name in ("room", "read")},
                "valid": Out(depth),
                "beats": Out(data.ArrayLayout(layout, depth)),
                **{name: Out(slots) for name in ("left", "arrived")},
                "want": Out(BANKS),
                "rows": Out(data.ArrayLayout(cfg.row_bits, BANKS)),
                **({"counts": Out(1), "barrier": Out(3)} if cfg.codes else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """Places, entries, and how far the head is."""
        m = Module()
        pop = named(m, "pop", self.read & self.ready)
        taken = Signal(range(self._depth + 1))
        m.d.sync += taken.eq(taken + self.issue - pop)
        m.d.comb += self.room.eq(taken != self._depth)
        waits = self._entries(m, pop)
        ends = self._head(m, pop, self.valid[0] & ~waits[0].any())
        if self._cfg.codes:
            m.d.comb += [self.counts.eq(ends), self.barrier.eq(self.beats[0].read_barrier)]
        return m

    def _entries(self, m: Module, pop: Value) -> list[Signal]:
        """A shift register that is filled from the front; returns the wait counts."""
        delay, depth = self._cfg.variable_delay - 2, self._depth
        waits = [Signal(range(delay + 1), name=f"wait{number}", reset_less=True) for number in range(depth)]
        entries = [Signal(queued_layout(self._cfg), name=f"entry{n}", reset_less=True) for n in range(depth)]
        stays = named(m, "stays", Mux(pop, self.valid >> 1, self.valid))
        place = named(m, "place", ~stays & Cat(Const(1, 1), stays)[:depth] & self.push.replicate(depth))
        m.d.sync += self.valid.eq(stays | place)
        for number, (wait, entry) in enumerate(zip(waits, entries, strict=True)):
            behind = min(number + 1, depth - 1)
            moved = Mux(pop, waits[behind], wait)
            m.d.comb += self.beats[number].eq(entry)
            m.d.sync += wait.eq(Mux(moved.any(), moved - 1, 0))
            with m.If(place[number]):
                m.d.sync += wait.eq(delay)
            comes = place[number], [self.beat.as_value()]
            take(m, self._cfg, f"entry{number}", [entry.as_value()], comes, (pop, [entries[behind].as_value()]))
        return waits

    def _head(self, m: Module, pop: Value, starts: Value) -> Value:
        """Slot by slot; returns whether the last one is read in this cycle."""
        got, head = Signal(self._cfg.source_slots), self.beats[0]
        banks = Cat(banks_of(head.registers))
        taken = []
        m.d.comb += self.left.eq(head.source_valid & ~got)
        for bank in range(BANKS):
            here = self.left & (banks if bank else ~banks)
            first = named(m, f"first{bank}", lowest_one(here))
            m.d.comb += [
                self.want[bank].eq(starts & here.any()),
                self.rows[bank].eq(select(first, list(head.rows))),
            ]
            taken.append(first & self.fetch[bank].replicate(len(first)))
        takes = named(m, "takes", any_of(taken))
        ends = named(m, "ends", starts & ~self.read & ~(self.left & ~takes).any())
        m.d.sync += [self.arrived.eq(takes), got.eq(Mux(pop, 0, got | takes)), self.read.eq(~pop & (self.read | ends))]
        return ends


class VariableQueues(wiring.Component):
    """Both queues, and which of them a bank serves.

    Members (queue 0: LSU, 1: SFU)
    -------
    issue, push, ready : In(queues), beat : In(queued_layout(cfg))   See :class:`VariableQueue`.
    busy : In(ArrayLayout)           Per bank: ports that serve the window in this cycle.
    room, read : Out(queues), lsu_valid, lsu_beats, sfu_valid, sfu_beats, left, arrived : Out   Likewise.
    serve : Out(ArrayLayout), rows : Out(ArrayLayout)   Per bank: port that serves a head, one-hot, and what it reads.
    from_port : Out(ArrayLayout)     Per bank: port that served a head in the cycle before.
    fetch, fetch_wait : Out(4)       Bit queue * 2 + bank: the head is served; it asks and is not.
    counts : Out(queues), barriers : Out(ArrayLayout)   See :class:`VariableQueue`.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        slots, ports, layout = cfg.source_slots, cfg.read_ports, queued_layout(cfg)
        lsu, sfu = cfg.queue_depths
        self._several = ports > 1
        super().__init__(
            {
                **{name: In(QUEUES) for name in ("issue", "push", "ready")},
                "beat": In(layout),
                "busy": In(data.ArrayLayout(ports, BANKS)),
                **{name: Out(QUEUES) for name in ("room", "read")},
                "lsu_valid": Out(lsu),
                "lsu_beats": Out(data.ArrayLayout(layout, lsu)),
                "sfu_valid": Out(sfu),
                "sfu_beats": Out(data.ArrayLayout(layout, sfu)),
                **{name: Out(data.ArrayLayout(slots, QUEUES)) for name in ("left", "arrived")},
                "serve": Out(data.ArrayLayout(ports, BANKS)),
                "rows": Out(data.ArrayLayout(cfg.row_bits, BANKS)),
                **({"from_port": Out(data.ArrayLayout(ports, BANKS))} if self._several else {}),
                **{name: Out(QUEUES * BANKS) for name in ("fetch", "fetch_wait")},
                **({"counts": Out(QUEUES), "barriers": Out(data.ArrayLayout(3, QUEUES))} if cfg.codes else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """The queues, then the banks."""
        m = Module()
        depths = self._cfg.queue_depths
        m.submodules.lsu = lsu = VariableQueue(self._cfg, depths[0])
        m.submodules.sfu = sfu = VariableQueue(self._cfg, depths[1])
        for number, (name, queue) in enumerate((("lsu", lsu), ("sfu", sfu))):
            m.d.comb += [
                *(getattr(queue, one).eq(getattr(self, one)[number]) for one in ("issue", "push", "ready")),
                queue.beat.eq(self.beat),
                *(getattr(self, one)[number].eq(getattr(queue, one)) for one in ("room", "read", "left", "arrived")),
                getattr(self, f"{name}_valid").eq(queue.valid),
                getattr(self, f"{name}_beats").eq(queue.beats),
            ]
            if self._cfg.codes:
                m.d.comb += [self.counts[number].eq(queue.counts), self.barriers[number].eq(queue.barrier)]
        for bank in range(BANKS):
            self._serve(m, bank, (lsu, sfu))
        return m

    def _serve(self, m: Module, bank: int, queues: tuple[VariableQueue, VariableQueue]) -> None:
        """The lowest port that is left goes to a head; if both want it, they take turns."""
        turn = Signal(name=f"turn{bank}")
        port = named(m, f"port{bank}", lowest_one(~self.busy[bank]))
        want = named(m, f"want{bank}", Cat(queue.want[bank] for queue in queues))
        first = Mux(want.all(), Cat(~turn, turn), want)
        fetch = named(m, f"fetch{bank}", first & port.any().replicate(QUEUES))
        m.d.sync += turn.eq(turn ^ (want.all() & port.any()))
        m.d.comb += [
            self.serve[bank].eq(port & want.any().replicate(len(port))),
            self.rows[bank].eq(select(fetch, [queue.rows[bank] for queue in queues])),
        ]
        for number, queue in enumerate(queues):
            m.d.comb += [
                queue.fetch[bank].eq(fetch[number]),
                self.fetch[number * BANKS + bank].eq(fetch[number]),
                self.fetch_wait[number * BANKS + bank].eq(want[number] & ~fetch[number]),
            ]
        if self._several:
            m.d.sync += self.from_port[bank].eq(port)
