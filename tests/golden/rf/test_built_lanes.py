"""Words of lanes side by side."""

from __future__ import annotations

from warpfile.golden.rf.built_lanes import BuiltLanes


def test_a_mask_of_lanes_has_all_bits_of_their_words() -> None:
    lanes = BuiltLanes(3)
    assert lanes.every == 0b111 and lanes.ones == 1 | 1 << 32 | 1 << 64
    assert lanes.words(0b101) == 0xFFFFFFFF_00000000_FFFFFFFF
    assert lanes.words(0b111) == (1 << 96) - 1 and lanes.words(0) == 0
