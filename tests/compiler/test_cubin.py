"""Machine code of a cubin stands in for what a listing leaves out."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest

from warpfile.compiler.cubin import architecture, machine_code
from warpfile.compiler.errors import ListingError
from warpfile.compiler.model import Function, Register
from warpfile.compiler.parser import load_listing, parse
from warpfile.compiler.passes.modern.read_positions import placed, positions
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import NO_CODE

KERNELS = Path(__file__).parents[2] / "kernels"
BUNDLED = sorted(path.name for path in KERNELS.iterdir() if (path / "kernel.cubin").is_file())


def function(kernel: str) -> Function:
    (found,) = load_listing(KERNELS / kernel / "kernel.sass").functions.values()
    return found


@pytest.mark.parametrize("kernel", BUNDLED)
def test_every_mark_of_reuse_is_at_its_position(kernel: str) -> None:
    """The marks of the text, at the positions that the machine gives them, are the field of the encoding."""
    for instruction in function(kernel).instructions:
        assert instruction.control is not None
        if not instruction.control.reuse:
            continue
        marks = {one.number for one in instruction.operands if isinstance(one, Register) and one.reuse}
        kept = [group for at, group in enumerate(positions(instruction)) if instruction.control.reuse >> at & 1]
        found = {group[0] for group in kept}
        assert found == marks, instruction.text


@pytest.mark.parametrize("kernel", BUNDLED)
def test_nothing_of_fixed_latency_has_a_dependence_counter(kernel: str) -> None:
    for instruction in function(kernel).instructions:
        code, place = instruction.control, placed(static_instruction(instruction), instruction)
        assert code is not None
        assert place.variable or (code.write_barrier is None and code.read_barrier is None), instruction.text


@pytest.mark.parametrize("kernel", BUNDLED)
def test_bundled_cubins_are_for_sm_75(kernel: str) -> None:
    assert architecture((KERNELS / kernel / "kernel.cubin").read_bytes()) == 75
    assert load_listing(KERNELS / kernel / "kernel.sass").architecture == 75


def test_a_program_carries_the_codes_of_the_cubin() -> None:
    alone = parse((KERNELS / "saxpy" / "kernel.sass").read_text(), "alone")
    (plain,) = alone.functions.values()
    assert {static_instruction(one).control for one in plain.instructions} == {NO_CODE}
    assert all(static_instruction(one).control >= 0 for one in function("saxpy").instructions)


def test_a_cubin_of_something_else_is_refused(tmp_path: Path) -> None:
    copy(KERNELS / "saxpy" / "kernel.sass", tmp_path)
    copy(KERNELS / "saxpy" / "kernel.cubin", tmp_path)
    text = (tmp_path / "kernel.sass").read_text()
    assert load_listing(tmp_path / "kernel.sass").functions
    lines = text.splitlines()
    last = max(number for number, line in enumerate(lines) if " NOP " in line or " BRA `" in line)
    (tmp_path / "kernel.sass").write_text("\n".join(lines[:last]))
    with pytest.raises(ListingError, match="the cubin beside it must be the one that was listed"):
        load_listing(tmp_path / "kernel.sass")


@pytest.mark.parametrize(
    ("data", "why"), [(b"text", "must be a cubin"), (b"\x7fELF\x02\x01\0\0", "must be a whole cubin")]
)
def test_what_is_no_cubin_is_refused_in_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        machine_code(data)
    copy(KERNELS / "saxpy" / "kernel.sass", tmp_path)
    (tmp_path / "kernel.cubin").write_bytes(data)
    with pytest.raises(ListingError, match=why):
        load_listing(tmp_path / "kernel.sass")


def test_a_cut_cubin_is_refused() -> None:
    data = (KERNELS / "saxpy" / "kernel.cubin").read_bytes()
    for size in range(64, len(data), len(data) // 7):
        with pytest.raises(ValueError, match="must be a whole cubin"):
            machine_code(data[:size])
