"""One place of the cache: what its warp has there, and how that changes (docs/schemes/ltrf.md, section 4)."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, lowest_one
from warpfile.hdl.naming import named
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.ltrf.free_banks import FreeBanks
from warpfile.hdl.rf.ltrf.pending import PendingTransfers, candidate_layout
from warpfile.hdl.rf.ltrf.registers import lowest_register, number_of
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RECALL, RELEASING, LtrfConfig


class CachePlace(wiring.Component):
    """State of one place, its working set, its free banks, and what has to be moved. Its address table is outside.

    Members
    -------
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
    takes : Out(names), first : Out(cache_bank_bits)   The register that gets a bank, one-hot, and the bank.
    leaves : Out(names), bank : In(cache_bank_bits)    The register that loses its bank, one-hot; the bank.
    drop : Out(1)                No register has a bank any more.
    cached : In(names)           Registers that have one.
    chosen, base, warp, valid, candidate, granted   As in :class:`PendingTransfers`.
    chosen_bank : In(cache_bank_bits)   Bank of the chosen register.
    working : In(1)              Some channel works for the place.
    state : Out(3), open : Out(1), set, live : Out(names)   What it is; registers of the interval; live ones.
    saves : Out(names)           What has to be written back if it saves its registers.
    free : Out(ArrayLayout), occupied : Out(banks)   Its free banks in their order, and the others.
    step_in, step_out, step_moves : Out(1), step_register : Out(register_bits)   A register takes a bank, loses it, has
                                 to be moved; which.
    given_back : Out(1)          A bank is free again without a step.
    starved : Out(1)             A register takes a bank, and none is free.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        names, bits, banks, ports = cfg.register_names, cfg.cache_bank_bits, cfg.interval_registers, cfg.write_ports
        live = {"live_word": In(names), "dies": In(names), "live": Out(names)} if cfg.liveness else {}
        inputs = ("holds", "entered", "start", "save", "enters", "ends", "release", "issued", "granted", "working")
        outputs = ("may_start", "may_save", "released", "drop", "valid", "open", "starved")
        outputs += ("step_in", "step_out", "step_moves", "given_back")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                **{name: In(names) for name in ("operand", "word", "written", "arrives", "cached")},
                **{name: Out(names) for name in ("takes", "leaves", "chosen", "set", "saves")},
                **live,
                "stored": In(ports),
                "results": In(data.ArrayLayout(names, ports)),
                "first": Out(bits),
                "bank": In(bits),
                "chosen_bank": In(bits),
                "base": In(place_digits(cfg)),
                "warp": In(cfg.bank_bits),
                "candidate": Out(candidate_layout(cfg)),
                "state": Out(3),
                "free": Out(data.ArrayLayout(bits, banks)),
                "occupied": Out(banks),
                "step_register": Out(cfg.register_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The step of a cycle, what it moves, and the next state."""
        m = Module()
        m.submodules.free_banks = free = FreeBanks(self._cfg)
        m.submodules.pending = pending = PendingTransfers(self._cfg)
        names = ("empty", "recalling", "prefetching", "moving", "opened", "releasing")
        self._is = {state: named(m, name, self.state == state) for state, name in enumerate(names)}
        kept = self._kept(m)
        done = self._step(m, kept, pending.none)
        self._banks(m, free)
        self._transfers(m, kept, pending)
        self._move(m, pending.none, done)
        return m

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

    def _step(self, m: Module, kept: Value, none: Value) -> Value:
        """A register leaves its bank or takes one. Returns whether all is done."""
        moving = self._is[MOVING]
        surplus, lacking = named(m, "surplus", self.cached & ~self.set), named(m, "lacking", self.set & ~self.cached)
        leaving, coming = named(m, "leaving", surplus.any()), named(m, "coming", lacking.any())
        lowest_out, lowest_in = lowest_register(m, "lowest_out", surplus), lowest_register(m, "lowest_in", lacking)
        fetched = self.live if self._cfg.liveness else self._every
        moved = named(m, "moved", (self.leaves & kept) | (self.takes & fetched))
        stepped = named(m, "stepped", self.leaves | self.takes)
        m.d.comb += [
            self.step_out.eq(moving & leaving),
            self.step_in.eq(moving & ~leaving & coming),
            self.leaves.eq(lowest_out & self._all(self.step_out)),
            self.takes.eq(lowest_in & self._all(self.step_in)),
            self.step_moves.eq(moved.any()),
            self.step_register.eq(number_of(stepped, self._cfg.register_bits)),
        ]
        self._moved = moved
        return named(m, "done", moving & ~leaving & ~coming & none & ~self.working)

    def _banks(self, m: Module, free: FreeBanks) -> None:
        """Banks that are given back: the one of a step, otherwise the lowest that is occupied."""
        bits = self._cfg.cache_bank_bits
        lowest = encode(named(m, "lowest_occupied", lowest_one(self.occupied)), bits)
        m.d.comb += [
            self.given_back.eq((self._is[EMPTY] | self._is[RELEASING]) & self.occupied.any()),
            free.give.eq(self.step_out | self.given_back),
            free.bank.eq(Mux(self._is[MOVING], self.bank, lowest)),
            free.take.eq(self.step_in),
            self.first.eq(free.first),
            self.occupied.eq(free.occupied),
            self.free.eq(free.free),
            self.starved.eq(self.step_in & self.occupied.all()),
        ]

    def _transfers(self, m: Module, kept: Value, pending: PendingTransfers) -> None:
        incoming = Signal(self._cfg.register_names)
        arriving = self.arrives & self._all(self.issued)
        m.d.sync += incoming.eq((incoming | arriving) & ~self._results & ~self._all(self.drop))
        m.d.comb += [
            self.saves.eq(self.set & kept & ~incoming),
            pending.start.eq(self.save),
            pending.saved.eq(self.saves),
            pending.adds.eq(self._moved),
            pending.moving.eq(self._is[MOVING] | self._is[RELEASING]),
            pending.keeps.eq(self.set & self._all(self._is[MOVING])),
            pending.bank.eq(self.chosen_bank),
            self.chosen.eq(pending.chosen),
            *(getattr(pending, name).eq(getattr(self, name)) for name in ("base", "warp", "granted")),
            self.valid.eq(pending.valid),
            self.candidate.eq(pending.candidate),
        ]

    def _move(self, m: Module, none: Value, done: Value) -> None:
        """States, and the working set."""
        empty = named(m, "nothing", ~self.occupied.any())
        m.d.comb += [
            self.may_start.eq(self._is[EMPTY] & empty & self.holds),
            self.may_save.eq(self._is[OPEN] & self.release),
            self.released.eq(self._is[RELEASING] & empty & none & ~self.working),
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
