"""What a profile says: a line per instruction, a column per thing that is counted (docs/profile.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from warpfile.results.run import GoldenRun
from warpfile.spec.trace import StaticInstruction

#: Of the machine's counters, those whose lost issue slots are charged; ``issue_full`` is part of the last one.
LOST = ("issue_idle", "issue_hazard", "issue_barrier", "issue_room")
#: Why a warp waits, in the order in which the reasons are asked for, with what they are called on a page.
REASONS = {
    "wait_barrier": "at a barrier",
    "wait_branch": "for what follows the branch",
    "wait_fetch": "for decode",
    "wait_memory": "for a register from the LSU",
    "wait_result": "for another register",
    "wait_entry": "for an entry of the scoreboard",
    "wait_reader": "for an older reader",
    "wait_drain": "for older beats",
    "wait_stall": "as the control code says",
    "wait_counter": "for a dependence counter",
    "wait_guard": "for the collectors' say",
    "wait_unit": "for room in the collectors",
    "wait_place": "for a place",
    "wait_held": "for the register file",
    "wait_refused": "because it was refused",
    "wait_turn": "for its turn",
}
FRAME = ("issued", "instructions", *LOST, "issue_full", *REASONS)
BEHIND = ("dispatches", "dispatch_waits", "to_dispatch", "returned", "to_result", "write_waits")
#: Columns that are sums of others.
DERIVED = {"cycles": ("issued", *LOST), "waits": tuple(REASONS)}
#: Columns, or sums of columns, that are counters of other names.
_COUNTERS = {
    ("issued",): ("beats",),
    DERIVED["cycles"]: ("cycles",),
    ("issued", *REASONS): ("resident_cycles",),
    ("fast_reads",): ("fast_reads_high", "fast_reads_low"),
}


def all_columns(operands: Sequence[str]) -> tuple[str, ...]:
    """All columns of a machine in the order of the page."""
    return (*FRAME, *DERIVED, *operands, *BEHIND)


@dataclass(frozen=True)
class Line:
    """An instruction; ``offset`` None stands for what none causes."""

    offset: int | None
    text: str
    inserted: bool = False

    @property
    def place(self) -> str:
        """Its offset as listings show it, with a mark where a pass inserted it."""
        return "-" if self.offset is None else f"{self.offset:04x}{'+' * self.inserted}"


@dataclass(frozen=True)
class Lines:
    """All lines in the order of the listing, the last one for what no instruction causes; ``of``: by program place."""

    lines: tuple[Line, ...]
    of: tuple[int, ...]

    @classmethod
    def in_order(cls, program: Sequence[StaticInstruction]) -> Lines:
        """Lines of a program: what a pass inserted stands before the instruction of its offset."""
        keys = [_key(program[one.origin] if one.origin >= 0 else one) for one in program]
        order = sorted(set(keys), key=lambda key: (key[0], not key[2], key[1]))
        place = {key: number for number, key in enumerate(order)}
        return cls((*(Line(*key) for key in order), Line(None, "no instruction")), tuple(place[key] for key in keys))


def _key(static: StaticInstruction) -> tuple[int, str, bool]:
    return static.offset, static.text, static.inserted


@dataclass(frozen=True)
class Profile:
    """Counts of a run, by column and line.

    ``operands`` are the columns that the collectors have, ``labels`` those of the listing, if any, by offset.
    """

    run: GoldenRun
    lines: tuple[Line, ...]
    counts: Mapping[str, Sequence[int]]
    operands: tuple[str, ...]
    labels: Mapping[int, Sequence[str]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """All names that :meth:`of` takes, in the order of the page."""
        return all_columns(self.operands)

    def of(self, column: str, line: int) -> int:
        """A count."""
        return sum(self.counts[name][line] for name in DERIVED.get(column, (column,)))

    def total(self, column: str) -> int:
        """The sum over all lines."""
        return sum(sum(self.counts[name]) for name in DERIVED.get(column, (column,)))

    def mean(self, column: str, line: int) -> float | None:
        """``to_dispatch`` or ``to_result`` per beat; None where there was no such beat."""
        beats = self.counts[{"to_dispatch": "dispatches", "to_result": "returned"}[column]][line]
        return self.counts[column][line] / beats if beats else None

    def waited(self, line: int) -> dict[str, int]:
        """The reasons for which it waited at all, the longest wait first."""
        found = {reason: self.counts[reason][line] for reason in REASONS if self.counts[reason][line]}
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def labels_at(self, line: int) -> Sequence[str]:
        """What stands in the listing above a line, which is the first of its offset."""
        offset = self.lines[line].offset
        first = line == 0 or self.lines[line - 1].offset != offset
        return self.labels.get(offset, ()) if first and offset is not None else ()

    def sorted_by(self, column: str, most: int) -> list[int]:
        """Lines with the most of a column, in that order, at most so many (0: all) and none without any."""
        some = (one for one in range(len(self.lines)) if self.of(column, one))
        found = sorted(some, key=lambda one: -self.of(column, one))
        return found[:most] if most else found

    def differences(self) -> list[str]:
        """Where sums are not what the machine counted, a line each; there must be none."""
        counters = self.run.counters
        asked = {(name,): (name,) for name in (*FRAME, *self.operands, *BEHIND) if name in counters} | {
            names: counted for names, counted in _COUNTERS.items() if names[0] in self.counts
        }
        sums = ((names, sum(map(self.total, names)), counted) for names, counted in asked.items())
        return [
            f"{'+'.join(names)} must be {'+'.join(counted)}, {count:,}, but sums to {total:,}"
            for names, total, counted in sums
            if total != (count := sum(counters[name] for name in counted))
        ]

    def to_json(self) -> dict[str, object]:
        """The facts of ``--json``."""
        return {
            "scheme": self.run.scheme,
            **self.run.to_json(),
            "columns": list(self.columns),
            "totals": {name: self.total(name) for name in self.columns},
            "lines": [
                {"offset": one.offset, "text": one.text, "inserted": one.inserted, **self._row(number)}
                for number, one in enumerate(self.lines)
            ],
        }

    def _row(self, line: int) -> dict[str, int]:
        return {name: self.of(name, line) for name in self.columns}

    def rows(self) -> Iterable[tuple[object, ...]]:
        """The table of ``--csv``: a head, then a row per line."""
        yield ("offset", "instruction", "inserted", *self.columns)
        for number, one in enumerate(self.lines):
            offset = "" if one.offset is None else one.offset
            yield (offset, one.text, int(one.inserted), *self._row(number).values())
