"""How many registers the extended set has (docs/schemes/regmutex.md, section 10).

H. Asghari Esfeden, dissertation, UC Riverside 2021, section 4.3.1, with the rules that the page adds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpfile.spec.schemes.regmutex import RegMutexConfig

_SHARE = 6  #: there must be sections for one of so many warps
_TWENTIETHS = (2, 3, 4, 5, 6, 7)  #: the six fractions 0.1 to 0.35


@dataclass(frozen=True)
class Limits:
    """What bounds the warps that a domain hosts: slots, places, whole CTAs of ``cta_warps``, at most ``ctas`` of them.

    Registers are allocated in units of ``unit``; ``launch``: CTAs that there are, if they are known.
    """

    warps: int
    places: int
    cta_warps: int = 1
    ctas: int = 64
    paired: bool = False
    unit: int = 1
    launch: int | None = None

    def rounded(self, registers: int) -> int:
        """Registers as they are allocated."""
        return -(-registers // self.unit) * self.unit

    def occupancy(self, base: int, extended: int = 0) -> int:
        """Warps that are resident if each has so many registers for life; 0 for ``base``: as if it took no place."""
        if not base:
            slots = self.warps
        elif self.paired:
            slots = min(self.warps, 2 * (self.places // (2 * base + extended)))
        else:
            slots = min(self.warps, self.places // base)
        return min(slots // self.cta_warps, self.ctas) * self.cta_warps

    def sections(self, base: int, extended: int) -> int:
        """Sections behind the base sets of all of them; in paired mode those of their pairs. None without warps."""
        warps = self.occupancy(base, extended)
        if self.paired or not warps:
            return -(-warps // 2)
        return min(self.warps, (self.places - warps * base) // extended)


def candidates(total: int) -> list[int]:
    """Sizes of the extended set: six fractions of the rounded registers, rounded down, those that are even."""
    sizes = {total * twentieths // 20 for twentieths in _TWENTIETHS}
    return sorted(size for size in sizes if size and size % 2 == 0)


def registers_limit(registers: int, limits: Limits) -> bool:
    """Whether more warps of the launch were resident if the kernel had fewer registers."""
    most = limits.occupancy(0)
    if limits.launch is not None:
        most = min(most, limits.launch * limits.cta_warps)
    return limits.occupancy(limits.rounded(registers)) < most


def choose(registers: int, limits: Limits, cfg: RegMutexConfig, fits: Callable[[int], bool]) -> int:
    """Registers of the extended set, 0 for none. ``fits`` says whether the code can do with a base set.

    Of the candidates that leave sections for a sixth of the warps and fit, those that make most warps resident are
    kept. Of these, the smallest (``max_pass``: largest) with sections for more than half of the warps; where there is
    none, the one with most sections, and among equals the larger. In paired mode every pair has its section: every kept
    one counts.
    To find out whether one fits takes long: the best is asked first, and the next only if it does not.
    """
    if cfg.es_rule == "off" or not registers_limit(registers, limits):
        return 0
    total = limits.rounded(registers)
    warps = {size: limits.occupancy(total - size, size) for size in candidates(total)}
    sections = {size: limits.sections(total - size, size) for size in warps}

    def rank(size: int) -> tuple[int, ...]:
        if limits.paired or 2 * sections[size] > warps[size]:
            return warps[size], 1, -size if cfg.es_rule == "min_pass" else size
        return warps[size], 0, sections[size], size

    enough = (size for size, found in sections.items() if found and _SHARE * found >= warps[size])
    best = next((size for size in sorted(enough, key=rank, reverse=True) if fits(total - size)), 0)
    return 0 if cfg.auto_off and best and warps[best] <= limits.occupancy(total) else best


def overridden(registers: int, limits: Limits, size: int) -> int:
    """The base set beside an extended set that was asked for. Raises ``ValueError`` where there can be none."""
    total = limits.rounded(registers)
    if size >= total:
        raise ValueError(f"es_override must be below the {total} registers of the kernel, not {size}")
    if not limits.sections(total - size, size):
        raise ValueError(
            f"es_override must leave a section in {limits.places} places behind the base sets of"
            f" {limits.occupancy(total - size, size)} warps, not {size}: {total - size} registers each are for life"
        )
    return total - size
