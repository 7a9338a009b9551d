"""Presets: complete sources, generated page, and values that the schemes rely on."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from warpfile.spec.config import Config
from warpfile.spec.presets import CHOICES, LATENCIES, PRESETS, Preset, changed_fields

MEASURED = Path(__file__).parents[1] / "warpfile" / "hardware" / "h100.json"
FOLDER = Path(__file__).parents[2] / "spec" / "presets"
#: Registers of the widest bundled kernel (R0 to R61).
WIDEST_KERNEL = 62

every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())


def test_every_file_of_the_folder_is_a_preset() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(PRESETS)


@every_preset
def test_values_stand_in_the_order_of_the_fields(preset: Preset) -> None:
    fields = [spec.name for spec in dataclasses.fields(Config)]
    assert list(preset.sources) == sorted(preset.sources, key=fields.index)


@every_preset
def test_every_chosen_value_has_a_source(preset: Preset) -> None:
    for name in {*changed_fields(preset.config), *CHOICES, *LATENCIES}:
        assert preset.sources[name].strip()


@every_preset
def test_latencies_are_never_the_smallest_possible(preset: Preset) -> None:
    config = preset.config
    for name in ("alu_latency", "sfu_latency", "shared_latency", "hit_latency", "miss_latency", "uniform_latency"):
        assert getattr(config, name) > 1, name


@every_preset
def test_widest_bundled_kernel_fits_with_four_warps(preset: Preset) -> None:
    assert preset.config.register_names >= WIDEST_KERNEL
    assert preset.config.resident_warps(WIDEST_KERNEL) >= 4


@every_preset
def test_name_is_the_key(preset: Preset) -> None:
    assert PRESETS[preset.name] is preset


@pytest.mark.parametrize(
    ("name", "kilobytes"),
    [
        ("turing", 256),
        ("pascal", 256),
        ("isca2011", 128),
        ("fermi", 128),
        ("fermi_linear", 128),
        ("kepler", 256),
        ("maxwell", 256),
        ("pascal_larf", 128),
    ],
)
def test_register_file_of_the_papers_sm(name: str, kilobytes: int) -> None:
    preset = PRESETS[name]
    config = preset.config
    assert config.domains * config.banks * config.rows * config.data_bits == kilobytes * 8192


def _values(preset: str, *names: str) -> tuple[object, ...]:
    return tuple(getattr(PRESETS[preset].config, name) for name in names)


@pytest.mark.parametrize(
    ("preset", "banks", "units"), [("fermi", 4, 4), ("fermi_linear", 16, 16)], ids=["CORF, 2.2", "RegMutex, 4.4"]
)
def test_a_domain_of_fermi_has_half_of_an_sm_with_two_schedulers(preset: str, banks: int, units: int) -> None:
    """48 warps, L1 of 128 lines; 16 load-store units, 8 SFU operations and 32 bytes of memory per cycle."""
    domains, warps, half_banks, half_units, lines = _values(
        preset, "domains", "warps", "banks", "collectors", "cache_lines"
    )
    assert (domains, warps, half_banks, half_units, lines) == (2, 48 // 2, banks // 2, units // 2, 128 // 2)
    assert _values(preset, "lsu_interval", "sfu_interval", "sector_interval") == (2 * 2, 2 * 4, 2 * 4)


def test_fermi_has_the_two_level_scheduler_of_corf_and_fermi_linear_the_shipped_one() -> None:
    """GPGPU-Sim's file of the GTX 480 ships gto, and has two_level_active:6:0:1 (6 warps, round robin) as a comment."""
    assert _values("fermi", "scheduler", "active_warps", "active_choice") == ("two_level", 6, "round_robin")
    assert _values("fermi_linear", "scheduler", "collect") == ("gto", "all")


@pytest.mark.parametrize(
    ("name", "banks", "entries", "merges"),
    [
        ("turing", 4, 256, 32),
        ("turing_rfc", 4, 256, 32),
        ("ampere", 4, 384, 48),
        ("ada", 4, 384, 48),
        ("hopper", 4, 512, 64),
        ("blackwell", 4, 384, 48),
        ("pascal", 2, 256, 8),
        ("maxwell", 2, 256, 8),
        ("pascal_larf", 2, 256, 8),
        ("kepler", 1, 256, 8),
        ("fermi", 1, 64, 8),
        ("fermi_linear", 1, 64, 8),
        ("isca2011", 1, 0, 0),
    ],
)
def test_misses_under_way_of_the_papers_sm(name: str, banks: int, entries: int, merges: int) -> None:
    """``-gpgpu_l1_banks banks`` and ``-gpgpu_cache:dl1 ...,A:entries:merges`` in the file of each GPU."""
    config = PRESETS[name].config
    assert (config.domains * config.mshrs, config.domains * config.mshr_merges) == (entries, merges)
    assert config.l1_banks == banks


@pytest.mark.parametrize(
    ("name", "warps", "ctas", "kilobytes", "first_level"),
    [
        ("ampere", 48, 16, 100, 128),
        ("ada", 48, 24, 100, 128),
        ("hopper", 64, 32, 228, 256),
        ("blackwell", 48, 24, 100, 128),
    ],
)
def test_an_sm_is_that_of_its_compute_capability(
    name: str, warps: int, ctas: int, kilobytes: int, first_level: int
) -> None:
    """CUDA C++ programming guide, technical specifications per compute capability: 8.6, 8.9, 9.0 and 12.0."""
    config = PRESETS[name].config
    assert (config.domains * config.warps, config.ctas, config.shared_bytes) == (warps, ctas, kilobytes * 1024)
    assert config.domains * config.cache_lines * 128 == (first_level - kilobytes) * 1024
    assert config.domains * config.banks * config.rows * config.data_bits == 256 * 8192


def test_hopper_has_the_latencies_that_were_measured() -> None:
    """``modern`` adds the way to dispatch: 8 cycles of variable latency, as Huerta et al.'s Tab. 2 at ``ampere``."""
    chains = json.loads(MEASURED.read_text())["latencies"]["chains"]
    names = {"sfu": "mufu_rsq", "tensor": "hmma", "shared": "lds", "hit": "ldg_near"}
    assert _values("hopper", *(f"{name}_latency" for name in names)) == tuple(chains[one] - 8 for one in names.values())
    assert _values("hopper", "alu_latency", "fma_latency") == (chains["lop3"] - 1, chains["ffma"] - 1)


def test_missing_source_is_refused() -> None:
    sources = dict.fromkeys((*CHOICES, *LATENCIES), "somewhere")
    with pytest.raises(ValueError, match="every chosen value must have a source, missing for lanes"):
        Preset("bad", "", Config(lanes=8), sources)


def test_source_of_an_unknown_field_is_refused() -> None:
    sources = dict.fromkeys((*CHOICES, *LATENCIES, "colour"), "somewhere")
    with pytest.raises(ValueError, match="must name configuration fields, not colour"):
        Preset("bad", "", Config(), sources)


def test_preset_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["tiny"].name = "huge"  # type: ignore[misc]
