"""Scoreboard of one warp: may its head beat issue?"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.naming import named
from warpfile.hdl.pending_entries import GROUP, PendingEntries, group_mask
from warpfile.spec.config import Config
from warpfile.spec.trace import TOKENS, Drain, Kind


def destination_mask(m: Module, cfg: Config, beat: Value, name: str = "dest") -> Value:
    """One bit per register name: the registers that a beat writes; ``name`` is that of what it is made of."""
    groups = named(m, f"{name}_groups", decode(beat.dest[2:], cfg.register_names // GROUP))
    mask = named(m, f"{name}_mask", group_mask(beat))
    return Cat(mask & group.replicate(GROUP) for group in groups)


def _told_of_registers(cfg: Config) -> dict[str, wiring.Member]:
    if not cfg.pending_entries:
        return {"release_registers": In(data.ArrayLayout(cfg.register_names, cfg.write_ports))}
    registers = data.ArrayLayout(cfg.register_bits, cfg.write_ports)
    names = {"dest": In(cfg.register_bits), "dest_count": In(3)}
    return {**names, "release_writes": In(cfg.write_ports), "release_registers": In(registers)}


class WarpScoreboard(wiring.Component):
    """Pending registers and tokens of one warp, and the hazards of its head beat.

    All answers are combinational from registered state and the head beat. Bits that are reserved or released
    change at the end of the cycle.

    Members
    -------
    valid : In(1), head : In(beat_layout(cfg))   The warp's oldest beat, if there is one.
    collecting : In(1)                 A beat of this warp has not been dispatched.
    coming : In(register_names)        Registers that may be pending, if the head beat names them in its first sources,
                                       because their result is coming; only with ``asks.forwards``.
    reserve : In(1), reserve_registers : In(register_names), reserve_tokens : In(16)   What the issuing beat writes.
    dest : In(register_bits), dest_count : In(3)   Instead of the decoded registers with ``pending_entries``; likewise
                                       release_writes : In(ports), and in release_registers a number each.
    release : In(ports), release_registers, release_tokens : In(ArrayLayout)   Completed results, one decoded register
                                       mask and one token mask per port.
    clear : Out(1)                     The head beat is valid and has no hazard.
    reserve_long : In(1)               The reserving beat is a load from far away: what it reserves is long. This and
                                       the next only for ``two_level``, which keeps one more bit per register.
    missed : In(1), missed_registers : In(register_names)   Instead of it with ``long_from`` = ``miss``: those of these
                                       registers are long that are pending and not released in this cycle.
    touches_long : Out(1)              The head beat names a register that is long, or waits for all long ones.
    short_pending : Out(1)             Some register is pending that is not long.
    outstanding : Out(1)               Some register is long; only if the scheduler asks.
    pending : Out(register_names)      Pending registers; only if the register file wants to see them.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        members = {
            "valid": In(1),
            "head": In(beat_layout(cfg)),
            "collecting": In(1),
            **({"coming": In(cfg.register_names)} if cfg.asks.forwards else {}),
            "reserve": In(1),
            **({} if cfg.pending_entries else {"reserve_registers": In(cfg.register_names)}),
            "reserve_tokens": In(TOKENS),
            "release": In(cfg.write_ports),
            **_told_of_registers(cfg),
            "release_tokens": In(data.ArrayLayout(TOKENS, cfg.write_ports)),
            "clear": Out(1),
        }
        if cfg.has_places:
            told = {"missed": In(1), "missed_registers": In(cfg.register_names)}
            members |= told if cfg.sees_misses else {"reserve_long": In(1)}
            members |= {"touches_long": Out(1), "short_pending": Out(1)}
        if cfg.sees_outstanding:
            members["outstanding"] = Out(1)
        if cfg.shows_pending:
            members["pending"] = Out(cfg.register_names)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Pending bits, then one hazard per rule of docs/machine.md, section 4."""
        m = Module()
        if self._cfg.pending_entries:
            self._rules(m, *self._entries(m))
            return m
        pending = self.pending if self._cfg.shows_pending else Signal(self._cfg.register_names, name="pending")
        mask = named(m, "dest_mask", group_mask(self.head))
        self._update(m, pending, self.reserve_registers, self.release_registers)
        awaited = named(m, "awaited", pending & ~self.coming) if self._cfg.asks.forwards else pending
        self._rules(
            m, [self._read_after_write(awaited, pending), self._write_after_write(pending, mask)], pending.any()
        )
        if self._cfg.has_places:
            self._watch_loads(m, pending, mask)
        return m

    def _entries(self, m: Module) -> tuple[list[Value], Value]:
        """Hazards of registers by the CAM, and whether it has any."""
        m.submodules.entries = entries = PendingEntries(self._cfg)
        m.d.comb += [
            entries.head.eq(self.head),
            *(getattr(entries, name).eq(getattr(self, name)) for name in ("reserve", "dest", "dest_count")),
            entries.release.eq(self.release & self.release_writes),
            entries.registers.eq(self.release_registers),
        ]
        return [entries.touched, entries.full & self.head.dest_count.any()], entries.some

    def _rules(self, m: Module, registers: list[Value], some: Value) -> None:
        """``clear``, from the hazards of registers, and whether some register is pending."""
        tokens = Signal(TOKENS, name="tokens")
        self._update(m, tokens, self.reserve_tokens, self.release_tokens)
        hazards = [
            *registers,
            (tokens & (self.head.token_reads | self.head.token_writes)).any(),
            self._undrained(some, tokens),
        ]
        m.d.comb += self.clear.eq(self.valid & ~any_of(hazards))

    def _watch_loads(self, m: Module, pending: Value, mask: Value) -> None:
        """Pending registers that wait for global or local memory."""
        loading = Signal(self._cfg.register_names)
        if self._cfg.sees_misses:
            told = pending & self.missed_registers & self.missed.replicate(len(loading))
            m.d.sync += loading.eq((loading | told) & ~self._freed(self.release_registers))
        else:
            reserved = self.reserve_registers & self.reserve_long.replicate(len(loading))
            self._update(m, loading, reserved, self.release_registers)
        touches = self._read_after_write(loading, loading) | self._write_after_write(loading, mask)
        if self._cfg.operand_bits:
            touches |= (self.head.drain == Drain.EMPTY.value) & loading.any()
        m.d.comb += [
            self.touches_long.eq(touches),
            self.short_pending.eq((pending & ~loading).any()),
        ]
        if self._cfg.sees_outstanding:
            m.d.comb += self.outstanding.eq(loading.any())

    def _update(self, m: Module, bits: Signal, reserve: Value, release: data.View) -> None:
        m.d.sync += bits.eq((bits & ~self._freed(release)) | (reserve & self.reserve.replicate(len(bits))))

    def _freed(self, release: data.View) -> Value:
        ports = range(self._cfg.write_ports)
        return any_of(release[port] & self.release[port].replicate(len(release[port])) for port in ports)

    def _read_after_write(self, first: Value, others: Value) -> Value:
        """Whether one of the first ``asks.forwards`` sources is in ``first``, or one of the others in ``others``."""
        near = self._cfg.asks.forwards
        bits = [first] * near + [others] * (self._cfg.source_slots - near)
        slots = zip(bits, self.head.source_valid, self.head.sources, strict=True)
        return any_of(valid & some.bit_select(source, 1) for some, valid, source in slots)

    def _write_after_write(self, pending: Value, mask: Value) -> Value:
        return (pending.word_select(self.head.dest[2:], GROUP) & mask).any()

    def _undrained(self, some: Value, tokens: Value) -> Value:
        writing = some | tokens.any()
        empties, drains = self.head.kind == Kind.EXIT.value, self.head.kind == Kind.BARRIER.value
        if self._cfg.operand_bits:
            empties |= self.head.drain == Drain.EMPTY.value
            drains |= self.head.drain == Drain.DISPATCHED.value
        return Mux(empties, self.collecting | writing, drains & self.collecting)
