"""The probe: which warp's next load is in the register file (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.shared.access import AccessPort
from warpfile.golden.rf.shared.addresses import NO_UPPER, AddressTable
from warpfile.golden.rf.shared.search import Search
from warpfile.golden.rf.shared.seen import Seen
from warpfile.golden.rf.shared.vectors import Vector, crosses, fits, lane_values, vector
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.las import NO_PROBE, P1, P2
from warpfile.spec.schemes.shared import LOAD, SharedConfig
from warpfile.spec.stimulus import Result


class Foresight:
    """``watch`` before the first cycle, then ``step`` once per cycle. ``state`` and ``foreseen``, the warp whose next
    load is there as a mask, change at the ``edge``.
    """

    _heads: Heads

    def __init__(self, cfg: SharedConfig, flagged_by: str, addresses: AddressTable, port: AccessPort, seen: Seen):
        self.state = self._next = NO_PROBE
        self.foreseen = self._found = 0
        self._warp = 0
        self._asked = Vector(False, 0, 0, 0, 0, 0)
        self._addresses, self._port, self._seen = addresses, port, seen
        self._lanes, self._powers, self._any = cfg.lanes, cfg.strides == "powers", flagged_by == "any"
        self._at_access, self._at_registers = cfg.hint_at("access"), cfg.hint_at("address_registers")
        self._at_offset = cfg.hint_at("address_offset")

    def watch(self, heads: Heads) -> None:
        """Where the head beats are."""
        self._heads = heads

    def step(self, results: Sequence[Result | None], leaving: int) -> None:
        """``leaving``: ports whose result has a register and goes to W0."""
        self._seen.probing(self.state, self.foreseen)
        if self.state == NO_PROBE:
            if leaving:
                self._capture(results, leaving)
        elif self.state == P1:
            self._next = P2 if self._is_tracked() else NO_PROBE
        elif not self._port.compares:
            self._compare()

    def _capture(self, results: Sequence[Result | None], leaving: int) -> None:
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not leaving >> port & 1 or not result.full:
                continue
            if not self._heads.buffered >> result.warp & 1:
                continue
            beat = self._heads.buffers[result.warp][0].beat
            if self._loads_from(beat, result.register):
                self._take(result, beat)
                return

    def _loads_from(self, beat: Beat, register: int) -> bool:
        """Whether it is a load that may be shared, and the register the low one of its address."""
        hints = beat.hints
        if hints >> self._at_access & 3 != LOAD or not hints >> self._at_registers & 3:
            return False
        return beat.sources[:1] == (register,)

    def _take(self, result: Result, beat: Beat) -> None:
        values = lane_values(1, (result.data or 0,), self._lanes)
        lanes = result.mask & (1 << self._lanes) - 1
        self._asked = vector(values, beat.hints >> self._at_offset & (1 << 32) - 1, lanes)
        self._warp, self._next = result.warp, P1

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
            self._seen.show("probe_hit")
        self._next = NO_PROBE

    def edge(self) -> None:
        """State and pulse change."""
        self.state = self._next
        self.foreseen, self._found = self._found, 0
