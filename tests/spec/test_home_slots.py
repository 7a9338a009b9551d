"""CTA dispatch where a part gives the warps of a CTA slot their slots (docs/machine.md, section 9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.scenario import NOP, hand_trace
from warpfile.schemes import find
from warpfile.spec.cta_dispatcher import CtaDispatcher, possible_warps
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.workload import prepare


def config(**changes: Any) -> OwfConfig:
    """``tiny`` with 64 places."""
    cfg = find("owf").configuration("tiny", **{"lanes": 1, "banks": 4, "rows": 16, "warps": 12, "ctas": 8} | changes)
    assert isinstance(cfg, OwfConfig)
    return cfg


def sets(private: int, shared: int, members: int, paired: int) -> dict[str, int]:
    names = ("private_registers", "shared_registers", "cta_warps", "paired_warps")
    return dict(zip(names, (private, shared, members, paired), strict=True))


def dispatcher(cfg: OwfConfig, descriptor: dict[str, int], sizes: list[int]) -> CtaDispatcher:
    """For CTAs of so many warps of eight registers."""
    owners = [cta for cta, size in enumerate(sizes) for _ in range(size)]
    trace = hand_trace(*[[NOP]] * len(owners), ctas=owners, registers=8, descriptor=descriptor)
    return CtaDispatcher(cfg, prepare(cfg, trace))


def launches(dispatch: CtaDispatcher) -> list[tuple[int, int, int]]:
    """CTA slot, warp slot and base of every warp that can be launched now."""
    found = []
    while (launch := dispatch.offer()) is not None:
        found.append((launch.cta, launch.warp, launch.base))
        dispatch.accepted()
    return found


def test_partners_are_the_warps_of_one_number_of_neighbouring_ctas() -> None:
    """P = 2, S = 6, T = 10: two pairs take 20 places, and five warps of eight are left room for, of which four run."""
    cfg, descriptor = config(), sets(2, 6, 2, 4)
    assert cfg.resident_warps(8, descriptor) == 8
    dispatch = dispatcher(cfg, descriptor, [2] * 5)
    first = [(0, 0, 0), (0, 2, 10), (1, 1, 2), (1, 3, 12)]
    assert launches(dispatch) == [*first, (2, 4, 20), (2, 5, 28), (3, 6, 36), (3, 7, 44)]
    dispatch.exited(3, 1)
    assert not launches(dispatch), "a CTA slot is taken until all its warps have ended"
    dispatch.exited(1, 1)
    assert launches(dispatch) == first[2:]


def test_a_small_cta_leaves_its_last_home_slots_empty() -> None:
    dispatch = dispatcher(config(), sets(2, 6, 2, 4), [1, 2, 1])
    assert launches(dispatch) == [(0, 0, 0), (1, 1, 2), (1, 3, 12), (2, 4, 20)]


def test_a_cta_slot_without_all_its_home_slots_is_not_used() -> None:
    """Two pairs of three warps take 30 of 64 places, so that four more warps fit, which is one CTA of three."""
    cfg, descriptor = config(), sets(2, 6, 3, 6)
    assert cfg.resident_warps(8, descriptor) == 9
    dispatch = dispatcher(cfg, descriptor, [3] * 4)
    assert [cta for cta, _, _ in launches(dispatch)] == [0] * 3 + [1] * 3 + [2] * 3
    owners = [cta for cta in range(4) for _ in range(3)]
    trace = hand_trace(*[[NOP]] * 12, ctas=owners, registers=8, descriptor=descriptor)
    assert possible_warps(cfg, prepare(cfg, trace)) == 9


def test_without_pairs_warps_take_the_lowest_free_slots() -> None:
    dispatch = dispatcher(config(), sets(8, 0, 1, 0), [2, 2])
    assert launches(dispatch) == [(0, 0, 0), (0, 1, 8), (1, 2, 16), (1, 3, 24)]
    dispatch.exited(1, 0)


def test_a_cta_with_more_warps_than_home_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="a CTA must have at most 2 warps, which have home slots, not 3"):
        dispatcher(config(), sets(2, 6, 2, 4), [3])


@pytest.mark.parametrize(
    ("descriptor", "why"),
    [
        (sets(0, 8, 2, 4), "private and shared registers must be 8 together, 1 of them private, not 0, 8"),
        (sets(2, 5, 2, 4), "private and shared registers must be 8 together, 1 of them private, not 2, 5"),
        (sets(2, 6, 2, 6), "paired_warps must be a multiple of twice cta_warps, 2, not 6"),
        (sets(2, 6, 2, 16), "paired_warps must fit 12 warps and 64 places, not 16"),
        (sets(7, 1, 2, 12), "paired_warps must fit 12 warps and 64 places, not 12"),
    ],
)
def test_a_descriptor_that_does_not_fit_is_refused(descriptor: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        config().resident_warps(8, descriptor)


@pytest.mark.parametrize("members", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2])
def test_home_slots_are_all_slots_once_and_places_of_two_warps_meet_only_in_what_partners_share(
    members: int, groups: int
) -> None:
    cfg, private, shared = config(rows=64, warps=16), 3, 5
    paired = 2 * groups * members
    descriptor = sets(private, shared, members, paired)
    homes = [slot for cta in range(cfg.warps // members) for slot in cfg.home_slots(cta, descriptor)]
    assert sorted(homes) == [*range(cfg.warps // members * members)]
    for cta in range(paired // members):
        assert [slot ^ 1 for slot in cfg.home_slots(cta, descriptor)] == list(cfg.home_slots(cta ^ 1, descriptor))

    def places(slot: int, count: int) -> set[int]:
        base = cfg.base_place(slot, 8, descriptor)
        return {*range(base, base + count)}

    own = [places(slot, private if slot < paired else 8) for slot in range(cfg.resident_warps(8, descriptor))]
    behind = [min(own[slot]) + 2 * private for slot in range(0, paired, 2)]
    lent = [{*range(first, first + shared)} for first in behind]
    every = [place for some in (*own, *lent) for place in some]
    assert len(set(every)) == len(every) and max(every) < cfg.banks * cfg.rows
