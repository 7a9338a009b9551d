"""Hot registers in the descriptor of a trace, for every profile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.harness import listing
from tests.golden.scenario import hand_trace, op
from warpfile.compiler import parse
from warpfile.compiler.program import static_instruction
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.rewrite import original
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

#: R4 is named most; the branch around R9 is not taken, and R8 is read in every trip of the loop.
CODE = """IADD3 R4, R4, R5, R4
    IADD3 R5, R9, R9, R9
    top:
    IADD3 R6, R8, 0x1, RZ
    @P0 BRA `(top)"""


def config(**changes: Any) -> Config:
    return SCHEMES["pilot"].configuration("tiny", **{"fast_registers": 2} | changes)


def example() -> Trace:
    """One warp that runs the loop five times and the second instruction without lanes."""
    text = listing(CODE)
    first, second, body, branch, end, *_ = parse(text, "t").functions["k"].instructions
    path = [(static_instruction(first), -1), (static_instruction(second), 0)]
    path += [(static_instruction(body), -1), (static_instruction(branch), -1)] * 5
    assert static_instruction(end).opcode == "EXIT"
    return hand_trace([(static, mask & 0xFFFFFFFF) for static, mask in path], kernel="k", listing=text)


def hot(trace: Trace) -> list[int]:
    return list(trace.descriptor.values())


@pytest.mark.parametrize(
    ("profile", "wanted"), [("compiler", [4, 9]), ("hybrid", [4, 9]), ("oracle", [6, 8]), ("pilot", []), ("none", [])]
)
def test_the_profile_says_whose_counts_they_are(profile: str, wanted: list[int]) -> None:
    cfg = config(profile=profile)
    trace = SCHEMES["pilot"].annotated(cfg, example())
    assert hot(trace) == wanted
    assert list(trace.descriptor) == [name for name, _ in cfg.descriptor]
    assert prepare(cfg, trace).kernel.descriptor == trace.descriptor


def test_unused_places_hold_the_marker() -> None:
    cfg = config(profile="oracle", fast_registers=4, register_names=32)
    assert hot(SCHEMES["pilot"].annotated(cfg, hand_trace([op((3,), 1)]))) == [1, 3, 31, 31]


def test_loops_count_if_the_configuration_says_so() -> None:
    """R6 and R8 are named once, but in a loop."""
    cfg = config(profile="compiler", weight="loop10")
    found = SCHEMES["pilot"].annotated(cfg, example())
    assert hot(found) == [6, 8] and "weight=loop10" in found.annotation


def test_the_register_with_the_markers_name_is_never_hot() -> None:
    cfg = config(profile="oracle", register_names=16)
    assert hot(SCHEMES["pilot"].annotated(cfg, hand_trace([op((15,), 15), op((2,))]))) == [2, 15]


def test_without_a_listing_the_known_instructions_count() -> None:
    trace = hand_trace([op((3, 3, 3), 1), *[op((5,), 2)] * 2])
    assert hot(SCHEMES["pilot"].annotated(config(profile="compiler"), trace)) == [3, 2]


@pytest.mark.parametrize("seed", range(8))
def test_drawn_lists_are_distinct_registers_of_the_kernel(seed: int) -> None:
    cfg = config(profile="hybrid", fast_registers=4, register_names=32)
    trace = SCHEMES["pilot"].annotated(cfg, stress_trace(seed, registers=8), loosened=seed)
    names = [name for name in hot(trace) if name != 31]
    assert len(hot(trace)) == 4 and len(set(names)) == len(names)
    assert all(name < trace.registers for name in names)
    prepare(cfg, trace)


def test_the_original_has_no_list() -> None:
    annotated = SCHEMES["pilot"].annotated(config(), example())
    assert original(annotated).descriptor == {}


def test_a_list_with_a_register_that_the_kernel_lacks_is_refused() -> None:
    cfg = config(profile="compiler")
    trace = SCHEMES["pilot"].annotated(cfg, example())
    trace.descriptor["hot1"] = 40
    with pytest.raises(ValueError, match="hot registers must be distinct and below 10"):
        prepare(cfg, trace)


def test_the_list_of_a_listing_is_shown_at_its_first_instruction() -> None:
    hints = SCHEMES["pilot"].rf.hints
    assert hints is not None
    function = parse(listing(CODE), "t").functions["k"]
    assert hints.of_listing(function, config()) == {"hot registers": {0: (4, 9)}}
