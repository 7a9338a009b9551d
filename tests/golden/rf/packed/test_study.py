"""Files in which a cause is removed compute the same, and differ in that cause."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Packed
from tests.golden.rf.packed.scenario import NAMES, get, hinted, make, put, run_packed, told, valued
from tests.golden.scenario import Run
from warpfile.golden.rf.packed.file import PackedFile
from warpfile.golden.rf.packed.study import FreeFile, InstantFile, NarrowFile, ServedFile
from warpfile.spec.stress import stress_trace

FILES = (InstantFile, ServedFile, NarrowFile, FreeFile)
#: Three sources in one memory of the table, of two ports.
PROGRAM = [put(register, 0x12345678) for register in (1, 3, 5)] + [get(1, 3, 5)]


def run(file: type[PackedFile], *programs: list, scheme: str = "packing") -> Run:
    """Programs on a machine with another file."""
    machine = type("Studied", (Packed,), {"file_kind": file})
    return run_packed(make(scheme, banks=2), valued(*programs or [PROGRAM]), machine)


def test_no_warp_waits_for_an_instant_sweep() -> None:
    plain, instant = (run(file, PROGRAM, PROGRAM) for file in (PackedFile, InstantFile))
    assert len(plain.when("swept")) >= 2 * 3 + 2 and len(instant.when("swept")) == 2
    assert sum(fields["retired"].bit_count() for fields in instant.fields) == 2
    assert isinstance(instant.model, Packed) and instant.model.file.free.used_rows == 0


def test_with_a_table_that_serves_all_requests_none_waits() -> None:
    plain, served = run(PackedFile), run(ServedFile)
    assert plain.when("look_up_wait") and not served.when("look_up_wait") and served.cycles < plain.cycles


def test_narrow_values_have_one_byte() -> None:
    counters = run(NarrowFile, scheme="corf").model.counters
    assert counters["size_1"] == 3 and not counters["size_4"]
    assert run(PackedFile, scheme="corf").model.counters["size_4"] == 3


@pytest.mark.parametrize("file", FILES)
def test_every_operand_is_that_of_the_trace(file: type[PackedFile]) -> None:
    for seed, scheme in enumerate(NAMES[-4:]):
        cfg, rng = make(scheme, rows=256, register_names=32), random.Random(seed)
        trace = stress_trace(seed, warps_per_cta=[3, 1], ctas=4, length=60, registers=24)
        machine = type("Studied", (Packed,), {"file_kind": file})
        found = run_packed(cfg, hinted(cfg, told(cfg, trace, rng)), machine, 1_000_000)
        assert found.model.operands_checked > 0 and found.model.counters["error_cycles"] == 0
