"""Profiles of a few instructions, counted by hand from docs/machine.md and the pages of the schemes.

One warp is launched in cycle 0, its first beat is sent in 1 and issues in 2. With `tiny` the latency of SFU and ALU
is 5 and 2, that of FMA 3; `HAND` gives every unit the operands that it asks for at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.warpfile.conftest import CODE, LAUNCH, write_listing
from tests.warpfile.results.profiles.conftest import profile_of
from warpfile.results.profiles import Profile

HAND = ("collect=all", "source_slots=3", "bank_skew=none", "banks=8")
S2R, MOV, WIDE, STG, EXIT = range(5)


@pytest.fixture
def one_warp(kernel: Path) -> Path:
    """The kernel of all tests with one warp in place of two."""
    (kernel / "launch.toml").write_text(LAUNCH.replace("[64, 1, 1]", "[32, 1, 1]"))
    for name in ("y", "y_expected"):
        _shorten(kernel / f"{name}.npy")
    return kernel


def _shorten(path: Path) -> None:
    import numpy as np

    np.save(path, np.load(path)[:32])


def said(profile: Profile, line: int) -> dict[str, int]:
    """What is not zero in a line."""
    names = [name for name in profile.columns if name not in ("cycles", "waits")]
    return {name: profile.of(name, line) for name in names if profile.of(name, line)}


def test_every_cycle_of_one_warp(one_warp: Path) -> None:
    """S2R issues in 2, leaves in 3, its result comes in 8: IMAD.WIDE waits in 4 to 8, issues in 9, reads in 10 and
    leaves in 12; its second result comes in 16. STG waits in 10 to 16, issues in 17 and leaves in 20, EXIT waits for
    that in 18 to 20."""
    found = profile_of("baseline", one_warp, *HAND)
    once = {"issued": 1, "instructions": 1}
    passed = once | {"dispatches": 1}
    gone = found.run.cycles - 22  # cycles behind the EXIT, which issues in 21
    assert [said(found, line) for line in range(6)] == [
        passed | {"issue_idle": 1, "wait_fetch": 1, "unit_cycles": 1, "to_dispatch": 1, "returned": 1, "to_result": 5},
        passed | {"unit_cycles": 1, "to_dispatch": 1, "returned": 1, "to_result": 3},
        passed
        | {"issue_hazard": 5, "wait_result": 5, "bank_reads": 2, "unit_cycles": 3, "operand_waits": 2}
        | {"to_dispatch": 3, "returned": 1, "to_result": 4},
        passed
        | {"issue_hazard": 7, "wait_result": 7, "bank_reads": 3, "unit_cycles": 3, "operand_waits": 2}
        | {"to_dispatch": 3},
        once | {"issue_hazard": 3, "wait_drain": 3},
        {"issue_idle": 1 + gone},
    ]
    assert gone > 0


def test_two_sources_in_one_bank(one_warp: Path) -> None:
    """R0 and R4 are both in bank 0 of four: one of them asks in vain once, and the beat leaves a cycle later."""
    write_listing(one_warp, tuple(line.replace("R5", "R4") for line in CODE))
    found = profile_of("baseline", one_warp, *HAND, "banks=4")
    counted = {name: found.of(name, WIDE) for name in ("bank_reads", "bank_conflicts", "operand_waits", "to_dispatch")}
    assert counted == {"bank_reads": 2, "bank_conflicts": 1, "operand_waits": 3, "to_dispatch": 4}
    assert found.total("bank_conflicts") == 1


def test_a_window_gives_what_it_has(one_warp: Path) -> None:
    """docs/schemes/bow.md, section 2: R0 and R5 were written 2 and 1 beats before, R2 and R3 one, R0 was used one
    before; no bank is asked, and a beat that finds all its sources leaves in the next cycle."""
    found = profile_of("bow", one_warp, "source_slots=3", "window=3", "window_entries=12", "bank_skew=none")
    assert [found.of("bypassed_reads", line) for line in range(6)] == [0, 0, 2, 3, 0, 0]
    assert found.total("bank_reads") == 0
    assert [found.of("to_dispatch", line) for line in (WIDE, STG)] == [1, 1]


def test_a_load_is_waited_for_as_memory(one_warp: Path) -> None:
    """LDG issues in 17 and leaves in 20; its four sectors miss and enter the channel in 20 to 23, and arrive 20 cycles
    later: in 43. IADD3 waits for it in 18 to 43."""
    write_listing(one_warp, (*CODE[:3], "LDG.E.SYS R6, [R2]", "IADD3 R0, R0, R6, RZ", *CODE[3:]))
    found = profile_of("baseline", one_warp, *HAND)
    assert (found.lines[4].text, found.of("wait_memory", 4), found.of("issue_hazard", 4)) == (CODE_ADD, 26, 26)
    assert found.total("wait_memory") == 26
    assert (found.of("to_dispatch", 3), found.of("to_result", 3)) == (3, 23)


CODE_ADD = "IADD3 R0, R0, R6, RZ"


def test_branch_and_barrier_pay_for_who_waits_behind_them(one_warp: Path) -> None:
    """The branch issues in 4, the next beat is sent branch_delay + 1 later, in 6, and issues in 7: a barrier, at which
    its only warp waits in 8. What follows issues in 9, when R0 is there."""
    code = (*CODE[:2], "@!PT BRA `(start)", "BAR.SYNC 0x0", *CODE[2:])
    write_listing(one_warp, code)
    found = profile_of("baseline", one_warp, *HAND, "branch_delay=1")
    once = {"issued": 1, "instructions": 1}
    assert said(found, 2) == once | {"issue_idle": 2, "wait_branch": 2}
    assert said(found, 3) == once | {"issue_barrier": 1, "wait_barrier": 1}
    assert not any(name.startswith(("wait_", "issue_")) for name in said(found, 4))


def test_of_two_warps_the_older_one_pays(kernel: Path) -> None:
    """Both wait for R0 in most cycles: each waits for itself, the lost slots are paid once."""
    found = profile_of("baseline", kernel, *HAND)
    assert [found.of("issued", line) for line in range(5)] == [2] * 5
    assert found.of("wait_result", WIDE) > found.of("issue_hazard", WIDE) > 0
    assert found.total("cycles") == found.run.cycles
    assert found.total("waits") + found.total("issued") == found.run.counters["resident_cycles"]
