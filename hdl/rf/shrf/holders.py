"""Which warp has which place with entries (docs/schemes/shrf.md, section 5)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Value

from warpfile.hdl.arbiter import decode, encode, select
from warpfile.hdl.naming import named


class SchedulerPlaces:
    """The places of a scheduler: warps come and go.

    ``places``: mask of the warp that holds each place, zero for none. Their numbers are known before the numbers of
    warps that are asked for, so that these meet one comparison.
    """

    def __init__(self, m: Module, places: Sequence[Value], warp_bits: int) -> None:
        self._places = places
        self._numbers = [
            named(m, f"number{place}", Cat(encode(warp, warp_bits), warp.any())) for place, warp in enumerate(places)
        ]

    def place_of(self, m: Module, name: str, warp: Value) -> Value:
        """The place of the warp of a number, one-hot; zero if it has none."""
        wanted = named(m, f"{name}_wanted", Cat(warp, Const(1, 1)))
        return named(m, f"{name}_holder", Cat(number == wanted for number in self._numbers))

    def holds(self, place: int, warp: Value) -> Value:
        """Whether the warp of a mask has the place."""
        return (self._places[place] & warp).any()

    def word_of(self, warp: int, words: Sequence[Value]) -> Value:
        """Of the words of all places that of a warp's place; zero if it has none."""
        return select([holder[warp] for holder in self._places], words)


class SlotPlaces:
    """A place for every warp slot, by its number, because the scheduler has no places. Methods as above."""

    def __init__(self, warps: int) -> None:
        self._warps = warps

    def place_of(self, m: Module, name: str, warp: Value) -> Value:
        """The number, decoded."""
        return named(m, f"{name}_holder", decode(warp, self._warps))

    def holds(self, place: int, warp: Value) -> Value:
        """The bit of the slot."""
        return warp[place]

    def word_of(self, warp: int, words: Sequence[Value]) -> Value:
        """The word of the slot."""
        return words[warp]
