"""Names of schemes, and what a replaced part brings along and takes away."""

from __future__ import annotations

import pytest

from tests.schemes import toy
from warpfile.schemes import PARTS, SCHEMES, Setup, composed, find
from warpfile.spec.config import Config
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("bow", "bow"),
        ("bow+bow", "bow"),
        ("baseline+units+banked", "baseline"),
        ("bow_wr+two_level", "bow_wr+two_level"),
        ("baseline+rfc+two_level", "baseline+two_level+rfc"),
        ("baseline+two_level+rfc", "baseline+two_level+rfc"),
        ("rfc+lrr+banked+malekeh", "rfc+lrr+malekeh+banked"),
        ("bow+two_level+two_level", "bow+two_level"),
    ],
)
def test_one_machine_has_one_name(name: str, canonical: str) -> None:
    assert find(name).name == canonical
    assert find(canonical) == find(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", "SCHEME must be one of baseline, .*, or one with [+]PART, not 'none'"),
        ("two_level", "SCHEME must be one of"),
        ("bow+none", "a part must be one of gto, .*, not 'none' in 'bow[+]none'"),
        ("bow+", "a part must be one of gto, .*, not ''"),
        ("bow+bow_wr", "a part must be one of gto, .*, not 'bow_wr'"),
        ("bow+gto+lrr", "bow: scheduler must be one part, not gto and lrr"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        find(name)


def test_a_scheme_alone_is_its_row() -> None:
    assert all(find(name) is scheme for name, scheme in SCHEMES.items())


@pytest.mark.parametrize("preset", PRESETS)
def test_rows_have_the_configuration_of_their_parts(preset: str) -> None:
    """The caches' settings come with the part, whatever scheme it replaces another part in."""
    assert find("baseline+rfc").configuration(preset) == SCHEMES["rfc"].configuration(preset)
    assert find("rfc+banked").configuration(preset) == SCHEMES["baseline"].configuration(preset)
    assert find("bow_wr+malekeh").configuration(preset) == SCHEMES["malekeh"].configuration(preset)


def test_a_parts_own_settings_come_along_and_those_of_a_replaced_part_go() -> None:
    painted = composed(SCHEMES["bow_wr"], [toy.PAINTED])
    assert getattr(painted.configuration("tiny"), "paint") == 3  # noqa: B009
    cfg = painted.configuration("pascal")
    assert (getattr(cfg, "paint"), getattr(cfg, "window_writes")) == (6, "hints")  # noqa: B009
    units = find("bow_wr+units")
    assert type(units.configuration("pascal")) is Config and not units.settings[""]


def test_the_scheduler_of_a_name_is_that_of_every_preset_and_may_be_changed() -> None:
    scheme = find("bow+two_level")
    assert {scheme.configuration(preset).scheduler for preset in ("pascal", "tiny")} == {"two_level"}
    assert scheme.configuration("tiny", scheduler="lrr").scheduler == "lrr"


def test_what_is_said_of_the_parts_together_is_not_said_of_others() -> None:
    row, other = SCHEMES["bow_wr"], find("bow_wr+two_level")
    assert row.claims and row.reached and SCHEMES["bow"].survivors and SCHEMES["bow"].study
    assert not (other.claims or other.study or other.survivors)
    assert other.regression == (Setup("pascal"), Setup("tiny"))
    assert set(other.must_reach) >= set(row.must_reach)
    assert "class_3" not in find("bow_wr+malekeh").must_reach
    assert (find("bow+two_level").prices, find("malekeh+rfc").prices, find("rfc+banked").prices) == ("bow", "rfc", "")
    assert find("rfc+banked").node_nm == SCHEMES["baseline"].node_nm


def test_accesses_are_those_of_the_parts() -> None:
    assert find("baseline+rfc").accesses == SCHEMES["rfc"].accesses
    assert find("malekeh+two_level").accesses == SCHEMES["malekeh"].accesses
    assert list(SCHEMES["rfc"].accesses)[:3] == ["bank_read", "bank_write", "crossbar"]
    assert SCHEMES["rfc"].accesses["collector_read"] == ("cache_hits", "cache_misses")
    assert SCHEMES["baseline"].accesses["collector_read"] == ("bank_reads",)


def test_parts_have_names_and_slots() -> None:
    for field, value in (("name", "two-level"), ("slot", "cache")):
        with pytest.raises(ValueError, match=f"{field} must be"):
            type(PARTS["gto"])(**{**vars(PARTS["gto"]), field: value})


@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.hits])
def test_hits_are_counters_that_the_scheme_has(name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration(scheme.preset)
    counted = scheme.golden(cfg, ProbeLayout(scheme.probes(cfg))).counters
    assert scheme.hits and {*scheme.hits.hits, *scheme.hits.looked_up} <= set(counted)


def test_hits_of_the_part_nearest_to_the_units_count() -> None:
    assert find("bow+packed").hits == SCHEMES["bow"].hits != SCHEMES["corf"].hits
    assert SCHEMES["baseline"].hits is None
    hits = SCHEMES["rfc"].hits
    assert hits and hits.ratio({"cache_hits": 3, "cache_misses": 9}) == 0.25
    assert hits.ratio({"cache_hits": 0, "cache_misses": 0}) is None
