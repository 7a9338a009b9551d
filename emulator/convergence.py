"""Which lanes of a warp run together, and where they wait for each other.

A warp is a set of splits (instruction index, lane mask). One split runs until it ends, exits or waits; then another
one does. Convergence barriers B0..B15 are kept as disjoint *groups* of lanes, so that two halves of a diverged warp
may use the same barrier at the same time: BSSY makes a group of the lanes that execute it, BREAK and EXIT take lanes
out, and BSYNC holds lanes until their whole group has come. This is no post-dominator stack: lanes may leave early.
"""

from __future__ import annotations

from dataclasses import dataclass

BARRIERS = 16
TURN_BRANCHES = 64  #: backward branches a split may take while others could run, so that spinning lanes make progress


@dataclass(slots=True)
class Wait:
    """Lanes that hold before ``index``: at barrier ``barrier``, or for the lanes of ``required`` (WARPSYNC)."""

    index: int
    mask: int
    barrier: int = -1
    required: int = 0


class Convergence:
    """Splits, convergence barriers and waiting lanes of one warp. ``live`` are the lanes that have not exited."""

    def __init__(self, live: int) -> None:
        self.live = live
        self.runnable: list[tuple[int, int]] = [(0, live)]
        self.groups: list[list[int]] = [[] for _ in range(BARRIERS)]
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

    def begin(self, barrier: int, mask: int) -> None:
        """BSSY: the lanes of ``mask`` form a group of their own."""
        self.leave(barrier, mask)
        self.groups[barrier].append(mask)

    def leave(self, barrier: int, mask: int) -> None:
        """BREAK or BMOV.CLEAR: the lanes belong to no group of this barrier any more."""
        groups = self.groups[barrier]
        if groups:
            self.groups[barrier] = [group & ~mask for group in groups if group & ~mask]

    def group_of(self, barrier: int, lane: int) -> int:
        """Mask of the group a lane belongs to, 0 if none."""
        return next((group for group in self.groups[barrier] if group >> lane & 1), 0)

    def restore(self, barrier: int, group: int, mask: int) -> None:
        """BMOV B, R: the lanes of ``mask`` belong to ``group`` again."""
        self.leave(barrier, mask)
        group &= self.live
        for index, other in enumerate(self.groups[barrier]):
            if other & group:
                self.groups[barrier][index] |= mask & group
                return
        if group:
            self.groups[barrier].append(group)

    def sync(self, barrier: int, index: int, mask: int) -> bool:
        """BSYNC: wait for the group. True if nobody has to be waited for; the lanes then go on at once."""
        groups = self.groups[barrier]
        if mask in groups:
            groups.remove(mask)
            return True
        if not any(group & mask for group in groups):
            return True
        self.waits.append(Wait(index, mask, barrier))
        self.release()
        return False

    def warp_sync(self, required: int, index: int, mask: int) -> bool:
        """WARPSYNC: wait for the live lanes of ``required``; True if they are all here."""
        if required & self.live & ~mask == 0:
            return True
        self.waits.append(Wait(index, mask, required=required))
        self.release()
        return False

    def exit(self, mask: int) -> None:
        """EXIT: the lanes are gone, whoever waits for them need not any more."""
        self.live &= ~mask
        for barrier, groups in enumerate(self.groups):
            if groups:
                self.leave(barrier, mask)

    def release(self) -> None:
        """Let every complete group of waiting lanes run again."""
        for barrier in {wait.barrier for wait in self.waits if wait.barrier >= 0}:
            waits = [wait for wait in self.waits if wait.barrier == barrier]
            waiting = 0
            for wait in waits:
                waiting |= wait.mask
            grouped = 0
            for group in list(self.groups[barrier]):
                grouped |= group
                if group & ~waiting == 0:
                    self.groups[barrier].remove(group)
                    self._wake(waits, group)
            self._wake(waits, waiting & ~grouped)
        self._release_warp_syncs()
        self.waits = [wait for wait in self.waits if wait.mask]

    def _release_warp_syncs(self) -> None:
        waits = [wait for wait in self.waits if wait.barrier < 0]
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
