"""Bank conflicts of shared memory, with degrees worked out by hand (docs/machine.md, section 9, "Shared memory")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.golden.scenario import FULL, hand_trace, op, run
from warpfile.spec.config import Config
from warpfile.spec.shared_memory import degree
from warpfile.spec.trace import LANES, Access, Port, Space, StaticInstruction

SLOW = Config(shared_latency=7, texture_latency=30, texture_interval=5)


def access(size: int = 4, kind: Access = Access.LOAD, opcode: str = "LDS", dest: int | None = 4) -> StaticInstruction:
    dest = None if kind == Access.STORE else dest
    return op((), dest, port=Port.LSU, space=Space.SHARED, access=kind, bytes=size, opcode=opcode)


def stride(step: int, lanes: int = LANES) -> list[int]:
    """Addresses that many bytes apart."""
    return [step * lane for lane in range(lanes)]


@pytest.mark.parametrize(
    ("size", "addresses", "wanted"),
    [
        (4, stride(4), 1),  # every lane has a bank of its own
        (4, stride(8), 2),  # lanes 0 and 16 meet
        (4, stride(128), 32),  # all words in bank 0
        (4, stride(132), 1),  # a row of 33 words: padding
        (4, [64] * LANES, 1),  # one word for all
        (4, [0, 128] * 16, 2),  # two words of bank 0
        (1, stride(1), 1),  # four lanes to a word, eight words
        (2, stride(64), 16),  # words 0, 16, 32 ...: banks 0 and 16 have sixteen each
        (8, stride(8), 2),  # each half reads 32 words in 32 banks
        (8, stride(16), 4),  # in each half lanes 0 and 8 meet
        (8, [0] * LANES, 2),  # one pair for all, but the halves take turns
        (16, stride(16), 4),  # each quarter reads 32 words in 32 banks
        (16, stride(32), 8),  # in each quarter lanes 0 and 4 meet
    ],
)
def test_degree(size: int, addresses: list[int], wanted: int) -> None:
    assert degree(access(size), FULL, addresses) == wanted


def test_only_lanes_that_execute_count() -> None:
    assert degree(access(), 0b101, stride(128)) == 2
    assert degree(access(8), 0xFFFF, stride(8)) == 1  # the upper half has nothing to read
    assert degree(access(), 0, [0] * LANES) == 1


@pytest.mark.parametrize("kind", [Access.LOAD, Access.STORE])
def test_lanes_share_a_word_that_they_read_or_write(kind: Access) -> None:
    assert degree(access(kind=kind), FULL, [0] * 16 + [128] * 16) == 2


def test_lanes_take_turns_at_a_word_that_they_change() -> None:
    atomic = access(kind=Access.ATOMIC, opcode="ATOMS.ADD")
    assert degree(atomic, FULL, [0] * 30 + [4, 4]) == 30
    assert degree(access(kind=Access.ATOMIC, opcode="ATOMS.POPC.INC.32"), FULL, [0] * 30 + [128, 4]) == 2


@pytest.mark.parametrize(("matrices", "wanted"), [(1, 1), (2, 2), (4, 4)])
def test_matrices_are_read_one_by_one(matrices: int, wanted: int) -> None:
    rows = op((), 4, dest_count=matrices, port=Port.LSU, space=Space.SHARED, bytes=16, opcode="LDSM.16.M88")
    # Rows of 16 bytes without gaps fill the banks once per matrix; lanes beyond the last matrix would all meet.
    assert degree(rows, FULL, [*stride(16, 8 * matrices), *[128 * 99] * (LANES - 8 * matrices)]) == wanted
    assert degree(rows, FULL, stride(128)) == 8 * wanted


def with_addresses(*accesses: tuple[StaticInstruction, Sequence[int]]) -> list[int]:
    """Cycles of the dispatches and of the last write."""
    rows = np.array([addresses for _, addresses in accesses], dtype=np.uint64)
    trace = hand_trace([a for a, _ in accesses], addresses=rows, address_row=np.array([*range(len(rows)), -1]))
    result = run(SLOW, trace)
    return [*result.when("dispatch"), result.when("write")[-1]]


def test_a_conflict_occupies_the_port_and_delays_the_result() -> None:
    assert with_addresses((access(), stride(4))) == [3, 3 + 7]
    assert with_addresses((access(), stride(16))) == [3, 3 + 7 + 3]
    assert with_addresses((access(), stride(16)), (access(dest=5), stride(4))) == [3, 7, 7 + 7]
    # A store returns nothing, but the next access waits for it all the same.
    assert with_addresses((access(kind=Access.STORE), stride(16)), (access(dest=5), stride(4))) == [3, 7, 7 + 7]


def test_without_addresses_nothing_conflicts() -> None:
    result = run(SLOW, hand_trace([access(), access(dest=5)]))
    assert result.when("dispatch") == [3, 4]


def test_textures_have_a_time_of_their_own() -> None:
    fetches = [op((), 4 + k, port=Port.LSU, space=Space.TEXTURE, access=Access.LOAD) for k in range(2)]
    result = run(SLOW, hand_trace(fetches))
    assert result.when("dispatch") == [3, 8]
    assert result.when("write") == [33, 38]
