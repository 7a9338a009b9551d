"""Pages of declared claims: their runs, stored as data beside the page, and the text written from these data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from warpfile.output.display import Report
from warpfile.pages.evidence import rendering
from warpfile.pages.evidence.statements import data, spot_points
from warpfile.pages.evidence.study import Run, studied
from warpfile.pages.evidence.waterfall import data_stamp, waterfall
from warpfile.results.reports.svg import pictures

SUMMARY = "evidence-summary.md"


def runs(page: ModuleType) -> Iterator[Run]:
    """All runs of a page, each once."""
    claimed = (run for one in page.STATEMENTS for run in one.runs())
    spot = (Run(point, page.SPOT) for point in spot_points(page.STATEMENTS))
    yield from dict.fromkeys((*claimed, *spot))


def measured(name: str, page: ModuleType, report: Report, *, fresh: bool) -> dict[str, Any]:
    """The data of a page, of cached runs or new ones. Raises ``ValueError`` for a run that was refused."""
    study = studied(runs(page), report, fresh=fresh)
    return data(name, page.STATEMENTS, page.SPOT, study.outcomes)


def has_data(folder: Path, name: str) -> bool:
    """Whether a page of declared claims has been run."""
    return (folder / f"{name}-evidence.json").exists()


def read(folder: Path, name: str) -> dict[str, Any]:
    """The data beside a page. Raises ``OSError`` where there are none."""
    found: dict[str, Any] = json.loads((folder / f"{name}-evidence.json").read_text())
    return found


def files(folder: Path, page: ModuleType, found: Mapping[str, Any]) -> dict[Path, str]:
    """A page and its data, by place."""
    name = found["scheme"]
    return {
        folder / f"{name}-evidence.json": json.dumps(found, indent=1) + "\n",
        folder / f"{name}-evidence.md": rendering.page(found, page.PAPER, page.LEFT),
    }


def charts(folder: Path, found: Iterable[Mapping[str, Any]], report: Report) -> dict[Path, str]:
    """Charts of those data whose chart is older. Raises ``ValueError`` where kaleido or Chromium is missing."""
    old = [one for one in found if not shows(folder / f"{one['scheme']}-evidence.svg", one)]
    return (
        {folder / name: text for name, text in pictures([waterfall(one) for one in old], report).items()} if old else {}
    )


def shows(chart: Path, found: Mapping[str, Any]) -> bool:
    """Whether a chart is of these data."""
    return chart.exists() and data_stamp(found) in chart.read_text()


def summary(folder: Path, pages: Mapping[str, ModuleType], new: Mapping[str, Mapping[str, Any]]) -> dict[Path, str]:
    """The summary, of new data and of those that lie beside the other pages."""
    found = {
        name: new[name] if name in new else read(folder, name)
        for name in pages
        if name in new or has_data(folder, name)
    }
    return {
        folder.parent / SUMMARY: rendering.summary(list(found.values()), [name for name in pages if name not in found])
    }
