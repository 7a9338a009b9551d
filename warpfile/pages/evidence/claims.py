"""A paper's claim, the figure here, and what is left of a difference once a cause is removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from warpfile.pages.evidence.study import Point, Study
from warpfile.results.markdown import points, signed, table
from warpfile.results.spread import Spread

LOSS = -0.04  #: Malekeh, section 9.1: no kernel loses more
COLUMNS = ("metric", "paper", "bundled kernels", "with a cause removed, or a guess")


@dataclass(frozen=True)
class Without:
    """The same figure of runs in which one cause of a difference is removed; ``what`` says what was changed."""

    what: str
    figure: Spread

    def __post_init__(self) -> None:
        if not isinstance(self.figure, Spread):
            raise TypeError(f"figure must be measured, not {self.figure!r}: {self.what}")


@dataclass(frozen=True)
class Guess:
    """A cause that nobody has removed, printed as what it is."""

    what: str


@dataclass(frozen=True)
class Claim:
    """What the paper says, what the kernels here give, as ``show`` prints it, and causes of the difference."""

    metric: str
    paper: str
    ours: Spread
    show: Callable[[Spread], str]
    causes: tuple[Without | Guess, ...] = ()
    which: str = ""  #: the kernel that it holds for, where it is of one

    def __post_init__(self) -> None:
        for cause in self.causes:
            if not isinstance(cause, Without | Guess):
                raise TypeError(f"a cause must be a run without it or a guess, not {cause!r}: {self.metric}")

    def row(self) -> tuple[str, str, str, str]:
        """Its row under ``COLUMNS``."""
        ours = f"{self.show(self.ours)} ({self.which})" if self.which else self.show(self.ours)
        return self.metric, self.paper, ours, "; ".join(map(self._cause, self.causes)) or "-"

    def _cause(self, cause: Without | Guess) -> str:
        if isinstance(cause, Guess):
            return f"guess: {cause.what}"
        return f"{cause.what}: {self.show(cause.figure)}, {points(cause.figure - self.ours)}"


def losses(
    study: Study, point: Point, over: Point, paper: str, without: Mapping[str, tuple[Point, Point]]
) -> list[Claim]:
    """Kernels that lose more than ``LOSS``, the worst first; ``without``: pairs of points with a cause removed."""

    def gain(kernel: str, pair: tuple[Point, Point]) -> Spread:
        return study.spread(lambda one: one.gain(kernel, *pair))

    gains = {kernel: gain(kernel, (point, over)) for kernel in study.kernels}
    worst = sorted((kernel for kernel in gains if gains[kernel].mean < LOSS), key=lambda kernel: gains[kernel].mean)
    causes = {kernel: tuple(Without(what, gain(kernel, pair)) for what, pair in without.items()) for kernel in worst}
    return [Claim(f"IPC of {kernel}, which loses", paper, gains[kernel], signed, causes[kernel]) for kernel in worst]


def claims_table(claims: Iterable[Claim]) -> str:
    """The table of a page's claims."""
    return table(COLUMNS, (claim.row() for claim in claims))
