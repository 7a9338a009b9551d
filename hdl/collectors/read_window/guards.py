"""Which head beats may issue: what they wait for, and whether there is room (sections 7.5, 7.7, 8 and 9)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.read_window.beats import hint_of
from warpfile.hdl.collectors.read_window.dependences import WarpDependences
from warpfile.hdl.collectors.read_window.pending import IssuedDistances, WarpPending
from warpfile.hdl.collectors.read_window.stages import FIXED, Stages
from warpfile.hdl.naming import named
from warpfile.hdl.scoreboard import destination_mask
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.modern import BARRIERS, NO_BARRIER, ReadWindowConfig


class Guards:
    """What keeps every head beat from issuing; the frame has no scoreboard."""

    def __init__(self, m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages) -> None:
        self._m, self._cfg, self.collectors, self._stages = m, cfg, collectors, stages
        self.issues = named(m, "issues", collectors.offer_warp & stages.tick.replicate(cfg.warps))
        self.done = [self._done(port) for port in range(cfg.write_ports)]
        self.warps = [self._dependences(warp) for warp in range(cfg.warps)]
        collecting = self._under_way()
        m.d.comb += collectors.collecting.eq(collecting)
        m.d.comb += [one.under_way.eq(collecting[warp]) for warp, one in enumerate(self.warps)]
        self._room()
        more = self._codes() if cfg.codes else self._pending()
        m.d.comb += collectors.blocked.eq(Cat(one.blocked for one in self.warps) | more)

    def _done(self, port: int) -> Value:
        """Warp of the result that is accepted, one-hot."""
        result = self.collectors.result[port]
        accepted = named(self._m, f"accepted{port}", result.valid & result.ready)
        warp = decode(result.payload.warp, self._cfg.warps) & accepted.replicate(self._cfg.warps)
        return named(self._m, f"done{port}", warp)

    def _dependences(self, warp: int) -> wiring.PureInterface:
        m, offer = self._m, self.collectors.offer
        part = stamp(m, f"dependences{warp}", "warp_dependences", lambda: WarpDependences(self._cfg))
        alone = offer.token_writes.any()
        if self._cfg.codes:
            alone |= needs_unit(offer) & (hint_of(self._cfg, "write_barrier", offer.hints) != NO_BARRIER)
        results = named(m, f"results{warp}", Mux(offer.dest_count.any(), offer.dest_count, alone))
        m.d.comb += [
            part.head.eq(self.collectors.heads[warp]),
            part.issue.eq(self.issues[warp]),
            part.results.eq(Mux(offer.executes, results, 0)),
            part.done.eq(Cat(done[warp] for done in self.done)),
        ]
        return part

    def _under_way(self) -> Value:
        """Warps with a beat in Control, Allocate, the window or a queue."""
        stages, warps = self._stages, self._cfg.warps
        beats = [(stages.control.valid, stages.control.out.warp), (stages.allocate.valid, stages.allocate.out.warp)]
        beats += [*zip(stages.window.valid, stages.window.warps, strict=True)]
        beats += [(valid, beat.warp) for valid, beat in stages.queued]
        return named(
            self._m,
            "under_way",
            any_of(decode(warp, warps) & valid.replicate(warps) for valid, warp in beats),
        )

    def _room(self) -> None:
        """A unit and the result port for a beat of fixed latency, a place in the queue for another one."""
        m, cfg, stages, collectors = self._m, self._cfg, self._stages, self.collectors
        control = stages.control
        for warp, head in enumerate(collectors.heads):
            goes = collectors.buffered[warp] & needs_unit(head)
            unit = Mux(hint_of(cfg, "fma", head.hints), control.busy[1], control.busy[0])
            busy = unit | control.result_busy[0] | (head.dest_count > 1) & control.result_busy[1]
            full = any_of((head.port == port) & ~stages.queues.room[q] for q, port in enumerate(cfg.queue_ports))
            m.d.comb += [
                collectors.unit_wait[warp].eq(goes & (head.port == FIXED) & busy),
                collectors.queue_wait[warp].eq(goes & full),
            ]
        waits = collectors.unit_wait | collectors.queue_wait
        m.d.comb += collectors.room.eq(collectors.buffered & ~waits)
        offer, goes = collectors.offer, needs_unit(collectors.offer)
        takes = Cat(goes & (offer.port == port) for port in cfg.queue_ports)
        m.d.comb += stages.queues.issue.eq(takes & self.issues.any().replicate(len(takes)))

    def _codes(self) -> Value:
        """Stall counts and yields of the issued beat, and who counts up and down."""
        m, cfg, stages, hints = self._m, self._cfg, self._stages, self.collectors.offer.hints
        control = stages.control.out
        barriers = (hint_of(cfg, "write_barrier", control.hints), control.read_barrier)
        ups = named(m, "ups", Cat(decode(barrier, BARRIERS) for barrier in barriers))
        downs, owners = self._downs()
        up_warp = named(m, "up_warp", decode(control.warp, cfg.warps) & stages.leaving_control.replicate(cfg.warps))
        for warp, part in enumerate(self.warps):
            m.d.comb += [
                part.tick.eq(stages.tick),
                part.stall.eq(hint_of(cfg, "stall", hints)),
                part.yields.eq(hint_of(cfg, "yields", hints)),
            ]
            for barrier in range(BARRIERS):
                up = Cat(ups[barrier], ups[BARRIERS + barrier]) & up_warp[warp].replicate(2)
                down = Cat(mask[barrier] & owner[warp] for mask, owner in zip(downs, owners, strict=True))
                m.d.comb += [part.ups[barrier].eq(up), part.downs[barrier].eq(down)]
        return Const(0, cfg.warps)

    def _downs(self) -> tuple[list[Value], list[Value]]:
        """Per queue and write-back port: counters that go down, and of which warp, one-hot."""
        m, cfg, queues = self._m, self._cfg, self._stages.queues
        masks, owners = [], []
        for number, head in enumerate(self._stages.heads):
            mask = decode(queues.barriers[number], BARRIERS) & queues.counts[number].replicate(BARRIERS)
            masks.append(named(m, f"down_queue{number}", mask))
            owners.append(named(m, f"head_warp{number}", decode(head.warp, cfg.warps)))
        for port, result in enumerate(self.collectors.result):
            record = result.payload
            last = ~record.writes | (record.component == hint_of(cfg, "registers", record.hints))
            mask = decode(hint_of(cfg, "write_barrier", record.hints), BARRIERS) & last.replicate(BARRIERS)
            masks.append(named(m, f"down_result{port}", mask))
            owners.append(self.done[port])
        return masks, owners

    def _pending(self) -> Value:
        """The same without codes; returns the warps whose head beat has a hazard."""
        m, cfg, collectors = self._m, self._cfg, self.collectors
        offer = collectors.offer
        variable = needs_unit(offer) & (offer.port != FIXED)
        registers = named(m, "reserved", destination_mask(m, cfg, offer))
        released = [
            named(
                m,
                f"released{port}",
                decode(one.payload.register, cfg.register_names) & one.payload.writes.replicate(cfg.register_names),
            )
            for port, one in enumerate(collectors.result)
        ]
        ages = self._distances(variable)
        slots, owners, unread, readers = self._unread()
        parts = []
        for warp in range(cfg.warps):
            part = stamp(m, f"pending{warp}", "warp_pending", lambda: WarpPending(cfg, slots))
            mine = Cat(owner == warp for owner in owners)
            m.d.comb += [
                part.head.eq(collectors.heads[warp]),
                part.reserve.eq(self.issues[warp] & offer.executes),
                part.variable.eq(variable),
                part.registers.eq(registers),
                part.tokens.eq(offer.token_writes),
                part.done.eq(Cat(done[warp] for done in self.done)),
                part.done_registers.eq(Cat(released[1:])),
                part.done_tokens.eq(Cat(one.payload.tokens for one in collectors.result)),
                part.close.eq(Cat(valid & (one == warp) for valid, one in zip(ages.valid, ages.warps, strict=True))),
                *(getattr(part, name).eq(getattr(ages, name)) for name in ("groups", "for_reader", "for_others")),
                part.unread.eq(Cat(left & own.replicate(len(left)) for left, own in zip(unread, mine, strict=True))),
                part.readers.eq(Cat(readers)),
            ]
            parts.append(part)
        return Cat(part.blocked for part in parts)

    def _distances(self, variable: Value) -> wiring.PureInterface:
        m, offer = self._m, self.collectors.offer
        ages = stamp(m, "distances", "issued_distances", lambda: IssuedDistances(self._cfg))
        m.d.comb += [
            ages.tick.eq(self._stages.tick),
            ages.comes.eq(self.collectors.offer_valid & needs_unit(offer) & ~variable),
            *(getattr(ages, name).eq(offer[name]) for name in ("warp", "dest", "dest_count")),
        ]
        return ages

    def _unread(self) -> tuple[int, list[Value], list[Value], list[Value]]:
        """Beats of variable latency with sources that have yet to be read: slots together, warps, slots, registers."""
        stages, queues = self._stages, self._stages.queues
        control = stages.control
        variable = control.valid & (control.out.port != FIXED)
        beats = [(variable, control.out.source_valid, control.out)]
        firsts = (0, self._cfg.lsu_queue)
        for number, (valid, beat) in enumerate(stages.queued):
            left = queues.left[firsts.index(number)] if number in firsts else beat.source_valid
            beats.append((valid, left, beat))
        slots = self._cfg.source_slots
        return (
            len(beats) * slots,
            [beat.warp for *_, beat in beats],
            [left & valid.replicate(slots) for valid, left, _ in beats],
            [beat.registers.as_value() for *_, beat in beats],
        )
