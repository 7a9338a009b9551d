"""Fetch: when the beats of every warp enter its instruction buffer (docs/machine.md, section 9, "Decode")."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import Kind

_FOREVER: Final = 1 << 62
_BRANCH: Final = int(Kind.BRANCH)  # comparing with a member of an IntEnum costs a lookup for every beat


@dataclass(slots=True, eq=False)
class _Slot:
    """Beats to come, those that were ``sent`` and have not issued, and the first cycle in which one may be sent."""

    beats: deque[Beat] = field(default_factory=deque)
    sent: deque[Beat] = field(default_factory=deque)
    hold: int = 0


class Fetch:
    """Sends one beat per cycle as far as buffers have room and branches have left: to the warps in turn, or with
    ``decode_order`` = ``follow`` to the one that issued last, otherwise to the one launched last.
    """

    def __init__(self, cfg: Config) -> None:
        self._slots = [_Slot() for _ in range(cfg.warps)]
        self._depth, self._delay = cfg.buffer_depth, cfg.branch_delay + 1
        # Warps whose next beat may be sent, and by cycle those that a branch holds until then: both are brought up to
        # date for one warp when something changes, not looked for in every cycle.
        self._sendable = 0
        self._held: dict[int, list[int]] = {}
        self._next_served = 0
        self._follows, self._last_issuer = cfg.decode_order == "follow", -1
        self._launched: list[int] = []  # warps by their launch, the last one first

    def head(self, warp: int) -> Beat | None:
        """The oldest beat that was sent to a warp slot and has not issued."""
        sent = self._slots[warp].sent
        return sent[0] if sent else None

    def send(self, cycle: int, stimulus: Stimulus) -> None:
        """This cycle's beat, of the next warp in turn that may have one."""
        if cycle in self._held:
            for warp in self._held.pop(cycle):
                self._look(warp, cycle)
        if not self._sendable:
            stimulus.beat = None
            return
        warp = self._followed() if self._follows else self._in_turn()
        slot = self._slots[warp]
        beat = slot.beats.popleft()
        slot.sent.append(beat)
        if beat.kind == _BRANCH and beat.last:
            slot.hold = _FOREVER
        self._next_served = warp + 1
        stimulus.beat, stimulus.beat_warp = beat, warp
        self._look(warp, cycle)

    def _in_turn(self) -> int:
        ahead = self._sendable >> self._next_served << self._next_served or self._sendable
        return (ahead & -ahead).bit_length() - 1

    def _followed(self) -> int:
        last = self._last_issuer
        if last >= 0 and self._sendable >> last & 1:
            return last
        return next(warp for warp in self._launched if self._sendable >> warp & 1)

    def _look(self, warp: int, cycle: int) -> None:
        slot, bit = self._slots[warp], 1 << warp
        if slot.beats and slot.hold <= cycle and len(slot.sent) < self._depth:
            self._sendable |= bit
        else:
            self._sendable &= ~bit

    def launched(self, warp: int, beats: deque[Beat], cycle: int) -> None:
        """A warp is in this slot from the next cycle; ``beats`` are all of its beats, and are consumed."""
        slot = self._slots[warp]
        slot.beats, slot.hold = beats, 0
        slot.sent.clear()
        self._look(warp, cycle)
        if self._follows:
            self._last_issuer = -1 if self._last_issuer == warp else self._last_issuer
            self._launched = [warp, *(other for other in self._launched if other != warp)]

    def issued(self, warp: int, cycle: int) -> Beat:
        """The oldest beat that was sent leaves its buffer."""
        beat = self._slots[warp].sent.popleft()
        self._look(warp, cycle)
        self._last_issuer = warp
        return beat

    def branched(self, warp: int, cycle: int) -> None:
        """A branch leaves: its warp's next beat may be sent ``branch_delay`` cycles after this one."""
        slot = self._slots[warp]
        slot.hold = cycle + self._delay
        self._held.setdefault(slot.hold, []).append(warp)
