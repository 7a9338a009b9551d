"""The outputs that README.md shows are made by commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.pages import bench, readme
from warpfile.pages.readme import BLOCKS, PAGE, block_of, shown, steady, with_rows, written
from warpfile.pages.speed import both_forms
from warpfile.results.markdown import table
from warpfile.schemes import SCHEMES, find

OUTPUT = """All schemes on k, by their golden models:
 scheme    points     IPC
 ────────────────────────
 baseline       1  0.4124
 bow            1  0.5000

Growth is over the baseline.
14 points: build/results.csv

a and b as RTL with 32 lanes.

RTL in Verilator and the golden model, compared in every cycle:
                    RTL and
 scheme    kernel    golden  cycles/s  build s
 ─────────────────────────────────────────────
 baseline  k          equal   47,526     14.64

waveform of baseline on k: build/w.vcd

What it costs:
 scheme    cells
 ───────────────
 malekeh  22,688

Yosys, library nand2; memories are counted as bits only.
Critical paths need --liberty.
 over the baseline  logic
 ─────────────────────────
 malekeh            +61.6%

~: so little.
 module of malekeh  instances
 ────────────────────────────
 top                        1

500 s in all
"""
SHOWN = """All schemes on k, by their golden models:
 scheme    points     IPC
 ────────────────────────
 baseline       1  0.4124
 bow            1  0.5000

RTL in Verilator and the golden model, compared in every cycle:
                    RTL and
 scheme    kernel    golden  cycles/s  build s
 ─────────────────────────────────────────────
 baseline  k          equal   47,526     14.64

What it costs:
 scheme    cells
 ───────────────
 malekeh  22,688

 over the baseline  logic
 ─────────────────────────
 malekeh            +61.6%
"""


def test_the_page_shows_parts_of_the_demo() -> None:
    assert shown(OUTPUT) == SHOWN


def test_speeds_and_times_are_no_part_of_what_is_compared() -> None:
    other = SHOWN.replace("47,526     14.64", " 1,234      9.99")
    assert other != SHOWN and steady(other) == steady(SHOWN)
    for old, new in (("0.4124", "0.4125"), ("equal", "DIFFERENT"), ("22,688", "22,689"), ("+61.6%", "+61.7%")):
        assert steady(SHOWN.replace(old, new)) != steady(SHOWN)
    columns = ("matmul_tiled (large)", "cycles", "per second, compiled", "times")
    first, second = (table(columns, [("`bow`", 5, speed, 1.5)]) for speed in (10, 11))
    assert first != second and steady(first) == steady(second)
    assert steady(first) != steady(table(columns, [("`bow`", 6, 10, 1.5)]))


def test_a_block_takes_the_place_of_the_one_before() -> None:
    page = PAGE.read_text()
    for name in BLOCKS:
        other = written(page, name, "new\n")
        assert block_of(other, name) == "new\n"
        assert written(other, name, block_of(page, name)) == page


def test_a_page_without_the_place_is_refused() -> None:
    with pytest.raises(ValueError, match=r"README.md must have the lines '<!-- demo: "):
        written("nothing", "demo", "new")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[bench.Row]]:
    """What the bench is made to measure."""
    found: dict[str, list[bench.Row]] = {
        "emulate": [("saxpy", 7152, 0.1, 71520.0), ("collatz", 1000, 0.5, 2000.0)],
        "generate": [("bow", "pascal", 10, 3.84), ("larf", "pascal_larf", 10, 7.0)],
        "lockstep": [("bow", "pascal", 1000, 400.4, 800.2, 0.5), ("larf", "pascal_larf", 10, 5.0, 10.0, 0.5)],
        "golden": [("bow", 1000, 50.4, 100.2, 2.0), ("larf", 10, 5.0, None, None)],
        "same_preset": [("bow", "pascal", 0.512, 0.25, 100.4, 400.4, 0.251)],
    }
    monkeypatch.setattr(bench, "measured", lambda part, every: (found[part], []))
    return found


def test_figures_of_the_bench_become_tables(rows: dict[str, list[bench.Row]]) -> None:
    assert readme.emulate().splitlines()[1:] == [
        "| --- | ---: | ---: |",
        "| emulate saxpy (large) | 7,152 warp instructions | 71,520 |",
        "| emulate collatz (large), divergent | 1,000 warp instructions | 2,000 |",
    ]
    assert readme.lockstep().splitlines()[2] == "| `bow` | pascal | 1,000 | 400 | 800 | 0.50 | 3.8 |"
    assert readme.golden().splitlines()[2:] == ["| `bow` | 1,000 | 50 | 100 | 2.0 |", "| `larf` | 10 | 5 | - | - |"]
    assert readme.same_preset().splitlines()[2] == "| `bow` | pascal | 0.51 | 0.25 | 100 | 400 | 0.25 |"


def test_what_could_not_be_made_leaves_the_page_as_it_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE.read_text())
    monkeypatch.setattr(readme, "PAGE", page)
    monkeypatch.setattr(bench, "measured", lambda part, every: ([], ["lockstep bow: no simulator"]))
    assert readme.main(["lockstep"]) == 1 and page.read_text() == PAGE.read_text()
    assert "no simulator" in capsys.readouterr().err


def test_the_page_is_written(rows: dict[str, list[bench.Row]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE.read_text())
    monkeypatch.setattr(readme, "PAGE", page)
    assert readme.main(["emulate", "golden"]) == 0
    assert block_of(page.read_text(), "golden") == readme.golden()
    assert block_of(page.read_text(), "lockstep") == block_of(PAGE.read_text(), "lockstep")


def test_rows_of_other_schemes_stay_as_they_are(
    rows: dict[str, list[bench.Row]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "README.md"
    page.write_text(PAGE.read_text())
    monkeypatch.setattr(readme, "PAGE", page)
    assert readme.main(["golden", "--scheme", "bow", "--scheme", "larf"]) == 0
    before, after = (block_of(text, "golden").splitlines() for text in (PAGE.read_text(), page.read_text()))
    changed = {new for old, new in zip(before, after, strict=True) if old != new}
    assert changed == set(readme.golden().splitlines()[2:])


def test_a_scheme_without_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="the table must have a row of `bow`: make all rows, without --scheme"):
        with_rows(table(("", "cycles"), [("`rfc`", 1)]), table(("", "cycles"), [("`bow`", 1)]))


def test_blocks_without_schemes_do_not_take_one(capsys: pytest.CaptureFixture[str]) -> None:
    for blocks in ([], ["golden", "demo"]):
        with pytest.raises(SystemExit):
            readme.main([*blocks, "--scheme", "bow"])
        assert "--scheme must go with BLOCK of lockstep, golden, same_preset" in capsys.readouterr().err


@pytest.mark.check
@pytest.mark.parametrize("name", ["lockstep", "golden"])
def test_the_cycles_of_all_schemes_are_as_the_page_says(name: str) -> None:
    found = {row[0]: row for row in steady(block_of(PAGE.read_text(), name))}
    for scheme in SCHEMES:
        cycles, *_ = both_forms(scheme, 1)
        assert found[f"`{scheme}`"][-1] == f"{cycles:,}"
        assert name == "golden" or found[f"`{scheme}`"][1] == find(scheme).preset


@pytest.mark.check
def test_the_demo_is_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert steady(block_of(PAGE.read_text(), "demo")) == steady(readme.demo())
