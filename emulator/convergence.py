"""Which lanes of a warp run together, and where they wait for each other.

A warp is a set of splits (instruction index, lane mask). One split runs until it ends, exits or waits; then another
one does. BSSY makes a *group* of the lanes that execute it and lets the lanes' barrier register refer to it; BSYNC
holds lanes until all members of their group have come; BREAK and EXIT take members out. Barrier registers B0..B15 are
kept per lane, so that parts of a diverged warp may use the same barrier at the same time, at different depths of a
recursion as well. This is no post-dominator stack: lanes may leave early.
"""

from __future__ import annotations

from dataclasses import dataclass

BARRIERS = 16
TURN_BRANCHES = 64  #: backward branches a split may take while others could run, so that spinning lanes make progress


@dataclass(slots=True, eq=False)
class Group:
    """Lanes that a BSYNC has to wait for."""

    members: int


@dataclass(slots=True, eq=False)
class Hold:
    """Lanes whose barrier register, or whose copy of ``barrier`` with ``value``, refers to a group."""

    group: Group
    lanes: int
    barrier: int = 0
    value: int = 0


@dataclass(slots=True, eq=False)
class Wait:
    """Lanes that hold before ``index``: for their group, or for the lanes of ``required`` (WARPSYNC)."""

    index: int
    mask: int
    group: Group | None = None
    required: int = 0


class Convergence:
    """Splits, convergence barriers and waiting lanes of one warp. ``live`` are the lanes that have not exited."""

    def __init__(self, live: int) -> None:
        self.live = live
        self.runnable: list[tuple[int, int]] = [(0, live)]
        self.holds: list[list[Hold]] = [[] for _ in range(BARRIERS)]
        self.saved: list[Hold] = []
        self.waits: list[Wait] = []
        self.at_cta_barrier: list[tuple[int, int]] = []
        self._branches = 0
        self._oldest_next = False

    def fork(self, index: int, mask: int) -> None:
        """Let ``mask`` run from ``index`` on later."""
        self.runnable.append((index, mask))

    def next_split(self) -> tuple[int, int] | None:
        """Take the next split to run, with every other one that is at the same instruction."""
        if not self.runnable:
            return None
        index, mask = self.runnable.pop(0 if self._oldest_next else -1)
        self._oldest_next = False
        for other in [split for split in self.runnable if split[0] == index]:
            self.runnable.remove(other)
            mask |= other[1]
        return index, mask

    def yields(self) -> bool:
        """Count a backward branch; whether the running split must let another one run."""
        if not self.runnable:
            return False
        self._branches += 1
        if self._branches < TURN_BRANCHES:
            return False
        self._branches = 0
        self._oldest_next = True
        return True

    def state(self) -> tuple[object, ...]:
        """All of it as values; groups are numbered as they appear, because which one it is counts."""
        numbers: dict[int, int] = {}

        def number(group: Group | None) -> tuple[int, int]:
            return (-1, 0) if group is None else (numbers.setdefault(id(group), len(numbers)), group.members)

        holds = [(barrier, hold) for barrier in range(BARRIERS) for hold in self.holds[barrier]]
        return (
            (self.live, self._branches, self._oldest_next, *self.runnable, *self.at_cta_barrier),
            tuple((barrier, hold.lanes, *number(hold.group)) for barrier, hold in holds),
            tuple((copy.barrier, copy.lanes, copy.value, *number(copy.group)) for copy in self.saved),
            tuple((wait.index, wait.mask, wait.required, *number(wait.group)) for wait in self.waits),
        )

    def begin(self, barrier: int, mask: int) -> None:
        """BSSY: the lanes of ``mask`` form a group of their own."""
        if self.holds[barrier]:
            self.leave(barrier, mask)
        self.holds[barrier].append(Hold(Group(mask), mask))

    def leave(self, barrier: int, mask: int) -> None:
        """BREAK, or BMOV.CLEAR that keeps no copy: the lanes are in no group of this barrier any more."""
        for hold in self.holds[barrier]:
            hold.group.members &= ~(mask & hold.lanes)
        self._clear(barrier, mask)

    def _clear(self, barrier: int, mask: int) -> None:
        for hold in self.holds[barrier]:
            hold.lanes &= ~mask
        self.holds[barrier] = [hold for hold in self.holds[barrier] if hold.lanes]

    def values(self, barrier: int) -> list[int]:
        """What each lane's barrier register holds: the members of its group, 0 if there is none."""
        found = [0] * 32
        for hold in self.holds[barrier]:
            for lane in range(32):
                if hold.lanes >> lane & 1:
                    found[lane] = hold.group.members
        return found

    def save(self, barrier: int, mask: int, clears: bool) -> None:
        """BMOV R, B: the lanes keep a copy; with ``clears`` they refer to no group, but still are members."""
        for hold in self.holds[barrier]:
            if hold.lanes & mask:
                self.saved.append(Hold(hold.group, hold.lanes & mask, barrier, hold.group.members))
        if clears:
            self._clear(barrier, mask)

    def restore(self, barrier: int, value: int, mask: int) -> None:
        """BMOV B, R: the lanes refer to the group again whose copy of this barrier they kept last with this value."""
        self._clear(barrier, mask)
        for copy in reversed(self.saved):
            lanes = copy.lanes & mask if (copy.barrier, copy.value) == (barrier, value) else 0
            if lanes:
                copy.lanes &= ~lanes
                mask &= ~lanes
                self._hold(barrier, copy.group, lanes)
        self.saved = [copy for copy in self.saved if copy.lanes]
        if mask & value:
            self._hold(barrier, Group(value & self.live), mask & value)

    def _hold(self, barrier: int, group: Group, lanes: int) -> None:
        lanes &= group.members
        for hold in self.holds[barrier]:
            if hold.group is group:
                hold.lanes |= lanes
                return
        if lanes:
            self.holds[barrier].append(Hold(group, lanes))

    def sync(self, barrier: int, index: int, mask: int) -> int:
        """BSYNC: wait for the group. Lanes that have no other to wait for go on at once; they are returned."""
        ready = mask
        for hold in [hold for hold in self.holds[barrier] if hold.lanes & mask]:
            come = hold.lanes & mask
            if hold.group.members & ~come:
                self.waits.append(Wait(index, come, hold.group))
                ready &= ~come
        self._clear(barrier, mask)
        if ready != mask:
            self.release()
        return ready

    def warp_sync(self, required: int, index: int, mask: int) -> bool:
        """WARPSYNC: wait for the live lanes of ``required``; True if they are all here."""
        if required & self.live & ~mask == 0:
            return True
        self.waits.append(Wait(index, mask, required=required))
        self.release()
        return False

    def exit(self, mask: int) -> None:
        """EXIT: the lanes are gone; other lanes no longer wait for them."""
        self.live &= ~mask
        for barrier in range(BARRIERS):
            if self.holds[barrier]:
                self.leave(barrier, mask)
        for copy in self.saved:
            copy.group.members &= ~mask
        for wait in self.waits:
            if wait.group is not None:
                wait.group.members &= ~mask

    def release(self) -> None:
        """Let every complete group of waiting lanes run again."""
        for group in dict.fromkeys(wait.group for wait in self.waits if wait.group is not None):
            waits = [wait for wait in self.waits if wait.group is group]
            waiting = 0
            for wait in waits:
                waiting |= wait.mask
            if group.members & ~waiting == 0:
                self._wake(waits, waiting)
        self._release_warp_syncs()
        self.waits = [wait for wait in self.waits if wait.mask]

    def _release_warp_syncs(self) -> None:
        waits = [wait for wait in self.waits if wait.group is None]
        waiting = 0
        for wait in waits:
            waiting |= wait.mask
        for wait in waits:
            if wait.mask and wait.required & self.live & ~waiting == 0:
                self._wake(waits, wait.required & waiting)

    def _wake(self, waits: list[Wait], mask: int) -> None:
        woken: dict[int, int] = {}
        for wait in waits:
            if wait.mask & mask:
                woken[wait.index] = woken.get(wait.index, 0) | wait.mask & mask
                wait.mask &= ~mask
        self.runnable.extend(woken.items())
