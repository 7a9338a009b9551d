"""Instead of codes: what is pending, and how long ago beats of fixed latency issued (section 9)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.naming import named
from warpfile.hdl.scoreboard import GROUP, group_mask
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import TOKENS

_ALU = 0


class WarpPending(wiring.Component):
    """Registers and tokens of one warp that results of variable latency have yet to bring, and its head's hazards.

    Members
    -------
    head : In(beat_layout(cfg))      The warp's oldest beat, whether there is one or not.
    reserve, variable : In(1)        The warp issues a beat that executes; it is of variable latency.
    registers : In(register_names), tokens : In(16)   What the issuing beat writes.
    done : In(ports)                 Write-back ports with an accepted result of the warp.
    done_registers : In(ArrayLayout), done_tokens : In(ArrayLayout)   Per port, decoded; of the ports from 1 on and of
                                     all ports.
    close : In(ages), groups, for_reader, for_others : In(ArrayLayout)   Of the warp's issues in
                                     the last ticks: whether there was one, the group of its destinations, those of the
                                     group that a reader of fixed latency must not read, and other beats not name.
    unread : In(slots), readers : In(ArrayLayout)   Sources of the warp's beats of variable latency; their registers.
    blocked : Out(1)                 The head beat has a hazard.
    """

    def __init__(self, cfg: ReadWindowConfig, slots: int) -> None:
        self._cfg = cfg
        names, ports, ages = cfg.register_names, cfg.write_ports, distances(cfg)
        masks = data.ArrayLayout(GROUP, ages)
        super().__init__(
            {
                "head": In(beat_layout(cfg)),
                "reserve": In(1),
                "variable": In(1),
                "registers": In(names),
                "tokens": In(TOKENS),
                "done": In(ports),
                "done_registers": In(data.ArrayLayout(names, ports - 1)),
                "done_tokens": In(data.ArrayLayout(TOKENS, ports)),
                "close": In(ages),
                "groups": In(data.ArrayLayout(cfg.register_bits - 2, ages)),
                "for_reader": In(masks),
                "for_others": In(masks),
                "unread": In(slots),
                "readers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "blocked": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """Pending bits, then one hazard per rule."""
        m = Module()
        head = self.head
        pending, tokens = Signal(self._cfg.register_names), Signal(TOKENS)
        self._update(m, pending, self.registers, self.done_registers, self.done[1:], self.reserve & self.variable)
        self._update(m, tokens, self.tokens, self.done_tokens, self.done, self.reserve)
        writes = named(m, "dest_mask", group_mask(head))
        reads = [
            valid & pending.bit_select(register, 1)
            for valid, register in zip(head.source_valid, head.sources, strict=True)
        ]
        m.d.comb += self.blocked.eq(
            any_of(
                [
                    *reads,
                    (pending.word_select(head.dest[2:], GROUP) & writes).any(),
                    (tokens & (head.token_reads | head.token_writes)).any(),
                    self._too_close(m, writes),
                    self._overwrites(writes),
                ]
            )
        )
        return m

    def _update(self, m: Module, bits: Signal, sets: Value, clears: data.View, done: Value, reserve: Value) -> None:
        freed = any_of(mask & one.replicate(len(bits)) for mask, one in zip(clears, done, strict=True))
        m.d.sync += bits.eq((bits & ~freed) | (sets & reserve.replicate(len(bits))))

    def _too_close(self, m: Module, writes: Value) -> Value:
        """Of fixed latency: not long enough ago for a reader, or for a writer."""
        head, found = self.head, []
        fixed = head.port == _ALU
        for close, group, for_reader, for_others in zip(
            self.close, self.groups, self.for_reader, self.for_others, strict=True
        ):
            mask = Mux(fixed, for_reader, Mux(head.port.all(), 0, for_others))
            read = any_of(
                valid & (register[2:] == group) & mask.bit_select(register[:2], 1)
                for valid, register in zip(head.source_valid, head.sources, strict=True)
            )
            found.append(close & (read | ((head.dest[2:] == group) & (for_others & writes).any())))
        return any_of(found)

    def _overwrites(self, writes: Value) -> Value:
        """A source of an older beat has yet to be read."""
        return any_of(
            unread & (register[2:] == self.head.dest[2:]) & writes.bit_select(register[:2], 1)
            for unread, register in zip(self.unread, self.readers, strict=True)
        )


def distances(cfg: ReadWindowConfig) -> int:
    """Ticks for which an issue of fixed latency is remembered."""
    return max(cfg.fixed_distance, cfg.variable_distance) + 1


class IssuedDistances(wiring.Component):
    """The issues of fixed latency of the last ticks, and what of them is still too close.

    Members
    -------
    tick : In(1), comes : In(1)      A tick passes; a beat of fixed latency issues in it.
    warp : In(warp_bits), dest : In(register_bits), dest_count : In(3)   That beat.
    valid : Out(ages), warps : Out(ArrayLayout)   The issues, the last one first, and their warps.
    groups, for_reader, for_others : Out(ArrayLayout)   See :class:`WarpPending`.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        ages = distances(cfg)
        masks = data.ArrayLayout(GROUP, ages)
        super().__init__(
            {
                **{name: In(1) for name in ("tick", "comes")},
                "warp": In(cfg.warp_bits),
                "dest": In(cfg.register_bits),
                "dest_count": In(3),
                "valid": Out(ages),
                "warps": Out(data.ArrayLayout(cfg.warp_bits, ages)),
                "groups": Out(data.ArrayLayout(cfg.register_bits - 2, ages)),
                "for_reader": Out(masks),
                "for_others": Out(masks),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register that stands still in a freeze."""
        m = Module()
        ages = distances(self._cfg)
        layout = data.StructLayout({"warp": self._cfg.warp_bits, "dest": self._cfg.register_bits, "dest_count": 3})
        before: Value = Cat(self.warp, self.dest, self.dest_count)
        with m.If(self.tick):
            m.d.sync += self.valid.eq(Cat(self.comes, self.valid)[:ages])
        for age in range(ages):
            held = Signal(layout, name=f"issue{age}", reset_less=True)
            with m.If(self.tick):
                m.d.sync += held.eq(before)
            m.d.comb += [
                self.warps[age].eq(held.warp),
                self.groups[age].eq(held.dest[2:]),
                self.for_reader[age].eq(_left(held, age + 1, self._cfg.fixed_distance)),
                self.for_others[age].eq(_left(held, age + 1, self._cfg.variable_distance)),
            ]
            before = held.as_value()
        return m


def _left(issue: data.View, ticks: int, distance: int) -> Value:
    """Destinations of an issue so many ticks ago that are within a distance, the third and fourth one and two later."""
    gone = max(0, ticks - distance + 2) if ticks >= distance else 0
    mask = Cat(issue.dest_count > number if number >= gone else Const(0, 1) for number in range(GROUP))
    return (mask << issue.dest[:2])[:GROUP]
