"""The kept prices: every array of every scheme has one, and what checks them is in the file too."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

import warpfile.pages.cacti as cacti
from tests.synth.test_cacti import straight
from warpfile.pages.cacti import PUBLISHED, array_of, arrays_of_schemes, published, show, small_arrays, technologies
from warpfile.schemes import PARTS, SCHEMES, variants
from warpfile.synth.arrays import PRICED, Array, read_array_file, read_array_prices


def test_every_array_of_every_scheme_has_a_price() -> None:
    """What fails here is made good by ``make cacti``."""
    prices = read_array_prices()
    assert [str(array) for array in arrays_of_schemes() if array not in prices.arrays] == []


def test_every_scheme_and_variant_is_asked_for_its_arrays() -> None:
    named = {user.partition(" ")[0] for users in arrays_of_schemes().values() for user in users}
    assert named == {*SCHEMES, *variants()}
    for scheme in SCHEMES.values():
        cfg = scheme.configuration(scheme.preset)
        assert {Array.of(ram) for ram in cfg.rams.values()} <= set(arrays_of_schemes())


def test_the_rule_agrees_with_cacti_where_it_has_an_answer() -> None:
    """Few rows within two hundredths; few bits within a quarter, which is what the rule is good for."""
    rows = list(small_arrays(read_array_file()))
    assert len(rows) == len(cacti.BOTH_WAYS)
    for name, *ratios, _ in rows:
        bound = 0.02 if str(name).endswith("1R1W") else 0.25
        assert all(abs(ratio - 1) < bound for ratio in ratios[:4] if isinstance(ratio, float)), (
            name
        )  # energies and area


def test_published_energies_stand_beside_ours_with_their_ratio() -> None:
    rows = list(published(read_array_file()))
    # Tab. 3.4 and 2.2 of the dissertation, Tab. 3 of Gebhart.
    assert [row[5] for row in rows] == [185.26, 149.76, 1.83, 8, 11]
    assert all(row[7] == round(row[6] / row[5], 3) for row in rows)  # type: ignore[operator]
    assert len(rows) == len(PUBLISHED)


def test_the_kept_configuration_is_the_one_that_is_asked_for() -> None:
    prices = read_array_prices()
    assert (prices.node_nm, prices.cells, prices.kelvin) == tuple(asdict(cacti.TECHNOLOGY).values())


@pytest.mark.parametrize("text", ["64x32", "64x32x1RW2", "0x32x1RW", "x32x1RW", "-1x32x1RW", "64x3.2x1RW"])
def test_what_is_no_array_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        array_of(text)


def test_an_array_is_read_as_it_is_written() -> None:
    assert array_of(str(Array(8, 1024, "1R1W"))) == Array(8, 1024, "1R1W")


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tool that answers at once, and an array that only the command line asks for."""
    monkeypatch.setattr(cacti, "runner", lambda folder, technology: straight)
    monkeypatch.setattr(cacti, "volts", lambda folder, technology: 0.5)
    monkeypatch.setattr(cacti, "fo4_ns", lambda folder, technology: 0.01)
    monkeypatch.setattr(cacti, "BOTH_WAYS", (Array(64, 32, "1RW"),))
    path = tmp_path / "prices.toml"
    path.write_text(cacti.priced(tmp_path, "a tool", [Array(5, 9, "1RW")]))
    found = read_array_prices(path)
    assert (found.source, found.volts, found.fo4_ns) == ("a tool", 0.5, 0.01)
    assert set(found.arrays) == {*arrays_of_schemes(), Array(5, 9, "1RW")}
    table = read_array_file(path)
    assert list(small_arrays(table)) == [("64x32x1RW", 1, 1, 1, 1, 1, 1, "64x32x1RW")]
    assert [row[:2] for row in technologies(table, found.price(cacti.BANK))] == [
        ("itrs-hp", 300),
        ("itrs-lop", 300),
        ("itrs-lstp", 360),
    ]
    # At 0.5 V and 22 nm as at the node: the same price is less than scaled by the node alone.
    assert [row[1:] for row in cacti.nodes(table, found)] == [
        (node, 0.5, *[round(22 / node, 3)] * 2) for node, _ in cacti.OTHER_NODES
    ]


def test_prices_scale_to_other_nodes_within_a_factor_of_two() -> None:
    rows = list(cacti.nodes(read_array_file(PRICED), read_array_prices(PRICED)))
    assert len(rows) == len(cacti.OTHER_NODES) and all(0.5 < ratio < 2 for row in rows for ratio in row[3:])


def test_a_scheme_with_another_array_lacks_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the first test: a part with unpriced banks."""
    kept = read_array_prices()
    (bank,) = {Array.of(ram) for ram in SCHEMES["bow"].configuration("pascal").rams.values()}
    fewer = {array: price for array, price in kept.arrays.items() if array != bank}
    assert [array for array in arrays_of_schemes() if array not in fewer] == [bank]
    assert PARTS["banked"].rams


def test_the_prices_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    show(PRICED)
    shown = capsys.readouterr().out
    assert "64x1024x1RW" in shown and "of the published" in shown and "185.3" in shown
