"""The page of arrays of operands in three forms, from reports made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from warpfile.cli.commands.area import Cost
from warpfile.pages import forms
from warpfile.pages.forms import Division, divided, with_storage
from warpfile.results.designs import Design, designs
from warpfile.spec.structure import FORMS, LATCHES
from warpfile.synth.area import AreaReport, ModuleArea
from warpfile.synth.overhead import overhead


def report(lane: ModuleArea, *others: ModuleArea, memory: int = 1000) -> AreaReport:
    modules = (lane, *others)
    return AreaReport(
        tool="Yosys",
        liberty="library",
        cells=9,
        flip_flops=sum(one.flip_flops * one.instances for one in modules),
        area_um2=None,
        nand2_equivalents=sum(one.nand2_equivalents * one.instances for one in modules),
        storage_bits={"flip_flops": {}, "memories": {"register_bank_ram": memory}},
        logic_levels=9,
        modules=modules,
    )


def module(name: str, instances: int, flip_flops: int, nand2: float) -> ModuleArea:
    return ModuleArea(name, instances, 1, flip_flops, None, nand2, 3)


CONTROL = module("warpfile.frame", 1, 10, 70.0)
LANES = report(module("window_lane", 4, 32, 200.0), CONTROL)
LATCHED = report(module("window_lane", 4, 2, 100.0), module(LATCHES, 8, 32, 5.0), CONTROL)
MEMORY = report(module("window_lane", 4, 0, 20.0), CONTROL, memory=1500)


def test_a_machine_is_divided_into_what_stores_network_and_control() -> None:
    assert divided(LANES) == Division(4 * 32 * 6, 4 * (200 - 32 * 6), 70)
    assert divided(LATCHED) == Division(4 * 2 * 6 + 8 * 5, 4 * (100 - 2 * 6), 70)
    assert divided(MEMORY) == Division(0, 80, 70)


def test_a_design_in_a_form_is_the_same_otherwise() -> None:
    (design,) = designs(("bow",), "tiny", ())
    for form in FORMS:
        one = with_storage(design, form)
        assert one.config == design.config.replace(storage=form) and one.baseline.config.storage == form


def test_the_page_has_every_form_of_every_design(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    by_form = dict(zip(FORMS, (LANES, LATCHED, MEMORY), strict=True))

    def measured(wanted: Sequence[Design], _liberty: None, _report: object) -> list[Cost]:
        base = report(module("collector_lane", 4, 32, 195.0), CONTROL)
        found = (by_form[one.config.storage] for one in wanted)
        return [Cost(one, it, base, overhead(it, base)) for one, it in zip(wanted, found, strict=True)]

    monkeypatch.setattr(forms, "measured", measured)
    monkeypatch.setattr(forms, "PAGE", tmp_path / "forms.md")
    forms.main([])
    text = (tmp_path / "forms.md").read_text()
    assert "| bow_wr window_entries=6 | memory | 256 | 6 | 4R2W | 0 | 80 | 70 | 1,500 |" in text
    assert "| rfc | latches | 32 | 48 | 3R1W | 88 | 352 | 70 | 1,000 |" in text
    claims = text.split("## What the papers claim")[1]
    assert claims.count("| bow_wr window_entries=6 |") == 1 and "| bow_wr |" not in claims
    assert all(len(line.split("|")) == 8 for line in claims.splitlines() if line.startswith("|"))
