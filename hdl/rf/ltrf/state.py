"""State of a place, and what becomes of its registers, whatever moves them (docs/schemes/ltrf.md, section 4)."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.digits import place_digits
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RECALL, RELEASING, LtrfConfig


def place_members(cfg: LtrfConfig) -> Members:
    """Ports that a place has with every engine.

    holds, entered : In(1)       A warp holds the place, and has executed a PREFETCH.
    may_start : Out(1), start : In(1)   It could take up the warp, and does. Start and save are those of one place.
    may_save : Out(1), save : In(1)     It could save its registers to be released, and does.
    enters, ends : In(1)         The warp's PREFETCH, or its EXIT, issues.
    release : In(1), released : Out(1)   Its warp is asked to give the place up, and has.
    operand, word, live_word : In(names)   The operand of a PREFETCH, and what is kept of the warp. Whatever has to do
                                 with live registers is there only with ``liveness``.
    issued : In(1), written, arrives, dies : In(names)   Registers that a beat of the warp writes, that its full load
                                 writes, that it reads for the last time.
    stored : In(write_ports), results : In(ArrayLayout)   Results that are written to the cache, and their registers.
    leaves, takes : Out(names)   Registers that lose their banks, and that get one.
    drop : Out(1)                No register has a bank any more.
    cached : In(names)           Registers that have one.
    base : In(place_bits), warp : In(bank_bits)   Place of the warp's register 0, and its number modulo main banks.
    working : In(1)              Something is under way for the place outside of it.
    state : Out(3), open : Out(1), set, live : Out(names)   What it is; registers of the interval; live ones.
    saves : Out(names)           Registers of the interval that have to be written back if it is released.
    occupied : Out(banks)        Its banks of the cache that are not free.
    starved : Out(1)             A register takes a bank, and none is free.
    """
    names, ports = cfg.register_names, cfg.write_ports
    live = {"live_word": In(names), "dies": In(names), "live": Out(names)} if cfg.liveness else {}
    inputs = ("holds", "entered", "start", "save", "enters", "ends", "release", "issued", "working")
    outputs = ("may_start", "may_save", "released", "drop", "open", "starved")
    return {
        **{name: In(1) for name in inputs},
        **{name: Out(1) for name in outputs},
        **{name: In(names) for name in ("operand", "word", "written", "arrives", "cached")},
        **{name: Out(names) for name in ("takes", "leaves", "set", "saves")},
        **live,
        "stored": In(ports),
        "results": In(data.ArrayLayout(names, ports)),
        "base": In(place_digits(cfg)),
        "warp": In(cfg.bank_bits),
        "state": Out(3),
        "occupied": Out(cfg.interval_registers),
    }


class PlaceState(wiring.Component):
    """What places have in common. Ports: :func:`place_members` and those of the engine."""

    _cfg: LtrfConfig

    def _states(self, m: Module) -> None:
        names = ("empty", "recalling", "prefetching", "moving", "opened", "releasing")
        self._is = {state: named(m, name, self.state == state) for state, name in enumerate(names)}

    def _all(self, bit: Value) -> Value:
        return bit.replicate(self._cfg.register_names)

    @property
    def _every(self) -> Value:
        return self._all(Const(1, 1))

    def _kept(self, m: Module) -> Value:
        """Registers whose value has to be saved if they leave the cache: live, and changed."""
        cfg, kept = self._cfg, self._every
        self._results = named(
            m,
            "result_registers",
            any_of(register & self._all(stored) for register, stored in zip(self.results, self.stored, strict=True)),
        )
        if cfg.liveness:
            issued = self._all(self.issued)
            with m.If(self.start | self._is[RECALL]):
                m.d.sync += self.live.eq(self.live_word & ~self._all(self.start))
            with m.Else():
                m.d.sync += self.live.eq((self.live & ~(self.dies & issued)) | (self.written & issued))
            kept = kept & self.live
        if cfg.moved_back == "dirty":
            dirty = Signal(cfg.register_names)
            m.d.sync += dirty.eq((dirty | self._results) & ~self.takes)
            kept = kept & dirty
        return named(m, "kept", kept)

    def _save(self, m: Module, kept: Value) -> None:
        """What a place that is released has to write back: nothing that a load overwrites."""
        incoming = Signal(self._cfg.register_names)
        arriving = self.arrives & self._all(self.issued)
        m.d.sync += incoming.eq((incoming | arriving) & ~self._results & ~self._all(self.drop))
        m.d.comb += self.saves.eq(self.set & kept & ~incoming)

    def _move(self, m: Module, nothing: Value, gone: Value, done: Value) -> None:
        """States, and the working set. ``nothing``: the place can be taken up; ``gone``, ``done``: all has left, all
        is there."""
        m.d.comb += [
            self.may_start.eq(self._is[EMPTY] & nothing & self.holds),
            self.may_save.eq(self._is[OPEN] & self.release),
            self.released.eq(self._is[RELEASING] & gone),
            self.drop.eq(self.released | self.ends),
            self.open.eq(self._is[OPEN]),
        ]
        with m.If(self.start):
            m.d.sync += self.set.eq(0)
        with m.Elif(self._is[RECALL]):
            m.d.sync += self.set.eq(self.word)
        with m.Elif(self._is[PREFETCH]):
            m.d.sync += self.set.eq(self.operand)
        with m.Switch(self.state):
            with m.Case(EMPTY), m.If(self.start):
                m.d.sync += self.state.eq(Mux(self.entered, RECALL, OPEN))
            with m.Case(RECALL, PREFETCH):
                m.d.sync += self.state.eq(MOVING)
            with m.Case(MOVING), m.If(done):
                m.d.sync += self.state.eq(OPEN)
            with m.Case(OPEN):
                self._leave(m)
            with m.Default(), m.If(self.released):
                m.d.sync += self.state.eq(EMPTY)

    def _leave(self, m: Module) -> None:
        with m.If(self.ends):
            m.d.sync += self.state.eq(EMPTY)
        with m.Elif(self.enters):
            m.d.sync += self.state.eq(PREFETCH)
        with m.Elif(self.save):
            m.d.sync += self.state.eq(RELEASING)
