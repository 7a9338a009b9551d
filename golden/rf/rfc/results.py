"""What becomes of a result (docs/schemes/rfc.md, step 1)."""

from __future__ import annotations

from warpfile.golden.copies import ALL_LANES, POISON, Latest, merged
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.rfc.shared_state import SharedState
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.spec.stimulus import Origin, Result

_MEMORY = (int(Origin.HIT), int(Origin.MISS))


class ResultEntrance:
    """Accepts the results of a cycle and puts them into lines or queues.

    ``read_ports`` are those of the array that are still free, ``written`` the lines that take results of this
    cycle. Values are rows of the trace, -1 for a register that its warp never wrote.
    """

    def __init__(self, cfg: RfcConfig, inside: SharedState) -> None:
        self._location, self._lines, self._queues, self._places, self._events, self._banks = inside
        self._bypass = cfg.long_results == "bypass"
        self._hinted = cfg.allocation == "hinted"
        self._honoured = cfg.dead_bits == "honoured"
        self._no_allocate = cfg.hint_at("no_allocate")
        self._keeps_lanes = cfg.keeps_lanes
        # Lanes that are not built are there in every line that knows its lanes.
        self._unbuilt = ALL_LANES & ~((1 << cfg.lanes) - 1) if cfg.keeps_lanes else 0
        self._latest = Latest(cfg)
        self.read_ports = 0
        self.written = 0

    def launched(self, warp: int) -> None:
        """Nothing is written yet."""
        self._latest.launched(warp)

    def enter(self, results: list[Result | None], valid: int, store: int) -> int:
        """Of the ``valid`` write-back ports, those that are accepted: short before long.

        Results that are not in ``store`` leave lines and rows as they are, which are out of date then.
        """
        accepted = valid & ~store
        short = long = None
        short_port = long_port = -1
        for port, result in enumerate(results):
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                if result.writes:
                    self._latest.change(result)
            elif self._bypass and result.origin in _MEMORY:
                long, long_port = result, port
            else:
                short, short_port = result, port
        if short is not None and self._short(short_port, short):
            accepted |= 1 << short_port
            self._latest.change(short)
        if long is not None and self._long(long_port, long):
            accepted |= 1 << long_port
            self._latest.change(long)
        return accepted

    def _short(self, port: int, result: Result) -> bool:
        place, events = self._places.place[result.warp], self._events
        assert place >= 0, f"a short result arrives for warp {result.warp}, which has no place"
        line = self._lines.find(place, result.register)
        if line >= 0:
            self._merge(port, line, result)
            return True
        reason = "bypass_full"
        if self._hinted and result.hints >> self._no_allocate & 1:
            reason = "bypass_hint"
        elif not (result.full or self._keeps_lanes):
            reason = "bypass_partial"
        elif self._lines.entries:
            line = self._lines.victim(place)
            if line >= 0:
                return self._allocate(port, line, result)
        if not self._queue(result):
            return False
        events.note(reason, port)
        return True

    def _long(self, port: int, result: Result) -> bool:
        line = self._lines.find(self._places.place[result.warp], result.register)
        if line >= 0 and not result.full:
            if self.written:
                return False  # the array has one write port
            self._merge(port, line, result)
            self._events.note("long_merge", port)
            return True
        if not self._queue(result):
            return False
        self._events.note("long", port)
        if line >= 0:
            self._lines.leave(line)
            self._events.note("long_drop", port)
        return True

    def _merge(self, port: int, line: int, result: Result) -> None:
        """The lanes of a result are written to the line that has its register."""
        copy, lanes, _ = self._joined(self._lines.copy[line], result)
        self._lines.write(line, copy, lanes)
        self._note_write(port, line)
        self._events.note("cache_write_hit", port)

    def _joined(self, copy: int, result: Result) -> tuple[int, int, int]:
        """A copy into which the result is written, the lanes that are written, the value that they change."""
        before = self._latest.before(result)
        lanes = ALL_LANES if result.full else result.mask | self._unbuilt
        return result.row if result.full else merged(copy, before, result.row, lanes), lanes, before

    def _note_write(self, port: int, line: int) -> None:
        self._events.note("cache_write", port)
        self.written |= 1 << line

    def _allocate(self, port: int, line: int, result: Result) -> bool:
        """A result takes a line, if the register that was there can leave."""
        lines, bit = self._lines, 1 << line
        if lines.held & bit:
            bank, row = self._location.place(result.warp, lines.register[line])
            if self._honoured and lines.dead & bit:
                self._banks.write(bank, Write(row, POISON))
                self._events.note("evict_dead")
            elif self.read_ports and self._queues.takes(bank):
                self.read_ports -= 1
                self._queues.put(bank, lines.saved(line, row))
                self._events.note("evict")
            else:
                return False
        lines.enter(line, result.register, *self._joined(POISON, result))
        self._note_write(port, line)
        return True

    def _queue(self, result: Result) -> bool:
        """The lanes of a result go to the queue of its bank, if it takes them."""
        bank, row = self._location.place(result.warp, result.register)
        if not self._queues.takes(bank):
            return False
        if result.full:
            self._queues.put(bank, Write(row, result.row))
        else:
            before = self._latest.before(result)
            self._queues.put(bank, Write(row, result.row, before, result.mask))
        return True
