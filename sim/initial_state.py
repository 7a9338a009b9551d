"""How a run begins: what registers and memories hold before the reset, and whether another run comes before it."""

from __future__ import annotations

from dataclasses import dataclass

#: Highest seed that Verilator takes.
SEEDS = (1 << 31) - 1


@dataclass(frozen=True)
class InitialState:
    """The machine's state when the run begins.

    ``power_up``: seed, from 1 to :data:`SEEDS`, of what every register and memory holds before the reset; without one
    all are zero in Verilator. In Icarus they are unknown (X), always. ``reset_after``: cycles after which ``rst`` is
    high for one cycle, in the middle of a run that then begins anew; at its end if that comes before.
    """

    power_up: int | None = None
    reset_after: int | None = None

    def __post_init__(self) -> None:
        if self.power_up is not None and not 1 <= self.power_up <= SEEDS:
            raise ValueError(f"power_up must be from 1 to {SEEDS}, not {self.power_up}")
        if self.reset_after is not None and self.reset_after < 1:
            raise ValueError(f"reset_after must be at least one cycle, not {self.reset_after}")

    def plusargs(self, simulator: str) -> list[str]:
        """Arguments of a simulation. Raises ``ValueError`` for a seed where everything is unknown anyway."""
        if self.power_up is None:
            return []
        if simulator != "verilator":
            raise ValueError(f"a power-up seed must be for verilator, not {simulator}: there all registers start as X")
        return ["+verilator+rand+reset+2", f"+verilator+seed+{self.power_up}"]


#: Without a seed, and without another run before it.
PLAIN = InitialState()
