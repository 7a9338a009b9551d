"""How long a dispatched beat takes, and where its result comes from (docs/machine.md, section 9)."""

from __future__ import annotations

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.memory import Memory
from warpfile.spec.stimulus import Origin
from warpfile.spec.trace import Port, Space

#: Latency, cycles that the port is taken, and origin of the result.
Timing = tuple[int, int, Origin]

# Plain numbers: comparing with a member of an IntEnum costs a lookup for every beat.
_ALU, _SFU = int(Port.ALU), int(Port.SFU)
_CACHED = (int(Space.GLOBAL), int(Space.LOCAL))


class Timings:
    """Of the beats of one side, in the order of their dispatch."""

    def __init__(self, cfg: Config) -> None:
        self._memory = Memory(cfg)
        self._alu: Timing = (cfg.alu_latency, cfg.alu_interval, Origin.EXECUTION)
        self._sfu: Timing = (cfg.sfu_latency, cfg.sfu_interval, Origin.EXECUTION)
        self._shared: Timing = (cfg.shared_latency, 1, Origin.SHARED)

    def of(self, beat: Beat, cycle: int) -> Timing:
        """Timing of a beat that is dispatched in ``cycle``. Asked once: cache and channel move."""
        if beat.port == _ALU:
            return self._alu
        if beat.port == _SFU:
            return self._sfu
        if beat.space not in _CACHED:
            return self._shared
        latency, missed = self._memory.access(beat, cycle)
        return latency, max(1, len(beat.lines)), Origin.MISS if missed else Origin.HIT
