"""What ``warpfile energy`` reports; prices are tested with ``synth``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from warpfile.schemes import SCHEMES
from warpfile.synth.arrays import Array, read_array_prices

KERNEL = "warp_reduce"


@pytest.fixture
def facts(invoke: Invoke, folder: Path) -> Any:
    """Run a command that must succeed and return what its JSON says of the schemes."""

    def run(*arguments: object) -> Any:
        result = invoke(*arguments, "--json", "facts.json")
        assert result.exit_code == 0, result.stderr
        return json.loads((folder / "facts.json").read_text())["schemes"]

    return run


def test_energy_is_counters_times_prices(facts: Any) -> None:
    counters = facts("run", "bow", KERNEL)["bow"]["counters"]
    plain = facts("run", "baseline", KERNEL, "--preset", "pascal")["baseline"]["counters"]
    found = facts("energy", "bow", KERNEL)["bow"]
    banks, base = (185.26 * (run["bank_reads"] + run["bank_writes"]) for run in (counters, plain))
    windows = 2.72 * (counters["window_reads"] + counters["window_writes"])
    assert windows > 0
    assert found["picojoules"] == pytest.approx(banks + windows)
    assert found["baseline_picojoules"] == pytest.approx(base)
    assert found["over_baseline"] == pytest.approx((banks + windows) / base)
    assert found["prices"]["name"] == "bow" and found["prices"]["node_nm"] == 28
    assert sum(access["share"] for access in found["accesses"].values()) == pytest.approx(1.0)


def test_every_scheme_looks_up_what_the_baseline_reads_and_writes(facts: Any) -> None:
    """The counters that the scheme table names cover all operands and all results, wherever they come from."""
    for name in ("bow", "bow_wr", "malekeh", "rfc"):
        plain = facts("run", "baseline", KERNEL, "--preset", SCHEMES[name].preset)["baseline"]["counters"]
        unpriced = facts("energy", name, KERNEL)[name]["unpriced"]
        (looked_up,) = (count for kind, count in unpriced.items() if kind.endswith("_tag"))
        assert looked_up == plain["bank_reads"] + plain["bank_writes"]


def test_the_baseline_is_the_unit(invoke: Invoke, facts: Any) -> None:
    found = facts("energy", "baseline", KERNEL)["baseline"]
    assert found["over_baseline"] == 1.0
    assert found["picojoules"] == found["baseline_picojoules"] > 0
    assert set(found["unpriced"]) == {"crossbar", "collector_write", "collector_read"}


def test_the_prices_asked_for_are_taken_and_named(invoke: Invoke, facts: Any) -> None:
    own, other = (facts("energy", "malekeh", KERNEL, *more)["malekeh"] for more in ((), ("--prices", "bow")))
    assert (own["prices"]["name"], other["prices"]["name"]) == ("pilot", "bow")
    # Both sets have one price for all accesses of banks.
    assert own["over_baseline"] == pytest.approx(other["over_baseline"])
    assert other["picojoules"] / own["picojoules"] == pytest.approx(185.26 / 14.9)
    shown = invoke("energy", "malekeh", KERNEL).stdout
    assert "nearest to 12 nm, as malekeh has no prices of its own" in shown
    assert "because they have no published energy: crossbar" in shown and "unit tag" in shown


def test_rows_of_one_table_have_one_set_of_prices(invoke: Invoke, facts: Any) -> None:
    found = facts("energy", "bow", "rfc", KERNEL)
    assert {one["prices"]["name"] for one in found.values()} == {"pilot"}
    # All that is priced of either is its banks.
    assert all(set(one["accesses"]) <= {"bank_read", "bank_write"} for one in found.values())
    assert found["rfc"]["covered"] < found["bow"]["covered"] < 1
    shown = invoke("energy", "bow", "rfc", KERNEL).stdout
    assert "one set for all rows, that of the baseline" in shown
    assert "that pilot has a price for: bank read, bank write." in " ".join(shown.split())
    assert facts("energy", "bow", "rfc", KERNEL, "--prices", "rfc")["bow"]["prices"]["name"] == "rfc"


def test_a_size_without_a_price_is_listed(facts: Any) -> None:
    priced, not_priced = (facts("energy", "rfc", KERNEL, "--set", f"cache_entries={count}")["rfc"] for count in (6, 5))
    assert "cache_read" in priced["accesses"] and "cache_read" not in priced["unpriced"]
    assert not_priced["unpriced"]["cache_read"] > 0 and "cache_read" not in not_priced["accesses"]


def test_fewer_lanes_cost_less_in_proportion(facts: Any, kernel: Path) -> None:
    wide, narrow = (facts("energy", "rfc", kernel, "--set", f"lanes={count}")["rfc"] for count in (32, 4))
    assert wide["picojoules"] == pytest.approx(8 * narrow["picojoules"])
    assert wide["over_baseline"] == pytest.approx(narrow["over_baseline"])


def test_accesses_are_those_of_the_scheme_table(facts: Any, kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert facts("energy", "bow", kernel)["bow"]["picojoules"] > 0
    for name in ("bow", "baseline"):
        scheme = SCHEMES[name]
        bare = {slot: replace(getattr(scheme, slot), accesses={}) for slot in ("collectors", "rf")}
        monkeypatch.setitem(SCHEMES, name, replace(scheme, **bare))
    found = facts("energy", "bow", kernel)["bow"]
    assert (found["picojoules"], found["over_baseline"], found["unpriced"]) == (0, None, {})


def test_unknown_prices_are_refused(invoke: Invoke, folder: Path, kernel: Path) -> None:
    result = invoke("energy", "bow", kernel, "--prices", "free", "--json", "facts.json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--prices must be one of bow, corf, pilot, rfc, cacti, not 'free'" in result.stderr
    assert not (folder / "facts.json").exists()


# Memories at one set of prices.


def test_memories_cost_accesses_and_leakage(facts: Any) -> None:
    run = facts("run", "bow", KERNEL)["bow"]
    found = facts("energy", "bow", KERNEL, "--prices", "cacti")["bow"]
    price = read_array_prices().price(Array(64, 128, "1RW"))
    counters = run["counters"]
    accesses = 8 * (
        counters["bank_reads"] * price.read_pj + counters["bank_writes"] * price.write_pj
    )  # slices of a row
    leakage = 8 * 8 * price.leakage_mw * run["cycles"]  # those of the preset's banks, at 1 GHz
    assert found["dynamic_picojoules"] == pytest.approx(accesses)
    assert found["leakage_picojoules"] == pytest.approx(leakage)
    assert found["picojoules"] == pytest.approx(accesses + leakage)
    assert found["area_mm2"] == pytest.approx(8 * 8 * price.area_mm2)
    plain = facts("run", "baseline", KERNEL, "--preset", "pascal")["baseline"]
    assert found["baseline"]["cycles"] == plain["cycles"]
    assert found["over_baseline"] == pytest.approx(found["picojoules"] / found["baseline"]["picojoules"])
    assert found["unpriced"]["window_read"] == counters["window_reads"]


def test_a_faster_clock_leaks_less(facts: Any) -> None:
    slow, fast = (
        facts("energy", "bow", KERNEL, "--prices", "cacti", *more)["bow"] for more in ((), ("--gigahertz", 2))
    )
    assert fast["leakage_picojoules"] == pytest.approx(slow["leakage_picojoules"] / 2)
    assert fast["dynamic_picojoules"] == slow["dynamic_picojoules"]


def test_memories_of_all_rows_have_one_set_of_prices(invoke: Invoke) -> None:
    result = invoke("energy", "bow", "rfc", KERNEL, "--prices", "cacti", "--gigahertz", 12)
    shown = " ".join(result.stdout.split())
    assert "22 nm, 0.8 V, 360 K, itrs-hp; leakage at 12 GHz" in shown
    assert "Flip-flops and wires of rfc are not in it; they are asked for: crossbar" in shown
    assert "register_bank_ram needs" in shown and "more than a cycle" in shown


def test_an_array_without_a_price_is_refused_with_the_command(invoke: Invoke) -> None:
    result = invoke("energy", "bow", KERNEL, "--prices", "cacti", "--set", "rows=512")
    assert result.exit_code == 2
    assert "no price for an array of 512x128x1RW: make cacti ARRAYS=512x128x1RW adds it" in result.stderr


def test_a_clock_without_leakage_is_refused(invoke: Invoke) -> None:
    result = invoke("energy", "bow", KERNEL, "--gigahertz", 2)
    assert result.exit_code == 2 and "--gigahertz needs --prices cacti" in result.stderr
