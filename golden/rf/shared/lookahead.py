"""The probe: which warp's next load is in the register file (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.shared.access import AccessPort
from warpfile.golden.rf.shared.addresses import NO_UPPER, AddressTable
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.reader import Reader
from warpfile.golden.rf.shared.search import Search
from warpfile.golden.rf.shared.vectors import Vector, crosses, fits, lane_values, vector
from warpfile.spec.schemes.las import DATA, NO_PROBE, P1, P2, READ
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.stimulus import Result


class Lookahead:
    """``watch`` before the first cycle; then in every cycle ``step``, and ``issued`` if a warp issues. ``reader`` has
    calls of its own. ``state`` and ``lookahead_hit``, the warp whose next load is there as a mask, change at the
    ``edge``.
    """

    _heads: Heads

    def __init__(
        self,
        cfg: SharedConfig,
        flagged_by: str,
        reader: Reader,
        addresses: AddressTable,
        port: AccessPort,
        probes: Probes,
    ) -> None:
        self.reader = reader
        self.state = self._next = NO_PROBE
        self.lookahead_hit = self._found = 0
        self._warp = 0
        self._issued = -1
        self._asked = Vector(False, 0, 0, 0, 0, 0)
        self._addresses, self._port, self._probes = addresses, port, probes
        self._lanes, self._powers, self._any = cfg.lanes, cfg.strides == "powers", flagged_by == "any"

    def watch(self, heads: Heads) -> None:
        """Where the head beats are."""
        self._heads = heads
        self.reader.watch(heads)

    def step(self, results: list[Result | None], leaving: int) -> None:
        """``leaving``: ports whose result has a register and goes to W0."""
        self._probes.probing(self.state, self.lookahead_hit)
        self.reader.choose()
        if self.state == NO_PROBE:
            self._begin(results, leaving)
        elif self.state == P1:
            self._next = P2 if self._is_tracked() else NO_PROBE
        elif not self._port.compares:
            self._compare()

    def _begin(self, results: list[Result | None], leaving: int) -> None:
        if self.reader.state == DATA:
            load = self.reader.load
            self._take(load.warp, self.reader.words, load.offset, load.lanes)
        elif self.reader.state != READ and leaving:
            self._capture(results, leaving)

    def _capture(self, results: list[Result | None], leaving: int) -> None:
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not leaving >> port & 1 or not result.full:
                continue
            if not self._heads.buffered >> result.warp & 1:
                continue
            beat = self._heads.buffers[result.warp][0].beat
            if self.reader.register(beat) == result.register:
                lanes = result.mask & (1 << self._lanes) - 1
                self._take(result.warp, result.data or 0, self.reader.offset(beat), lanes)
                self.reader.mark(result.warp)
                return

    def _take(self, warp: int, words: int, offset: int, lanes: int) -> None:
        self._asked = vector(lane_values(1, [words], self._lanes), offset, lanes)
        self._warp, self._next = warp, P1

    def _is_tracked(self) -> bool:
        """Whether the access port would look for it."""
        asked = self._asked
        if not asked.regular or asked.first or not fits(asked, self._powers) or crosses(asked, self._lanes):
            return False
        return self._addresses.upper != NO_UPPER

    def _compare(self) -> None:
        search = Search(self._asked, self._addresses.recent(), self._lanes)
        some = search.first is not None or search.second is not None
        if some if self._any else search.perfect is not None:
            self._found = 1 << self._warp
            self._probes.show("probe_hit")
        self._next = NO_PROBE

    def issued(self, warp: int) -> None:
        """A beat of this warp issues: it was no load, or one that needs no flag any more."""
        self._issued = warp

    def edge(self) -> None:
        """State and pulse change, of the reader, too."""
        self.reader.edge(self._issued)
        if self._issued == self._warp:
            self._next, self._found = NO_PROBE, 0
        self._issued = -1
        self.state = self._next
        self.lookahead_hit, self._found = self._found, 0
