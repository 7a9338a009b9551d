"""What one place has of the cache: which registers, in which banks (docs/schemes/ltrf.md, sections 3 and 4)."""

from __future__ import annotations

from warpfile.spec.schemes.ltrf import LtrfConfig


class Partition:
    """Masks over registers: ``working`` (V), ``cached``, ``incoming``, ``live`` and ``dirty``.

    ``bank`` is each register's, and keeps what it was. ``occupied`` is a mask of banks. ``works`` counts what is under
    way for the place.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._liveness, self._dirty = bool(cfg.liveness), cfg.moved_back == "dirty"
        self.bank = [0] * cfg.register_names
        self.working = self.cached = self.incoming = self.live = self.dirty = 0
        self.occupied = self.works = 0

    def kept(self, registers: int) -> int:
        """Of the registers those whose value in the cache is needed and is not in the main banks."""
        if self._dirty:
            registers &= self.dirty
        return self.needed(registers)

    def needed(self, registers: int) -> int:
        """Of the registers those whose value is needed."""
        return registers & self.live if self._liveness else registers

    def clear(self) -> None:
        """Nothing is cached or incoming."""
        self.cached = self.incoming = 0
