"""A second reading of the pool, from probes and beats alone, and what must hold of it in every cycle."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.golden.invariants import Watcher, require
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Stimulus
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Drain, Kind
from warpfile.spec.workload import Workload

STATE = ("acquired", "pool_taken", "sections_held")


@dataclass
class SectionWatcher:
    """Follows who has what by the beats that issue. ``owner`` is, by warp, the section that it has."""

    cfg: RegMutexConfig
    workload: Workload
    cycle: int = 0
    buffers: dict[int, deque[Beat]] = field(default_factory=dict)
    base: dict[int, int] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    waiters: list[int] = field(default_factory=list)
    kernel: bool = False
    before: dict[str, int] = field(default_factory=dict)

    def size(self, name: str) -> int:
        """A field of the descriptor."""
        return self.workload.kernel.descriptor[name]

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        require(f["stray"] == 0, "no access to the extended set without a section")
        self._check_owners(f)
        self._check_state(f)
        self._check_places()
        self._check_waiting(f)
        self._follow(stimulus, f)
        self.before = f
        self.cycle += 1

    def _sections(self, f: dict[str, int]) -> dict[int, int]:
        bits = self.cfg.warp_bits
        return {w: f["sections_held"] >> w * bits & (1 << bits) - 1 for w in indices(f["acquired"])}

    def _check_owners(self, f: dict[str, int]) -> None:
        """A section has one owner; the mask says how many are taken, and which do not exist."""
        if self.cfg.paired:
            if self.cfg.pair_state == "warp":
                require(not f["acquired"] & f["acquired"] >> 1 & 0x5555_5555, "of two partners one has the section")
            require(not f["pool_taken"] and not f["sections_held"], "there is no pool in paired mode")
            return
        held = self._sections(f)
        require(len(set(held.values())) == len(held), "a section has one owner")
        missing = self.cfg.warps - (self.size("sections") if self.kernel else 0)
        require(f["pool_taken"].bit_count() == len(held) + missing, "taken are those of owners")
        require(f["pool_taken"] >> self.cfg.warps - missing == (1 << missing) - 1, "others than these do not exist")

    def _check_state(self, f: dict[str, int]) -> None:
        """What is observed is what the beats say."""
        acquired = sum(1 << w for w in self.owner)
        if self.cfg.pair_state == "pair":
            acquired = sum(1 << pair for pair in {w // 2 for w in self.owner})
        require(f["acquired"] == acquired, "a warp has a section from its ACQ to its REL or EXIT")
        if not self.cfg.paired:
            require(self._sections(f) == self.owner, "the lowest free section is taken, and kept")
        require(f["section_waiting"] == sum(1 << w for w in self.waiters), "a refused warp waits until it is served")
        if self.before and (self.before["acquire_again"] or self.before["release_again"]):
            require(all(f[name] == self.before[name] for name in STATE), "a repeated ACQ or REL changes nothing")

    def place(self, warp: int, register: int) -> int:
        """Where a register of a warp is that has a section if it needs one."""
        base, extended = self.size("base_registers"), self.size("extended_registers")
        if register < base:
            return self.base[warp] + register
        if self.cfg.paired:
            return warp // 2 * (2 * base + extended) + base + register
        return self.size("pool") + self.owner[warp] * extended + register - base

    def _check_places(self) -> None:
        """No two registers that may be accessed are in one place, and base sets end before the pool."""
        base, every = self.size("base_registers"), self.size("base_registers") + self.size("extended_registers")
        own = [self.place(w, r) for w in self.buffers for r in range(base)]
        lent = [self.place(w, r) for w in self.owner for r in range(base, every)]
        places = own + lent
        require(len(set(places)) == len(places), "every register has a place of its own")
        require(all(0 <= place < self.cfg.banks * self.cfg.rows for place in places), "places are there")
        require(self.cfg.paired or not lent or max(own) < min(lent), "base sets end before the pool")

    def is_open(self, warp: int) -> bool:
        """Whether the warp would get a section now."""
        if self.cfg.paired:
            return warp ^ 1 not in self.owner
        free = len(self.owner) < self.size("sections")
        return free and not (self.cfg.fair and self.waiters and self.waiters[0] != warp)

    def _check_waiting(self, f: dict[str, int]) -> None:
        """Only ACQs that find nothing are refused; a waiter that would get a section is not held."""
        for warp in indices(f["acquire_refused"]):
            require(not f["issue"], "a refused warp takes the issue slot")
            require(self._acquires(warp) and not self.is_open(warp), "an ACQ is refused if there is no section for it")
            require(warp not in self.waiters, "a waiting warp is not refused again")
        draining = [w for w in indices(f["section_draining"]) if w not in self.owner or not self._releases(w)]
        require(not draining, "a REL is held only if it gives something back")

    def _head(self, warp: int) -> Beat | None:
        buffer = self.buffers.get(warp)
        return buffer[0] if buffer else None

    def _acquires(self, warp: int) -> bool:
        head = self._head(warp)
        return head is not None and head.kind == Kind.SCHEME and head.drain != Drain.DISPATCHED

    def _releases(self, warp: int) -> bool:
        head = self._head(warp)
        return head is not None and head.kind == Kind.SCHEME and head.drain == Drain.DISPATCHED

    def held(self, f: dict[str, int]) -> int:
        """Warps whose head beat may not issue."""
        return f["section_draining"] | sum(1 << w for w in self.waiters if not self.is_open(w))

    def _follow(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self.waiters += list(indices(f["acquire_refused"]))
        if f["issue"]:
            self._follow_issue(f, f["issue_warp"])
        if f["kernel"]:
            self.kernel = True
        if f["launch"] and stimulus.launch is not None:
            self.buffers[stimulus.launch.warp], self.base[stimulus.launch.warp] = deque(), stimulus.launch.base
        if stimulus.beat is not None:
            self.buffers[stimulus.beat_warp].append(stimulus.beat)

    def _follow_issue(self, f: dict[str, int], warp: int) -> None:
        acquires, releases = self._acquires(warp), self._releases(warp)
        expected = {
            "acquire_ok": acquires and warp not in self.owner,
            "acquire_again": acquires and warp in self.owner,
            "release_ok": releases and warp in self.owner,
            "release_again": releases and warp not in self.owner,
        }
        require({name: f[name] for name in expected} == expected, "ACQ and REL do what they can")
        beat = self.buffers[warp].popleft()
        if beat.mask:
            far = sum(1 << slot for slot, source in enumerate(beat.sources) if source >= self.size("base_registers"))
            require(f["extended_source"] == far, "sources behind the base set are extended ones")
        if expected["acquire_ok"]:
            require(self.is_open(warp), "an ACQ that issues finds a section")
            self.waiters = [w for w in self.waiters if w != warp]
            free = set(range(self.cfg.warps)) - set(self.owner.values())
            self.owner[warp] = 0 if self.cfg.paired else min(free)
        if releases or f["exit"]:
            self.owner.pop(warp, None)
        if f["exit"]:
            del self.buffers[warp], self.base[warp]

    def check_end(self, counters: Mapping[str, int]) -> None:
        """Everything was given back, unless an EXIT may keep it."""
        require(not self.owner and not self.waiters, "no warp waits, and all sections are back")


@dataclass
class SharingWatcher(Watcher):
    """The frame's invariants over collector units, with the places of the sections."""

    refuses: bool = True
    sections: SectionWatcher = field(init=False)

    def __post_init__(self) -> None:
        assert isinstance(self.cfg, RegMutexConfig)
        self.sections = SectionWatcher(self.cfg, self.workload)

    def _bank(self, warp: int, register: int) -> int:
        return self.sections.place(warp, register) % self.cfg.banks

    def _check_masks(self, f: dict[str, int]) -> None:
        super()._check_masks(f)
        if "placed" not in f:
            eligible = f["clear"] & ~f["waiting"] & f["room"] & ~self.sections.held(f)
            require(bool(f["issue"] or f["acquire_refused"] or not eligible), "no warp sleeps that could go on")

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        split, stored = self.sections.size("base_registers"), f["extended_write"] | f["base_write"]
        super()._check_banks(stimulus, f)
        for port in indices(f["write"]):
            result = stimulus.results[port]
            assert result is not None
            kind = "extended" if result.register >= split else "base"
            require(bool(f[f"{kind}_write"] >> port & 1) == result.writes, "a result is stored in its set")
        require(not stored & ~f["write"], "what is stored was accepted")

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        split, pending = self.sections.size("base_registers"), self.pending
        for warp in range(self.cfg.warps):
            keys = [key for key, until in pending.items() if key[0] == warp and until > self.cycle]
            waits = any(kind == "register" and number >= split for _, kind, number in keys)
            drains = waits and warp in self.sections.owner and self.sections._releases(warp)
            require(bool(f["section_draining"] >> warp & 1) == drains, "a REL waits for what is pending in its section")
        super().check(stimulus, f)
        self.sections.check(stimulus, f)

    def check_end(self, counters: dict[str, int]) -> None:
        """Both."""
        super().check_end(counters)
        self.sections.check_end(counters)
