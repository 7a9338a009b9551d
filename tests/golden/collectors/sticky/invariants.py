"""A second reading of what slots keep and wait for, from probes, results and beats, and what must hold of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, Watcher, bits, require, takes_unit
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.stimulus import Stimulus

Slot = tuple[int, int]  #: unit and slot
Register = tuple[int, int]  #: warp and register


@dataclass
class StickyWatcher(Watcher):
    """The frame's invariants, and those of docs/schemes/sticky.md.

    ``tags`` of the near slots that keep something, ``waits`` what slots wait for, ``due`` the first cycle in which the
    operand of a slot is there, ``order`` the units, the one allocated longest ago first. ``shows`` answers 0 for a
    probe that there is not.
    """

    coming: set[Register] = field(default_factory=set)
    tags: dict[Slot, Register] = field(default_factory=dict)
    waits: dict[Slot, Register] = field(default_factory=dict)
    due: dict[Slot, int] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    left: list[tuple[int, int, Beat]] = field(default_factory=list)
    arrived_at: Register | None = None
    cuts: int = 0

    @property
    def sticky(self) -> StickyConfig:
        """The configuration."""
        assert isinstance(self.cfg, StickyConfig)
        return self.cfg

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self.order = self.order or [*range(self.cfg.collectors)]
        shows = f.get
        self._check_levels(lambda name: shows(name, 0))
        self._check_lacking(f)
        self.left, self.arrived_at = [], None
        busy = set(self.units)
        super().check(stimulus, f)
        if not f["allocate"]:
            require(
                not shows("hit", 0) and not shows("expects", 0) and not shows("late", 0), "a unit is taken for that"
            )
        if not f["issue"]:
            require(not shows("overwritten", 0), "only a beat that issues writes")
        self._follow_marks(f)
        require(self.cfg.retake == "same" or not f["allocate"] or f["allocate"].bit_length() - 1 not in busy, "retake")

    def _near(self, slots: list[Slot]) -> int:
        return sum(1 << unit * self.sticky.near_slots + slot for unit, slot in slots)

    def _check_levels(self, shows: Callable[[str], int]) -> None:
        """Registered state."""
        cfg = self.sticky
        names = warps = 0
        for (unit, slot), (warp, register) in self.tags.items():
            index = unit * cfg.near_slots + slot
            names |= register << index * cfg.register_bits
            warps |= warp << index * cfg.warp_bits
        require(shows("kept") == self._near([*self.tags]), "a slot keeps its operand until it is written or replaced")
        require(shows("kept_name") == names and shows("kept_warp") == warps, "a slot keeps what its last source was")
        require(shows("awaiting") == self._near([*self.waits]), "a slot waits from its allocation to its result")
        require(shows("coming") == sum({1 << warp for warp, _ in self.coming}), "coming is what left by a fast port")
        for warp, register in self.coming:
            require(self.pending.get((warp, "register", register)) == NEVER, "what is coming is pending")
        for (unit, slot), tag in self.tags.items():
            free = unit not in self.units or slot >= len(self.units[unit][1].sources)
            ahead = self.pending.get((tag[0], "register", tag[1])) == NEVER
            require(not (free and ahead), "what is kept beside no beat has no result ahead of it")

    def _check_lacking(self, f: dict[str, int]) -> None:
        lacking = request = 0
        for unit, (_, beat) in self.units.items():
            asking = []
            for slot in range(len(beat.sources)):
                if self.due.get((unit, slot), NEVER) > self.cycle:
                    lacking |= 1 << unit
                if slot not in self.granted[unit] and (unit, slot) not in self.waits:
                    asking.append(slot)
            for slot in asking[:1] if self.cfg.collect == "lowest" else asking:
                request |= 1 << unit * self.cfg.source_slots + slot
        require(f["lacking"] == lacking, "a unit lacks what has not arrived by a bank, a result or a hit")
        require(f["request"] == request, "a slot asks its bank unless it hit, waits for a result or was granted")

    def _check_units(self, f: dict[str, int]) -> None:
        occupied = sum(1 << unit for unit in self.units)
        require(occupied == f["occupied"], "units are occupied from allocation to dispatch")
        leaving = any(f["dispatch"] >> port & 1 for port in range(self.cfg.ports)) and self.cfg.retake == "same"
        full = len(self.units) == self.cfg.collectors and not leaving
        stuck = sum(1 << warp for warp, buffer in self.buffers.items() if buffer and full and takes_unit(buffer[0]))
        require(f["buffered"] & ~stuck == f["room"], "room is a free unit, or a head beat that needs none")

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        super()._check_banks(stimulus, f)
        for index in indices(f["grant"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            self.due[unit, slot] = self.cycle + self.cfg.bank_cycles + 1
        taking = []
        first = stimulus.results[0]
        if first is not None and first.writes and f["write"] & 1:
            self.arrived_at = first.warp, first.register
            taking = [one for one, awaited in self.waits.items() if awaited == self.arrived_at]
        require(f.get("forward", 0) == self._near(taking), "a slot takes the result that it waits for")
        for unit, slot in taking:
            require(stimulus.results[0].full, "only results of all live lanes are forwarded")  # type: ignore[union-attr]
            del self.waits[unit, slot]
            self.granted[unit].add(slot)
            self.due[unit, slot] = self.cycle + 1
            self.hits += 1

    def _follow_dispatch(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        for port in indices(f["offer"]):
            unit = f[f"dispatch_unit{port}"]
            warp, beat = self.units[unit]
            require(not f["lacking"] >> unit & 1, "only what lacks nothing is presented")
            if f["dispatch"] >> port & 1:
                self.left.append((port, warp, beat))
        super()._follow_dispatch(stimulus, f)

    def _follow_marks(self, f: dict[str, int]) -> None:
        """What becomes coming or ends at the end of the cycle."""
        if self.arrived_at is not None:
            self.coming.discard(self.arrived_at)
        marks = 0
        for port, warp, beat in self.left:
            if self.sticky.forwards and self.sticky.forwarding_ports[port] and beat.full and beat.dest_count:
                marks |= 1 << port
                self.coming |= {(warp, beat.dest + number) for number in range(beat.dest_count)}
        require(f.get("marks", 0) == marks, "full results of fast ports are coming from the dispatch on")

    def _check_pending(self, warp: int, beat: Beat) -> None:
        """What near sources read may be coming; and what the beat writes is kept no longer."""
        dests = {beat.dest + number for number in range(beat.dest_count)}
        near = {one for one in beat.sources[: self.sticky.near_slots] if (warp, one) in self.coming}
        waited = sum(1 << register for register in {*beat.sources, *dests} - (near - dests))
        for key in bits(warp, waited, beat.token_reads | beat.token_writes):
            require(self.pending.get(key, 0) <= self.cycle, "a beat waits until what it names is complete or coming")
        if beat.mask:
            reserved = sum(1 << register for register in dests)
            self.pending.update(dict.fromkeys(bits(warp, reserved, beat.token_writes), NEVER))

    def _follow_issue(self, f: dict[str, int]) -> None:
        if not f["issue"]:
            return
        warp = f["issue_warp"]
        beat = self.buffers[warp][0]
        dests = range(beat.dest, beat.dest + beat.dest_count) if beat.mask else range(0)
        before = dict(self.tags)
        super()._follow_issue(f)
        written = [one for one, (owner, name) in before.items() if owner == warp and name in dests]
        require(f.get("overwritten", 0) == self._near(written), "a write ends what is kept of its register")
        taken = f["allocate"].bit_length() - 1
        for one in written:
            if one[0] != taken or one[1] >= len(beat.sources):
                self.tags.pop(one, None)
        if f["exit"]:
            self.tags = {one: tag for one, tag in self.tags.items() if tag[0] != warp}

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        unit = f["allocate"].bit_length() - 1
        hits = self._check_choice(f, unit, warp, beat)
        cfg, near = self.sticky, len(beat.sources[: self.sticky.near_slots])
        late = expects = 0
        self.units[unit], self.granted[unit] = (warp, beat), set()
        for slot, register in enumerate(beat.sources):
            self.due.pop((unit, slot), None)
            if slot < near and (warp, register) in self.coming:
                if self.arrived_at == (warp, register):
                    late |= 1 << slot
                else:
                    expects |= 1 << slot
                    self.waits[unit, slot] = warp, register
            elif hits >> slot & 1:
                self.granted[unit].add(slot)
                self.due[unit, slot] = self.cycle + 1
                self.hits += 1
            if cfg.keeps_operands and slot < near:
                self.tags.pop((unit, slot), None)
                if not beat.dest <= register < beat.dest + beat.dest_count:
                    self.tags[unit, slot] = warp, register
        require(f.get("late", 0) == late, "late is a source whose result comes in the cycle of the issue")
        require(f.get("expects", 0) == expects, "every other source that is coming is waited for")
        require(f["taken"] == (1 << len(beat.sources)) - 1, "what is taken has these sources")

    def _check_choice(self, f: dict[str, int], unit: int, warp: int, beat: Beat) -> int:
        """Returns the slots that hit."""
        idle = [one for one in range(self.cfg.collectors) if not f["occupied"] >> one & 1]
        left = [f[f"dispatch_unit{port}"] for port in indices(f["dispatch"])] if self.cfg.retake == "same" else []
        if not self.sticky.keeps_operands:
            require(unit == min(idle or left), "the lowest free unit takes the beat")
            return 0
        hits = dict.fromkeys((*idle, *left), 0)
        for one in hits:
            for slot, register in enumerate(beat.sources):
                hits[one] |= (self.tags.get((one, slot)) == (warp, register)) << slot
        fits = [one for one in hits if hits[one]] or [*hits]
        require(unit == min(fits, key=self.order.index), "the unit that fits and was allocated longest ago is taken")
        require(f["hit"] == hits[unit], "a source hits that its slot keeps")
        self.order.remove(unit)
        self.order.append(unit)
        return hits[unit]

    def check_end(self, counters: dict[str, int]) -> None:
        """Nothing is awaited or coming, and every source was served in one way."""
        super().check_end(counters)
        require(not self.waits and not self.coming, "what is awaited comes")
        require(counters["forwards"] == counters["source_awaits"], "a slot takes one result")
        served = counters["bank_reads"] + counters["source_hits"] + counters["source_awaits"]
        require(served == counters["sources"], "a source is read, kept or awaited")
