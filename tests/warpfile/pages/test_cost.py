"""The page of costs and what it holds against the papers, from reports made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from warpfile.cli.commands.area import Cost, area_facts, write_figures
from warpfile.pages import cost
from warpfile.pages.forms import costed_designs
from warpfile.results.claims import DENSE, bits, measured
from warpfile.results.designs import Design
from warpfile.schemes import SCHEMES
from warpfile.synth.area import AreaReport, ModuleArea
from warpfile.synth.overhead import NAND2_PER_BIT, overhead
from warpfile.synth.storage import StructureBits
from warpfile.synth.timing import BankPath, CriticalPath

FILE_BITS = 10_000
_SLOW = 11.7  #: ns of a path with access times beside one of 9 ns: just the goal of 1.3


def report(nand2: float, flip_flops: int, modules: dict[str, float], **structures: int) -> AreaReport:
    return AreaReport(
        tool="Yosys",
        liberty="library",
        cells=round(nand2),
        flip_flops=flip_flops,
        area_um2=None,
        nand2_equivalents=nand2,
        storage_bits={"flip_flops": {"part": flip_flops}, "memories": {"register_bank_ram": FILE_BITS}},
        logic_levels=9,
        modules=tuple(ModuleArea(name, 2, 1, 0, None, size / 2, 3) for name, size in modules.items()),
        structures=tuple(
            StructureBits(name.replace("_", " "), "flip-flops", found, found * 2, "half is enough")
            for name, found in structures.items()
        ),
    )


BASE = report(1000.0, 100, {"lane": 600.0, "warpfile.frame.scheduler": 4.0, "warpfile.frame": 396.0})
PARTS = {"lane": 630.0, "cache_lane": 2000.0, "warpfile.frame.scheduler": 8.0, "dust": 2.0, "warpfile.frame": 360.0}
GROWN = report(3000.0, 1500, PARTS, cache_lines=500, tags=5)


def made(design: Design, libraries: Sequence[Path]) -> Cost:
    found = BASE if design.scheme.name == "baseline" else GROWN
    small = overhead(replace(found, nand2_equivalents=1.25 * BASE.nand2_equivalents), BASE)
    slow = BankPath(9.0, "bank/data", "unit/D", 0.1, {"register_bank_ram": 45.5})
    own = CriticalPath(7.5, "", "register/Q", "register/D", with_access=replace(slow, nanoseconds=_SLOW))
    paths = {path.name: own for path in libraries}
    beside = {path.name: CriticalPath(6.0, "", "register/Q", "register/D", with_access=slow) for path in libraries}
    return Cost(design, found, BASE, overhead(found, BASE) | {"latches": small}, paths, beside)


def test_claims_are_shares_of_the_register_file() -> None:
    claims = [claim for scheme in SCHEMES.values() for claim in scheme.claims]
    ours = {claim.what: measured(claim, GROWN, BASE) for claim in claims}
    dense = FILE_BITS * NAND2_PER_BIT[DENSE]
    assert ours["storage over the baseline, of the register file"] == 1400 / FILE_BITS
    assert ours["area over the baseline, of the register file"] == 2000 / dense
    assert ours["new bits, of the register file"] == 5 / FILE_BITS
    assert ours["bits of the cache, of the register file"] == 500 / FILE_BITS
    assert ours["area of the cache's data, of the register file"] == 2000 / dense


def test_a_memory_beside_the_banks_is_an_addition_to_them() -> None:
    more = replace(GROWN, storage_bits={"flip_flops": {"part": 1500}, "memories": {"ram": FILE_BITS, "cache": 600}})
    ours = {claim.measure: measured(claim, more, BASE) for claim in SCHEMES["ltrf"].claims + SCHEMES["bow"].claims}
    assert ours["storage over the baseline"] == 2000 / FILE_BITS
    assert ours["area over the baseline"] == pytest.approx(2000 / FILE_BITS / NAND2_PER_BIT[DENSE] + 600 / FILE_BITS)


def test_the_densest_memory_makes_the_register_file_smallest() -> None:
    assert NAND2_PER_BIT[DENSE] == min(NAND2_PER_BIT.values())


@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if scheme.claims])
def test_claims_name_structures_of_their_scheme(name: str) -> None:
    """A renamed structure would make a claim zero without a word."""
    stored = [StructureBits(one.name, one.kind, 7, None, "") for one in SCHEMES[name].stored]
    full = AreaReport("", "", 0, 7, None, 1.0, {"memories": {"ram": 1000}}, 0, GROWN.modules, tuple(stored))
    assert all(measured(claim, full, BASE) != 0 for claim in SCHEMES[name].claims)
    assert bits(full, ["no such structure"]) == 0


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The page, written from files of figures as ``warpfile area --json`` writes them."""
    library = Path("one.lib")
    monkeypatch.setattr(cost, "PAGE", tmp_path / "cost.md")
    monkeypatch.setattr(cost, "KEPT", tmp_path)
    monkeypatch.setattr(cost, "POINTS", tmp_path / "points")
    (tmp_path / "points").mkdir()
    for design in costed_designs():
        folder = tmp_path / "points" if design.changes else tmp_path
        write_figures(folder, area_facts([made(design, [library])]), {})
    assert cost.main([]) == 0 == cost.main(["--check"])
    return tmp_path / "cost.md"


def test_the_page_has_every_table(page: Path) -> None:
    text = page.read_text()
    for line in (
        "| rfc | isca2011 | 3,000 | 1,500 | 3,000 | 10,000 | 9 |",
        "| cache lines | flip-flops | 500 | 1,000 | 0.50 | half is enough |",
        "| `cache_lane` | 2 | 2,000 | 66.7% | 3 | - |",
        "| `lane` | 2 | 630 | 21.0% | 3 | ~+5.0% |",
        "| `warpfile.frame.scheduler` | 2 | 8 | 0.3% | 3 | +100.0% |",
        "| all others | - | 2 | 0.1% | - | - |",
        "| rfc | +200.0% |",
        "| `rfc` | isca2011 | +25.0% |",
        "| bow_wr window_entries=6 | 7.50 | 6.00 | 1.25 | 0 | 0 | `register/Q` | `register/D` |",
        "| `bow_wr` | `register_bank_ram` 45.5 | 11.70 | 117.0 | 1.30 | 1.25 | `bank/data` | `unit/D` |",
    ):
        assert line in text
    assert "at\nmost 1.3 for every scheme; every one that is timed is within it." in text
    assert text.count("## Critical paths, one.lib") == 1


def test_the_design_that_a_paper_costs_comes_first_and_has_the_papers_figures(page: Path) -> None:
    text = page.read_text()
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| bow_wr")]
    assert rows == ["| bow_wr window_entries=6", "| bow_wr"] * 3
    half, full = (text.split(f"## `{name}`")[1].split("##")[0] for name in ("bow_wr window_entries=6", "bow_wr"))
    assert "12 KB of 256 KB" in half and "KB" not in full


def test_the_page_is_that_of_the_kept_figures() -> None:
    """Whoever writes figures anew writes the page, too."""
    assert cost.main(["--check"]) == 0
