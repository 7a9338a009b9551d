"""Evidence pages hold what the code gives: their rows of two small kernels, recomputed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

from tests.warpfile.pages.evidence.made_up import KERNELS, answering
from warpfile.output.display import silent
from warpfile.pages.evidence import command, converted
from warpfile.pages.evidence.command import DOCS, pages
from warpfile.pages.evidence.study import FEW, SEEDS, Run, Study, studied
from warpfile.results.revision import MACHINE, stated, warning
from warpfile.schemes import find, registry

#: Kernels whose large launches are short.
SMALL = ("divide", "half2")

#: Pages of the older form; those of declared claims have test_converted.py.
NAMES = tuple(name for name, page in pages().items() if not converted.is_converted(page))


def page_of(name: str) -> ModuleType:
    """The module of a scheme's page."""
    return pages([name])[name]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs that has none."""
    monkeypatch.setattr("warpfile.results.result_cache.KEPT", tmp_path / "kept")
    return tmp_path / "kept"


def rows(name: str, study: Study) -> list[str]:
    """Lines of a page's last table."""
    found = (page_of(name).kernel_row(study, kernel) for kernel in SMALL)
    return [f"| {' | '.join(map(str, row))} |" for row in found]


def missing(lines: Iterable[str], text: str) -> list[str]:
    """Lines that a page does not have."""
    return [line for line in lines if line not in text.splitlines()]


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_rows_that_the_code_gives(name: str, kept: Path) -> None:
    """After a change of the machine ``python -m warpfile.pages evidence all``, or the page says it is older."""
    recorded, wanted = answering()
    rows(name, recorded)
    assert {run.kernel for run in wanted} == set(SMALL) and {run.seed for run in wanted} == {0}
    text = (DOCS / f"{name}-evidence.md").read_text()
    if stated(text) < MACHINE:
        assert warning(stated(text)) in text.splitlines()[:4]
        return
    now = rows(name, studied(wanted, silent))
    assert not missing(now, text)
    assert missing([now[0].replace("0.", "0.9", 1)], text)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_asks_for_its_runs_and_for_no_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "bundled_kernels", lambda: KERNELS)
    study, asked = answering()
    page_of(name).page(study)
    monkeypatch.setattr(command, "reuse", study.reuse)
    assert asked == set(command.runs(page_of(name)))


@pytest.mark.parametrize("name", pages())
def test_seeds_move_the_miss_latency_by_one_or_two_hundredths(name: str) -> None:
    """``SEEDS`` is in cycles; presets of other latencies would need others."""
    page = page_of(name)
    moved = max(SEEDS) / find("baseline").configuration(page.BASELINE.preset).miss_latency
    assert 0.01 <= moved <= 0.02
    assert -min(SEEDS) == max(SEEDS) == max(FEW) == -min(FEW)


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


def test_the_command_writes_whole_pages_of_the_schemes_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "DOCS", tmp_path)
    monkeypatch.setattr(command, "bundled_kernels", lambda: KERNELS)
    monkeypatch.setattr(command, "reuse", answering()[0].reuse)
    monkeypatch.setattr(command, "studied", lambda runs, report, fresh: (list(runs), answering()[0])[1])
    command.main([*NAMES])
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}-evidence.md" for name in NAMES}
    assert "s of processor time." in capsys.readouterr().out
    text = (tmp_path / "rfc-evidence.md").read_text()
    assert text.startswith("# `rfc` on the bundled kernels\n\nWritten by `python -m warpfile.pages evidence rfc`.\n")
    assert "* `rfc`: collectors 5 (baseline 4); of the scheme: scheduler two_level (baseline gto)\n" in text
    assert "| rfc | " in text and "* `bow_wr`: nothing\n" in (tmp_path / "bow-evidence.md").read_text()
    with pytest.raises(SystemExit):
        command.main(["none"])
    assert (
        "SCHEME must be one of bow, malekeh, rfc, pilot, regmutex, ltrf, corf, modern, larf, all, not 'none'"
        in capsys.readouterr().err
    )


def test_a_scheme_that_is_not_listed_has_its_page_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.everything(), "coming", {"ltrf", "ltrf_plus"})
    assert "ltrf" not in command.pages()
    assert list(command.pages(["ltrf", "none"])) == [*command.pages(), "ltrf"]
