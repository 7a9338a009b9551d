"""Published energies, and what counters cost at them. Expected values are computed by hand from the papers' numbers."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import pytest

from warpfile.schemes import PARTS, SCHEMES
from warpfile.spec.probe import ProbeLayout
from warpfile.synth.energy import PUBLISHED, Energy, all_prices, default_prices, energy, one_for_all, read_prices

SETS = read_prices()

#: Gebhart 2011, Tab. 2: read/write pJ per 128 bits; a row per number of entries, columns 4, 6 and 8 active warps.
TABLE_2 = {4: "1.2/3.8 1.2/4.4 1.9/6.1", 6: "1.2/4.4 1.7/5.4 2.2/6.7", 8: "1.9/6.1 2.2/6.7 3.4/10.9"}

#: The reference design derives it from the paper's bound of 58 %: 1.8 reads per result.
READS, RESULTS = 1800, 1000


def cost(name: str, prices: str, wires: dict[str, float] | None = None, /, lanes: int = 32, **counters: int) -> Energy:
    """Energy of a scheme that counted this and nothing else."""
    scheme = SCHEMES[name]
    cfg = scheme.configuration(scheme.preset, lanes=lanes)
    return energy(scheme, cfg, Counter(counters), SETS[prices], wires)


def ratio(ours: Energy, wires: dict[str, float] | None = None) -> float:
    """Over a baseline that reads and writes its banks for everything, at the prices of the register file cache."""
    found = ours.over(cost("baseline", "rfc", wires, bank_reads=READS, bank_writes=RESULTS))
    assert found is not None
    return found


def test_a_cache_that_serves_everything_saves_what_the_paper_says() -> None:
    assert ratio(cost("rfc", "rfc", cache_hits=READS, cache_writes=RESULTS)) == pytest.approx(1 - 0.58, abs=0.0005)


def test_the_share_of_bypassed_results_decides_about_the_energy() -> None:
    """Half of the reads and 59 % of the writes avoided: 0.84, or 0.75 if a quarter of the results bypasses it."""
    half = {"cache_hits": 900, "cache_misses": 900, "bank_reads": 900, "bank_writes": 410}
    every = ratio(cost("rfc", "rfc", **half, evictions=410, cache_writes=1000))
    fewer = ratio(cost("rfc", "rfc", **half, evictions=160, long_results=250, cache_writes=750))
    assert (every, fewer) == (pytest.approx(0.84, abs=0.005), pytest.approx(0.75, abs=0.005))


def test_wires_cost_by_their_length() -> None:
    wires = {"bank": 1.0, "cache": 0.2}
    ours = cost("rfc", "rfc", wires, cache_hits=10, cache_writes=5, bank_reads=3)
    # 32 words of 32 bits at 1.9 pJ per mm; eight accesses of 128 bits.
    per_mm = 32 * 1.9
    expected = 10 * (8 * 2.2 + 0.2 * per_mm) + 5 * (8 * 6.7 + 0.2 * per_mm) + 3 * (8 * 8 + per_mm)
    assert ours.picojoules == pytest.approx(expected)
    assert ours.picojoules > cost("rfc", "rfc", cache_hits=10, cache_writes=5, bank_reads=3).picojoules


def test_a_length_needs_a_price_of_wires() -> None:
    with pytest.raises(ValueError, match="wires must have a price, which bow has not"):
        cost("bow", "bow", {"bank": 1.0}, bank_reads=1)


@pytest.mark.parametrize("entries", TABLE_2)
def test_the_cache_has_the_published_prices(entries: int) -> None:
    for active, pair in zip((4, 6, 8), TABLE_2[entries].split(), strict=True):
        cfg = SCHEMES["rfc"].configuration("isca2011", active_warps=active, cache_entries=entries)
        for kind, price in zip(("cache_read", "cache_write"), pair.split("/"), strict=True):
            found = SETS["rfc"].price(kind, cfg)
            assert found is not None and found.picojoules(cfg) == pytest.approx(8 * float(price))


@pytest.mark.parametrize("changes", [{"cache_entries": 5}, {"active_warps": 32}])
def test_an_unpriced_size_has_no_price(changes: dict[str, int]) -> None:
    cfg = SCHEMES["rfc"].configuration("isca2011", **changes)
    assert SETS["rfc"].price("cache_read", cfg) is None
    found = energy(SCHEMES["rfc"], cfg, Counter(cache_hits=7, bank_reads=2), SETS["rfc"])
    assert found.picojoules == 2 * 8 * 8
    assert found.unpriced["cache_read"] == 7


def test_a_window_costs_the_published_share_of_a_bank() -> None:
    window, bank = cost("bow", "bow", window_reads=1), cost("bow", "bow", bank_reads=1)
    assert 0.014 <= window.picojoules / bank.picojoules < 0.015  # Tab. 3.4: 1.4 %
    assert cost("bow", "bow", bank_writes=3, window_writes=2).picojoules == pytest.approx(3 * 185.26 + 2 * 2.72)


def test_energy_goes_with_the_lanes() -> None:
    wide, narrow = (cost("bow", "bow", lanes=lanes, bank_reads=6, window_reads=5) for lanes in (32, 4))
    assert wide.picojoules == pytest.approx(8 * narrow.picojoules)


def test_a_look_up_costs_the_same_for_any_number_of_lanes() -> None:
    for lanes in (4, 32):
        cfg = SCHEMES["baseline"].configuration("fermi", lanes=lanes)
        found = SETS["corf"].price("renaming", cfg)
        assert found is not None and found.picojoules(cfg) == 1.83


def test_unpriced_accesses_are_listed_and_not_counted() -> None:
    found = cost("malekeh", "pilot", bank_reads=4, bank_writes=1, sources=9, cached_results=2)
    assert found.picojoules == pytest.approx(5 * 14.9)
    assert found.unpriced == {"crossbar": 5, "unit_write": 6, "unit_read": 9, "unit_tag": 10}
    assert [one.kind for one in found.priced] == ["bank_read", "bank_write"]


@pytest.mark.parametrize("prices", SETS)
def test_the_baseline_is_the_unit(prices: str) -> None:
    one = cost("baseline", prices, bank_reads=3, bank_writes=2)
    assert one.over(one) == 1.0
    assert cost("baseline", prices, bank_reads=6, bank_writes=4).over(one) == 2.0
    assert one.over(cost("baseline", prices)) is None
    assert sum(map(one.share, one.accesses)) == pytest.approx(1.0)


def test_runs_at_different_prices_are_not_compared() -> None:
    with pytest.raises(ValueError, match="must be the same, not rfc and bow"):
        cost("rfc", "rfc", bank_reads=1).over(cost("baseline", "bow", bank_reads=1))


def test_a_scheme_has_its_papers_prices_or_those_of_the_nearest_node() -> None:
    chosen = {name: default_prices(scheme, SETS).name for name, scheme in SCHEMES.items()}
    # 12 and 16 nm: 5 and 9 from the 7 nm of pilot, 16 and 12 from the 28 nm of bow.
    assert chosen == {
        "baseline": "pilot",
        "bow": "bow",
        "bow_wr": "bow",
        "malekeh": "pilot",
        "pilot": "pilot",
        "regmutex": "corf",
        "regmutex_paired": "corf",
        "ltrf": "bow",
        "ltrf_plus": "bow",
        "corf": "corf",
        "corf_plus": "corf",
        "modern": "pilot",
        "larf": "pilot",
        "rfc": "rfc",
        "shrf": "rfc",
        "owf": "corf",
        "scalar": "pilot",
        "sticky": "pilot",
    }
    assert all(bool(scheme.prices) != bool(scheme.node_nm) for scheme in SCHEMES.values())


def test_several_schemes_are_priced_with_one_set() -> None:
    def taken(*names: str) -> str:
        return one_for_all([SCHEMES[name] for name in names], SCHEMES["baseline"], SETS).name

    assert [taken(name) for name in SCHEMES] == [default_prices(scheme, SETS).name for scheme in SCHEMES.values()]
    assert taken("bow", "bow_wr") == "bow"
    # The baseline's, so that neither is priced by its own paper.
    assert taken("bow", "rfc") == taken(*SCHEMES) == "pilot"


def test_a_kind_means_the_same_in_every_set() -> None:
    meanings: dict[str, set[str]] = {}
    for path in PUBLISHED.glob("*.toml"):
        for kind, text in tomllib.loads(path.read_text())["kinds"].items():
            meanings.setdefault(kind, set()).add(text)
    assert meanings and all(len(texts) == 1 for texts in meanings.values())


@pytest.mark.parametrize("name", SCHEMES)
def test_accesses_are_sums_of_counters_that_the_scheme_has(name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration(scheme.preset)
    counted = scheme.golden(cfg, ProbeLayout(scheme.probes(cfg))).counters
    assert {"bank_read", "bank_write"} <= set(scheme.accesses)
    assert {counter for names in scheme.accesses.values() for counter in names} <= set(counted)


def test_prices_hold_for_fields_that_some_scheme_has() -> None:
    known = {spec.name for scheme in SCHEMES.values() for spec in fields(scheme.parameters)}
    assert {name for one in SETS.values() for price in one.prices for name in price.where} <= known


BANKS = '{ kind = "bank_read", pj = 1, place = "T" }, { kind = "bank_write", pj = 1, place = "T" }'
GOOD = f"""source = "S"
node_nm = 28
volts = 1
remark = "R"
prices = [{BANKS}]
[kinds]
bank_read = "r"
bank_write = "w"
"""


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("[kinds]", "[kinds", "Expected ']'"),
        ("[kinds]", "[kind]", "fields must be source, node_nm, volts, remark, prices, kinds, not kind"),
        ('source = "S"', "", "source must be text, not None"),
        ('source = "S"', 'source = " "', "source must be text, not ' '"),
        ("node_nm = 28", 'node_nm = "28 nm"', "node_nm must be a whole number above 0, not '28 nm'"),
        ("volts = 1", "volts = true", "volts must be a number above 0, not True"),
        ("volts = 1", "volts = 1\nleakage = 2", "fields must be source,"),
        (BANKS, "", "prices must be a list with entries, not []"),
        (BANKS, BANKS.partition(", {")[0], "bank_write must have a price that always holds"),
        ("pj = 1, place", "pj = -1, place", "price 1: pj must be a number above 0, not -1"),
        ("pj = 1, place", "pj = nan, place", "price 1: pj must be a number above 0, not nan"),
        ("pj = 1, place", "place", "price 1: pj must be a number above 0, not None"),
        ("pj = 1, place", "pj = 1, bits = 0, place", "price 1: bits must be a whole number above 0, not 0"),
        ("pj = 1, place", "pj = 1, when = {}, place", "price 1: fields must be kind,"),
        ('"bank_write", pj', '"bank_wrote", pj', "price 2: kind must be one of bank_read, bank_write, not bank_wrote"),
        ('"bank_write", pj', '"bank_read", pj', "price 2: bank_read must have one price, not two"),
        (BANKS, "1, 2", "price 1: must be a table, not 1"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = tmp_path / "one.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError) as error:
        read_prices(tmp_path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and what in message and "\n" not in message


def test_the_good_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(GOOD)
    (found,) = read_prices(tmp_path).values()
    assert (found.name, found.source, found.node_nm, len(found.prices)) == ("one", "S", 28, 2)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "none.toml").mkdir()
    with pytest.raises(ValueError, match=r"none\.toml"):
        read_prices(tmp_path)


def test_every_price_says_where_it_stands() -> None:
    places = {price.place for one in SETS.values() for price in one.prices}
    assert places and all(place.startswith("Tab. ") for place in places)


def test_a_set_whose_name_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a part of another package brings; tests/schemes/test_foreign.py has one that is sound."""
    second = replace(PARTS["banked"], prices="warpfile.synth:prices/bow.toml")
    monkeypatch.setattr("warpfile.synth.energy.PARTS", {"second": second})
    with pytest.raises(ValueError, match=r"^warpfile\.synth:prices/bow\.toml: the name of a price set must be its own"):
        all_prices()


def test_what_a_package_brings_prices_no_other_scheme_unasked() -> None:
    nearer = replace(SETS["bow"], name="nearer", node_nm=SCHEMES["baseline"].node_nm, brought=True)
    sets = {"nearer": nearer, **SETS}
    assert default_prices(SCHEMES["baseline"], sets).name == "pilot"
    own = replace(SCHEMES["baseline"], rf=replace(PARTS["banked"], prices="package:folder/nearer.toml"))
    assert default_prices(own, sets) == nearer
