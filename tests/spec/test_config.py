"""Every field of a configuration says its rule and keeps it."""

from __future__ import annotations

import dataclasses

import pytest

from warpfile.schemes import find
from warpfile.spec.config import Config, index_bits, joined, number_field, parse_field

FIELDS = {f.name: f for f in dataclasses.fields(Config)}
NUMBERS = [name for name, f in FIELDS.items() if "low" in f.metadata]
POWERS = [name for name, f in FIELDS.items() if f.metadata.get("power")]
CHOICES = [name for name, f in FIELDS.items() if "choices" in f.metadata]
#: What a field needs of others for its highest value.
ROOM = {"domain": {"domains": 8}}
NAMES = [name for name, f in FIELDS.items() if "name" in f.metadata]


def test_every_field_has_a_rule_and_a_description() -> None:
    assert set(NUMBERS) | set(CHOICES) | set(NAMES) == set(FIELDS)
    assert all(f.metadata["doc"] for f in FIELDS.values())


@pytest.mark.parametrize("name", NAMES)
def test_names_of_parts_are_identifiers(name: str) -> None:
    for value in ("two words", "", 3):
        with pytest.raises(ValueError, match=f"{name} must be a name, not {value}"):
            Config(**{name: value})


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_keep_their_bounds(name: str) -> None:
    low, high = FIELDS[name].metadata["low"], FIELDS[name].metadata["high"]
    for value in (low - 1, high + 1, True, "2", 2.0):
        with pytest.raises(ValueError, match=f"{name} must be a number from {low} to {high}, not {value}"):
            Config(**{name: value})
    assert getattr(Config(**{name: high} | ROOM.get(name, {})), name) == high


@pytest.mark.parametrize("name", POWERS)
def test_powers_of_two_are_powers_of_two(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a power of two, not"):
        Config(**{name: FIELDS[name].metadata["high"] - 1})


@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_from_their_list(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be one of .*, not banana"):
        Config(**{name: "banana"})
    for value in FIELDS[name].metadata["choices"]:
        assert getattr(Config(**{name: value}), name) == value


def test_main_banks_that_overlap_have_a_field_of_their_own() -> None:
    with pytest.raises(ValueError, match="bank_occupancy must be length, not one: main_pipelined says"):
        find("ltrf").configuration("tiny", bank_occupancy="one")


def test_a_domain_is_one_of_its_sm() -> None:
    assert [Config(domains=3, domain=domain).domain for domain in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="domain must be below the number of domains, 3, not 3"):
        Config(domains=3, domain=3)


def test_the_cache_has_whole_sets() -> None:
    with pytest.raises(ValueError, match="cache_lines must be a multiple of cache_ways, 4, not 6"):
        Config(cache_lines=6)


def test_a_configuration_survives_json() -> None:
    cfg = Config(warps=5, scheduler="lrr")
    assert Config(**cfg.to_json()) == cfg


def test_replace_checks_again() -> None:
    with pytest.raises(ValueError, match="banks must be a number from 1 to 128, not 129"):
        Config().replace(banks=129)


def test_warps_are_limited_by_slots_and_by_places() -> None:
    cfg = Config(warps=8, banks=2, rows=64, bank_skew="none")
    assert cfg.place_bits == 7
    assert cfg.places_per_warp(17) == 17
    assert cfg.resident_warps(17) == 7
    assert cfg.resident_warps(19) == 6
    assert cfg.resident_warps(4) == 8
    assert cfg.places_per_warp(0) == 1


def test_a_skew_by_warp_takes_whole_rows() -> None:
    cfg = Config(warps=16, banks=4, rows=16)
    assert [cfg.replace(bank_skew=skew).places_per_warp(5) for skew in ("none", "row", "warp")] == [5, 5, 8]
    assert [cfg.replace(bank_skew=skew).resident_warps(5) for skew in ("none", "row", "warp")] == [12, 12, 8]
    assert [cfg.places_per_warp(n) for n in (0, 1, 4, 8, 9)] == [4, 4, 4, 8, 12]


@pytest.mark.parametrize("banks", [3, 6, 24])
def test_any_number_of_banks_has_its_rows_filled(banks: int) -> None:
    cfg = Config(warps=64, banks=banks, rows=16, bank_skew="none")
    assert cfg.resident_warps(8) == min(64, banks * 2)
    assert cfg.replace(bank_skew="warp").places_per_warp(banks + 1) == 2 * banks


@pytest.mark.parametrize("name", ["baseline", "bow", "bow_wr", "malekeh", "rfc", "pilot", "ltrf", "ltrf_plus"])
def test_schemes_with_places_take_any_number_of_banks(name: str) -> None:
    preset = find(name).preset
    assert [find(name).configuration(preset, banks=banks).banks for banks in (3, 6, 24)] == [3, 6, 24]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, "memory and row of the renaming table") for name in ("corf", "corf_plus", "larf", "virtualization")),
        *((name, "without a section") for name in ("regmutex", "regmutex_paired")),
    ],
)
def test_schemes_that_split_names_by_bits_say_which_numbers_of_banks_are_right(name: str, why: str) -> None:
    for banks, said in ((3, "2 or 4, not 3"), (24, "16 or 32, not 24"), (127, "64 or 128, not 127")):
        with pytest.raises(ValueError, match=f"banks must be a power of two, {said}: {why}"):
            find(name).configuration("tiny", banks=banks)


def test_registers_are_allocated_in_units() -> None:
    """The skew by warp then takes whole rows."""
    cfg = Config(banks=4, rows=64, warps=32, bank_skew="none", register_unit=8)
    assert [cfg.allocated(n) for n in (1, 8, 9, 33)] == [8, 8, 16, 40]
    assert [cfg.places_per_warp(n) for n in (1, 8, 9, 33)] == [8, 8, 16, 40]
    assert [cfg.resident_warps(n) for n in (8, 9, 33)] == [32, 16, 6]
    assert cfg.replace(register_unit=2, bank_skew="warp").places_per_warp(5) == 8


@pytest.mark.parametrize("registers", [21, 24, 33])
def test_a_scheme_with_a_pool_allocates_as_the_baseline_does_where_nothing_is_shared(registers: int) -> None:
    cfg = find("regmutex").configuration("fermi_linear")
    assert cfg.register_unit == 4
    assert cfg.places_per_warp(registers) == cfg.common().places_per_warp(registers)


def test_an_index_has_at_least_one_bit() -> None:
    assert [index_bits(n) for n in (1, 2, 3, 4, 5, 256)] == [1, 1, 2, 2, 3, 8]


def test_fields_are_parsed_from_text() -> None:
    assert parse_field("banks", "0x8", Config) == 8
    assert parse_field("scheduler", "lrr", Config) == "lrr"
    with pytest.raises(ValueError, match="banks must be a whole number, not 'many'"):
        parse_field("banks", "many", Config)
    with pytest.raises(ValueError, match="lanes must be a power of two, not 3"):
        parse_field("lanes", "3", Config)
    with pytest.raises(ValueError, match="'bank' is no configuration field; did you mean 'banks'"):
        parse_field("bank", "3", Config)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Left(Config):
    depth: int = number_field(0, 9, "a number", 1)

    @property
    def depth_bits(self) -> int:
        return 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Right(Config):
    height: int = number_field(0, 9, "a number", 2)

    @property
    def depth_bits(self) -> int:
        return 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Deep(Config):
    depth: int = number_field(0, 9, "a number", 3)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LeftAgain(Left):
    width: int = number_field(0, 9, "a number", 4)


def test_parts_share_what_one_derives_from_the_other() -> None:
    both = joined((Left, LeftAgain, Config))
    assert (both().depth, both().width, both().depth_bits) == (1, 4, 1)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ((Left, Deep), "field 'depth' belongs to Left and to Deep"),
        ((Left, Right), "property 'depth_bits' belongs to Left and to Right"),
    ],
)
def test_one_name_for_two_things_of_two_parts_is_refused(kinds: tuple[type[Config], ...], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        joined(kinds)
