"""The access port: beats on their way to the pins of the LSU (docs/schemes/larf.md, section 7)."""

from __future__ import annotations

from collections.abc import Callable

from warpfile.golden.rf.contract import Sent
from warpfile.golden.rf.renaming import Mapped, RenamingTable
from warpfile.golden.rf.shared.addresses import NO_UPPER, AddressTable
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.search import Match, Search
from warpfile.golden.rf.shared.seen import Seen
from warpfile.golden.rf.shared.vectors import LOW, Vector, crosses, fits, lane_values, vector
from warpfile.spec.schemes.shared import (
    ACT,
    COMPARE,
    DECIDE,
    DOUBLE,
    EMPTY,
    FLUSH,
    IRREGULAR,
    LOAD,
    MISS,
    PARTIAL,
    SELECT,
    SEND,
    SINGLE,
    SPAN,
    STORE,
    STRIDE,
    UPPER,
    VECTOR,
    SharedConfig,
)

_SEARCHING = (VECTOR, COMPARE, SELECT, DECIDE, ACT)


class Access:
    """A beat in the port. ``kind``: hint ``access``. ``old``: what its destination is mapped to, once that is known.

    ``waited``: cycles in E so far. ``deletes``: first and last byte that a store changes, None for none.
    """

    __slots__ = ("asked", "deletes", "kind", "match", "old", "search", "sent", "waited", "words")

    def __init__(self, sent: Sent, kind: int) -> None:
        self.sent, self.kind = sent, kind
        self.asked = Vector(False, 0, 0, 0, 0, 0)
        self.search: Search | None = None
        self.match = Match(MISS)
        self.old: Mapped | None = None
        self.waited = 0
        self.deletes: tuple[int, int] | None = None

    @property
    def tracked(self) -> bool:
        """Whether it is a load that came to be searched for."""
        return self.kind == LOAD and self.sent.entry.beat.full


class AccessPort:
    """``state`` changes at the edge. ``absorbed``: the access leaves the port in this cycle, and not by the pins."""

    def __init__(
        self,
        cfg: SharedConfig,
        table: RenamingTable,
        addresses: AddressTable,
        contents: Contents,
        act: Callable[[Access], int],
        seen: Seen,
    ) -> None:
        self.state = self._next = EMPTY
        self.access: Access | None = None
        self.absorbed = False
        self._taken: Access | None = None
        self._answer: Mapped | None = None
        self._first = False  # cycle of the state
        self._table, self._addresses, self._contents = table, addresses, contents
        self._act, self._seen = act, seen
        self._lanes, self._merges, self._powers = cfg.lanes, cfg.search == "merge", cfg.strides == "powers"
        self._at = {
            name: cfg.hint_at(name) for name in ("access", "address_registers", "access_size", "address_offset")
        }
        self._steps = {
            VECTOR: self._find_vector,
            SPAN: self._find_span,
            COMPARE: self._compare,
            SELECT: self._select,
            DECIDE: self._decide,
            ACT: self._try_to_act,
            SEND: self._leave,
        }

    @property
    def sending(self) -> Sent | None:
        """What is presented at the pins."""
        return self.access.sent if self.access is not None and self.state == SEND else None

    @property
    def compares(self) -> bool:
        """Whether the access is compared with the entries of the table in this cycle: a load's, or a store's words."""
        stores = self.access is not None and self.access.kind == STORE
        return self.state == COMPARE or (self.state == SEND and self._first and stores)

    def step(self) -> None:
        """What the state does, on registered state alone."""
        self.absorbed = False
        if self.access is not None:
            self._steps[self.state](self.access)

    def _hint(self, access: Access, name: str, bits: int) -> int:
        return access.sent.entry.beat.hints >> self._at[name] & (1 << bits) - 1

    def _find_vector(self, access: Access) -> None:
        lanes = access.sent.entry.beat.mask & (1 << self._lanes) - 1
        operands = [self._contents.known.get(copy, 0) for copy in access.sent.operands]
        values = lane_values(self._hint(access, "address_registers", 2), operands, self._lanes)
        access.asked = asked = vector(values, self._hint(access, "address_offset", 48), lanes)
        if access.kind == STORE:
            self._next = SPAN
        elif not asked.regular or asked.first:
            self._send_untracked(IRREGULAR)
        elif not fits(asked, self._powers):
            self._send_untracked(STRIDE)
        else:
            self._next = COMPARE

    def _send_untracked(self, reason: int) -> None:
        self._seen.untracked(reason)
        self._next = SEND

    def _find_span(self, access: Access) -> None:
        asked, addresses = access.asked, self._addresses
        size = 1 << self._hint(access, "access_size", 3)
        end = asked.base + (asked.last - asked.first) * asked.stride + size - 1
        if not asked.lanes or addresses.upper == NO_UPPER:
            access.deletes = None
        elif not asked.regular or end > LOW:
            access.deletes = 0, LOW
        else:
            access.deletes = (asked.base, end) if asked.upper == addresses.upper else None
        self._next = SEND

    def _compare(self, access: Access) -> None:
        asked, addresses = access.asked, self._addresses
        if crosses(asked, self._lanes) or addresses.upper not in (NO_UPPER, asked.upper):
            self._send_untracked(UPPER)
            return
        addresses.begin(asked.upper)
        access.search = Search(asked, addresses.recent(), self._lanes)
        self._next = SELECT

    def _select(self, access: Access) -> None:
        search = access.search
        assert search is not None, "an access is chosen for that was not compared"
        access.match = search.exact()
        some = self._merges and (search.ahead or search.behind)
        self._next = DECIDE if some and search.perfect is None else ACT

    def _decide(self, access: Access) -> None:
        assert access.search is not None, "an access is decided about that was not compared"
        access.match = access.search.covered()
        self._next = ACT

    def _try_to_act(self, access: Access) -> None:
        outcome = self._act(access)
        access.waited += 1
        if outcome == MISS:
            self._next = SEND
        elif outcome:
            self.absorbed = True
            self._next = EMPTY

    def _leave(self, access: Access) -> None:
        if not self._first:
            return
        if access.kind == LOAD and not access.tracked:
            self._seen.untracked(PARTIAL)
        if access.kind == STORE and access.deletes is not None:
            self._seen.deleted(self._addresses.delete(*access.deletes))
        if access.kind == FLUSH and self._addresses.flush():
            self._seen.show("flushed")

    def ask(self) -> None:
        """A load asks once for the mapping of its destination, behind the results in X."""
        access = self.access
        if access is None or access.old is not None or not access.tracked or self.state not in _SEARCHING:
            return
        found = self._table.read(access.sent.warp, access.sent.entry.beat.dest)
        if found is not None:
            self._answer = found

    def takes(self, sent: bool) -> bool:
        """Whether there is room for the next one; ``sent``: the pins take what is presented there."""
        if sent:
            self._next = EMPTY
        return self.state == EMPTY or sent or self.absorbed

    def take(self, sent: Sent) -> None:
        """It is in the port from the next cycle on."""
        self._taken = access = Access(sent, sent.entry.beat.hints >> self._at["access"] & 3)
        self._next = VECTOR if access.tracked or access.kind == STORE else SEND

    def edge(self) -> None:
        """The state changes."""
        if self.access is not None and self._answer is not None:
            self.access.old = self._answer
        self._answer = None
        self._first = self._next != self.state or self._taken is not None
        self.state = self._next
        if self._taken is not None or self.state == EMPTY:
            self.access, self._taken = self._taken, None


def merges(match: Match) -> bool:
    """Whether the words of a search have to be put together."""
    return match.outcome in (SINGLE, DOUBLE)
