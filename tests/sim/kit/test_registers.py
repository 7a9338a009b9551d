"""The kit's registers: which results may come for the beats that wait for some."""

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.kit.beats import Flight
from warpfile.sim.kit.pins import Data, Dispatch, Return
from warpfile.sim.kit.registers import Difference, Registers
from warpfile.spec.beat import Beat
from warpfile.spec.stimulus import Origin
from warpfile.spec.trace import Kind, Port, Space

CFG = SCHEMES["rfc"].configuration("tiny", lanes=1)


def returned(long: bool, **changed: int) -> None:
    """A beat that writes R4 of warp 1 issues and leaves, and its result comes. Raises if that is not right."""
    beat = Beat(0, 0, 0, Port.LSU, Kind.NORMAL, (), 4, 1, 0, 0, 1, True, True, is_load=True)
    beat.space = Space.GLOBAL if long else Space.SHARED
    flight = Flight(1, {"mask": 1, "payload": 0}, beat, {})
    registers = Registers(CFG, None)
    registers.issued(flight)
    registers.dispatched(Dispatch(2, {}, Data(), flight))
    fields = {"writes": 1, "warp": 1, "register": 4, "tokens": 0, "mask": 1, "full": 1, "hints": 0}
    registers.returned(Return(0, fields | {"origin": int(Origin.HIT if long else Origin.SHARED)} | changed, Data()))


@pytest.mark.parametrize("long", [False, True])
def test_a_result_of_its_beat_may_come(long: bool) -> None:
    returned(long)


@pytest.mark.parametrize(
    ("long", "origin"), [(True, Origin.EXECUTION), (True, Origin.SHARED), (False, Origin.HIT), (False, Origin.MISS)]
)
def test_origin_and_long_must_agree(long: bool, origin: Origin) -> None:
    with pytest.raises(Difference, match="a result of a long beat does not come from hit or miss"):
        returned(long, origin=int(origin))


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [("register", 5, "which no beat waits for"), ("mask", 0, "mask of the result"), ("full", 0, "full of the result")],
)
def test_a_result_must_be_one_that_a_beat_waits_for(field: str, value: int, why: str) -> None:
    with pytest.raises(Difference, match=why):
        returned(long=True, **{field: value})
