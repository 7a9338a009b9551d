"""The page docs/schemes/scalar.md once more, as the tests of the file compare it: bits, values, expansion."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

Register = tuple[int, int]
IDLE, READS, WAITS, WRITES = range(4)


@dataclass
class Result:
    """What a port shows until it is accepted. ``words`` are of all lanes."""

    register: Register
    mask: int
    full: bool
    words: list[int]

    @property
    def alike(self) -> bool:
        """Section 6."""
        return len({word for lane, word in enumerate(self.words) if self.mask >> lane & 1}) == 1

    @property
    def scalar(self) -> bool:
        """Section 6."""
        return self.full and self.alike


@dataclass
class Page:
    """Two warps of ``names`` registers each, warp w from place w * ``names`` on, and all places without skew."""

    names: int
    banks: int
    lanes: int
    cycles: int
    scalar: set[Register] = field(default_factory=set)
    values: dict[Register, list[int | None]] = field(default_factory=dict)
    phase: int = IDLE
    expanded: Register | None = None
    arrives: int = 0
    reached: Counter = field(default_factory=Counter)

    def home(self, register: Register) -> tuple[int, int]:
        """Bank and row (docs/machine.md, section 5)."""
        row, bank = divmod(register[0] * self.names + register[1], self.banks)
        return bank, row

    def bank(self, register: Register) -> int:
        """The bank that a source asks (section 4)."""
        return self.home(register)[0] + (self.banks if register in self.scalar else 0)

    def needs(self, result: Result) -> bool:
        """Section 6."""
        return not result.full and result.register in self.scalar

    def asks(self, result: Result) -> int:
        """The bank that a result asks which does not need an expansion."""
        return self.home(result.register)[0] + (self.banks if result.scalar else 0)

    @property
    def engine(self) -> int | None:
        """The bank that the expansion asks (section 7)."""
        if self.phase not in (READS, WRITES):
            return None
        assert self.expanded is not None
        return self.home(self.expanded)[0] + (self.banks if self.phase == READS else 0)

    def read(self, register: Register) -> list[int | None]:
        """What the last writes left, per lane; None is not known."""
        return list(self.values.get(register, [None] * self.lanes))

    def launch(self, warp: int) -> None:
        """Section 3."""
        self.scalar = {register for register in self.scalar if register[0] != warp}
        self.values = {register: words for register, words in self.values.items() if register[0] != warp}

    def write(self, result: Result) -> None:
        """An accepted result, at the end of its cycle."""
        words = self.read(result.register)
        for lane, word in enumerate(result.words):
            if result.mask >> lane & 1:
                words[lane] = word
        self.values[result.register] = words
        if result.scalar:
            self.reached["is scalar again"] += result.register in self.scalar
            self.scalar.add(result.register)
        elif result.full:
            self.reached["a full result ends it"] += result.register in self.scalar
            self.scalar.discard(result.register)

    def expand(self, needs: list[Register], now: int, granted: bool) -> None:
        """The end of a cycle; ``needs``: registers of results that need it, by port; ``granted``: its access."""
        if self.phase == IDLE and needs:
            self.phase, self.expanded = READS, needs[-1]
            self.reached["two results need it"] += len(needs) > 1
        elif self.phase == READS and granted:
            self.phase, self.arrives = WAITS, now + self.cycles
        elif self.phase == WAITS and now == self.arrives:
            self.phase = WRITES
        elif self.phase == WRITES and granted:
            assert self.expanded is not None
            self.phase = IDLE
            self.scalar.remove(self.expanded)
            self.reached["expanded"] += 1
