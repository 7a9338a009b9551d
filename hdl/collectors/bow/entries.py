"""Tags of the entries of an operand window: state, register, last use, readers."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.clock_gate import take
from warpfile.hdl.collectors.bow.fit import entries_layout
from warpfile.hdl.collectors.bow.ports import writes_back
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.bow import BowConfig


class EntryState(enum.IntEnum, shape=3):
    """State of one entry; a filling one asks its bank or waits for the data. DIRTY and EVICTING only if it writes back,
    UNLOOKED, before it asks its bank, only over a renamed file."""

    FREE = 0
    ASKING = 1
    WAITING = 2
    CLEAN = 3
    DIRTY = 4
    EVICTING = 5
    UNLOOKED = 6


def age_bits(cfg: BowConfig) -> int:
    """Width of the age of a beat: how many beats have entered since, itself included. None counts above ``window``."""
    return cfg.window.bit_length()


class WindowEntries(wiring.Component):
    """Tags of all entries of a window. They change at the end of the cycle, in the order of the page's steps.

    Members
    -------
    now : Out(entries_layout(cfg))  At the start of the cycle.
    then : In(entries_layout(cfg))  The same after the result.
    registers : Out(ArrayLayout), pinned : Out(window_entries)   Register of each; those that a beat is to read.
    asking : Out(window_entries)    Filling ones that have not been granted, over a renamed file since they were looked
                                    up.
    unlooked : Out(window_entries), looked_up : In(window_entries)   Over a renamed file: those that have yet to be
                                    looked up, and the one that the table serves.
    sizes : Out(ArrayLayout), result_size, fill_size : In(2)   Bytes minus one, of the entries, of the result, of what
                                    arrives; only with ``sizes_entries``.
    stored, merged : In(window_entries)   Entry that the accepted result overwrites, whole or in its lanes.
    result_register : In(register_bits), result_age : In   Of the result and of its beat.
    granted, filled, evicted : In(window_entries)   Entries that a bank serves, whose data arrive, that a bank takes.
    enter : In(1)                   A beat enters.
    hit, taken, written : In(window_entries)   Entries of its sources, found and new, and those of its destinations.
    sources : In(ArrayLayout)       Register that a taken entry gets.
    read : In(window_entries)       Entries of the sources that are dispatched.
    urgent, victim : In(window_entries)    Entries that make room.
    clear : In(1)                   The warp ends.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        names, entries = data.ArrayLayout(cfg.register_bits, cfg.window_entries), cfg.window_entries
        masks = ("stored", "merged", "granted", "filled", "evicted", "hit", "taken", "written", "read")
        members: dict[str, wiring.Member] = {}
        if cfg.gives.renamed:
            members |= {"unlooked": Out(entries), "looked_up": In(entries)}
        if cfg.sizes_entries:
            members |= {"sizes": Out(data.ArrayLayout(2, entries)), "result_size": In(2), "fill_size": In(2)}
        super().__init__(
            members
            | {
                "now": Out(entries_layout(cfg)),
                "then": In(entries_layout(cfg)),
                "registers": Out(names),
                **{name: Out(entries) for name in ("pinned", "asking")},
                **{name: In(entries) for name in (*masks, "urgent", "victim")},
                "result_register": In(cfg.register_bits),
                "result_age": In(age_bits(cfg)),
                "sources": In(names),
                "enter": In(1),
                "clear": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """One state machine and one tag per entry."""
        m = Module()
        states = self._states(m)
        for entry, state in enumerate(states):
            self._tag(m, entry)
            self._readers(m, entry)
            m.d.comb += [
                self.now.free[entry].eq(state == EntryState.FREE),
                self.now.filling[entry].eq(self._filling(entry, state)),
                self.now.clean[entry].eq(state == EntryState.CLEAN),
                self.asking[entry].eq(state == EntryState.ASKING),
            ]
            if writes_back(self._cfg):
                m.d.comb += [
                    self.now.dirty[entry].eq(state == EntryState.DIRTY),
                    self.now.evicting[entry].eq(state == EntryState.EVICTING),
                ]
            if self._cfg.gives.renamed:
                m.d.comb += self.unlooked[entry].eq(state == EntryState.UNLOOKED)
            if self._cfg.sizes_entries:
                self._size(m, entry)
        return m

    def _filling(self, entry: int, state: Value) -> Value:
        filling = (state == EntryState.ASKING) | (state == EntryState.WAITING)
        return filling | self.unlooked[entry] if self._cfg.gives.renamed else filling

    def _states(self, m: Module) -> list[Signal]:
        then, size = self.then, self._cfg.window_entries
        leaves = named(m, "leaves", then.stale & self.enter.replicate(size))
        written = named(m, "written_back", self.evicted & ~self.merged)
        evicts = (leaves & then.dirty & then.owed) | (self.victim & then.dirty) | self.urgent
        gone = named(m, "gone", leaves | self.victim | self.urgent)
        following = {
            EntryState.ASKING: self.taken | (self.asking & ~self.granted),
            EntryState.WAITING: self.granted | (then.filling & ~self.asking & ~self.filled),
            EntryState.CLEAN: (then.clean & ~gone) | self.filled,
        }
        if self._cfg.gives.renamed:
            following[EntryState.ASKING] = self.looked_up | (self.asking & ~self.granted)
            waiting = then.filling & ~self.unlooked & ~self.asking & ~self.filled
            following[EntryState.WAITING] = self.granted | waiting
            following[EntryState.UNLOOKED] = self.taken | (self.unlooked & ~self.looked_up)
        if writes_back(self._cfg):
            following[EntryState.DIRTY] = then.dirty & ~gone
            following[EntryState.EVICTING] = (then.evicting & ~written) | evicts
        bits = max(following).bit_length()
        masks = {state: named(m, f"next_{state.name.lower()}", mask) for state, mask in following.items()}
        states = []
        for entry in range(size):
            state = Signal(bits, name=f"state{entry}")
            codes = [mask[entry].replicate(bits) & code for code, mask in masks.items()]
            m.d.sync += state.eq(Mux(self.clear, 0, any_of(codes)))
            states.append(state)
        return states

    def _tag(self, m: Module, entry: int) -> None:
        """The tag of a free entry is not read, so it needs no reset.

        An entry is as old as the beat that used it last: with ages nothing is subtracted before it is known what fits.
        """
        register = Signal(self._cfg.register_bits, name=f"register{entry}", reset_less=True)
        age = Signal(age_bits(self._cfg), name=f"age{entry}", reset_less=True)
        before = named(m, f"age_then{entry}", Mux(self.stored[entry], self.result_age, age))
        m.d.comb += [
            self.registers[entry].eq(register),
            self.now.stale[entry].eq(age >= self._cfg.window),
        ]
        if writes_back(self._cfg):
            owed = Signal(name=f"owed{entry}", reset_less=True)
            m.d.comb += self.now.owed[entry].eq(owed)
            m.d.sync += owed.eq(self.then.owed[entry])
        stored = self.stored[entry], [self.result_register]
        take(m, self._cfg, register.name, [register], (self.taken[entry], [self.sources[entry]]), stored)
        used = self.hit[entry] | self.taken[entry] | self.written[entry]
        m.d.sync += age.eq(Mux(used, 1, Mux(self.enter, before + 1, before)))

    def _size(self, m: Module, entry: int) -> None:
        size = Signal(2, name=f"size{entry}", reset_less=True)
        m.d.comb += self.sizes[entry].eq(size)
        with m.If(self.filled[entry]):
            m.d.sync += size.eq(self.fill_size)
        with m.Elif(self.stored[entry] | (self.merged[entry] & (self.result_size > size))):
            m.d.sync += size.eq(self.result_size)

    def _readers(self, m: Module, entry: int) -> None:
        """Beats that have yet to read the entry: at most one enters and one leaves per cycle."""
        pins = Signal(index_bits(self._cfg.window + 1), name=f"pins{entry}")
        more, fewer = self.hit[entry] | self.taken[entry], self.read[entry]
        with m.If(more & ~fewer):
            m.d.sync += pins.eq(pins + 1)
        with m.Elif(fewer & ~more):
            m.d.sync += pins.eq(pins - 1)
        m.d.comb += self.pinned[entry].eq(pins.any())
