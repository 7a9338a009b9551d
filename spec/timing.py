"""How long a dispatched beat takes, and where its result comes from (docs/machine.md, section 9)."""

from __future__ import annotations

from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.memory import Memory
from warpfile.spec.stimulus import Origin
from warpfile.spec.trace import Port, Space

#: Latency, cycles that the port is taken, and origin of the result.
Timing = tuple[int, int, Origin]

# Plain numbers: comparing with a member of an IntEnum costs a lookup for every beat.
_LSU: Final = int(Port.LSU)
_TEXTURE: Final = int(Space.TEXTURE)
CACHED: Final = (int(Space.GLOBAL), int(Space.LOCAL))


class Timings:
    """Of the beats of one side, in the order of their dispatch."""

    def __init__(self, cfg: Config) -> None:
        self._memory = Memory(cfg)
        self._units: dict[int, Timing] = {
            int(Port.ALU): (cfg.alu_latency, cfg.alu_interval, Origin.EXECUTION),
            int(Port.FMA): (cfg.fma_latency, cfg.fma_interval, Origin.EXECUTION),
            int(Port.DOUBLE): (cfg.double_latency, cfg.double_interval, Origin.EXECUTION),
            int(Port.TENSOR): (cfg.tensor_latency, cfg.tensor_interval, Origin.EXECUTION),
            int(Port.SFU): (cfg.sfu_latency, cfg.sfu_interval, Origin.EXECUTION),
        }
        self._shared, self._interval, self._transfer = cfg.shared_latency, cfg.lsu_interval, cfg.transfer_cycles
        self._texture: Timing = (cfg.texture_latency, cfg.texture_interval, Origin.HIT)

    @property
    def channel_free(self) -> int:
        """First cycle in which nothing that was dispatched keeps the channel to memory."""
        return self._memory.channel_free

    def of(self, beat: Beat, cycle: int) -> Timing:
        """Timing of a beat that is dispatched in ``cycle``. Asked once: cache and channel move."""
        if beat.port != _LSU:
            return self._units[beat.port]
        if beat.space == _TEXTURE:
            return self._texture
        if beat.space not in CACHED:
            latency = self._shared + (beat.transfers - 1) * self._transfer
            return latency, beat.transfers * self._interval, Origin.SHARED
        latency, missed = self._memory.access(beat, cycle)
        kept = max(beat.transfers * self._interval, self._memory.port_free - cycle)
        return latency, kept, Origin.MISS if missed else Origin.HIT
