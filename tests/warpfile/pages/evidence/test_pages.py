"""Pages by name, and outcomes that are kept."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from warpfile.output.display import silent
from warpfile.pages.evidence.command import main, pages
from warpfile.pages.evidence.statements import SEEDS, named, spot_points
from warpfile.pages.evidence.study import FEW, Run, studied
from warpfile.results.points import Point
from warpfile.schemes import find, registry
from warpfile.workloads.inputs import bundled_kernels


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs that has none."""
    monkeypatch.setattr("warpfile.results.result_cache.KEPT", tmp_path / "kept")
    return tmp_path / "kept"


@pytest.mark.parametrize(("name", "page"), pages().items())
def test_a_page_declares_claims_of_machines_and_kernels_that_there_are(name: str, page: ModuleType) -> None:
    keys = [one.key for one in page.STATEMENTS]
    assert len(set(keys)) == len(keys) >= 5 and page.PAPER and page.LEFT
    for one in page.STATEMENTS:
        assert one.paper[0] <= one.paper[1] and set(one.kernels()) <= set(bundled_kernels())
        for pair in one.pairs:
            for point in (pair.point, pair.over):
                find(point.scheme).configuration(point.preset, **dict(point.changes))
    points = spot_points(page.STATEMENTS)
    assert len({named(point) for point in points}) == len(points)
    assert page.SPOT in {kernel for one in page.STATEMENTS for kernel in one.kernels()}
    assert any(name in one.point.scheme for one in page.STATEMENTS)


def resolved(point: Point) -> tuple[object, ...]:
    """All that decides what a point runs."""
    cfg = find(point.scheme).configuration(point.preset, **dict(point.changes))
    return point.scheme, cfg, point.oracle, point.setting, point.issues, point.file


@pytest.mark.parametrize(("name", "page"), pages().items())
def test_every_factor_changes_a_machine_or_an_input_or_what_is_counted(name: str, page: ModuleType) -> None:
    """Some value that a factor gives may be the preset's: then it would be called tried, and nothing was."""
    for one in page.STATEMENTS:
        pairs = zip(one.pairs, one.metrics, strict=True)
        steps = [(resolved(pair.point), resolved(pair.over), pair.input, metric) for pair, metric in pairs]
        idle = [factor.what for factor, (old, new) in zip(one.factors, pairwise(steps), strict=True) if old == new]
        assert not idle, f"{name}: {one.key}"


@pytest.mark.parametrize("name", pages())
def test_seeds_move_the_miss_latency_by_one_or_two_hundredths(name: str) -> None:
    """``SEEDS`` is in cycles; presets of other latencies would need others."""
    for preset in {one.point.preset for one in pages()[name].STATEMENTS}:
        moved = max(SEEDS) / find("baseline").configuration(preset).miss_latency
        assert 0.01 <= moved <= 0.02
    assert SEEDS == FEW and -min(SEEDS) == max(SEEDS)


def test_runs_are_kept_and_run_anew_if_asked(kept: Path) -> None:
    point = pages()["bow"].BASELINE.small
    first, later = Run(point, "divide"), Run(point, "divide", 4)
    both = studied((first, later, first), silent)
    assert both.kernels == ("divide",) and len(list(kept.iterdir())) == 2
    assert both.of(point, "divide").cycles < both.outcomes[later].cycles
    for path in kept.iterdir():
        path.write_text(path.read_text().replace('"cycles": ', '"cycles": 9', 1))
    assert studied([first], silent).outcomes[first].cycles > 9 * both.outcomes[first].cycles
    assert studied([first], silent, fresh=True).outcomes[first].cycles == both.outcomes[first].cycles


def test_an_unknown_page_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["none"])
    assert (
        "SCHEME must be one of bow, malekeh, rfc, pilot, regmutex, ltrf, corf, modern, larf, shrf, all, not 'none'"
        in capsys.readouterr().err
    )


def test_a_scheme_that_is_not_listed_has_its_page_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.everything(), "coming", {"ltrf", "ltrf_plus"})
    assert "ltrf" not in pages()
    assert list(pages(["ltrf", "none"])) == [*pages(), "ltrf"]
