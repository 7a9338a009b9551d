"""Collectors that stand in for the scoreboard: a head beat is clear unless they say that it is blocked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from tests.golden.scenario import NOP, hand_trace, op
from warpfile.golden.collectors.contract import GuardingCollectors
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.golden.guarded_frame import GuardedFrame
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import prepare

CFG = Config(warps=2)


@dataclass
class Guards:
    """Collectors of which only what the frame asks is there."""

    blocking: bool = True
    changed: int = 0
    asked: list[tuple[int, int]] = field(default_factory=list)

    def blocked(self, warp: int, head: Entry) -> bool:
        self.asked.append((warp, head.dests))
        return self.blocking

    def unread(self, warp: int) -> int:
        return 0

    def collecting(self, warp: int) -> bool:
        return False


def filled(frame: Frame) -> Frame:
    """Warp 1 has two beats; the second reads and writes what the first one writes."""
    frame.launch(Launch(1, 0, 0, 0))
    first, second, *_ = prepare(CFG, hand_trace([op((), 5), op((5,), 5), NOP])).warps[0]
    for beat in (first, second):
        frame.decode(1, beat)
    return frame


def clear(frame: Frame, guards: Guards) -> bool:
    frame.refresh(cast(GuardingCollectors, guards))
    return bool(frame.clear >> 1 & 1)


def test_a_warp_issues_whatever_is_pending_once_nothing_blocks_it() -> None:
    frame, guards = filled(GuardedFrame(CFG)), Guards()
    assert not clear(frame, guards)
    guards.blocking, guards.changed = False, 0b10
    assert clear(frame, guards)
    frame.issue(1)
    assert clear(frame, guards) and guards.asked == [(1, 1 << 5)] * 3
    frame.issue(1)
    frame.release(Result(0, 1, True, 5, 0, 0, -1))  # of which there is no note


def test_the_scoreboard_would_have_kept_it() -> None:
    frame, guards = filled(Frame(CFG)), Guards(blocking=False)
    assert clear(frame, guards)
    frame.issue(1)
    assert not clear(frame, guards) and not guards.asked
