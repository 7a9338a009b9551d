"""Whether a figure is what a paper says: docs/evidence.md, "A verdict"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from warpfile.results.figure import Range

MARGIN = 0.03
WORDS = ("reproduced", "reproduced under", "not reproduced", "undecided")
NO_CAUSE = "not reproducible from the text"


@dataclass(frozen=True)
class Step:
    """A figure with one factor more than the one before: its mean, its range, and the range by which it has moved."""

    factor: str
    assumed: bool
    mean: float
    range: Range
    moved: Range | None = None

    @property
    def has_moved(self) -> bool:
        """Whether the difference to the step before excludes zero."""
        return self.moved is not None and not self.moved[0] <= 0 <= self.moved[1]


@dataclass(frozen=True)
class Verdict:
    """One of ``WORDS``, and under which assumptions or with which factor."""

    word: str
    about: str = ""

    def __str__(self) -> str:
        if not self.about:
            return self.word
        return f"{self.word} {self.about}" if self.word == "reproduced under" else f"{self.word}: {self.about}"


def zone(paper: Range, neutral: float | None) -> Range:
    """The band of the paper with its margin."""
    low, high = paper
    margin = MARGIN
    if neutral is not None and not low <= neutral <= high:
        margin = min(margin, min(abs(low - neutral), abs(high - neutral)) / 2)
    return low - margin, high + margin


def state(mean: float, found: Range, paper: Range, neutral: float | None) -> str:
    """*agrees*, *differs* or *open*, of a mean and its range."""
    low, high = zone(paper, neutral)
    if found[1] < low or found[0] > high:
        return "differs"
    if not low <= mean <= high:
        return "open"
    if neutral is not None and not paper[0] <= neutral <= paper[1]:
        decided = not found[0] <= neutral <= found[1]
    else:
        decided = found[1] - found[0] <= 2 * MARGIN
    return "agrees" if decided else "open"


def verdict(steps: Sequence[Step], paper: Range, neutral: float | None) -> Verdict:
    """Of the figure, which is the first step, and of what factors have made of it."""
    states = [state(step.mean, step.range, paper, neutral) for step in steps]
    if states[0] != "differs":
        return Verdict("reproduced" if states[0] == "agrees" else "undecided")
    agreeing = next((place for place, one in enumerate(states) if one == "agrees"), 0)
    under = steps[1 : agreeing + 1]
    if under and all(step.assumed for step in under):
        return Verdict("reproduced under", _names(step for step in under if step.has_moved))
    return Verdict("not reproduced", _cause(steps, paper, whole=bool(agreeing)))


def _names(steps: Iterable[Step]) -> str:
    return ", ".join(step.factor for step in steps)


def _cause(steps: Sequence[Step], paper: Range, *, whole: bool) -> str:
    """The factor that moved the figure furthest towards the band; in part, unless some step agrees."""

    def away(value: float) -> float:
        return max(paper[0] - value, value - paper[1], 0.0)

    pairs = pairwise(steps)
    nearer = {step.factor: away(before.mean) - away(step.mean) for before, step in pairs if step.has_moved}
    best = max(nearer, key=nearer.__getitem__, default="")
    if not best or nearer[best] <= 0:
        return NO_CAUSE
    return best if whole else f"{best}, in part"
