"""How many registers are private, and how many pairs of CTAs share (docs/schemes/owf.md, section 10)."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What bounds the CTAs of a launch in a domain.

    ``places`` of the register file, ``warps``: slots, ``registers`` of a warp as they are allocated, ``most``: CTAs
    that may be resident, whatever their registers, ``sizes``: warps of every CTA of the launch.
    """

    places: int
    warps: int
    registers: int
    most: int
    sizes: tuple[int, ...]

    @property
    def members(self) -> int:
        """Most warps of a CTA."""
        return max(self.sizes)

    @property
    def alone(self) -> int:
        """CTAs that are resident without sharing: so many that follow each other always fit."""
        room, ctas = min(self.warps, self.places // self.registers), 0
        while ctas < min(self.most, len(self.sizes)) and self._largest(ctas + 1) <= room:
            ctas += 1
        return ctas

    def _largest(self, ctas: int) -> int:
        """Most warps of so many CTAs that follow each other."""
        return max(sum(self.sizes[first : first + ctas]) for first in range(len(self.sizes) - ctas + 1))

    @property
    def bound(self) -> int:
        """CTAs that are resident if registers do not limit them."""
        return min(self.most, self.warps // self.members, len(self.sizes))

    def resident(self, private: int, groups: int) -> int:
        """CTAs that are resident if so many pairs of them share; -1 if the pairs do not fit."""
        if not groups:
            return self.alone
        left = self.places - groups * self.members * (private + self.registers)
        if left < 0 or 2 * groups * self.members > self.warps:
            return -1
        return min(self.bound, 2 * groups + left // (self.members * self.registers))

    def possible(self, private: int) -> range:
        """Numbers of pairs that fit, none included."""
        groups = 0
        while self.resident(private, groups + 1) >= 0:
            groups += 1
        return range(groups + 1)


@dataclass(frozen=True)
class Sets:
    """Private and shared registers of a warp, and pairs of CTAs of ``members`` warps that share."""

    private: int
    shared: int = 0
    members: int = 1
    groups: int = 0

    @property
    def descriptor(self) -> dict[str, int]:
        """The fields of the kernel descriptor."""
        return {
            "private_registers": self.private,
            "shared_registers": self.shared,
            "cta_warps": self.members,
            "paired_warps": 2 * self.groups * self.members,
        }


def private_registers(registers: int, percent: int) -> int:
    """So much of the registers, rounded up; at least one."""
    return max(1, -(-registers * percent // 100))


def choose(limits: Limits, percent: int) -> Sets:
    """As few pairs of CTAs as make most CTAs resident; none if that is not more than without."""
    registers = limits.registers
    private = private_registers(registers, percent)
    if private < registers:
        best = max(limits.possible(private), key=lambda groups: (limits.resident(private, groups), -groups))
        if best:
            return Sets(private, registers - private, limits.members, best)
    return Sets(registers)


def drawn(limits: Limits, rng: random.Random) -> Sets:
    """Any numbers that fit, for tests."""
    private = rng.randint(1, limits.registers)
    groups = rng.choice(limits.possible(private))
    return Sets(private, limits.registers - private, limits.members, groups)
