"""The emulator does what a GPU was seen to do: outcomes of an NVIDIA H100 on operands that every run makes anew."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from warpfile.hardware import compare, kernels, measure
from warpfile.hardware.probes import COUNT, LISTINGS, Probe, emulated, listing, probes

DATA = Path(__file__).parent
RECORDED = compare.recorded(DATA / "h100.npz")
FACTS = json.loads((DATA / "h100.json").read_text())
PROBES = {probe.name: probe for probe in probes()}
EXACT = [name for name in PROBES if name not in compare.NEAR and name not in compare.CUT]
KEPT_BITS = 2  # that the tensor cores keep below the last place of the largest term


def test_the_data_say_where_they_come_from() -> None:
    assert FACTS["device"] == "NVIDIA H100 80GB HBM3"
    assert {"driver", "cuda", "nvcc"} <= FACTS.keys()
    assert list(RECORDED) == list(PROBES)
    assert sum(path.stat().st_size for path in DATA.iterdir() if path.suffix in (".npz", ".json")) < 300_000


@pytest.mark.parametrize("architecture", LISTINGS)
@pytest.mark.parametrize("name", EXACT)
def test_emulator_equals_the_hardware(name: str, architecture: int) -> None:
    assert compare.compared(PROBES[name], RECORDED[name], architecture) == compare.Difference(0, 0)


@pytest.mark.parametrize("architecture", LISTINGS)
@pytest.mark.parametrize("name", compare.NEAR)
def test_approximations_are_as_near_as_measured(name: str, architecture: int) -> None:
    assert compare.compared(PROBES[name], RECORDED[name], architecture).wrong == 0


@pytest.mark.parametrize("name", compare.CUT)
def test_tensor_cores_of_sm_90_code_sum_as_the_hardware(name: str) -> None:
    assert compare.compared(PROBES[name], RECORDED[name], 90) == compare.Difference(0, 0)


def telling(architecture: int, name: str) -> bool:
    """Whether a listing has the opcodes that were noted where the probe ran, whose names end at a small letter."""
    ran = {re.match("[A-Z0-9_.]*", one.full_opcode)[0] for one in listing(architecture).functions[name].instructions}
    return set(FACTS["opcodes"][name].split()) <= ran


def test_the_listing_for_sm_90_is_the_code_that_answered() -> None:
    assert all(telling(90, name) for name in PROBES)
    assert not telling(75, "i2f_rn_s32")


@pytest.mark.parametrize("name", ["add_rn", "f2i_rzi_s32", "vote", "rcp_ftz", "sin_ftz", "rsqrt64_ftz"])
def test_a_wrong_outcome_is_found(name: str) -> None:
    planted = RECORDED[name].copy()
    planted[-1, 200] ^= 1 << 30
    assert compare.compared(PROBES[name], planted).wrong == 1


@pytest.mark.parametrize("name", FACTS["exhaustive"])
def test_distances_that_pass_are_those_measured_over_all_operands(name: str) -> None:
    measured = FACTS["exhaustive"][name]
    units, absolute = compare.NEAR.get(name, (0, 0.0))
    if not absolute:
        assert measured["farthest"] == units
    elif units == 0:
        assert measured["largest_absolute"] + 2.0**-24 <= absolute  # and the emulator's own rounding
    assert sum(measured["by_distance"]) + measured["unlike"] == 2**32


def test_every_function_has_its_statistics() -> None:
    assert FACTS["exhaustive"].keys() == {name for name, _ in measure.FUNCTION.findall(measure.EXHAUSTIVE.read_text())}


def exponent(value: Fraction) -> int:
    return math.frexp(float(value))[1] - 1 if value else -10_000


def cut(value: Fraction, place: int) -> Fraction:
    """Towards zero, to a multiple of 2**place."""
    return math.trunc(value / Fraction(2) ** place) * Fraction(2) ** place


def hopper_sum(pairs: list[tuple[float, float]], addend: float, kept: int = KEPT_BITS) -> float:
    """All terms cut off below the last place of the one whose factors' exponents are largest, summed, cut off again."""
    terms = [(Fraction(a) * Fraction(b), exponent(Fraction(a)) + exponent(Fraction(b))) for a, b in pairs]
    terms.append((Fraction(addend), exponent(Fraction(addend))))
    lowest = max(place for _, place in terms) - 23 - kept
    total = sum((cut(term, lowest) for term, _ in terms), Fraction(0))
    return float(cut(total, exponent(total) - 23)) if total else 0.0


def matrices(probe: Probe, warp: int, outcome: np.ndarray) -> tuple[np.ndarray, ...]:
    """A, B, C and D of one warp, by the layouts that the PTX ISA gives for m16n8k8."""
    lanes = slice(32 * warp, 32 * warp + 32)
    words = np.ascontiguousarray(probe.operands(COUNT)[:, lanes])
    halves = words[:3].view(np.float16).reshape(3, 8, 4, 2)  # register, group, member, neighbour
    a, b = halves[:2].reshape(16, 8), halves[2].reshape(8, 8).T
    c, d = (np.ascontiguousarray(part).view(np.float32) for part in (words[4:8], outcome[:, lanes]))
    c, d = (part.reshape(2, 2, 8, 4).transpose(0, 2, 3, 1).reshape(16, 8) for part in (c, d))
    return a, b, c, d


def sums_like_hopper(name: str, kept: int) -> int:
    """How many of 64 recorded sums are those of the model."""
    a, b, c, d = matrices(PROBES[name], 3, RECORDED[name])
    return sum(
        d[row, column]
        == np.float32(
            hopper_sum(list(zip(a[row].tolist(), b[:, column].tolist(), strict=True)), float(c[row, column]), kept)
        )
        for row in range(16)
        for column in range(0, 8, 2)
    )


@pytest.mark.parametrize("name", ["hmma_f32", "hmma_f32_narrow"])
def test_tensor_cores_cut_off_two_bits_below_the_largest_term(name: str) -> None:
    assert sums_like_hopper(name, KEPT_BITS) == 64
    assert sums_like_hopper(name, KEPT_BITS - 1) < 64
    assert sums_like_hopper(name, KEPT_BITS + 1) < 64


@pytest.mark.parametrize("name", ["hmma_f32", "hmma_f32_narrow"])
def test_emulated_sums_are_within_what_is_cut_off(name: str) -> None:
    ours = matrices(PROBES[name], 3, emulated(PROBES[name]))[-1]
    a, b, c, theirs = matrices(PROBES[name], 3, RECORDED[name])
    largest = np.maximum((np.abs(a)[:, :, None] * np.abs(b)[None].astype(np.float64)).max(axis=1), np.abs(c))
    assert (np.abs(ours.astype(np.float64) - theirs) <= largest * 2.0**-20).all()


@pytest.mark.parametrize("name", ["saxpy", "chacha", "collatz", "half2", "warp_reduce"])
def test_kernels_give_bit_for_bit_what_the_table_says(name: str) -> None:
    rows = {key: row for key, row in FACTS["kernels"].items() if key.startswith(f"{name}/launch/")}
    assert rows
    ours, reference = kernels.emulated(name, "launch"), kernels.expected(name, "launch")
    for key, row in rows.items():
        buffer = key.rpartition("/")[2]
        assert row["emulator"]["differ"] == 0
        assert kernels.differences(ours[buffer], reference[buffer]) == row["reference"]


def test_distances_are_in_units_of_the_last_place() -> None:
    one = np.array([1.0, -0.0, -1.0], dtype=np.float32)
    other = np.array([np.nextafter(np.float32(1), np.float32(2)), 0.0, -1.0], dtype=np.float32)
    assert kernels.differences(one, other) == {"differ": 1, "farthest": 1}
