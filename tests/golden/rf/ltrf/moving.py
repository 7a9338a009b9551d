"""What the watcher knows of a place of the cache, of fills and write-backs, and of main banks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.golden.invariants import require
from warpfile.spec.schemes.ltrf import (
    BACK_ASK,
    BACK_BEATS,
    BACK_IDLE,
    BACK_LOAD,
    EMPTY,
    FILLING,
    FREE,
    FULL,
    MOVING,
    OPEN,
    PARTS,
    RELEASING,
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


def first(wanted: Iterable[int], pointer: int, count: int) -> int | None:
    """Of some numbers below ``count`` the first at or after the pointer."""
    return min(wanted, key=lambda number: (number - pointer) % count, default=None)


class Step(NamedTuple):
    """A register leaves its bank, or takes one, and has to be moved."""

    register: int
    out: bool
    bank: int
    moves: bool


@dataclass
class Share:
    """A place: sets of registers, and the bank that each had last. ``since``: the cycle before its state began.

    ``entry`` has the steps of the cycle before.
    """

    state: int = EMPTY
    since: int = 0
    working: set[int] = field(default_factory=set)
    cached: set[int] = field(default_factory=set)
    bank: dict[int, int] = field(default_factory=dict)
    occupied: set[int] = field(default_factory=set)
    incoming: set[int] = field(default_factory=set)
    live: set[int] = field(default_factory=set)
    dirty: set[int] = field(default_factory=set)
    entry: list[Step] = field(default_factory=list)
    recalled: bool = False

    def check(self, since: int) -> None:
        """What holds of a place by itself, whose state began after the cycle ``since`` at the earliest."""
        require(self.state in (EMPTY, OPEN) or self.since >= since, "what moves comes to an end")
        if self.state == OPEN:
            banks = {self.bank[register] for register in self.cached}
            require(len(banks) == len(self.cached), "every register has a bank of its own")
            require(banks == self.occupied, "who has a bank is cached")
            require(self.cached == self.working, "an open place has its interval in the cache")
        if self.state == EMPTY:
            require(not (self.cached or self.occupied or self.incoming), "a place without a warp has nothing")

    def turn(self, state: int, cycle: int) -> None:
        """Another state from the next cycle on."""
        self.state, self.since = state, cycle

    def leave(self, cycle: int) -> None:
        """The warp is gone."""
        self.cached, self.occupied, self.incoming = set(), set(), set()
        self.turn(EMPTY, cycle)

    def written(self, register: int) -> None:
        """A result is in the cache."""
        self.incoming.discard(register)
        self.dirty.add(register)

    def kept(self, register: int, cfg: LtrfConfig) -> bool:
        """Whether it has to be written back."""
        if self.state == RELEASING and register in self.incoming:
            return False
        return (not cfg.liveness or register in self.live) and (cfg.moved_back == "all" or register in self.dirty)

    def steps(self, place: int, cfg: LtrfConfig) -> list[Step]:
        """The steps of this cycle, one of each part at most."""
        leaving = self.cached if self.state == RELEASING else self.cached - self.working
        if leaving:
            found = [Step(r, True, -1, self.kept(r, cfg)) for r in _lowest(leaving)]
            self.cached -= {step.register for step in found}
            return found
        if self.state != MOVING or any(step.out for step in self.entry):
            return []
        found, count = [], cfg.interval_registers
        for register in _lowest(self.working - self.cached):
            bank = first({*range(count)} - self.occupied, place * count // cfg.active_warps, count)
            assert bank is not None, "there is a bank for every register of an interval"
            self.occupied.add(bank)
            self.cached.add(register)
            self.dirty.discard(register)
            found.append(Step(register, False, bank, not cfg.liveness or register in self.live))
        return found


def _lowest(registers: set[int]) -> Iterator[int]:
    """Of every part its lowest register."""
    for part in range(PARTS):
        mine = [register for register in registers if register % PARTS == part]
        if mine:
            yield min(mine)


@dataclass
class Channel:
    """The write-back of one bank of the cache; granted in cycle ``begun``."""

    phase: int = BACK_IDLE
    place: int = 0
    main: int = 0
    lost: int = 0
    begun: int = 0


@dataclass
class Main:
    """A main bank. ``array`` and ``output``: the first cycle in which its counter is 0."""

    latch: int = FREE
    array: int = 0
    output: int = 0
    turn: bool = False
    fills: int = 0
    backs: int = 0


class Fill(NamedTuple):
    """A fill that was granted in a cycle."""

    begun: int
    place: int
    bank: int


class Moves:
    """Fills and write-backs. ``outs`` and ``ins``: the main bank of a register, by place and bank of the cache;
    ``asked`` are those of ``ins`` that were picked, ``requests`` the place of each bank of the cache that asks.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self.cfg = cfg
        self.outs: dict[tuple[int, int], int] = {}
        self.ins: dict[tuple[int, int], int] = {}
        self.asked: set[tuple[int, int]] = set()
        self.requests: dict[int, int] = {}
        self.fills: list[Fill] = []
        self.channels = [Channel() for _ in range(cfg.interval_registers)]
        self.mains = [Main() for _ in range(cfg.banks)]
        self.input, self.picks, self.saves = ([0] * cfg.interval_registers for _ in range(3))
        self.access = 0 if cfg.main_pipelined else cfg.bank_cycles - 1

    def under_way(self, place: int) -> bool:
        """Whether anything of a place is, beside its steps."""
        channels = any(one.phase != BACK_IDLE and one.place == place for one in self.channels)
        return channels or any(p == place for p, _ in (*self.outs, *self.ins))

    def enter(self, place: int, bank: int, main: int, *, out: bool) -> None:
        """A register has to be moved."""
        require((place, bank) not in (self.outs if out else self.ins), "a bank moves one register of a place each way")
        (self.outs if out else self.ins)[place, bank] = main

    def registered(self, cycle: int) -> dict[str, int]:
        """Probes of what is so when the cycle begins."""
        count, width = self.cfg.interval_registers, max(1, (self.cfg.active_warps - 1).bit_length())
        phases = [(bank, one) for bank, one in enumerate(self.channels) if one.phase != BACK_IDLE]
        return {
            "out_valid": masked(place * count + bank for place, bank in self.outs),
            "in_valid": masked(place * count + bank for place, bank in self.ins),
            "in_asked": masked(place * count + bank for place, bank in self.asked),
            "fill_asks": masked(self.requests),
            "fill_place": sum(place << bank * width for bank, place in self.requests.items()),
            "back_phase": sum(one.phase << 2 * bank for bank, one in phases),
            "back_place": sum(one.place << bank * width for bank, one in phases),
            "latch_state": sum(main.latch << 2 * number for number, main in enumerate(self.mains)),
            "main_busy": masked(number for number, main in enumerate(self.mains) if main.array > cycle),
        }

    def stores(self, cycle: int) -> dict[int, int]:
        """Banks of the cache whose row of a place a fill writes in this cycle."""
        length = self.cfg.bank_cycles + self.cfg.crossbar_beats + 1
        return {fill.bank: fill.place for fill in self.fills if fill.begun + length == cycle}

    def loading(self) -> dict[int, Channel]:
        """Channels that ask to read their bank."""
        return {bank: one for bank, one in enumerate(self.channels) if one.phase == BACK_LOAD}

    def turn(self, cycle: int, served: set[int], parked: int | None, starts: int | None) -> dict[str, int]:
        """Everything is chosen, then everything changes; returns the probes of what happens.

        ``served``: channels that read; ``parked``, ``starts``: main bank of the parked result in work, and of the one
        that starts.
        """
        fills = self._granted_fills(cycle, parked)
        backs = self._granted_backs(starts)
        picked, saved = self._picked_fills(cycle), self._picked_backs()
        written = {number for number, main in enumerate(self.mains) if main.latch == FULL and main.array <= cycle}
        count, beats = self.cfg.interval_registers, self.cfg.crossbar_beats
        first_beat = cycle - self.cfg.bank_cycles - 1
        passing = {fill.bank for fill in self.fills if first_beat - beats < fill.begun <= first_beat}
        sending = {bank for bank, one in enumerate(self.channels) if one.phase == BACK_BEATS}
        waits = {count + bank for bank, one in enumerate(self.channels) if one.phase == BACK_ASK and bank not in backs}
        seen = {
            "fill_grant": masked(fills),
            "back_grant": masked(backs),
            "fill_pick": masked(picked),
            "back_pick": masked(saved),
            "unfit": masked({*self.requests} - fills | waits),
            "main_write": masked(written),
            "main_beat": masked(passing | {count + bank for bank in sending}) | (parked is not None) << 2 * count,
        }
        for bank, place in self.stores(cycle).items():
            del self.ins[place, bank]
            self.asked.discard((place, bank))
        self._end(cycle, sending, written)
        self._begin(cycle, fills, backs, starts)
        for bank, place in picked.items():
            self.requests[bank] = place
            self.asked.add((place, bank))
            self.picks[bank] = (place + 1) % self.cfg.active_warps
        for bank, one in self.loading().items():
            self._read(bank, one, bank in served)
        for bank, place in saved.items():
            self.channels[bank] = Channel(BACK_LOAD, place, self.outs[place, bank])
            self.saves[bank] = (place + 1) % self.cfg.active_warps
        return seen

    def _granted_fills(self, cycle: int, parked: int | None) -> set[int]:
        fitting: dict[int, set[int]] = {}
        for bank, place in self.requests.items():
            number = self.ins[place, bank]
            main = self.mains[number]
            free = max(self.input[bank], main.array, main.output) <= cycle
            if free and main.latch != FULL and number != parked:
                fitting.setdefault(number, set()).add(bank)
        return {
            bank
            for number, banks in fitting.items()
            if (bank := first(banks, self.mains[number].fills, self.cfg.interval_registers)) is not None
        }

    def _granted_backs(self, starts: int | None) -> set[int]:
        asking: dict[int, set[int]] = {}
        wanted = {self.ins[place, bank] for bank, place in self.requests.items()}
        for bank, one in enumerate(self.channels):
            main = self.mains[one.main]
            open_ = main.latch == FREE and one.main != starts and not (main.turn and one.main in wanted)
            if one.phase == BACK_ASK and open_:
                asking.setdefault(one.main, set()).add(bank)
        return {
            bank
            for number, banks in asking.items()
            if (bank := first(banks, self.mains[number].backs, self.cfg.interval_registers)) is not None
        }

    def _picked_fills(self, cycle: int) -> dict[int, int]:
        found: dict[int, set[int]] = {}
        for (place, bank), number in self.ins.items():
            main = self.mains[number]
            waits = (place, bank) in self.asked or (place, bank) in self.outs or bank in self.requests
            if not waits and max(main.array, main.output) <= cycle + 1:
                found.setdefault(bank, set()).add(place)
        return self._first_places(found, self.picks)

    def _picked_backs(self) -> dict[int, int]:
        found: dict[int, set[int]] = {}
        for place, bank in self.outs:
            if self.channels[bank].phase == BACK_IDLE:
                found.setdefault(bank, set()).add(place)
        return self._first_places(found, self.saves)

    def _first_places(self, found: dict[int, set[int]], pointers: list[int]) -> dict[int, int]:
        chosen = {bank: first(places, pointers[bank], self.cfg.active_warps) for bank, places in found.items()}
        return {bank: place for bank, place in chosen.items() if place is not None}

    def _end(self, cycle: int, sending: set[int], written: set[int]) -> None:
        """Last beats of write-backs, and latches that are written."""
        length = self.cfg.bank_cycles + self.cfg.crossbar_beats + 1
        self.fills = [fill for fill in self.fills if fill.begun + length > cycle]
        for bank in sending:
            if self.channels[bank].begun + self.cfg.crossbar_beats == cycle:
                self.mains[self.channels[bank].main].latch = FULL
                self.channels[bank].phase = BACK_IDLE
        for number in written:
            self.mains[number].latch, self.mains[number].array = FREE, cycle + 1 + self.access

    def _begin(self, cycle: int, fills: set[int], backs: set[int], starts: int | None) -> None:
        """What is granted; if a fill and a write are, the write was last."""
        for bank in fills:
            place = self.requests.pop(bank)
            main = self.mains[self.ins[place, bank]]
            self.fills.append(Fill(cycle, place, bank))
            self.input[bank] = main.output = cycle + self.cfg.crossbar_beats
            main.array, main.turn, main.fills = cycle + 1 + self.access, False, (bank + 1) % len(self.input)
        for bank in backs:
            one = self.channels[bank]
            main = self.mains[one.main]
            one.phase, one.begun = BACK_BEATS, cycle
            main.latch, main.turn, main.backs = FILLING, True, (bank + 1) % len(self.input)
        if starts is not None:
            self.mains[starts].latch, self.mains[starts].turn = FILLING, True

    def _read(self, bank: int, one: Channel, served: bool) -> None:
        if served:
            del self.outs[one.place, bank]
            one.phase = BACK_ASK
        else:
            one.lost = min(LOSSES, one.lost + 1)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left, but what latches have yet to write."""
        idle = all(one.phase == BACK_IDLE for one in self.channels)
        return idle and not (self.outs or self.ins or self.requests or self.fills)
