"""Operand windows over packed rows with one mistake each, which the watcher must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from tests.golden.collectors.bow.test_rows_random import CROWDED, random_rows, watch_rows
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.entries import Entries
from warpfile.golden.collectors.bow.renamed import RenamedBanks, RenamedStatus
from warpfile.golden.rf.packed import entrance
from warpfile.golden.rf.packed.evictions import UnderWay
from warpfile.golden.run import Stuck

pytestmark = pytest.mark.plain

CAUGHT = (AssertionError, Stuck, KeyError, IndexError)
Right = Callable[..., Any]
#: What a mistake replaces: an attribute of a class or module, and the wrong thing made from the right one.
Mistake = tuple[object, str, Callable[[Right], Right]]


def never(right: Right) -> Right:
    return lambda *anything: False


def forgets_w1(right: Right) -> Right:
    """Only what is in T and W0 is under way."""
    return lambda self, warp, register: bool(self.hides(warp, register))


def forgets_t(right: Right) -> Right:
    """Only what is in W0 and W1 is under way."""
    return lambda self, warp, register: (warp, register) in (self.deciding, self.storing)


def hides_in_w0(right: Right) -> Right:
    """A look-up passes the eviction in T."""
    return lambda self, warp, register: (warp, register) == self.deciding


def hides_too_long(right: Right) -> Right:
    """A look-up waits until the eviction is written."""
    return lambda self, warp, register: bool(self.holds(warp, register))


def sees_what_merges(right: Right) -> Right:
    """An entry that takes some lanes has the size of these."""
    return lambda self, register, size, full: right(self, register, size, True)


def never_grows(right: Right) -> Right:
    """An entry keeps its size in a full result."""
    return lambda self, register, size, full: right(self, register, size, False)


def fills_in_four_bytes(right: Right) -> Right:
    """What is filled in has a whole row."""

    def wrong(self: Entries, entry: int, found: Any) -> None:
        right(self, entry, found)
        self.size[entry] = 4

    return wrong


def presents_the_lowest(right: Right) -> Right:
    """The pointer over windows does not move."""

    def wrong(self: RenamedBanks, *anything: Any) -> None:
        right(self, *anything)
        self._pointer = 0

    return wrong


def looks_the_youngest_up(right: Right) -> Right:
    """Of the sources that a window misses the last one asks first."""

    def wrong(self: RenamedStatus, warp: int, window: Any) -> None:
        right(self, warp, window)
        unlooked = window.entries.unlooked
        if unlooked:
            self.sought[warp] = max(indices(unlooked), key=window.entries._rank.__getitem__)

    return wrong


MISTAKES: dict[str, Mistake] = {
    "no result waits for T, W0 and W1": (UnderWay, "holds", never),
    "no result waits for T": (UnderWay, "holds", forgets_t),
    "no result waits for W1": (UnderWay, "holds", forgets_w1),
    "look-ups pass T and W0": (UnderWay, "hides", never),
    "look-ups pass T": (UnderWay, "hides", hides_in_w0),
    "look-ups wait for W1": (UnderWay, "hides", hides_too_long),
    "an eviction passes a result of its register": (entrance, "_is_met", never),
    "a merge has the size of its lanes": (Entries, "resize", sees_what_merges),
    "a full result does not shrink": (Entries, "resize", never_grows),
    "a row has four bytes": (Entries, "looked_up", fills_in_four_bytes),
    "the lowest window evicts": (RenamedBanks, "evict", presents_the_lowest),
    "the youngest source is looked up": (RenamedStatus, "_look_at_requests", looks_the_youngest_up),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_caught(name: str) -> None:
    owner, attribute, mistake = MISTAKES[name]
    for seed in (*range(8, 40), 126):  # the last one has an eviction that meets a result of its register
        try:
            with mock.patch.object(owner, attribute, mistake(getattr(owner, attribute))):
                watch_rows(*random_rows(seed, **CROWDED))
        except CAUGHT as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{name} passed")
