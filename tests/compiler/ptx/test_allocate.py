"""Registers that live at once have places of their own, by a second computation of what lives."""

from __future__ import annotations

import pytest

from tests.compiler.ptx.random_code import is_live_behind, random_code, shared_places
from warpfile.compiler.liveness import members
from warpfile.compiler.ptx.allocate import allocate, interference, live_out, names_of
from warpfile.compiler.ptx.errors import PtxError
from warpfile.compiler.ptx.lower import Code, Lowered
from warpfile.compiler.ptx.parse import Kernel

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_live_registers_share_a_place(seed: int) -> None:
    lowered = random_code(seed)
    found = allocate(lowered)
    assert found.numbers.keys() >= set(names_of(lowered.code))
    assert shared_places(lowered, found.numbers) == []
    assert allocate(random_code(seed)) == found


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_live_is_what_some_way_reads(seed: int) -> None:
    code = random_code(seed).code
    names = names_of(code)
    for at, live in enumerate(live_out(code, names)):
        assert {names[one] for one in members(live)} == {name for name in names if is_live_behind(code, at, name)}


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_and_groups_are_aligned_and_none_has_the_stack_pointer(seed: int) -> None:
    lowered = random_code(seed)
    numbers = allocate(lowered).numbers
    for name, number in numbers.items():
        width = lowered.widths[name]
        assert number % max(1, width) == 0 and (width == 0 or 1 not in range(number, number + width))
    for group in set(lowered.groups.values()):
        if named := [name for name in group if name in numbers]:
            first = numbers[named[0]] - group.index(named[0])
            assert first % len(group) == 0
            assert all(numbers[name] == first + group.index(name) for name in named)


def test_the_check_finds_places_that_are_shared() -> None:
    """Of every allocation, two registers that interfere are put into one place."""
    found = 0
    for seed in SEEDS:
        lowered = random_code(seed)
        numbers = dict(allocate(lowered).numbers)
        for name, others in sorted(interference(lowered.code, list(numbers)).items()):
            alike = [other for other in sorted(others) if lowered.widths[other] == lowered.widths[name]]
            if alike:
                assert shared_places(lowered, numbers | {name: numbers[alike[0]]})
                found += 1
    assert found > len(SEEDS)


def test_predicates_without_a_place_are_kept_in_registers() -> None:
    """Nine are defined, then nine are read."""
    names = [f"p{at}" for at in range(9)]
    lowered = Lowered(Kernel("many", {}, {}), dict.fromkeys(names, 0) | {"r": 1})
    lowered.code = [Code(f"ISETP %{name}, %r", (name,), ("r",), (name,)) for name in names]
    lowered.code += [Code(f"SEL %r, %{name}", ("r",), (name, "r"), ("r",)) for name in names]
    found = allocate(lowered)
    assert shared_places(lowered, found.numbers) == []
    assert all(number < 7 for name, number in found.numbers.items() if not lowered.widths[name])
    texts = [one.text for one in lowered.code if isinstance(one, Code)]
    kept = [text for text in texts if text.startswith("SEL") and "0x1, RZ" in text]
    assert 2 <= len(kept) == sum(text.startswith("ISETP.NE.AND") for text in texts)


def test_more_predicates_in_one_instruction_than_there_are_is_refused() -> None:
    names = tuple(f"p{at}" for at in range(8))
    lowered = Lowered(Kernel("wide", {}, {}), dict.fromkeys(names, 0))
    lowered.code = [Code("A", names, (), names), Code("B", (), names)]
    with pytest.raises(PtxError, match="must need at most 7 predicates in one instruction"):
        allocate(lowered)


def test_more_registers_than_there_are_is_refused() -> None:
    names = tuple(f"r{at}" for at in range(254))
    lowered = Lowered(Kernel("wide", {}, {}), dict.fromkeys(names, 1))
    lowered.code = [Code("A", names, (), names), Code("B", (), names)]
    with pytest.raises(PtxError, match="must need at most 254 registers at once"):
        allocate(lowered)
