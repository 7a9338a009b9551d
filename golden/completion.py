"""When the scoreboard is told of a result (docs/machine.md, section 7)."""

from __future__ import annotations

from warpfile.spec.stimulus import Result


class Completion:
    """Accepted results, by the cycle at whose end they are in place."""

    def __init__(self) -> None:
        self._due: dict[int, list[Result]] = {}

    def add(self, cycle: int, result: Result) -> None:
        """``result`` completes in ``cycle``, which is not over."""
        self._due.setdefault(cycle, []).append(result)

    def due(self, cycle: int) -> list[Result]:
        """The results that complete in ``cycle``; asked once per cycle."""
        due = self._due.get(cycle)
        if due is None:
            return []
        del self._due[cycle]
        return due
