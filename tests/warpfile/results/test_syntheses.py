"""Areas of several machines: which is synthesised first, what is left out, and how long it is said to take."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
import pytest

from warpfile.output.display import silent
from warpfile.results import syntheses
from warpfile.results.designs import designs
from warpfile.results.syntheses import Pace, areas, expected, machine
from warpfile.schemes import SCHEMES
from warpfile.synth.area import AreaReport, measure
from warpfile.synth.overhead import overhead
from warpfile.synth.yosys import YosysError

EMPTY = AreaReport("Yosys", "library", 1, 1, None, 1.0, {"flip_flops": {}, "memories": {}}, 1, ())
Measure = Callable[..., AreaReport]


@pytest.fixture
def measured_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Measure], None]:
    """Puts something quick in place of synthesis, on a computer of one processor."""

    def put(work: Measure) -> None:
        monkeypatch.setattr("warpfile.synth.area.measure", work)
        monkeypatch.setattr(syntheses, "processors", lambda: 1)

    return put


def test_the_longest_synthesis_is_the_first_and_verilog_is_made_beside_it(
    measured_by: Callable[[Measure], None],
) -> None:
    begun: list[str] = []
    both = threading.Barrier(2)

    def work(scheme: Any, cfg: Any, **options: Any) -> AreaReport:
        begun.append(scheme.name)
        if len(begun) <= 2:
            both.wait(10)
        return EMPTY

    measured_by(work)
    areas(designs(["baseline", "bow", "larf", "ltrf"], None, ()), None, silent)
    assert set(begun[:2]) == {"larf", "ltrf"} and len(begun) == 7


def test_levels_are_counted_of_what_was_asked_for_only(measured_by: Callable[[Measure], None]) -> None:
    found: dict[tuple[str, int], bool] = {}

    def work(scheme: Any, cfg: Any, *, levels: bool, **options: Any) -> AreaReport:
        found[scheme.name, cfg.warps] = levels
        return EMPTY

    measured_by(work)
    turing, pascal = (SCHEMES["baseline"].configuration(preset).warps for preset in ("turing", "pascal"))
    areas(designs(["baseline", "malekeh", "bow"], None, ()), None, silent)
    own = {(name, SCHEMES[name].configuration(SCHEMES[name].preset).warps): True for name in ("malekeh", "bow")}
    assert found == {**own, ("baseline", turing): True, ("baseline", pascal): False}


@pytest.mark.check
def test_what_a_scheme_is_compared_by_needs_no_levels() -> None:
    scheme = SCHEMES["baseline"]
    cfg = scheme.configuration("tiny", lanes=1, warps=2, collectors=1)
    full, without = (measure(scheme, cfg, levels=levels, cache=None) for levels in (True, False))
    assert full.logic_levels > 0 == without.logic_levels
    modules = tuple(replace(module, logic_levels=0) for module in full.modules)
    assert replace(full, logic_levels=0, modules=modules) == without
    assert overhead(full, full) == overhead(full, without)


def test_a_machine_that_yosys_refuses_ends_the_command(measured_by: Callable[[Measure], None]) -> None:
    def work(*_: Any, **options: Any) -> AreaReport:
        raise YosysError("yosys stopped: ERROR: no such module")

    measured_by(work)
    with pytest.raises(click.ClickException, match="malekeh: yosys stopped: ERROR: no such module"):
        areas(designs(["malekeh"], None, ()), None, silent)


def test_progress_says_what_is_done_of_how_much_and_how_long_it_goes_on(
    measured_by: Callable[[Measure], None],
) -> None:
    said: list[str] = []

    def work(scheme: Any, cfg: Any, *, progress: Callable[[str], None], **options: Any) -> AreaReport:
        progress("cells")
        return EMPTY

    measured_by(work)
    areas(designs(["malekeh", "bow"], None, ()), None, lambda stage, done=0, total=0: said.append(stage))
    assert re.fullmatch(r"(malekeh|bow), \w+: cells; 0 of 4 machines done, about \d\d s left", said[0])
    assert said[-1].endswith("; 4 of 4 machines done, about 0 s left")


@pytest.mark.parametrize(("period", "again"), [(0.01, True), (60.0, False)])
def test_how_long_it_goes_on_is_said_again_while_nothing_ends(
    measured_by: Callable[[Measure], None], monkeypatch: pytest.MonkeyPatch, period: float, again: bool
) -> None:
    said: list[str] = []

    def work(scheme: Any, cfg: Any, *, progress: Callable[[str], None], **options: Any) -> AreaReport:
        progress("cells")
        time.sleep(0.2)
        return EMPTY

    measured_by(work)
    monkeypatch.setattr(syntheses, "_PERIOD", period)
    areas(designs(["baseline"], None, ()), None, lambda stage, done=0, total=0: said.append(stage))
    assert (len(said) > 2) == again
    assert all(one.startswith(("start; ", "baseline, turing: cells; ")) for one in said)


def pace(small: float = 1000, large: float = 3000) -> tuple[Pace, Any, Any, Callable[[float], None]]:
    """A pace of two machines, and a clock that is moved by hand."""
    now = [100.0]
    one, two = (machine(design) for design in designs(["bow", "larf"], None, ()))
    return Pace({one: small, two: large}, lambda: now[0]), one, two, lambda seconds: now.__setitem__(0, 100.0 + seconds)


def test_what_is_left_goes_by_the_work_that_is_done() -> None:
    found, one, two, after = pace()
    found.begin(one)
    after(20)
    found.end(one)
    assert str(found) == "1 of 2 machines done, about 60 s left"  # 20 s for a quarter of the work
    found.begin(two)
    after(50)
    assert str(found) == "1 of 2 machines done, about 30 s left"  # 50 s for 2,500 cells of 4,000
    found.end(two)
    assert str(found) == "2 of 2 machines done, about 0 s left"


def test_what_is_left_is_more_where_more_is_to_be_done() -> None:
    for large, seconds in ((1000, 20), (3000, 60), (4000, 80)):
        found, one, _, after = pace(large=large)
        found.begin(one)
        after(20)
        found.end(one)
        assert str(found).endswith(f"about {seconds} s left")


def test_before_anything_is_done_it_goes_by_cells_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntheses, "processors", lambda: 2)
    found, one, _, after = pace(30_000, 50_000)
    assert str(found) == "0 of 2 machines done, about 40 s left"
    found.begin(one)
    assert str(found) == "0 of 2 machines done, about 32 s left"  # 15,000 cells count as done
    after(30)
    assert str(found) == "0 of 2 machines done, about 2 min left"  # a slow computer: 2 ms a cell


def test_work_goes_by_the_cells_of_kept_figures() -> None:
    wanted = designs(["larf", "bow", "baseline"], None, ())
    sizes = expected(wanted)
    larf, bow, baseline = (sizes[machine(design)] for design in wanted)
    assert larf > 5 * bow > 5 * baseline > 0
    assert sizes[machine(wanted[0].baseline)] == larf / 3 and len(sizes) == 5


def test_a_scheme_without_kept_figures_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEMES, "double", replace(SCHEMES["bow"], name="double"))
    (one,) = designs(["double"], None, ())
    assert expected([one])[machine(one)] == 30_000
