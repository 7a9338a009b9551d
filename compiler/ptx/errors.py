"""What of PTX is refused."""

from __future__ import annotations


class PtxError(ValueError):
    """PTX that is not lowered. ``line`` counts from 1, ``problem`` says what must be otherwise."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"PTX, line {line}: {problem}")
        self.line, self.problem = line, problem
