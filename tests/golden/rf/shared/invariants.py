"""What must hold of the shared file in every cycle (docs/schemes/larf.md, section 18)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tests.golden.invariants import require
from warpfile.golden.rf.shared.file import SharedFile
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.stimulus import Stimulus


class SharedWatcher:
    """Looks at the registered state before every step."""

    def __init__(self, cfg: SharedConfig, file: SharedFile) -> None:
        self.cfg, self.file = cfg, file

    def look(self) -> None:
        """Objects with an ``AssertionError``."""

    def check(self, stimulus: Stimulus, fields: dict[str, int]) -> None:
        """Nothing yet."""

    def check_end(self, counters: Mapping[str, int]) -> None:
        """Nothing yet."""


_ = Counter, require
