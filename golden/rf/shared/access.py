"""The access port: beats in flight to the pins of the LSU (docs/schemes/larf.md, section 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpfile.golden.rf.contract import Sent
from warpfile.golden.rf.renaming import Mapped, RenamingTable
from warpfile.golden.rf.shared.addresses import NO_UPPER, AddressTable, Known, meets
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import NO_ROW
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.search import Inserted, Match, Search, Source, source
from warpfile.golden.rf.shared.vectors import ADDRESS, LOW, Vector, crosses, fits, lane_values, vector
from warpfile.spec.schemes.shared import (
    ACT,
    COMPARE,
    DECIDE,
    DELETE,
    DONE,
    DOUBLE,
    EMPTY,
    FLUSH,
    IRREGULAR,
    LOAD,
    MISS,
    PARTIAL,
    PLAIN,
    RECHECK,
    SELECT,
    SINGLE,
    SPAN,
    STORE,
    STRIDE,
    THROUGH,
    UPPER,
    SharedConfig,
)

_BEHIND: Final = {COMPARE: SELECT, SPAN: DELETE, DELETE: THROUGH}
_NOBODY: Final = (False, False, False, False)
_NONE: Final = Vector(False, 0, 0, 0, 0, 0)


class Access:
    """A beat in the port. ``kind``: hint ``access``. ``old``: what its destination is mapped to, once that is known.

    ``searches``: it is a load that has not been found untracked. ``waited``: cycles in E so far. ``behind``: there was
    a load ahead, which has ``ahead`` for it if it inserts an entry; ``met``: words that a store changes.
    """

    __slots__ = (
        *("ahead", "asked", "behind", "end", "kind", "match"),
        *("met", "old", "search", "searches", "sent", "waited"),
    )

    def __init__(self, sent: Sent, kind: int) -> None:
        self.sent, self.kind = sent, kind
        self.searches = kind == LOAD and sent.entry.beat.full
        self.asked = _NONE
        self.search: Search | None = None
        self.ahead: Source | None = None
        self.match = Match(MISS)
        self.old: Mapped | None = None
        self.waited = self.end = 0
        self.behind = self.met = False

    @property
    def changes(self) -> bool:
        """Whether it ends entries."""
        return self.kind in (STORE, FLUSH)


class AccessPort:
    """Four stages; everything changes at the ``edge``. ``absorbed``: the access that leaves the port in this cycle, and
    not by the pins. ``sending``: what is presented there.
    """

    def __init__(
        self,
        cfg: SharedConfig,
        table: RenamingTable,
        addresses: AddressTable,
        contents: Contents,
        act: Callable[[Access], int],
        last: Callable[[], Inserted | None],
        probes: Probes,
    ) -> None:
        self.vector: Access | None = None
        self.searching: Access | None = None
        self.acting: Access | None = None
        self.leaving: Access | None = None
        self.search_state = self.act_state = EMPTY
        self.absorbed: Access | None = None
        self._first = False  # cycle in V
        self._untracked = False  # C finds it
        self._outcome = 0
        self._left = _NOBODY  # of stages 1 to 4, in this cycle
        self._taken: Access | None = None
        self._asker: Access | None = None
        self._answer: Mapped | None = None
        self._table, self._addresses, self._contents = table, addresses, contents
        self._act, self._last, self._probes = act, last, probes
        self._lanes, self._finds, self._powers = cfg.lanes, cfg.search, cfg.strides == "powers"
        self._at_access, self._at_registers = cfg.hint_at("access"), cfg.hint_at("address_registers")
        self._at_size, self._at_offset = cfg.hint_at("access_size"), cfg.hint_at("address_offset")

    @property
    def sending(self) -> Sent | None:
        """What is presented at the pins."""
        return None if self.leaving is None else self.leaving.sent

    @property
    def empty(self) -> bool:
        """Whether there is nothing in any stage."""
        return self.vector is None and self.searching is None and self.acting is None and self.leaving is None

    @property
    def compares(self) -> bool:
        """Whether an access is compared with the entries of the table in this cycle: a load, or a store's words."""
        stores = self.searching is not None and self.searching.kind == STORE
        return self.search_state == COMPARE or (self.search_state == DELETE and stores)

    def step(self) -> None:
        """What the states do, on registered state alone."""
        self.absorbed, self._outcome, self._untracked = None, 0, False
        self._asker = self._next_to_ask()
        self._decide_and_act()
        self._search()
        if self.vector is not None and self._first:
            self._find_vector(self.vector)

    def _find_vector(self, access: Access) -> None:
        beat = access.sent.entry.beat
        lanes = beat.mask & (1 << self._lanes) - 1
        operands = [self._contents.known.get(copy, 0) for copy in access.sent.operands]
        values = lane_values(beat.hints >> self._at_registers & 3, operands, self._lanes)
        access.asked = asked = vector(values, beat.hints >> self._at_offset & ADDRESS, lanes)
        if access.kind != LOAD:
            return
        if not access.searches:
            self._probes.untracked(PARTIAL)
        elif not asked.regular or asked.first:
            self._probes.untracked(IRREGULAR)
            access.searches = False
        elif not fits(asked, self._powers):
            self._probes.untracked(STRIDE)
            access.searches = False

    def _search(self) -> None:
        access, state = self.searching, self.search_state
        if access is None:
            return
        if state == COMPARE:
            self._compare(access)
        elif state == SPAN:
            size = 1 << (access.sent.entry.beat.hints >> self._at_size & 7)
            access.end = access.asked.base + (access.asked.last - access.asked.first) * access.asked.stride + size - 1
        elif state == DELETE:
            self._delete(access)

    def _ahead(self) -> Vector | None:
        """What the load in stage 3 asks for, if it has not acted before this cycle."""
        return self.acting.asked if self.acting is not None and self.act_state in (DECIDE, ACT) else None

    def _compare(self, access: Access) -> None:
        asked, addresses = access.asked, self._addresses
        if crosses(asked, self._lanes) or addresses.upper not in (NO_UPPER, asked.upper):
            self._probes.untracked(UPPER)
            self._untracked = True
            return
        addresses.begin(asked.upper)
        access.search = Search(asked, addresses.recent(), self._lanes)
        ahead = self._ahead()
        if ahead is not None:
            access.behind = True
            access.ahead = source(asked, -1, Known(ahead.base, ahead.stride, ahead.lanes, NO_ROW), self._lanes)

    def _delete(self, access: Access) -> None:
        addresses, ahead = self._addresses, self._ahead()
        if access.kind == FLUSH:
            access.met = ahead is not None
            if addresses.flush():
                self._probes.show("flushed")
            return
        words = self._range(access)
        if words is None:
            return
        self._probes.deleted(addresses.delete(*words))
        access.met = ahead is not None and meets(ahead.base, ahead.stride, self._lanes, *words)

    def _range(self, access: Access) -> tuple[int, int] | None:
        """First and last byte that a store changes, None if it changes nothing that the table knows."""
        asked, upper = access.asked, self._addresses.upper
        if not asked.lanes or upper == NO_UPPER:
            return None
        if not asked.regular or access.end > LOW:
            return 0, LOW
        return (asked.base, access.end) if asked.upper == upper else None

    def _decide_and_act(self) -> None:
        access, state = self.acting, self.act_state
        if access is None:
            return
        if state == DECIDE:
            self._decide(access)
        elif state == ACT:
            self._outcome = self._act(access)
            access.waited += 1
            if self._outcome not in (0, MISS):
                self.absorbed = access
        elif state == RECHECK:
            last = self._last()
            if access.met and last is not None:
                self._recheck(access, last)

    def _decide(self, access: Access) -> None:
        """The load ahead has acted, so it is known what its entry is."""
        search, last, merges = access.search, self._last(), self._finds == "merge"
        assert search is not None, "an access is decided about that was not compared"
        if self._finds == "none":
            return
        if access.behind and last is not None:
            search.forget(last.number)
            ahead = access.ahead
            if ahead is not None and search.add(Source(last.number, last.row, ahead.distance, ahead.lanes), merges):
                self._probes.show("ahead")
        access.match = search.decided(merges)

    def _recheck(self, access: Access, last: Inserted) -> None:
        self._addresses.end_entry(last.number)
        self._probes.show("ahead")
        if access.kind == FLUSH:
            self._probes.show("flushed")
        else:
            self._probes.deleted(1)

    def _next_to_ask(self) -> Access | None:
        """The load that asks for the mapping of its destination: each one does once."""
        access = self.acting
        if access is not None and self.act_state in (DECIDE, ACT) and access.old is None:
            return access
        access = self.searching
        return access if access is not None and access.searches and access.old is None else None

    @property
    def asks(self) -> bool:
        """Whether it asks the table in this cycle, served or not."""
        return self._asker is not None

    def ask(self) -> None:
        """The table is asked behind the results in X."""
        if self._asker is not None:
            self._answer = self._table.read(self._asker.sent.warp, self._asker.sent.entry.beat.dest)

    def takes(self, sent: bool) -> bool:
        """Whether there is room for the next one; ``sent``: the pins take what is presented there."""
        fourth = self.leaving is not None and sent
        room = self.leaving is None or fourth
        passes = self.act_state in (RECHECK, DONE) and room
        third = passes or self.absorbed is not None or (self._outcome == MISS and room)
        ends = self.search_state in (SELECT, DELETE, THROUGH)
        second = ends and (self.acting is None or third)
        first = self.vector is not None and (self.searching is None or second)
        self._left = first, second, third, fourth
        return self.vector is None or self.searching is None or (ends and (self.acting is None or passes))

    def take(self, sent: Sent) -> None:
        """It is in the port from the next cycle on."""
        self._taken = Access(sent, sent.entry.beat.hints >> self._at_access & 3)

    def edge(self) -> None:
        """Accesses move."""
        if self._asker is not None and self._answer is not None:
            self._asker.old = self._answer
        self._answer = None
        passes = self._passes()
        first, second, third, fourth = self._left
        if fourth:
            self.leaving = None
        self._leave_third(third)
        self._leave_second(second)
        self._leave_first(first)
        self._first = False
        if self._taken is not None and passes:
            self.leaving = self._taken
        elif self._taken is not None:
            self.vector, self._first = self._taken, True
        self._taken, self._left = None, _NOBODY

    def _passes(self) -> bool:
        """Whether what is taken goes to the pins at once."""
        if self._taken is None or self._taken.kind != PLAIN:
            return False
        if self.vector is not None or self.searching is not None or self.acting is not None:
            return False
        return self.leaving is None or self._left[3]

    def _leave_third(self, leaves: bool) -> None:
        if leaves:
            if self.absorbed is None:
                self.leaving = self.acting
            self.acting, self.act_state = None, EMPTY
        elif self.act_state == DECIDE:
            self.act_state = ACT
        elif self.act_state == RECHECK or self._outcome == MISS:
            self.act_state = DONE

    def _leave_second(self, leaves: bool) -> None:
        access = self.searching
        if access is None:
            return
        access.searches &= not self._untracked
        if not leaves:
            self.search_state = _BEHIND.get(self.search_state, self.search_state)
            return
        self.acting, self.searching, self.search_state = access, None, EMPTY
        self.act_state = RECHECK if access.changes else DECIDE if access.searches else DONE

    def _leave_first(self, leaves: bool) -> None:
        access = self.vector
        if access is None or not leaves:
            return
        self.searching, self.vector = access, None
        self.search_state = SPAN if access.changes else COMPARE if access.searches else THROUGH


def merges(match: Match) -> bool:
    """Whether the words of a search have to be put together."""
    return match.outcome in (SINGLE, DOUBLE)
