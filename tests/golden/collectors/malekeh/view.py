"""The probes of the caching units, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpfile.spec.schemes.malekeh import LFSR_BITS, MalekehConfig


@dataclass
class UnitView:
    """One unit at the beginning of a cycle; ``owner`` and registers are -1 for none. Lists have one item per entry."""

    owner: int
    busy: bool
    registers: list[int]
    near: list[bool]
    locked: list[bool]
    rank: list[int]
    ready: int
    lfsr: int

    def copy(self) -> UnitView:
        """One that shares nothing with this."""
        return replace(self, registers=[*self.registers], near=[*self.near], locked=[*self.locked], rank=[*self.rank])

    @property
    def used(self) -> list[int]:
        """Entries with a register."""
        return [entry for entry, register in enumerate(self.registers) if register >= 0]

    @property
    def kept(self) -> list[int]:
        """The registers, by entry."""
        return [self.registers[entry] for entry in self.used]

    def kind(self, entry: int) -> str:
        """What is replaced with this entry."""
        if self.registers[entry] < 0:
            return "empty"
        return "near" if self.near[entry] else "far"

    def replaceable(self) -> list[int]:
        """Entries in the order of replacement, sorted by a key."""
        count = len(self.registers)

        def key(entry: int) -> tuple[int, int]:
            kind = self.kind(entry)
            if kind == "far":
                return 1, (entry - self.lfsr) % count
            return (0, entry) if kind == "empty" else (2, self.rank[entry])

        return sorted((entry for entry in range(count) if not self.locked[entry]), key=key)


def parts(word: int, count: int, width: int) -> list[int]:
    """A field cut into equal numbers, lowest first."""
    return [word >> place * width & (1 << width) - 1 for place in range(count)]


def units_of(cfg: MalekehConfig, f: dict[str, int]) -> list[UnitView]:
    """All units of one cycle."""
    units, entries = cfg.collectors, cfg.unit_entries
    nothing = (1 << cfg.tag_bits) - 1
    widths = {"owner": cfg.warp_bits, "tag": entries * cfg.tag_bits, "near": entries, "locked": entries}
    widths |= {"rank": entries * cfg.rank_bits, "filled": cfg.source_slots, "lfsr": LFSR_BITS}
    cut = {name: parts(f[name], units, width) for name, width in widths.items()}
    return [
        UnitView(
            owner=cut["owner"][unit] if f["owned"] >> unit & 1 else -1,
            busy=bool(f["busy"] >> unit & 1),
            registers=[-1 if tag == nothing else tag for tag in parts(cut["tag"][unit], entries, cfg.tag_bits)],
            near=[bool(bit) for bit in parts(cut["near"][unit], entries, 1)],
            locked=[bool(bit) for bit in parts(cut["locked"][unit], entries, 1)],
            rank=parts(cut["rank"][unit], entries, cfg.rank_bits),
            ready=cut["filled"][unit],
            lfsr=cut["lfsr"][unit],
        )
        for unit in range(units)
    ]
