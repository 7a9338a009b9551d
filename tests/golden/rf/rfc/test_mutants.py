"""Register caches with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Rfc
from tests.golden.rf.rfc.test_flush import BUSY, busy_ports
from tests.golden.rf.rfc.test_random import crowded_case, random_case, watch_rfc
from warpfile.golden import StaleOperand
from warpfile.golden.rf.rfc.lines import Lines
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import RfcConfig

pytestmark = pytest.mark.plain


class IgnoresPins(Rfc):
    """The victim may be a line that somebody has yet to read."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines, victim = self.file.lines, self.file.lines.victim

        def careless(place: int) -> int:
            pinned, lines.pinned = lines.pinned, 0
            line = victim(place)
            lines.pinned = pinned
            return line

        lines.victim = careless  # type: ignore[method-assign]


class ReadsThroughTheQueue(Rfc):
    """Nobody waits for a write queue."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.queues.interlocked = lambda slots, banks, rows: 0  # type: ignore[method-assign]


class KeepsOvertakenLines(Rfc):
    """A load leaves the line alone that has its register."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        file = self.file
        long, find = file.entrance._long, file.lines.find

        def blind(port, result):  # type: ignore[no-untyped-def]
            file.lines.find = lambda place, register: -1  # type: ignore[method-assign]
            accepted = long(port, result)
            file.lines.find = find  # type: ignore[method-assign]
            return accepted

        file.entrance._long = blind  # type: ignore[method-assign]


class LeavesLinesBehind(Rfc):
    """A place is let go with its lines in it."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.release = lambda places: places  # type: ignore[method-assign]


class KeepsLinesAtExit(Rfc):
    """The lines of a warp that ends stay."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.issued = lambda warp, entry: None  # type: ignore[method-assign]


class SendsWithoutAPort(Rfc):
    """A flush does not ask whether a read port is left."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        flush, send = self.file.flush, self.file.flush.send
        flush.send = lambda ports, written: send(3, written)  # type: ignore[method-assign]


class CrowdsQueues(Rfc):
    """Several entries go to a queue in one cycle."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        queues = self.file.queues
        queues.takes = lambda bank: not queues._full >> bank & 1  # type: ignore[method-assign]


class LosesOrder(Rfc):
    """What comes last leaves its queue first."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        for queue in self.file.queues._queues:
            assert not queue
        self.file.queues._queues = [Stack() for _ in self.file.queues._queues]  # type: ignore[misc]


class Stack(list):  # type: ignore[type-arg]
    def popleft(self):  # type: ignore[no-untyped-def]
        """The last one."""
        return self.pop()


class StaysDead(Rfc):
    """A dead register that is written is still taken for dead."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines = self.file.lines

        def write(line: int, copy: int, written: int) -> None:
            dead = lines.dead & lines.held
            Lines.write(lines, line, copy, written)
            lines.dead |= dead & 1 << line

        lines.write = write  # type: ignore[method-assign]


class BelievesAllDead(Rfc):
    """What is read once is dropped."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        lines, unpin = self.file.lines, self.file.lines.unpin
        lines.unpin = lambda line, dead, evict_first: unpin(line, 1, evict_first)  # type: ignore[method-assign]


CAUGHT = (Broken, StaleOperand, Stuck, AssertionError, KeyError)
MUTANTS = (
    *(IgnoresPins, ReadsThroughTheQueue, KeepsOvertakenLines, LeavesLinesBehind, KeepsLinesAtExit),
    *(CrowdsQueues, LosesOrder, StaysDead, BelievesAllDead),
)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Rfc]) -> None:
    for seed in range(40):
        cfg, trace = crowded_case(seed // 2) if seed % 2 else random_case(seed // 2)
        try:
            watch_rfc(cfg, trace, mutant, limit=30_000)
        except CAUGHT as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mutant.__name__} passed")


def test_a_flush_without_a_read_port_is_caught_where_all_of_them_are_taken() -> None:
    watch_rfc(BUSY, busy_ports())
    with pytest.raises(Broken, match="three read ports"):
        watch_rfc(BUSY, busy_ports(), SendsWithoutAPort)
