"""Scoreboard of one warp: may its head beat issue?"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hdl.arbiter import any_of, decode
from hdl.beat import beat_layout
from hdl.naming import named
from spec.config import Config
from spec.trace import TOKENS, Kind

GROUP = 4  #: registers of the widest operand; a destination never crosses an aligned group


def group_mask(beat: Value) -> Value:
    """Registers that a beat writes within the aligned group of four of its destination."""
    ones = Cat(beat.dest_count >= count for count in range(1, GROUP + 1))
    return (ones << beat.dest[:2])[:GROUP]


def destination_mask(m: Module, cfg: Config, beat: Value) -> Value:
    """One bit per register name: the registers that a beat writes."""
    groups = named(m, "dest_groups", decode(beat.dest[2:], cfg.register_names // GROUP))
    mask = named(m, "dest_mask", group_mask(beat))
    return Cat(mask & group.replicate(GROUP) for group in groups)


class WarpScoreboard(wiring.Component):
    """Pending registers and tokens of one warp, and the hazards of its head beat.

    All answers are combinational from registered state and the head beat. Bits that are reserved or released
    change at the end of the cycle.

    Members
    -------
    valid : In(1), head : In(beat_layout(cfg))
    collecting : In(1)                 A beat of this warp has not been dispatched.
    mine : In(collectors)              Collector units that hold a beat of this warp.
    blocks_write : In(collectors * slots)  Source slots whose register must not be written yet, of any warp.
    registers : In(ArrayLayout)        Register of each source slot.
    reserve : In(1), reserve_registers : In(register_names), reserve_tokens : In(16)
    release : In(ports), release_registers, release_tokens : In(ArrayLayout)
                                       Completed results, one decoded register mask and one token mask per port.
    clear : Out(1)                     The head beat is valid and has no hazard.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        super().__init__(
            {
                "valid": In(1),
                "head": In(beat_layout(cfg)),
                "collecting": In(1),
                "mine": In(cfg.collectors),
                "blocks_write": In(slots),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "reserve": In(1),
                "reserve_registers": In(cfg.register_names),
                "reserve_tokens": In(TOKENS),
                "release": In(cfg.ports),
                "release_registers": In(data.ArrayLayout(cfg.register_names, cfg.ports)),
                "release_tokens": In(data.ArrayLayout(TOKENS, cfg.ports)),
                "clear": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """Pending bits, then one hazard per rule of docs/machine.md, section 4."""
        m = Module()
        pending = Signal(self._cfg.register_names)
        tokens = Signal(TOKENS)
        mask = named(m, "dest_mask", group_mask(self.head))
        self._update(m, pending, self.reserve_registers, self.release_registers)
        self._update(m, tokens, self.reserve_tokens, self.release_tokens)
        hazards = [
            self._read_after_write(pending),
            self._write_after_write(pending, mask),
            self._write_after_read(mask),
            (tokens & (self.head.token_reads | self.head.token_writes)).any(),
            self._undrained(pending, tokens),
        ]
        m.d.comb += self.clear.eq(self.valid & ~any_of(hazards))
        return m

    def _update(self, m: Module, bits: Signal, reserve: Value, release: data.View) -> None:
        released = any_of(release[port] & self.release[port].replicate(len(bits)) for port in range(self._cfg.ports))
        m.d.sync += bits.eq((bits & ~released) | (reserve & self.reserve.replicate(len(bits))))

    def _read_after_write(self, pending: Value) -> Value:
        sources = range(self._cfg.source_slots)
        return any_of(self.head.source_valid[slot] & pending.bit_select(self.head.sources[slot], 1) for slot in sources)

    def _write_after_write(self, pending: Value, mask: Value) -> Value:
        return (pending.word_select(self.head.dest[2:], GROUP) & mask).any()

    def _write_after_read(self, mask: Value) -> Value:
        slots, group = self._cfg.source_slots, self.head.dest[2:]
        hits = []
        for index in range(self._cfg.collectors * slots):
            register = self.registers[index]
            named = (register[2:] == group) & mask.bit_select(register[:2], 1)
            hits.append(self.blocks_write[index] & self.mine[index // slots] & named)
        return any_of(hits)

    def _undrained(self, pending: Value, tokens: Value) -> Value:
        writing = pending.any() | tokens.any()
        exits = self.head.kind == Kind.EXIT.value
        return Mux(exits, self.collecting | writing, (self.head.kind == Kind.BARRIER.value) & self.collecting)
