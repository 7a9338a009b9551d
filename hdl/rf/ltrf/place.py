"""One place of the cache: what its warp has there, and how that changes (docs/schemes/ltrf.md, section 4)."""

from amaranth import Module, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, lowest_one
from warpfile.hdl.naming import named
from warpfile.hdl.rf.ltrf.free_banks import FreeBanks
from warpfile.hdl.rf.ltrf.pending import PendingTransfers, candidate_layout
from warpfile.hdl.rf.ltrf.registers import lowest_register, number_of
from warpfile.hdl.rf.ltrf.state import PlaceState, place_members
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, RELEASING, LtrfConfig


class CachePlace(PlaceState):
    """State of one place, its working set, its free banks, and what has to be moved. Its address table is outside.

    Members beside :func:`place_members`, where ``takes`` and ``leaves`` are one-hot
    -------
    first : Out(cache_bank_bits), bank : In(cache_bank_bits)   The bank that a register gets, and that of the one that
                                 loses it.
    chosen, valid, candidate, granted   As in :class:`PendingTransfers`.
    chosen_bank : In(cache_bank_bits)   Bank of the chosen register.
    free : Out(ArrayLayout)      Its free banks in their order.
    step_in, step_out, step_moves : Out(1), step_register : Out(register_bits)   A register takes a bank, loses it, has
                                 to be moved; which.
    given_back : Out(1)          A bank is free again without a step.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        bits = cfg.cache_bank_bits
        super().__init__(
            {
                **place_members(cfg),
                **{name: Out(1) for name in ("valid", "step_in", "step_out", "step_moves", "given_back")},
                "granted": In(1),
                "chosen": Out(cfg.register_names),
                "first": Out(bits),
                "bank": In(bits),
                "chosen_bank": In(bits),
                "candidate": Out(candidate_layout(cfg)),
                "free": Out(data.ArrayLayout(bits, cfg.interval_registers)),
                "step_register": Out(cfg.register_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The step of a cycle, what it moves, and the next state."""
        m = Module()
        m.submodules.free_banks = free = FreeBanks(self._cfg)
        m.submodules.pending = pending = PendingTransfers(self._cfg)
        self._states(m)
        kept = self._kept(m)
        done = self._step(m, kept, pending.none)
        self._banks(m, free)
        self._save(m, kept)
        self._transfers(m, pending)
        nothing = named(m, "nothing", ~self.occupied.any())
        self._move(m, nothing, nothing & pending.none & ~self.working, done)
        return m

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

    def _transfers(self, m: Module, pending: PendingTransfers) -> None:
        m.d.comb += [
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
