"""Warps that come until all are there, and leave again, for tests of what counts them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Launches:
    """Warps of a machine with ``warps`` slots; ``most`` were resident at once."""

    warps: int
    rng: random.Random
    resident: set[int] = field(default_factory=set)
    leaving: bool = False
    most: int = 0

    def step(self, may_come: bool) -> tuple[bool, int]:
        """Whether a warp comes in this cycle, which needs ``may_come``, and the one-hot warp that goes, 0 for none."""
        self.leaving = bool(self.resident) and (self.leaving or len(self.resident) == self.warps)
        come = may_come and not self.leaving and self.rng.random() < 0.7
        goes = self.resident and self.rng.random() < (0.6 if self.leaving else 0.2)
        go = self.rng.choice(sorted(self.resident)) if goes else None
        if come:
            self.resident.add(self.rng.choice(sorted(set(range(self.warps)) - self.resident)))
        if go is not None:
            self.resident.discard(go)
        self.most = max(self.most, len(self.resident))
        return come, 0 if go is None else 1 << go
