"""What the watcher knows of a place of the cache, and of a transfer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, require
from warpfile.spec.schemes.ltrf import (
    BEATS,
    EMPTY,
    LATCH,
    LOAD,
    MAIN,
    MOVING,
    OPEN,
    RELEASING,
    STORE,
    LtrfConfig,
)

LOSSES = 8  #: cycles in which a channel is not served before it goes first


def patience(cfg: LtrfConfig) -> int:
    """Cycles in which a place moves at most: all places move all, one by one, each behind a parked result."""
    each = 2 * (cfg.bank_cycles + cfg.crossbar_beats) + LOSSES + 5
    return 2 * cfg.interval_registers * cfg.active_warps * each


def masked(numbers: Iterable[int]) -> int:
    """A mask of some numbers."""
    return sum(1 << number for number in numbers)


@dataclass
class Share:
    """A place: sets of registers, and the bank that each had last. ``since``: the cycle before its state began."""

    free: list[int]
    state: int = EMPTY
    since: int = 0
    working: set[int] = field(default_factory=set)
    cached: set[int] = field(default_factory=set)
    bank: dict[int, int] = field(default_factory=dict)
    occupied: set[int] = field(default_factory=set)
    pending: set[int] = field(default_factory=set)
    candidate: int | None = None
    works: int = 0
    incoming: set[int] = field(default_factory=set)
    live: set[int] = field(default_factory=set)
    dirty: set[int] = field(default_factory=set)
    recalled: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing moves, and no bank has to be given back."""
        return not (self.occupied or self.pending or self.works or self.candidate is not None)

    def check(self, since: int) -> None:
        """What holds of a place by itself, whose state began after the cycle ``since`` at the earliest."""
        require(self.state in (EMPTY, OPEN) or self.since >= since, "what moves comes to an end")
        if self.state in (MOVING, OPEN):
            banks = {self.bank[register] for register in self.cached}
            require(len(banks) == len(self.cached), "every register has a bank of its own")
            require(banks == self.occupied, "who has a bank is cached")
        if self.state == OPEN:
            require(self.cached == self.working, "an open place has its interval in the cache")
            require(not self.pending and self.candidate is None and not self.works, "nothing moves in an open place")
        if self.state == EMPTY:
            require(not self.cached and not self.incoming, "a place without a warp has nothing cached")

    def turn(self, state: int, cycle: int) -> None:
        """Another state from the next cycle on."""
        self.state, self.since = state, cycle

    def leave(self, cycle: int) -> None:
        """The warp is gone."""
        self.cached, self.incoming, self.pending = set(), set(), set()
        self.turn(EMPTY, cycle)

    def give(self, bank: int) -> None:
        """A bank is free again."""
        self.occupied.discard(bank)
        self.free.append(bank)

    def written(self, register: int) -> None:
        """A result is in the cache."""
        self.incoming.discard(register)
        self.dirty.add(register)

    def kept(self, registers: set[int], cfg: LtrfConfig) -> set[int]:
        """What has to be written back."""
        registers = registers & self.live if cfg.liveness else registers
        return registers & self.dirty if cfg.moved_back == "dirty" else set(registers)

    def nominate(self) -> None:
        """The next candidate."""
        backs = self.pending if self.state == RELEASING else self.pending - self.working
        self.candidate = min(backs or self.pending, default=None)
        self.pending.discard(self.candidate)  # type: ignore[arg-type]

    def step(self, place: int, seen: dict[str, int], cfg: LtrfConfig, cycle: int) -> None:
        """A step of a place that is moving, noted with its probes."""
        leaving, coming = self.cached - self.working, self.working - self.cached
        if leaving:
            register, probe = min(leaving), "step_out"
            self.cached.discard(register)
            self.give(self.bank[register])
            moved = self.kept({register}, cfg)
        elif coming:
            register, probe = min(coming), "step_in"
            require(bool(self.free), "there is a bank for every register of an interval")
            self.bank[register] = self.free.pop(0)
            self.occupied.add(self.bank[register])
            self.cached.add(register)
            self.dirty.discard(register)
            moved = {register} & self.live if cfg.liveness else {register}
        else:
            if not (self.pending or self.works or self.candidate is not None):
                self.turn(OPEN, cycle)
            return
        self.pending |= moved
        seen[probe] |= 1 << place
        seen["step_moves"] |= bool(moved) << place
        seen["step_register"] |= register << place * cfg.register_bits


@dataclass
class Job:
    """A transfer, granted in cycle ``begun``; ``served`` is the cycle in which its cache bank is read or written."""

    place: int
    bank: int
    main: int
    back: bool
    begun: int
    served: int = NEVER
    lost: int = 0

    def phase(self, cycle: int, cfg: LtrfConfig) -> int:
        """What its channel does."""
        access, beats = cfg.bank_cycles, cfg.crossbar_beats
        if self.back:
            since = cycle - self.served
            return LOAD if since <= 0 else LATCH if since == 1 else BEATS if since <= 1 + beats else MAIN
        since = cycle - self.begun
        return MAIN if since <= access else BEATS if since <= access + beats else STORE

    def is_over(self, cycle: int, cfg: LtrfConfig) -> bool:
        """Whether this is its last cycle."""
        return cycle == (self.served + 1 + cfg.crossbar_beats + cfg.bank_cycles if self.back else self.served)

    def keeps_main(self, cfg: LtrfConfig) -> int:
        """The last cycle in which the main bank is its own."""
        access = 0 if cfg.main_pipelined else cfg.bank_cycles
        return cfg.crossbar_beats + access + (self.served + 1 if self.back else self.begun)
