"""Lines of the register cache: what they hold, and which one has to go (docs/schemes/rfc.md, sections 2 and 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import first_from, indices, lowest
from warpfile.golden.copies import ALL_LANES, row_of
from warpfile.golden.rf.banks import Write
from warpfile.spec.config import index_bits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig


class Lines:
    """All lines of all places, numbered place * cache_entries + entry.

    Masks over lines: ``held`` (valid), ``dead``, ``evict_first`` and ``pinned``. A line that is not held is neither
    dead nor to be evicted first. ``register`` and ``copy`` (``golden.copies``) are of the held ones, and so are
    ``lanes``: those in which a line has the latest value, and every lane that is not built.
    """

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        self.entries = cfg.cache_entries
        self.held = self.dead = self.evict_first = self.pinned = 0
        self.register = [0] * cfg.lines
        self.copy = [-1] * cfg.lines
        self.lanes = [ALL_LANES] * cfg.lines
        self._before = [-1] * cfg.lines  # what a register held when its line began
        self._built = (1 << cfg.lanes) - 1
        self._lane_bits = cfg.lanes
        self._all = (1 << cfg.cache_entries) - 1
        self._policy = cfg.replacement
        self._register_bits = cfg.register_bits
        self._head_bits = index_bits(max(2, cfg.cache_entries))
        self._pins = [0] * cfg.lines
        self._where: list[dict[int, int]] = [{} for _ in range(cfg.active_warps)]
        self._head = [0] * cfg.active_warps
        self._heads = 0  # as the probe shows them
        # Lines of each place in order of use, the least recent first.
        self._order = [
            list(range(place * self.entries, (place + 1) * self.entries)) for place in range(cfg.active_warps)
        ]
        self._registers = 0  # as the probe shows them
        self._at = {
            name: layout.offset[name] for name in ("held", "line_register", "dead", "evict_first", "pinned", "head")
        }
        self._at_lanes = layout.offset["line_lanes"] if cfg.keeps_lanes else -1
        self._word: int | None = 0

    @property
    def word(self) -> int:
        """Probes of registered state."""
        if self._word is None:
            at = self._at
            word = self.held << at["held"] | self._registers << at["line_register"] | self.dead << at["dead"]
            word |= self.evict_first << at["evict_first"] | self.pinned << at["pinned"]
            self._word = word | self._heads << at["head"] | self._shown_lanes()
        return self._word

    def _shown_lanes(self) -> int:
        word = 0
        if self._at_lanes >= 0:
            for line in indices(self.held):
                word |= (self.lanes[line] & self._built) << self._at_lanes + line * self._lane_bits
        return word

    def find(self, place: int, register: int) -> int:
        """The line of a place that holds a register, -1 if none does or there is no place."""
        return self._where[place].get(register, -1) if place >= 0 else -1

    def of(self, place: int) -> int:
        """All lines of a place, as a mask."""
        return self._all << place * self.entries

    def victim(self, place: int) -> int:
        """The line that a new register of the place takes, -1 if all of them are pinned."""
        base = place * self.entries
        free = ~(self.held >> base) & self._all
        if free:
            return base + lowest(free)
        loose = ~(self.pinned >> base) & self._all
        if not loose:
            return -1
        if self._policy == "lru":
            return next(line for line in self._order[place] if not self.pinned >> line & 1)
        if self._policy == "evict_first":
            loose = loose & (self.dead | self.evict_first) >> base or loose
        return base + first_from(loose, self._head[place])

    def enter(self, line: int, register: int, copy: int, lanes: int = ALL_LANES, before: int = -1) -> None:
        """A line that :meth:`victim` chose takes a new register, ``lanes`` of it, whose value was ``before``.

        The head passes it if it is taken for its age.
        """
        place, bit = line // self.entries, 1 << line
        if self.held & bit:
            if self._policy == "fifo" or (self._policy == "evict_first" and not (self.dead | self.evict_first) & bit):
                self._set_head(place, (line + 1 - place * self.entries) % self.entries)
            self.leave(line)
        self.held |= bit
        self.register[line] = register
        self._where[place][register] = line
        self._registers |= register << line * self._register_bits
        self.lanes[line], self._before[line] = 0, before
        self.write(line, copy, lanes)

    def _set_head(self, place: int, head: int) -> None:
        self._heads ^= (self._head[place] ^ head) << place * self._head_bits
        self._head[place] = head
        self._word = None

    def write(self, line: int, copy: int, lanes: int = ALL_LANES) -> None:
        """Something is written into ``lanes`` of a held line: it is alive."""
        self.copy[line] = copy
        self.lanes[line] |= lanes
        self.dead &= ~(1 << line)
        self.evict_first &= ~(1 << line)
        if self._policy == "lru":
            self.touch(line)
        self._word = None

    def touch(self, line: int) -> None:
        """The line becomes the most recently used one of its place."""
        order = self._order[line // self.entries]
        order.remove(line)
        order.append(line)

    def leave(self, line: int) -> None:
        """The line holds nothing any more."""
        bit, register = 1 << line, self.register[line]
        assert self.held & bit and not self.pinned & bit, f"line {line} is empty or pinned and cannot lose its register"
        del self._where[line // self.entries][register]
        self._registers ^= register << line * self._register_bits
        self.held ^= bit
        self.dead &= ~bit
        self.evict_first &= ~bit
        self._word = None

    def saved(self, line: int, row: int) -> Write:
        """What the line writes to a row of its bank: the lanes that it has."""
        lanes, copy = self.lanes[line], self.copy[line]
        return Write(row, copy) if lanes == ALL_LANES else Write(row, row_of(copy), self._before[line], lanes)

    def pin(self, line: int) -> None:
        """A source slot has yet to read the line."""
        self._pins[line] += 1
        self.pinned |= 1 << line
        self._word = None

    def unpin(self, line: int, dead: int, evict_first: int) -> None:
        """The slot has read it, with these hint bits."""
        self._pins[line] -= 1
        if not self._pins[line]:
            self.pinned ^= 1 << line
        self.dead |= dead << line
        self.evict_first |= evict_first << line
        self._word = None

    def rewind(self, places: int) -> None:
        """The head of places without a warp returns to 0."""
        if self._heads:
            for place in indices(places):
                self._set_head(place, 0)
