"""Warps that wait for each other, kernels that never end, and how much shared memory a launch needs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.effort import effort
from tests.emulator.compiled.launching import last_buffer, launch
from tests.emulator.harness import listing
from warpfile.compiler import parse
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.run import CTA_LIMIT, INSTRUCTION_LIMIT, execute
from warpfile.emulator.warp import TURN

Y = np.zeros(64, np.int32)
DONE = "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nSTG.E.SYS [R2], R0"


def spin(code: str, threads: int = 32, limit: int | None = None) -> dict[str, np.ndarray]:
    """Buffers after a launch of the code; ``a0`` is at c[0x0][0x160]."""
    return execute(launch(parse(listing(code), "t"), "k", [Y], threads), limit).buffers


@pytest.mark.parametrize("warps", [1, 2, 5, 8])
def test_warps_wait_for_each_other_without_a_barrier(warps: int) -> None:
    values = np.arange(1, 9, dtype=np.int32)
    found = last_buffer("forms", "chain", [values, np.zeros(32 * warps, np.int32)], 32 * warps)
    total = 0
    for value in values[:warps][::-1]:
        total = 2 * total + int(value)
    assert found.tolist() == [total] * 32 * warps


def test_a_lock_between_the_lanes_and_warps_of_a_cta() -> None:
    values = np.arange(96, dtype=np.int32)
    found = last_buffer("forms", "locked", [values, np.zeros(96, np.int32)], 96)
    assert found.tolist() == [values.sum()] * 96


def test_a_wait_that_no_warp_can_end_stops_at_once_with_its_loop() -> None:
    message = r"forlorn, CTA 0: must not spin without end, .*; warp 0 is in the loop from 0x00\w\w to 0x00\w\w.*\Z"

    def spin() -> None:
        with pytest.raises(ExecutionError, match=message):
            execute(launch("forms", "forlorn", [np.zeros(1, np.int32), Y], 64))

    assert effort(spin) < 200


SPINS = {
    "one branch": ("here:\nBRA `(here)", 32),
    "two places in turn": ("P2R R1, PR, RZ, 0x0\nhere:\nLOP3.LUT R1, R1, 0x1, RZ, 0x3c, !PT\nBRA `(here)", 32),
    "a word that is stored again": (f"here:\n{DONE}\nBRA `(here)", 32),
    "a failing exchange": ("MOV R4, 0x1\nhere:\nATOMS.CAS R0, [RZ], R4, R4\nBRA `(here)", 32),
    "local memory": ("here:\nSTL [RZ], R4\nLDL R5, [RZ]\nBRA `(here)", 32),
    "lanes that wait for lanes": (
        """S2R R0, SR_TID.X
        ISETP.GT.AND P0, PT, R0, 0x4, PT
        BSSY B0, `(out)
        @P0 BRA `(other)
        here:
        BRA `(here)
        other:
        BRA `(other)
        out:
        BSYNC B0""",
        32,
    ),
    "one warp, the others at a barrier": (
        "S2R R0, SR_TID.X\nISETP.GT.AND P0, PT, R0, 0x1f, PT\n@P0 BAR.SYNC 0x0\nhere:\n@!P0 BRA `(here)",
        96,
    ),
}


@pytest.mark.parametrize("case", SPINS)
def test_a_state_that_repeats_is_found(case: str) -> None:
    code, threads = SPINS[case]
    with pytest.raises(ExecutionError, match=r"^k, CTA 0: must not spin without end.* is in the loop from 0x"):
        spin(code, threads)


def counted(start: int, step: str) -> str:
    """A loop of ``start`` rounds that keeps its counter in ``step``'s place only."""
    return f"MOV R5, {start:#x}\nhere:\n{step}\nISETP.NE.AND P0, PT, R5, RZ, PT\n@P0 BRA `(here)\n{DONE}"


@pytest.mark.parametrize(
    "step",
    [
        "IADD3 R5, R5, -0x1, RZ",
        "STS [RZ], R5\nLDS R5, [RZ]\nIADD3 R5, R5, -0x1, RZ\nSTS [0x4], R5",
        "STL [RZ], R5\nMOV R5, RZ\nLDL R5, [RZ]\nIADD3 R5, R5, -0x1, RZ",
    ],
)
def test_a_long_loop_that_ends_is_no_spinning(step: str) -> None:
    spin(counted(6 * TURN + 5, step))


@pytest.mark.parametrize("place", ["STS [RZ], R6\nLDS R6, [RZ]", "STL [RZ], R6\nLDL R6, [RZ]"])
def test_a_counter_in_memory_only_is_seen(place: str) -> None:
    """Registers are the same whenever a turn ends: what differs is the word in memory."""
    store, load = place.split("\n")
    code = f"""MOV R6, {4 * TURN:#x}
        {store}
        here:
        {load}
        IADD3 R6, R6, -0x1, RZ
        ISETP.NE.AND P0, PT, R6, RZ, PT
        {store}
        MOV R6, RZ
        PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x0
        PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
        @P1 BRA `(here)
        {DONE}"""
    spin(code)


def test_a_clock_that_runs_is_no_repetition_but_meets_the_limit() -> None:
    code = "here:\nCS2R.32 R4, SR_CLOCKLO\nBRA `(here)"
    with pytest.raises(ExecutionError, match=r"^k, CTA 0, warp 0: instruction limit exceeded at 0x0010, in the loop "):
        spin(code, limit=50_000)
    assert CTA_LIMIT < INSTRUCTION_LIMIT


def test_the_limit_names_the_loop_that_was_taken_last() -> None:
    code = "here:\nIADD3 R0, R0, 0x1, RZ\nNOP\nBRA `(here)"
    with pytest.raises(ExecutionError, match=r"exceeded at 0x0020, in the loop from 0x0000 to 0x0020$"):
        spin(code, limit=500)


SHARED = """S2R R0, SR_TID.X
    STS [R0.X4+0x100], R0"""


@pytest.mark.parametrize(
    ("code", "dynamic", "wanted"),
    [("MOV R0, RZ", 0, 0), ("MOV R0, RZ", 100, 100), (SHARED, 0, 512), (SHARED, 1000, 1000), (SHARED, 400, 512)],
)
def test_unknown_shared_memory_is_what_the_launch_touches(code: str, dynamic: int, wanted: int) -> None:
    given = launch(parse(listing(code), "t"), "k", [Y], 32)
    changed = type(given)(**(vars(given) | {"dynamic_shared": dynamic}))
    assert execute(changed).trace.shared_bytes == wanted


def test_known_shared_memory_is_as_it_is_known() -> None:
    given = launch(parse(listing(SHARED), "t"), "k", [Y], 32)
    known = type(given)(**(vars(given) | {"static_shared": 2048}))
    assert execute(known).trace.shared_bytes == 2048
    small = type(given)(**(vars(given) | {"static_shared": 300}))
    with pytest.raises(ExecutionError, match=r"outside of shared memory \(300 bytes\)"):
        execute(small)
